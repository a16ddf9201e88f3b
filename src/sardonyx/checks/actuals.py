"""Compare what a node is given with what its operator takes: how many, which attributes, of which types."""

from __future__ import annotations

from sardonyx.ir.attrs import AttrKind, AttrRef
from sardonyx.ir.types import MapType, OptionalType, SequenceType, SparseTensorType, TensorType
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sardonyx.ir.graph import Node, Value
    from sardonyx.ir.types import Type
    from sardonyx.ops.signatures import Formal, Signature


@record
class Finding:
    """Something wrong with a node, before its place is known."""

    code: str
    message: str
    attribute: str | None = None
    severity: str | None = None
    """`warning` where it is odd but runs; None leaves it to the caller."""


def check_counts(node: Node, known: Signature) -> Iterator[Finding]:
    """Yield what is wrong with the numbers of inputs and outputs, and with which of them are left out."""
    inputs, outputs = len(node.inputs), len(node.outputs)
    if known.max_inputs is not None and inputs > known.max_inputs:
        yield Finding("too-many-inputs", f"{node.op} takes {upto(known.max_inputs, 'input')}, but is given {inputs}")
    if known.max_outputs is not None and outputs > known.max_outputs:
        yield Finding(
            "too-many-outputs", f"{node.op} has {upto(known.max_outputs, 'output')}, but {outputs} are listed"
        )
    for at in range(min(max(inputs, known.min_inputs), 1 << 16)):
        formal = known.input(at)
        if formal is None:
            break
        absent = at >= inputs or node.inputs[at] is None
        if absent and (formal.option == "single" or (formal.option == "variadic" and at < known.min_inputs)):
            text = f"{node.op} needs input {at} ({formal.name}), but it is not given"
            # one that "" leaves out may be dispensable all the same, as roi of Resize is: inference knows
            yield Finding("missing-input", text, severity="warning" if 0 < at < inputs else None)
    if outputs < known.min_outputs:
        formal = known.output(outputs)
        name = "" if formal is None else f" ({formal.name})"
        yield Finding("missing-output", f"{node.op} has output {outputs}{name}, but it is not listed")
    for at, value in enumerate(node.outputs):
        formal = known.output(at)
        if value is None and formal is not None and formal.option == "single":
            text = f"output {at} ({formal.name}) of {node.op} is left out, though it is not optional"
            yield Finding("missing-output", text, severity="warning")  # runtimes run it all the same


def upto(most: int, noun: str) -> str:
    """Word a greatest number."""
    return f"no {noun}s" if most == 0 else f"at most {most} {noun}" + ("s" if most > 1 else "")


def check_attributes(node: Node, known: Signature) -> Iterator[Finding]:
    """Yield what is wrong with the attributes: unknown names, other kinds, required ones that are not there."""
    for name, attr in node.attrs.items():
        formal = known.attributes.get(name)
        if formal is None:
            if not name.startswith("__"):  # for whoever made the model, as the checker of onnx has it
                yield Finding("attribute-unknown", f"{node.op} has no attribute {name!r}", name)
        elif attr.kind is not formal.kind and not (isinstance(attr, AttrRef) and attr.kind is AttrKind.UNDEFINED):
            text = f"it is {attr.kind.name}, but {node.op} takes {formal.kind.name}"
            yield Finding("attribute-kind", text, name)
    for name, formal in known.attributes.items():
        if formal.required and name not in node.attrs:
            yield Finding("missing-attribute", f"{node.op} needs attribute {name!r}, but it is not given", name)


def check_types(node: Node, known: Signature, types: Mapping[Value, Type]) -> Iterator[Finding]:
    """Yield what is wrong with the inputs' types: none that the operator takes, or two where there must be one."""
    bound: dict[str, tuple[str, int]] = {}
    for at, value in enumerate(node.inputs):
        kind = None if value is None else types.get(value)
        formal = known.input(at)
        if kind is None or formal is None or not is_complete(kind):
            continue
        text = kind.type_str
        if isinstance(kind, SparseTensorType) and text not in formal.types:
            text = text.removeprefix("sparse_")  # a sparse constant is a way to write a tensor
        if text not in formal.types:
            yield refused_type(node, at, formal, kind)
            continue
        if formal.type_str in known.type_constraints and formal.homogeneous:
            before = bound.setdefault(formal.type_str, (text, at))
            if before[0] != text:
                message = (
                    f"inputs {before[1]} and {at} ({formal.name}) of {node.op} must be of one type, "
                    f"but are {before[0]} and {text}"
                )
                yield Finding("types-differ", message)


def is_complete(kind: Type) -> bool:
    """Return whether a type is known down to its element types."""
    while isinstance(kind, (SequenceType, OptionalType, MapType)):
        if isinstance(kind, MapType) and kind.key is None:
            return False
        inner = kind.value if isinstance(kind, MapType) else kind.elem
        if inner is None:
            return False
        kind = inner
    return not isinstance(kind, TensorType) or kind.dtype is not None


def refused_type(node: Node, at: int, formal: Formal, kind: Type) -> Finding:
    """Word that an operator does not take an input's type."""
    mine = kind.type_str.partition("(")[0]
    kinds = sorted({text.partition("(")[0] for text in formal.types})
    if mine not in kinds:
        takes = " or ".join(f"a {one}" for one in kinds)
        return Finding("wrong-kind", f"input {at} ({formal.name}) of {node.op} is {kind.type_str}, it takes {takes}")
    allowed = sorted(text for text in formal.types if text.startswith(f"{mine}("))
    listed = ", ".join(allowed) if len(allowed) <= 6 else f"{', '.join(allowed[:5])} and {len(allowed) - 5} more"
    return Finding("bad-element-type", f"input {at} ({formal.name}) of {node.op} is {kind.type_str}, it takes {listed}")
