"""Rules for If and Loop; Scan has a file of its own."""

from __future__ import annotations

from sardonyx.dims import DIM_MAX, Expr, Scope
from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.call import Fact
from sardonyx.ops.common.join import Join
from sardonyx.ops.common.settle import Settled
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

    from sardonyx.dims import Dim
    from sardonyx.ir.graph import Graph, Value
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Call, Content

rules = Rules("")


@rules("If", since=1)
def if_(call: Call) -> tuple[Fact | None, ...]:
    """Join what both branches return; where the condition is known, the branch that it takes."""
    branches = (call.graph("then_branch"), call.graph("else_branch"))
    for name, branch in zip(("then_branch", "else_branch"), branches, strict=True):
        if len(branch.outputs) < call.outputs:
            call.fail(
                "body-interface", f"{name} returns {len(branch.outputs)} values, {call.outputs} are needed", attr=name
            )
    known = call.known(0)
    if known is not None and len(known) == 1 and isinstance(known[0], bool):
        taken, other = branches if known[0] else branches[::-1]
        call.service.tell("branch", "then_branch" if known[0] else "else_branch")
        mark = call.service.begin()  # the other branch never runs: its values get types, nothing else counts
        call.run_body(other, ())
        call.service.undo(mark)
        return tuple(call.run_body(taken, ()))
    ones, others = [call.run_body(branch, (), certain=False) for branch in branches]
    join = Join(call.scope, "if", True)
    return tuple(
        [joined(call, join, at, one, other) for at, (one, other) in enumerate(zip(ones, others, strict=False))]
    )


def joined(call: Call, join: Join, at: int, one: Fact | None, other: Fact | None) -> Fact | None:
    """Join one output of two branches."""
    a, b = None if one is None else one.type, None if other is None else other.type
    if one is None or other is None or a is None or b is None:
        return None
    if (
        isinstance(a, TensorType)
        and isinstance(b, TensorType)
        and a.dtype is not b.dtype
        and a.dtype is not None
        and b.dtype is not None
    ):
        call.fail("bad-element-type", f"output {at} is {a.dtype.text} in then_branch but {b.dtype.text} in else_branch")
    kind = join.type(a, b)
    return Fact(kind, join.content(one.content, other.content, kind))


@rules("Loop", since=1)
def loop(call: Call) -> tuple[Fact | None, ...]:
    """Run the body while the condition holds, at most M times; stack what it returns beside its states."""
    body = call.graph("body")
    states = max(call.count - 2, 0)
    scans = len(body.outputs) - 1 - states
    if len(body.inputs) != states + 2 or scans < 0 or call.outputs > states + scans:
        call.fail(
            "body-interface",
            f"the body takes {len(body.inputs)} values and returns {len(body.outputs)}; for {states} states and "
            f"{call.outputs} outputs it must take {states + 2} and return at least {max(states, call.outputs) + 1}",
            attr="body",
        )
    most = limit(call)
    start = call.known(1) if call.has(1) else (True,)
    begins = start[0] if start is not None and len(start) == 1 else None
    if begins is False:
        most = 0
    initial = [call.peek(at + 2) for at in range(states)]
    contents = [call.known(at + 2) for at in range(states)]
    iteration = call.fresh("i")  # the loop's own, as all symbols that come after it
    if isinstance(most, int) and most > 0:
        Scope.note_at_least(call.scope, most - 1, iteration)  # past the inference: it is no news to anybody
    fixed = [counter(body, 0, DType.INT64), counter(body, 1, DType.BOOL)]
    certain = begins is True and (not call.has(0) or (most is not None and call.scope.is_positive(most)))

    def run(kinds: list[Type | None], known: list[Content | None], varied: Set[int]) -> list[Fact | None]:
        elements = ((iteration,), (True,), *known)
        places = frozenset(at + 2 for at in varied)
        return call.run_body(body, [*fixed, *kinds], elements, varied=places, certain=certain)

    dead = call.service.begin() if most == 0 else None
    settled = Settled(call, body, initial, contents, (2, 1), run, iteration)
    if dead is not None:
        call.service.undo(dead)
        unchanged = [None if kind is None else Fact(kind, known) for kind, known in zip(initial, contents, strict=True)]
        stacked = [settled.stacked(fact, 0, 0) for fact in settled.outs[1 + states :]]
        return (*unchanged, *[None if kind is None else Fact(kind) for kind in stacked])
    exact = begins is True and most is not None and is_true(settled.outs[0])
    length: Dim
    if exact and most is not None:
        length = most
    else:
        length = call.fresh("trips")
        if most is not None:
            call.scope.note_at_least(most, length)
    results: list[Fact | None] = []
    for at in range(states):
        kind = settled.outcome(at, length, exact)
        results.append(None if kind is None else Fact(kind, settled.content(at, length, exact)))
    for fact in settled.outs[1 + states :]:
        stack = settled.stacked(fact, 0, length)
        results.append(None if stack is None else Fact(stack))
    return tuple(results)


def limit(call: Call) -> Dim | None:
    """Return how often a Loop runs at most, None when nothing is known: `max(M, 0)`."""
    if not call.has(0):
        return None
    trips = call.scalar(0)
    if trips is None or isinstance(trips, bool) or not isinstance(trips, (int, Expr)):
        return None
    if isinstance(trips, int) and trips >= DIM_MAX:  # how exporters write that there is no limit
        return None
    return call.scope.maximum(trips, 0)


def counter(body: Graph, at: int, dtype: DType) -> TensorType:
    """Return the type of the iteration number or the condition: a scalar, or one element if the body declares that."""
    value: Value = body.inputs[at]
    for declared in body.declared:
        if declared.value is value and isinstance(declared.type, TensorType) and declared.type.rank == 1:
            return TensorType(dtype, (1,))
    return TensorType(dtype, ())


def is_true(fact: Fact | None) -> bool:
    """Whether a condition is known to hold."""
    return fact is not None and fact.content is not None and len(fact.content) == 1 and fact.content[0] is True
