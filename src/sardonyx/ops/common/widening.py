"""Join what the states of a loop may be in all iterations, and remember what they had to let go for it."""

from __future__ import annotations

from sardonyx.ir.types import MapType, OptionalType, SequenceType, TensorType
from sardonyx.ops.common.join import EACH, Join, Renewal, mapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from sardonyx.dims import Dim, Scope
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Content

    Way: TypeAlias = tuple[int | str, ...]
    """A part of the type of a state: its position, the way through nested types, then an axis or what else it is."""

TRIES = 4
"""How often a list that begins empty shows what its elements are, before it begins with what they were so far."""


class Widening(Join):
    """Joins states with what an iteration makes of them; a dim that was let go takes in everything."""

    def __init__(self, scope: Scope, own: Renewal) -> None:
        super().__init__(scope, "carried", False)
        self.wide: set[Dim] = set()
        self.own = own

    def dim(self, a: Dim, b: Dim) -> Dim:
        """Return the dim of a state that may be `a` before an iteration and `b` after it."""
        if a is b or a == b or a in self.wide or self.scope.equal(a, b):
            return a
        return self.fresh()

    def sequence(self, a: SequenceType, b: SequenceType) -> SequenceType:
        """Join lists; what is one number in an iteration is another in the element of each iteration."""
        found = super().sequence(a, b)
        if found.elem is None or found.elements is not None:
            return found
        return SequenceType(mapped(found.elem, self.each), None, found.length)

    def each(self, dim: Dim) -> Dim:
        """Return a dim of an element as it is beside elements of other iterations."""
        if isinstance(dim, int) or not any(self.own.is_old(one) and one.hint is not EACH for one in dim.symbols):
            return dim
        return self.any_each()

    def any_each(self) -> Dim:
        """Return a dim that takes in everything, of the elements of a list."""
        return self.scope.fresh(EACH)

    def fresh(self) -> Dim:
        """Return a dim that takes in everything."""
        found = self.scope.fresh(self.hint)
        self.wide.add(found)
        return found


class LetGo:
    """What the states of a loop had to let go, for when it is met in the next pass of a loop around it.

    A loop that begins with that let go needs one pass where it took several to find out. Without this, each loop of a
    nest at least doubles the passes of those inside it. Nothing is taken back, so that it cannot take turns.
    """

    __slots__ = ("elems", "steady", "ways")

    def __init__(self) -> None:
        self.ways: set[Way] = set()
        """The parts of types that did not stay."""
        self.steady: set[int] = set()
        """The states whose elements did not stay."""
        self.elems: dict[Way, tuple[Type | None, int]] = {}
        """Of lists that began empty: what their elements were the last time, and how often that was found."""

    def note(self, before: Sequence[Type | None], after: Sequence[Type | None]) -> None:
        """Note how the states before a loop differ from what holds in each iteration."""
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            self.compare(one, other, (at,))

    def note_steady(self, before: Sequence[Content | None], after: Sequence[Content | None]) -> None:
        """Note which states' elements did not stay."""
        self.steady.update([at for at, one in enumerate(before) if one is not None and after[at] is None])

    def compare(self, a: Type | None, b: Type | None, way: Way) -> None:
        """Note what of a type is no longer known."""
        if a is None or a is b or a == b:
            return
        if type(a) is not type(b):
            self.ways.add((*way, "type"))
        elif isinstance(a, TensorType) and isinstance(b, TensorType):
            if a.dtype is not b.dtype:
                self.ways.add((*way, "dtype"))
            if a.shape is None:
                return
            if b.shape is None or len(a.shape) != len(b.shape):
                self.ways.add((*way, "rank"))
                return
            self.ways.update([(*way, axis) for axis, dim in enumerate(a.shape) if dim != b.shape[axis]])
        elif isinstance(a, SequenceType) and isinstance(b, SequenceType):
            if a.elements is not None and a.elements != b.elements:
                self.ways.add((*way, "elements"))
            if a.length is not None and a.length != b.length:
                self.ways.add((*way, "length"))
            if a.elements != ():
                self.compare(a.elem, b.elem, (*way, "elem"))
                return
            known, times = self.elems.get(way, (b.elem, 0))
            self.compare(known, b.elem, (*way, "elem"))
            self.elems[way] = (b.elem, times + 1)
        elif isinstance(a, OptionalType) and isinstance(b, OptionalType):
            self.compare(a.elem, b.elem, (*way, "elem"))
        elif isinstance(a, MapType) and isinstance(b, MapType):
            if a.key is not b.key:
                self.ways.add((*way, "key"))
            self.compare(a.value, b.value, (*way, "value"))

    def begin(self, initial: Sequence[Type | None], widening: Widening) -> list[Type | None]:
        """Return the states to begin a loop with: those before it, less what was let go."""
        if not self.ways:
            return list(initial)
        return [self.less(kind, (at,), widening.fresh, widening.any_each) for at, kind in enumerate(initial)]

    def less(self, kind: Type | None, way: Way, fresh: Callable[[], Dim], each: Callable[[], Dim]) -> Type | None:
        """Return a type without what was let go; `fresh` makes a dim in its place, `each` one in a list's elements."""
        ways = self.ways
        if kind is None or (*way, "type") in ways:
            return None
        if isinstance(kind, TensorType):
            shape = None if kind.shape is None or (*way, "rank") in ways else kind.shape
            if shape is not None:
                shape = tuple([fresh() if (*way, axis) in ways else dim for axis, dim in enumerate(shape)])
            return type(kind)(None if (*way, "dtype") in ways else kind.dtype, shape)
        if isinstance(kind, SequenceType):
            elem = kind.elem
            if kind.elements == ():
                elem, times = self.elems.get(way, (None, 0))
                if times < TRIES:
                    return kind
            elem = self.less(elem, (*way, "elem"), each, each)
            length = fresh() if kind.length is not None and (*way, "length") in ways else kind.length
            kept = (*way, "elements") not in ways and length is kind.length and elem == kind.elem
            return kind if kept else SequenceType(elem, None, length)
        if isinstance(kind, OptionalType):
            return OptionalType(self.less(kind.elem, (*way, "elem"), fresh, each))
        if isinstance(kind, MapType):
            key = None if (*way, "key") in ways else kind.key
            return MapType(key, self.less(kind.value, (*way, "value"), fresh, each))
        return kind
