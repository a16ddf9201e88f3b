"""Compare a node with its operator's signature: how many inputs and outputs, of which types.

Both are looked at once for all nodes that are alike, so that the walk pays a lookup for each.
"""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.signatures import signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sardonyx.ir.graph import Node, Value
    from sardonyx.ir.types import Type
    from sardonyx.ops.signatures import Signature

    Problem = tuple[str, str]

NO_PROBLEMS: tuple[Problem, ...] = ()
SHOWN = 6
"""Types that a message lists before it leaves some out."""
LONGEST, MOST = 256, 512
"""Inputs of a node that is remembered, and the nodes that are for each operator: files decide both."""


class Checks:
    """What one operator takes under one opset."""

    __slots__ = ("good", "known", "signature")

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.good: set[tuple[DType | None, ...]] = set()
        """Element types of the inputs of nodes that fit, where all inputs are tensors, and there is one output."""
        self.known: dict[object, tuple[Problem, ...]] = {}
        """(number of outputs, types of the inputs) to what is wrong with such a node; kept from model to model."""

    def problems(self, node: Node, types: Mapping[Value, Type]) -> tuple[Problem, ...]:
        """Return (code, message) for everything that does not fit the signature."""
        key: list[object] = [len(node.outputs)]
        for value in node.inputs:
            if value is None:
                key.append(0)
                continue
            kind = types.get(value)
            key.append(kind.dtype if type(kind) is TensorType else None if kind is None else kind.type_str)
        handle = tuple(key)
        found = self.known.get(handle)
        if found is None:
            found = tuple(self.look(node, types)) or NO_PROBLEMS
            if len(handle) > LONGEST:
                return found
            if len(self.known) >= MOST:
                self.known.clear()
                self.good.clear()
            self.known[handle] = found
            if not found and key[0] == 1 and all(type(kind) is DType for kind in key[1:]):
                self.good.add(handle[1:])  # type: ignore[arg-type]
        return found

    def look(self, node: Node, types: Mapping[Value, Type]) -> list[Problem]:
        """Compare one node with the signature."""
        signature, found = self.signature, []
        for what, given, least, most in (
            ("inputs", len(node.inputs), signature.min_inputs, signature.max_inputs),
            ("outputs", len(node.outputs), signature.min_outputs, signature.max_outputs),
        ):
            if given < least:
                code = "missing-input" if what == "inputs" else "wrong-count"
                found.append((code, f"{given} {what} are given, at least {least} are needed"))
            elif most is not None and given > most:
                found.append(("wrong-count", f"{given} {what} are given, at most {most} are possible"))
        bound: dict[str, tuple[str, str]] = {}
        for at, value in enumerate(node.inputs):
            formal = signature.input(at)
            if formal is None:
                break
            if value is None:  # runtimes let some required inputs be omitted (`roi` of Resize): rules know which
                continue
            kind = types.get(value)
            text = None if kind is None else text_of(kind)
            if text is None:
                continue
            if text not in formal.types:
                text = text.removeprefix("sparse_")  # a sparse constant is a way to write a tensor
            if text not in formal.types:
                code = "bad-element-type" if isinstance(kind, TensorType) else "wrong-kind"
                found.append((code, f"input {formal.name!r} is a {text}; {allowed(formal.types)}"))
                continue
            if not formal.homogeneous or formal.type_str not in signature.type_constraints:
                continue
            first = bound.setdefault(formal.type_str, (text, formal.name))
            if first[0] != text:
                message = (
                    f"input {formal.name!r} is a {text} but input {first[1]!r}, which must be alike, is a {first[0]}"
                )
                found.append(("bad-element-type", message))
        return found


def text_of(kind: Type) -> str | None:
    """Return a type as signatures spell it, None when part of it is not known."""
    text = kind.type_str
    return None if "()" in text or "(," in text or ",)" in text else text


def allowed(types: frozenset[str]) -> str:
    """Word a set of types."""
    names = sorted(types)
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    return f"the operator takes {shown}"


def checks_of(domain: str, op_type: str, opset: int) -> Checks | None:
    """Return what an operator takes, None when its signature is not known."""
    found = signature(domain, op_type, opset)
    return None if found is None else Checks(found)
