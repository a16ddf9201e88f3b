"""Decide whether a Scan runs its body exactly once, or say why that is not known (decisions C1 and C2)."""

from __future__ import annotations

from sardonyx.ir.attrs import AttrKind, AttrRef
from sardonyx.ir.types import DType, TensorType
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.dims import Dim
    from sardonyx.ir.graph import Graph, Node, Value
    from sardonyx.ir.types import Type

    TypeOf = Callable[[Value], Type | None]


REASONS = {
    "opset-8": "Scan before opset 9 has a batch axis and sequence lengths",
    "malformed": "the node and its body do not fit together",
    "attribute-reference": "an attribute takes its value from a function's attribute",
    "no-state": "there is no recurrent state, and require_state asks for one",
    "control-flow-in-body": "the body contains control flow",
    "omitted-input": "a state or scan input is omitted",
    "no-trips": "the scan axis has extent 0, so the body never runs",
    "many-trips": "the scan axis is longer than 1",
    "extents-differ": "the scan inputs have different extents",
    "extent-symbolic": "the extent of the scan axis is not known to be 1; assume_single_trip vouches for it",
    "axis-out-of-range": "a scan axis is not among the axes of its tensor",
    "axis-needs-rank": "a negative axis counts from a rank that is not known",
    "element-type": "Squeeze and Unsqueeze of this opset do not take the element type of a scan input or output",
    "in-function": "the node stands in the body of a model-local function; inline functions first",
}
"""Why a Scan was left alone, in words."""


FLOAT8 = (DType.FLOAT8E4M3FN, DType.FLOAT8E4M3FNUZ, DType.FLOAT8E5M2, DType.FLOAT8E5M2FNUZ)
TAKES_FLOAT8 = 19
"""Scan takes 8-bit floats from this opset on,"""
SQUEEZES_FLOAT8 = 21
"""but Squeeze and Unsqueeze only from this one; all later element types came to the three of them together."""


class Ineligible(Exception):
    """Ends the examination of a Scan that is left alone."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@record
class Extent:
    """The length of a scan axis that somebody has to vouch for."""

    value: Value
    """The scan input."""
    axis: int
    """Its scan axis, counted from the front."""
    dim: Dim | None
    """What is known of the extent; None when the rank is not known."""


@record
class Plan:
    """How one Scan is taken apart."""

    node: Node
    body: Graph
    states: int
    """How many of the inputs and outputs are recurrent states."""
    input_axes: tuple[int, ...]
    """Per scan input: its scan axis, counted from the front."""
    output_axes: tuple[int, ...]
    """Per scan output: where the axis goes, counted from the front."""
    to_check: tuple[Extent, ...]
    """Extents that must be 1 at run time; empty when one trip is certain."""


def plan_for(node: Node, type_of: TypeOf, opset: int, *, assume_single_trip: bool, require_state: bool) -> Plan:
    """Return how to take a Scan apart.

    Raises:
        Ineligible: it is to be left alone.
    """
    if opset < 9:
        raise Ineligible("opset-8")
    if any(isinstance(attr, AttrRef) for attr in node.attrs.values()):
        raise Ineligible("attribute-reference")
    body = node.bodies.get("body")
    scans = attribute(node, "num_scan_inputs", AttrKind.INT, None)
    if body is None or isinstance(body, tuple) or not isinstance(scans, int) or not 1 <= scans <= len(node.inputs):
        raise Ineligible("malformed")
    states = len(node.inputs) - scans
    stacked = len(body.outputs) - states
    if len(body.inputs) != len(node.inputs) or stacked < 0 or len(node.outputs) > len(body.outputs):
        raise Ineligible("malformed")
    if states == 0 and require_state:
        raise Ineligible("no-state")
    if any(inner.bodies for inner in body.nodes):
        raise Ineligible("control-flow-in-body")
    if any(value is None for value in node.inputs):
        raise Ineligible("omitted-input")
    in_axes = axes(node, "scan_input_axes", scans)
    out_axes = axes(node, "scan_output_axes", stacked)
    scanned = [value for value in node.inputs[states:] if value is not None]
    extents = [extent_of(value, axis, type_of(value)) for value, axis in zip(scanned, in_axes, strict=True)]
    wanted = (*node.outputs[states:], *[None] * stacked)
    stack = list(zip(out_axes, body.outputs[states:], wanted, strict=False))
    if TAKES_FLOAT8 <= opset < SQUEEZES_FLOAT8:
        moved = [*scanned, *(value for _, inner, outer in stack for value in (inner, outer) if outer is not None)]
        if any(getattr(type_of(value), "dtype", None) in FLOAT8 for value in moved if value is not None):
            raise Ineligible("element-type")
    placed = tuple(0 if outer is None else output_axis(axis, inner, outer, type_of) for axis, inner, outer in stack)
    return Plan(node, body, states, tuple(one.axis for one in extents), placed, certain(extents, assume_single_trip))


def certain(extents: list[Extent], assume: bool) -> tuple[Extent, ...]:
    """Return the extents to check at run time, none when one trip is certain; refuse any other number of trips."""
    numbers = {one.dim for one in extents if isinstance(one.dim, int)}
    if len(numbers) > 1:
        raise Ineligible("extents-differ")
    if numbers:
        (only,) = numbers
        if only != 1:
            raise Ineligible("no-trips" if only == 0 else "many-trips")
        return ()  # all scan inputs have one length, so one extent of 1 decides
    if not assume:
        raise Ineligible("extent-symbolic")
    return tuple(extents)


def extent_of(value: Value, axis: int, kind: Type | None) -> Extent:
    """Find a scan axis and its extent."""
    shape = kind.shape if isinstance(kind, TensorType) else None
    if shape is None:
        if axis < 0:
            raise Ineligible("axis-needs-rank")
        return Extent(value, axis, None)
    if not -len(shape) <= axis < len(shape):
        raise Ineligible("axis-out-of-range")
    axis %= len(shape)
    return Extent(value, axis, shape[axis])


def output_axis(axis: int, inner: Value, outer: Value, type_of: TypeOf) -> int:
    """Count an output's axis from the front; the output has one axis more than the body's value."""
    ranks = set()
    for value, more in ((outer, 0), (inner, 1)):
        kind = type_of(value)
        if isinstance(kind, TensorType) and kind.shape is not None:
            ranks.add(len(kind.shape) + more)
    if not ranks:
        if axis < 0:
            raise Ineligible("axis-needs-rank")
        return axis
    if len(ranks) > 1:
        raise Ineligible("malformed")
    (rank,) = ranks
    if not -rank <= axis < rank:
        raise Ineligible("axis-out-of-range")
    return axis % rank


def axes(node: Node, name: str, count: int) -> tuple[int, ...]:
    """Return a list of axes: as many as there are inputs or outputs, zeros when absent."""
    found = attribute(node, name, AttrKind.INTS, (0,) * count)
    if not isinstance(found, tuple) or len(found) != count:
        raise Ineligible("malformed")
    return found


def attribute(node: Node, name: str, kind: AttrKind, default: object) -> object:
    """Return an attribute's value; one of another kind is malformed."""
    attr = node.attrs.get(name)
    if attr is None:
        return default
    if attr.kind is not kind:
        raise Ineligible("malformed")
    return attr.value
