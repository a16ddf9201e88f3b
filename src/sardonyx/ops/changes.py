"""Tell whether a node means the same under another opset.

Three questions, from strict to useful: `same_schema` asks whether the very same version of the operator is in force;
`compatible` whether the version in force there accepts the node and gives it the same meaning; `difference` is the
reason why it does not. Two things decide: the signatures, compared structurally, and `CHANGES`, the versions that keep
the form of an operator and change what it does, collected by comparing the text of every two successive versions whose
signatures are compatible. A version that this list has not been checked against is never called compatible.
"""

from __future__ import annotations

from sardonyx.ir.types import DType
from sardonyx.ops.signatures import latest_opset, signature, versions
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sardonyx.ir.graph import Node
    from sardonyx.ops.signatures import Formal, Signature

    Condition = Callable[[Node], bool]

REVIEWED = {"": 28, "ai.onnx.ml": 5}
"""Up to which opset the operators of a domain were compared for CHANGES; the other domains have one version of each."""


def same_schema(domain: str, op_type: str, a: int, b: int) -> bool:
    """Tell whether two opsets have the same version of an operator in force: the same `since_version`.

    False when either opset has no such operator, or when they differ and one is newer than the table.
    """
    old, new = signature(domain, op_type, a), signature(domain, op_type, b)
    if old is None or new is None or old.since_version != new.since_version:
        return False
    return a == b or max(a, b) <= (latest_opset(domain) or 0)


def compatible(domain: str, op_type: str, a: int, b: int, node: Node | None = None) -> bool:
    """Tell whether a node that was written for opset `a` means the same under opset `b`; unknown counts as no.

    An older version never counts as compatible: a signature does not show which values of an attribute are new. With
    the node at hand the answer is more often yes: a change that concerns one attribute value is then no obstacle to a
    node without it. Bodies of the node are not looked at: ask about their nodes one by one.
    """
    return difference(domain, op_type, a, b, node) is None


def difference(domain: str, op_type: str, a: int, b: int, node: Node | None = None) -> str | None:
    """Return why a node that was written for opset `a` may mean something else under `b`; None when it does not.

    The text continues a sentence such as "Softmax changed between opset 11 and 13: ...".
    """
    old, new = signature(domain, op_type, a), signature(domain, op_type, b)
    if not versions(domain, op_type, standard=False):
        return "no version of it is known"
    if old is None:
        return f"opset {a} has no such operator"
    if new is None:
        return f"opset {b} has no such operator"
    if a != b and max(a, b) > (latest_opset(domain) or 0):
        return f"opset {max(a, b)} is newer than {latest_opset(domain)}, the newest one known"
    if old.since_version == new.since_version:
        return None
    if old.since_version > new.since_version:
        return f"opset {b} has version {new.since_version}, which is older than {old.since_version}"
    if new.deprecated:
        return f"it is withdrawn from opset {new.since_version} on"
    if new.since_version > REVIEWED.get(old.domain, 0):
        return f"version {new.since_version} has not been compared with the one before it"
    return stepwise(old, new) or semantic(old, new, node)


def stepwise(old: Signature, new: Signature) -> str | None:
    """Return the first structural difference on the way from one version to another, or None.

    Every step counts, also where the two ends agree again: CHANGES says nothing about a step that breaks the form.
    """
    before = old
    for since in versions(old.domain, old.op_type, standard=False):
        after = signature(old.domain, old.op_type, since)
        if after is not None and old.since_version < since <= new.since_version:
            reason = structural(before, after)
            if reason is not None:
                return reason
            before = after
    return None


def structural(old: Signature, new: Signature) -> str | None:
    """Return the first thing that `old` allows and `new` does not, or None: names, counts, kinds, defaults, types."""
    return (
        compare_formals("input", old.inputs, new.inputs)
        or compare_formals("output", old.outputs, new.outputs)
        or compare_ties(old, new)
        or compare_attributes(old, new)
    )


def compare_formals(what: str, old: tuple[Formal, ...], new: tuple[Formal, ...]) -> str | None:
    """Compare formal parameters: the same ones in the same order, none stricter, then only optional ones."""
    if len(new) < len(old):
        return f"{what} {old[len(new)].name} is gone"
    for before, after in zip(old, new, strict=False):
        if before.name != after.name:
            return f"{what} {before.name} became {after.name}"
        if before.option != after.option and (before.option, after.option) != ("single", "optional"):
            return f"{what} {before.name} was {before.option} and is {after.option}"
        if after.min_arity > before.min_arity or after.homogeneous != before.homogeneous:
            return f"{what} {before.name} takes other numbers or mixtures of values"
        if not before.types <= after.types:
            return f"{what} {before.name} no longer allows {', '.join(sorted(before.types - after.types))}"
    for added in new[len(old) :]:
        if added.option != "optional":
            return f"{what} {added.name} is new and {added.option}"
    return None


def compare_ties(old: Signature, new: Signature) -> str | None:
    """Compare which parameters must have one type: no new tie, and no output whose type is no longer decided by one.

    A tie between inputs may go (BatchNormalization 15 lets `scale` differ from `X`); an output must stay tied to one of
    the inputs that it was tied to, for only then does it keep its type.
    """
    outputs = len(old.outputs)
    before = [*old.outputs, *old.inputs]
    after = [*new.outputs[:outputs], *new.inputs[: len(old.inputs)]]
    for i in range(len(before)):
        for j in range(i):
            if is_tied(after[i], after[j]) and not is_tied(before[i], before[j]):
                return f"{before[j].name} and {before[i].name} must now have one type"
    for i in range(outputs):
        tied = [j for j in range(outputs, len(before)) if is_tied(before[i], before[j])]
        if tied and not any(is_tied(after[i], after[j]) for j in tied):
            return f"output {before[i].name} need no longer have the type of {before[tied[0]].name}"
    return None


def is_tied(a: Formal, b: Formal) -> bool:
    """Tell whether two parameters always have one type."""
    return a.type_str == b.type_str or (len(a.types) == 1 and a.types == b.types)


def compare_attributes(old: Signature, new: Signature) -> str | None:
    """Compare attributes: all still there with the same kind and default, and no new one that is required."""
    for name, before in old.attributes.items():
        after = new.attributes.get(name)
        if after is None:
            return f"attribute {name} is gone"
        if after.kind != before.kind:
            return f"attribute {name} was {before.kind.name} and is {after.kind.name}"
        if before.required:  # it is always there, so that neither a default nor an absence counts
            continue
        if after.required:
            return f"attribute {name} is now required"
        if after.default != before.default:
            return f"the default of attribute {name} was {before.default!r} and is {after.default!r}"
    for name, after in new.attributes.items():
        if after.required and name not in old.attributes:
            return f"attribute {name} is new and required"
    return None


def semantic(old: Signature, new: Signature, node: Node | None) -> str | None:
    """Return the reason of the first recorded change between two versions that concerns the node, or None."""
    for change in CHANGES:
        if (
            change.op_type == old.op_type
            and change.domain == old.domain
            and old.since_version < change.since <= new.since_version
            and (node is None or change.when is None or change.when(node))
        ):
            return change.reason
    return None


@record
class Change:
    """A version that keeps the form of an operator and changes what it does."""

    domain: str
    op_type: str
    since: int
    reason: str
    when: Condition | None = None
    """Which nodes it concerns; None for all."""


def gives(name: str, concerns: Callable[[Any], bool] = lambda value: True) -> Condition:
    """Return a condition: the node has the attribute, with a value that `concerns` picks or one that is not known."""

    def is_given(node: Node) -> bool:
        attr = node.attrs.get(name)
        return attr is not None and (attr.value is None or concerns(attr.value))

    return is_given


def has_input(position: int) -> Condition:
    """Return a condition: the node has an input at a position."""
    return lambda node: position < len(node.inputs) and node.inputs[position] is not None


def lacks_input(position: int) -> Condition:
    """Return a condition: the node has no input at a position."""
    return lambda node: position >= len(node.inputs) or node.inputs[position] is None


SAME = (b"SAME_UPPER", b"SAME_LOWER")
"""The values of auto_pad that leave the amount of padding to the operator."""

FNUZ = (DType.FLOAT8E4M3FNUZ, DType.FLOAT8E5M2FNUZ)
"""The element types of 8 bits that have neither infinity nor a negative zero."""


def is_old_mode(value: bytes) -> bool:
    """Tell whether a coordinate_transformation_mode is one that Resize 13 dropped."""
    return value == b"tf_half_pixel_for_nn"


OVERHANG = "with ceil_mode, windows that would start in the padding at the end no longer count"
INFINITY = "infinity becomes the largest value of a float8 FNUZ type; it gave NaN before"
ODD_PADDING = "an odd total padding is split the other way round"

CHANGES = (
    Change("", "Attention", 24, "a mask whose last axis is short is padded with -inf, not broadcast", has_input(3)),
    Change("", "AveragePool", 22, OVERHANG, gives("ceil_mode", lambda value: value != 0)),
    Change("", "Cast", 24, INFINITY, gives("to", lambda value: value in FNUZ)),
    Change("", "CastLike", 24, INFINITY),
    Change("", "ConvTranspose", 11, ODD_PADDING, gives("output_shape")),
    Change("", "ConvTranspose", 11, ODD_PADDING, gives("auto_pad", lambda value: value in SAME)),
    Change("", "Dropout", 22, "without a ratio, training drops half; 13 also calls that a copy", lacks_input(1)),
    Change("", "MaxPool", 22, OVERHANG, gives("ceil_mode", lambda value: value != 0)),
    Change("", "OneHot", 11, "a negative index counts from the end; it gave off_value everywhere before"),
    Change("", "PRelu", 7, "slope is broadcast from the last axis; it ran along axis 1 before"),
    Change("", "Resize", 13, "sizes excludes scales, of which an empty one had to stand beside it", has_input(3)),
    Change("", "Resize", 13, "tf_half_pixel_for_nn is gone", gives("coordinate_transformation_mode", is_old_mode)),
    Change("", "RoiAlign", 16, "boxes are shifted by half a pixel unless the node asks for output_half_pixel"),
    Change("", "Split", 18, "without the input split, num_outputs has to be given", lacks_input(1)),
    Change("ai.onnx.ml", "LabelEncoder", 4, "float keys match by value, no longer bit by bit", gives("keys_floats")),
)
"""Every version up to REVIEWED that is structurally compatible with the one before it and yet means something else.

Not here, since they only allow more or settle what was left open: negative axes (opset 11), broadcasting in Max, Min,
Mean and Sum (8), new element types, modes and reductions, Clip with min above max (13), BitShift by too much (28), Mod
of floats (28). Not here either: the formula for auto_pad of AveragePool 11, which contradicts its own attribute text
and which version 19 mends.
"""
