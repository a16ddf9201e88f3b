"""Say what an operator takes, gives and allows, for every version of every operator.

The facts are those that onnx and onnxruntime register; tools/gen_signatures.py writes them to `signature_table.py`, one
line per schema version. Reading splits that text once (about three milliseconds, on the first question); a line becomes
a `Signature` when somebody asks for it. The form of the table:

    types 0cbcce tensor(bfloat16) tensor(float)         a set of types, by a key
    domain ai.onnx onnx 28                              the lines that follow: whose they are, the newest opset
    Clip 13 F | input:T min:T? max:T? | output:T | - | T=f0a9d2

The columns are name, since_version and flags; inputs; outputs; attributes; type constraints; a lone `-` is an empty
column. Flags: D deprecated, F has a function body, C has one that depends on the node, R registered by onnxruntime
only. A parameter is `name:type`, where type is a type constraint or a type, then `?` for an optional one and `*` for a
variadic one (`~` when its types may differ), with the least number when that is not 1. An attribute is `name:KIND`,
`!` when it is required, `=default`.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from types import MappingProxyType

from sardonyx.ir.attrs import AttrKind
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    Default = int | float | bytes | tuple[int, ...] | tuple[float, ...] | tuple[bytes, ...]


@record
class Formal:
    """A formal input or output."""

    name: str
    option: Literal["single", "optional", "variadic"]
    type_str: str
    """A type constraint of the signature (`T`) or a type (`tensor(int64)`)."""
    types: frozenset[str]
    """Every type that is allowed, spelled as `type_str` of ir/types.py spells it."""
    homogeneous: bool = True
    """Whether all actual values of a variadic parameter have one type."""
    min_arity: int = 1
    """The least number of actual values of a variadic parameter."""


@record
class AttributeSignature:
    """An attribute that an operator knows."""

    name: str
    kind: AttrKind
    required: bool = False
    default: Default | None = None
    """The value when the attribute is absent, in the form of `Attr.value`; None when the schema states none."""


@record
class Signature:
    """One version of an operator."""

    domain: str
    """The domain; that of ONNX itself is ""."""
    op_type: str
    since_version: int
    """The opset from which it holds, until the next version of the operator."""
    deprecated: bool
    """Whether the operator is withdrawn from this version on: a model of such an opset must not use it."""
    standard: bool
    """Whether ONNX defines it; False when only onnxruntime does, even in ONNX's own domain."""
    function: Literal["", "fixed", "by-node"]
    """Whether ONNX defines it by a function: no, by one function, or by one that depends on the node."""
    inputs: tuple[Formal, ...]
    outputs: tuple[Formal, ...]
    attributes: Mapping[str, AttributeSignature]
    type_constraints: Mapping[str, frozenset[str]]
    min_inputs: int
    """The least number of actual inputs, absent ones before the last included."""
    max_inputs: int | None
    """The most actual inputs; None when there is no end."""
    min_outputs: int
    max_outputs: int | None

    def input(self, position: int) -> Formal | None:
        """Return the formal parameter of the actual input at `position`, or None beyond the last."""
        return at(self.inputs, position)

    def output(self, position: int) -> Formal | None:
        """Return the formal parameter of the actual output at `position`, or None beyond the last."""
        return at(self.outputs, position)


def signature(domain: str, op_type: str, opset: int) -> Signature | None:
    """Return the signature in force under an opset, or None when that opset has no such operator.

    `ai.onnx` and "" are one domain. An opset newer than `latest_opset(domain)` is answered with the newest known
    signature. Where ONNX has none, what onnxruntime registers in ONNX's domains answers, with `standard` False:
    exporters and optimizers write such nodes (SimplifiedLayerNormalization, LayerNormalization before opset 17).
    """
    domain = "" if domain == "ai.onnx" else domain
    known = table().operators.get(domain, {}).get(op_type)
    if known is None:
        return None
    position = bisect_right(known.versions, opset) - 1
    return None if position < 0 else parse(domain, known.lines[position])


def versions(domain: str, op_type: str, *, standard: bool = True) -> tuple[int, ...]:
    """Return the since_version of every version of an operator, ascending; none when the operator is not known.

    With `standard=False` also those that only onnxruntime registers in ONNX's domains. In a domain that is not ONNX's,
    every version counts either way.
    """
    domain = "" if domain == "ai.onnx" else domain
    known = table().operators.get(domain, {}).get(op_type)
    if known is None:
        return ()
    if not standard or domain not in table().standard:
        return tuple(known.versions)
    return tuple(since for since, line in zip(known.versions, known.lines, strict=True) if not is_extra(line))


def operators(domain: str, *, standard: bool = True) -> tuple[str, ...]:
    """Return the name of every operator of a domain, sorted, deprecated ones included; `standard` as in `versions`."""
    known = table().operators.get("" if domain == "ai.onnx" else domain, ())
    return tuple(name for name in known if versions(domain, name, standard=standard))


def domains() -> tuple[str, ...]:
    """Return every domain that has operators here, ONNX's own ("") first."""
    return tuple(table().operators)


def latest_opset(domain: str) -> int | None:
    """Return the newest opset of a domain that the table knows, or None for a domain that it does not know."""
    return table().latest.get("" if domain == "ai.onnx" else domain)


@record
class Known:
    """The versions of one operator, ascending, and the line of each."""

    versions: list[int]
    lines: list[str]


@record
class Table:
    """The table, split into lines but not yet parsed."""

    operators: dict[str, dict[str, Known]]
    latest: dict[str, int]
    standard: set[str]
    """The domains of ONNX."""
    types: dict[str, str]


@cache
def table() -> Table:
    """Read the table."""
    from sardonyx.ops.signature_table import TABLE

    operators: dict[str, dict[str, Known]] = {}
    latest: dict[str, int] = {}
    standard: set[str] = set()
    types: dict[str, str] = {}
    section: dict[str, Known] = {}
    for line in TABLE.splitlines():
        word, second, rest = line.split(" ", 2)
        if word == "types":
            types[second] = rest
        elif word == "domain":
            domain = "" if second == "ai.onnx" else second
            origin, _, newest = rest.partition(" ")
            if origin == "onnx":
                standard.add(domain)
            latest[domain] = int(newest)
            section = operators[domain] = {}
        elif word in section:
            section[word].versions.append(int(second))
            section[word].lines.append(line)
        else:
            section[word] = Known([int(second)], [line])
    return Table(operators, latest, standard, types)


@cache
def type_set(key: str) -> frozenset[str]:
    """Return the set of types that a key stands for: the same object every time."""
    return frozenset(table().types[key].split(" "))


@cache
def parse(domain: str, line: str) -> Signature:
    """Return what a line says."""
    head, *columns = line.split(" | ")
    op_type, since, flags = head.split(" ")
    inputs, outputs, attributes, constraints = ([] if column == "-" else column.split(" ") for column in columns)
    types = {}
    for constraint in constraints:
        name, _, key = constraint.partition("=")
        types[name] = type_set(key)
    formal_inputs = tuple(formal(text, types) for text in inputs)
    formal_outputs = tuple(formal(text, types) for text in outputs)
    min_inputs, max_inputs = arity(formal_inputs)
    min_outputs, max_outputs = arity(formal_outputs)
    return Signature(
        domain=domain,
        op_type=op_type,
        since_version=int(since),
        deprecated="D" in flags,
        standard="R" not in flags,
        function="fixed" if "F" in flags else "by-node" if "C" in flags else "",
        inputs=formal_inputs,
        outputs=formal_outputs,
        attributes=MappingProxyType({known.name: known for known in map(attribute, attributes)}),
        type_constraints=MappingProxyType(types),
        min_inputs=min_inputs,
        max_inputs=max_inputs,
        min_outputs=min_outputs,
        max_outputs=max_outputs,
    )


def formal(text: str, types: Mapping[str, frozenset[str]]) -> Formal:
    """Return the parameter that `name:type` and a mark describe."""
    name, _, rest = text.partition(":")
    kind = rest.rstrip("0123456789") if "*" in rest or "~" in rest else rest
    mark, least = kind[-1], rest[len(kind) :]
    if mark not in "?*~":
        return Formal(name, "single", kind, types.get(kind) or frozenset((kind,)))
    kind = kind[:-1]
    allowed = types.get(kind) or frozenset((kind,))
    if mark == "?":
        return Formal(name, "optional", kind, allowed)
    return Formal(name, "variadic", kind, allowed, mark == "*", int(least or 1))


def attribute(text: str) -> AttributeSignature:
    """Return the attribute that `name:KIND!=default` describes."""
    name, _, rest = text.partition(":")
    word, has_default, default = rest.partition("=")
    kind = AttrKind[word.rstrip("!")]
    value: Default | None = None
    if has_default:
        if kind == AttrKind.INT:
            value = int(default)
        elif kind == AttrKind.FLOAT:
            value = float(default)
        elif kind == AttrKind.STRING:
            value = default.encode()
        elif kind == AttrKind.INTS:
            value = tuple(map(int, default.split(",")))
        elif kind == AttrKind.FLOATS:
            value = tuple(map(float, default.split(",")))
        else:  # STRINGS: the generator writes no other kind
            value = tuple(item.encode() for item in default.split(","))
    return AttributeSignature(name, kind, word.endswith("!"), value)


def arity(formals: tuple[Formal, ...]) -> tuple[int, int | None]:
    """Return the least and the greatest number of actual values; None for no end.

    An optional parameter before a required one still takes a place (as ""), so the least number reaches the last
    required one. Only the last parameter may be variadic, and it counts from where it stands.
    """
    least = 0
    for position, formal in enumerate(formals):
        if formal.option == "single":
            least = position + 1
        elif formal.option == "variadic":
            return position + formal.min_arity, None
    return least, len(formals)


def at(formals: tuple[Formal, ...], position: int) -> Formal | None:
    """Return the parameter for the actual value at `position`: the last one repeats when it is variadic."""
    if position < len(formals):
        return formals[position]
    return formals[-1] if formals and formals[-1].option == "variadic" else None


def is_extra(line: str) -> bool:
    """Tell whether only onnxruntime registers what a line describes."""
    return "R" in line[: line.index(" | ")].rpartition(" ")[2]
