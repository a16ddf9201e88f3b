"""Find types of a loop's states that hold in every iteration: join, run again, until nothing changes (decision S8)."""

from __future__ import annotations

from sardonyx.dims import Expr, TooLarge
from sardonyx.ir.types import DType, OptionalType, SequenceType, TensorType
from sardonyx.ops.call import INTEGERS, Quotient, Ratio, Test
from sardonyx.ops.common.integers import fit
from sardonyx.ops.common.join import Join, Renewal, common, mapped
from sardonyx.ops.common.widening import Widening
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from sardonyx.dims import Dim, Symbol
    from sardonyx.ir.graph import Graph
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Call, Content, Element, Fact

    Run = Callable[[list[Type | None], list[Content | None], Set[int]], list[Fact | None]]
    """Runs the body with given states: types, elements, the positions of those known to change from run to run."""

PATIENCE = 4
"""Passes after which every dim is let go; twice as many, and every rank is; then every type."""


@record
class Joined:
    """What an iteration makes of a state; only who reads a log prints it, since printing names symbols."""

    at: int
    before: Type | None
    after: Type | None

    def __str__(self) -> str:
        return f"state {self.at}: {self.before} becomes {self.after}"


class Settled:
    """The states of a loop, and what its body makes of them."""

    def __init__(
        self,
        call: Call,
        body: Graph,
        initial: list[Type | None],
        contents: list[Content | None],
        at: tuple[int, int],
        run: Run,
        iteration: Symbol | None = None,
    ) -> None:
        self.call = call
        self.scope = call.scope
        self.body = body
        self.initial = initial
        self.contents = contents
        """What is known of the states' elements before the loop."""
        self.entry, self.first = at
        """Where the states begin among the body's inputs and outputs."""
        self.iteration = iteration
        """The number of the iteration, where the body is told."""
        self.start = call.scope.pool.numbers if iteration is None else iteration.number
        """Number of the first anonymous symbol that is the loop's own."""
        self.renewal = Renewal(call.scope, self.start)
        self.widening = Widening(call.scope, self.renewal)
        self.gone = call.service.let_go(body)
        self.begun = self.gone.begin(initial, self.widening)
        """The states as the first pass had them: those before the loop, less what this loop let go before."""
        self.states = list(self.begun)
        self.steady = [
            None if at in self.gone.steady else steady(kind, content)
            for at, (kind, content) in enumerate(zip(initial, contents, strict=True))
        ]
        """Elements that are taken to stay, until an iteration changes them."""
        self.outs: list[Fact | None] = []
        self.once: list[Fact | None] = []
        """What the body makes of the states as they begin."""
        self.settle(call, run)

    def settle(self, call: Call, run: Run) -> None:
        """Run the body until its states fit what went in."""
        varied = {at for at, (one, other) in enumerate(zip(self.initial, self.begun, strict=True)) if one != other}
        taken = list(self.steady)
        passes = 0
        while True:
            mark = call.service.begin()
            self.outs = run(self.states, self.steady, varied)
            self.once = self.once or self.outs
            self.renewal.kept = captured_symbols(call, self.body)
            joined = [self.joined(at, state) for at, state in enumerate(self.states)]
            stays = [self.stays(at, content) for at, content in enumerate(self.steady)]
            if joined == self.states and stays == self.steady:
                self.gone.note(self.initial, self.states)
                self.gone.note_steady(taken, stays)
                call.service.keep(mark)
                return
            self.steady = stays
            call.service.undo(mark)
            passes += 1
            for at, (state, new) in enumerate(zip(self.states, joined, strict=True)):
                if state != new:
                    varied.add(at)
                    call.service.tell("joined", Joined(at, state, new))
            if passes >= PATIENCE:
                joined = [self.let_go(kind, passes) for kind in joined]
                varied.update(range(len(joined)))
            self.states = joined

    def joined(self, at: int, state: Type | None) -> Type | None:
        """Return what a state may be before and after an iteration."""
        fact = self.outs[self.first + at] if self.first + at < len(self.outs) else None
        return self.widening.type(state, None if fact is None else fact.type)

    def stays(self, at: int, content: Content | None) -> Content | None:
        """Return elements of a state if an iteration left them as they were, else None."""
        fact = self.outs[self.first + at] if self.first + at < len(self.outs) else None
        return content if content is not None and fact is not None and fact.content == content else None

    def let_go(self, kind: Type | None, passes: int) -> Type | None:
        """Return less of a type, so that a long chain of states that change each other comes to an end."""
        if passes >= 3 * PATIENCE:
            return None
        if passes >= 2 * PATIENCE and isinstance(kind, TensorType):
            return kind.with_shape(None)
        if isinstance(kind, TensorType) and kind.shape is not None:
            wide = self.widening
            return kind.with_shape([dim if dim in wide.wide else wide.fresh() for dim in kind.shape])
        return kind

    def outcome(self, at: int, trips: Dim | None, exact: bool) -> Type | None:
        """Return the type of a state after the loop; `trips` is the number of iterations, or the most there can be."""
        fact = self.outs[self.first + at]
        initial, state, out = self.initial[at], self.states[at], None if fact is None else fact.type
        counted = trips if exact else None
        certain = exact and trips is not None and self.scope.is_positive(trips)
        if initial is None or out is None:
            return self.renewal.type(out) if out is not None and certain else None
        if isinstance(initial, TensorType) and isinstance(out, TensorType) and isinstance(state, TensorType):
            dtype = initial.dtype if initial.dtype is out.dtype else None
            if initial.shape is None or out.shape is None or state.shape is None or len(out.shape) != len(state.shape):
                return type(out)(dtype, self.renewal.type(out).shape if certain else None)  # type: ignore[union-attr]
            return type(out)(
                dtype,
                tuple(
                    [
                        self.dim(before, during, after, counted, certain)
                        for before, during, after in zip(initial.shape, state.shape, out.shape, strict=True)
                    ]
                ),
            )
        if isinstance(initial, SequenceType) and isinstance(out, SequenceType) and isinstance(state, SequenceType):
            return self.sequence(initial, state, out, counted, certain)
        if certain:
            return self.renewal.type(out)
        return Join(self.scope, "carried", False).type(initial, self.renewal.type(out))

    def dim(self, before: Dim, during: Dim, after: Dim, trips: Dim | None, certain: bool) -> Dim:
        """Return a dim of a state after the loop, from that before it, and before and after one iteration."""
        if before == after or (after == during and during in self.widening.wide):  # no iteration changes it
            return before
        if trips is not None and during in self.widening.wide:
            try:
                step = after - during
                if isinstance(step, int) or not any(self.renewal.is_old(symbol) for symbol in step.symbols):
                    return before + step * trips  # each iteration adds the same
            except TooLarge:
                pass
        return self.renewal.dim(after) if certain else self.scope.fresh("carried")

    def sequence(
        self, initial: SequenceType, state: SequenceType, out: SequenceType, trips: Dim | None, certain: bool
    ) -> Type:
        """Return the type of a sequence after the loop."""
        if initial == out:
            return initial
        length: Dim | None = None
        if initial.length is not None and state.length is not None and out.length is not None:
            length = self.dim(initial.length, state.length, out.length, trips, certain)
        elem = None if out.elem is None else self.renewal.type(out.elem)
        if not certain and initial.elements != ():
            elem = None if elem is None or initial.elem is None else common(self.scope, (initial.elem, elem))
        return SequenceType(elem, None, length)

    def content(self, at: int, trips: Dim, exact: bool) -> Content | None:
        """Return what is known of the elements of a state after the loop.

        `trips` is the number of iterations where that is `exact`, else the most there can be.
        """
        fact, initial = self.outs[self.first + at], self.contents[at]
        if fact is None or fact.content is None:
            return None
        out = fact.content
        if self.steady[at] is not None:
            return out
        before = initial if initial is not None and len(initial) == len(out) else (None,) * len(out)
        inside = self.call.contents.get(self.body.inputs[self.entry + at])
        if inside is None or len(inside) != len(out):
            inside = (None,) * len(out)
        dtype = fact.type.dtype if isinstance(fact.type, TensorType) else None
        found = tuple(
            [
                self.element(one, during, after, trips, exact, dtype)
                for one, during, after in zip(before, inside, out, strict=True)
            ]
        )
        return None if all(one is None for one in found) else found

    def element(
        self, before: Element, during: Element, after: Element, trips: Dim, exact: bool, dtype: DType | None
    ) -> Element:
        """Return an element after the loop, from that before it, and before and after one iteration."""
        certain = exact and self.scope.is_positive(trips)
        if not is_own(after, self.renewal):
            return after if certain or same(before, after) else self.between(before, after, dtype, False)
        if dtype is None or dtype not in INTEGERS or not isinstance(after, Expr):
            return None
        known = before if isinstance(before, (int, Expr)) else None
        try:
            found = None
            if known is not None and isinstance(during, (int, Expr)):
                found = self.stepped(known, after - during, trips, exact)
            if found is None and exact:
                found = self.last(known, after, trips, certain)
            if found is not None:
                return fit(self.call, found, dtype)
        except (TooLarge, ValueError, ZeroDivisionError):
            pass
        return self.between(before, after, dtype, certain)

    def stepped(self, before: Dim, step: Dim, trips: Dim, exact: bool) -> Dim | None:
        """Return an element to which each iteration adds the same."""
        if not isinstance(step, int) and any(self.renewal.is_old(symbol) for symbol in step.symbols):
            return None
        if step == 0:
            return before
        return before + step * trips if exact else None

    def last(self, before: Dim | None, after: Expr, trips: Dim, certain: bool) -> Dim | None:
        """Return an element that the number of the iteration decides, as the last iteration makes it."""
        iteration = self.iteration
        if iteration is None or [one for one in after.symbols if self.renewal.is_old(one)] != [iteration]:
            return None
        # without an iteration it is what was there before, which may be what the formula says of that
        if certain or (before is not None and self.scope.substitute(after, {iteration: -1}) == before):
            return self.scope.substitute(after, {iteration: trips - 1})
        return None

    def between(self, before: Element, after: Element, dtype: DType | None, certain: bool) -> Element:
        """Return an element that is one of two, or with `certain` the second, of which only the sign is known."""
        if dtype not in INTEGERS or not isinstance(after, (int, Expr)):
            return None
        large = self.scope.at_least(after, 0)
        if large and not certain:
            large = isinstance(before, (int, Expr)) and self.scope.at_least(before, 0)
        return self.scope.fresh("carried", signed=not large)

    def stacked(self, fact: Fact | None, axis: int, length: Dim) -> TensorType | None:
        """Return the type of a body's results put together along a new axis."""
        kind = None if fact is None else fact.type
        if not isinstance(kind, TensorType):
            return None
        if kind.shape is None:
            return kind
        renewed = mapped(kind, self.renewal.dim)
        shape: tuple[Dim, ...] = renewed.shape or ()  # type: ignore[union-attr]
        return kind.with_shape((*shape[:axis], length, *shape[axis:]))


def steady(kind: Type | None, content: Content | None) -> Content | None:
    """Return elements that a loop may keep without a formula: whether an optional holds something, and bools."""
    if isinstance(kind, OptionalType) or (isinstance(kind, TensorType) and kind.dtype is DType.BOOL):
        return content
    return None


def same(one: Element, other: Element) -> bool:
    """Whether two elements are known to be alike."""
    return one is not None and type(one) is type(other) and one == other


def captured_symbols(call: Call, body: Graph) -> frozenset[Symbol]:
    """Return the symbols of elements that a body captures: none is an iteration's, whoever asked first."""
    found: set[Symbol] = set()
    for value in body.captures:
        kind = call.types.get(value)
        if isinstance(kind, TensorType) and kind.dtype in INTEGERS:
            for one in call.contents.get(value) or ():
                if isinstance(one, Expr):
                    found.update(one.symbols)
    return frozenset(found)


def is_own(one: Element, renewal: Renewal) -> bool:
    """Whether an element is not known, or written in symbols of the loop."""
    if one is None:
        return True
    if isinstance(one, (Test, Ratio, Quotient)):
        one = one.expr
    return isinstance(one, Expr) and any(renewal.is_old(symbol) for symbol in one.symbols)
