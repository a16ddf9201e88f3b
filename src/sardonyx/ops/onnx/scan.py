"""Rules for Scan: opset 8 with its batch axis, and the form from 9 on."""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.call import Fact
from sardonyx.ops.common.settle import Settled
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from sardonyx.dims import Dim
    from sardonyx.ir.graph import Graph
    from sardonyx.ir.types import Shape, Type
    from sardonyx.ops.call import Call, Content

rules = Rules("")


@rules("Scan", since=8)
def scan8(call: Call) -> tuple[Fact | None, ...]:
    """Scan along axis 1; axis 0 is a batch axis that the body does not see, also in the states."""
    body = call.graph("body")
    first = 1  # input 0 is sequence_lens
    states, scans = interface(call, body, call.count - first)
    batch: Dim | None = None
    length: Dim | None = None
    initial: list[Type | None] = []
    elements: list[Type | None] = []
    for at in range(states + scans):
        kind = tensor(call, first + at)
        dims = None if kind is None else kind.shape
        if kind is None or dims is None:
            (initial if at < states else elements).append(None if kind is None else kind.with_shape(None))
            continue
        least = 1 if at < states else 2
        if len(dims) < least:
            call.fail("rank-mismatch", f"input {first + at} has {len(dims)} dims, needs at least {least}")
        batch = shared(call, batch, dims[0], "batch sizes")
        if at >= states:
            length = shared(call, length, dims[1], "lengths")
        (initial if at < states else elements).append(kind.with_shape(dims[least:]))
    if batch is None:
        batch = call.fresh("batch")
    if length is None:
        length = call.fresh("trips")
    certain = call.scope.is_positive(length) and call.scope.is_positive(batch)
    settled = settle(call, body, initial, [None] * states, elements, certain and not call.has(0))
    if certain and not call.has(0):  # with lengths of their own, the parts of a batch may take fewer steps
        check_states(call, settled, length)
    results: list[Fact | None] = []
    for at in range(states):
        state = settled.outcome(at, length, True) if certain else joined(settled, at)
        results.append(None if state is None else Fact(added(state, 0, batch)))
    for fact in settled.outs[states:]:
        stack = settled.stacked(fact, 0, length)
        results.append(None if stack is None else Fact(added(stack, 0, batch)))
    return tuple(results)


def joined(settled: Settled, at: int) -> Type | None:
    """Return what a state is after some number of trips that is not the length."""
    return settled.outcome(at, None, False)


def added(kind: Type, axis: int, dim: Dim) -> Type:
    """Return a tensor type with one more dim."""
    if not isinstance(kind, TensorType) or kind.shape is None:
        return kind
    return kind.with_shape((*kind.shape[:axis], dim, *kind.shape[axis:]))


@rules("Scan", since=9)
def scan(call: Call) -> tuple[Fact | None, ...]:
    """Give the body one slice of each scanned input at a time, and stack the slices that it returns.

    All scanned inputs have one length. A direction changes the order of slices, not the shape.
    """
    body = call.graph("body")
    states, scans = interface(call, body, call.count)
    returned = len(body.outputs) - states
    axes = axes_of(call, "scan_input_axes", scans)
    out_axes = axes_of(call, "scan_output_axes", returned)
    for name, count in (("scan_input_directions", scans), ("scan_output_directions", returned)):
        directions = call.ints(name, None)
        if directions is not None and (len(directions) != count or any(one not in (0, 1) for one in directions)):
            call.fail("bad-attribute", f"{list(directions)} must be {count} numbers, each 0 or 1", attr=name)
    initial: list[Type | None] = [call.peek(at) for at in range(states)]
    length: Dim | None = None
    elements: list[Type | None] = []
    for at, axis in enumerate(axes):
        kind = tensor(call, states + at)
        if kind is None or kind.shape is None:
            elements.append(kind)
            continue
        axis = call.axis(axis, len(kind.shape), f"scan axis of input {states + at},", "scan_input_axes")
        length = shared(call, length, kind.shape[axis], "lengths")
        elements.append(kind.with_shape(kind.shape[:axis] + kind.shape[axis + 1 :]))
    if length is None:
        length = call.fresh("trips")
    contents = [call.known(at) for at in range(states)]
    settled = settle(call, body, initial, contents, elements, call.scope.is_positive(length))
    check_states(call, settled, length)
    results: list[Fact | None] = []
    for at in range(states):
        state = settled.outcome(at, length, True)
        results.append(None if state is None else Fact(state, settled.content(at, length, True)))
    for fact, axis in zip(settled.outs[states:], out_axes, strict=True):
        inner = None if fact is None else fact.type
        if isinstance(inner, TensorType) and inner.shape is not None:
            axis = call.axis(axis, len(inner.shape) + 1, "scan axis of an output,", "scan_output_axes")
        stack = settled.stacked(fact, axis, length)
        results.append(None if stack is None else Fact(stack))
    return tuple(results)


def interface(call: Call, body: Graph, given: int) -> tuple[int, int]:
    """Return the number of states and of scanned inputs; refuse a body that takes or returns another number."""
    scans: int = call.int("num_scan_inputs")
    states = given - scans
    if scans < 1 or states < 0:
        call.fail("bad-attribute", f"num_scan_inputs={scans} does not fit {given} inputs", attr="num_scan_inputs")
    if len(body.inputs) != given or len(body.outputs) < states or call.outputs > len(body.outputs):
        call.fail(
            "body-interface",
            f"the body takes {len(body.inputs)} values and returns {len(body.outputs)}; for {given} inputs, {states} "
            f"of them states, and {call.outputs} outputs it must take {given} and return at least "
            f"{max(states, call.outputs)}",
            attr="body",
        )
    return states, scans


def axes_of(call: Call, name: str, count: int) -> Sequence[int]:
    """Return the axes that an attribute gives, 0 without it."""
    axes: tuple[int, ...] | None = call.ints(name, None)
    if axes is None:
        return (0,) * count
    if len(axes) != count:
        call.fail("bad-attribute", f"{list(axes)} must be {count} axes", attr=name)
    return axes


def tensor(call: Call, at: int) -> TensorType | None:
    """Return the type of an input, None when it is not known; refuse what is no tensor."""
    kind = call.peek(at)
    if kind is None and not call.has(at):
        call.missing(at)
    if kind is not None and not isinstance(kind, TensorType):
        call.fail("wrong-kind", f"input {at} is a {kind.type_str}, not a tensor")
    return kind


def shared(call: Call, one: Dim | None, other: Dim, what: str) -> Dim:
    """Return the dim that inputs share: a number where one is known, else the first."""
    if one is None or one == other:
        return other
    if call.scope.equal(one, other) is False:
        call.fail("dim-mismatch", f"the {what} of scanned inputs differ: {one} and {other}")
    call.assume("joined-dims", one, other)
    return other if isinstance(other, int) and not isinstance(one, int) else one


def settle(
    call: Call,
    body: Graph,
    initial: list[Type | None],
    contents: list[Content | None],
    elements: list[Type | None],
    certain: bool,
) -> Settled:
    """Find the types of the states; the body is `certain` to run, or may not."""

    def run(kinds: list[Type | None], known: list[Content | None], varied: Set[int]) -> list[Fact | None]:
        return call.run_body(body, [*kinds, *elements], known, varied=varied, certain=certain)

    return Settled(call, body, initial, contents, (0, 0), run)


def check_states(call: Call, settled: Settled, length: Dim) -> None:
    """Refuse a body that gives a state another shape, where it provably runs more than once; else warn of it.

    The operator wants the same shape in each iteration. A runtime gives the result of the only iteration the shape that
    it has, and that of the first of several the place of the state before it.
    """
    often = call.scope.at_least(length, 2)
    for at, kind in enumerate(settled.begun):
        fact = settled.once[at] if at < len(settled.once) else None
        out = None if fact is None else fact.type
        if not isinstance(kind, TensorType) or not isinstance(out, TensorType):
            continue
        found = changed(call, kind.shape, out.shape)
        if found is None:
            continue
        code, message = found
        message = f"state {at} {message} after an iteration"
        if often:
            call.fail(code, message, hint="a Loop may change the shapes of its states, a Scan must not")
        if often is None:
            call.warn(code, f"{message}, so that a second one does not run")


def changed(call: Call, before: Shape | None, after: Shape | None) -> tuple[str, str] | None:
    """Return a code and words for how two shapes are different for all sizes, None when they may be alike."""
    if before is None or after is None:
        return None
    if len(before) != len(after):
        return "rank-mismatch", f"has {len(before)} dims, and {len(after)}"
    for axis, (one, other) in enumerate(zip(before, after, strict=True)):
        if call.scope.equal(one, other) is False:
            return "dim-mismatch", f"is {one} on axis {axis}, and {other}"
    return None
