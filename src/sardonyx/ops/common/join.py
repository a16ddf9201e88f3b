"""Join what two branches or iterations know of a value, and give a copy of a type its own symbols."""

from __future__ import annotations

from sardonyx.dims import Expr, Symbol, TooLarge
from sardonyx.ir.types import MapType, OptionalType, SequenceType, TensorType
from sardonyx.ops.call import INTEGERS, Fact, Quotient, Ratio, Test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Set

    from sardonyx.dims import Dim, Scope
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Content, Element

EACH = "each"
"""Hint of symbols in the element type of a sequence that stand for another number in each element."""


class Join:
    """Joins types; a pair of dims that differ gets one fresh symbol, wherever the pair comes."""

    def __init__(self, scope: Scope, hint: str, bounded: bool) -> None:
        self.scope = scope
        self.hint = hint
        self.bounded = bounded
        """Whether the outcome is one of the two, and lies between them."""
        self.pairs: dict[tuple[Dim, Dim], Dim] = {}

    def type(self, a: Type | None, b: Type | None) -> Type | None:
        """Return what is true of both types."""
        if a is None or b is None:
            return None
        if a is b or a == b:
            return a
        if type(a) is not type(b):
            return None
        if isinstance(a, TensorType) and isinstance(b, TensorType):
            return type(a)(a.dtype if a.dtype is b.dtype else None, self.shape(a.shape, b.shape))
        if isinstance(a, SequenceType) and isinstance(b, SequenceType):
            return self.sequence(a, b)
        if isinstance(a, OptionalType) and isinstance(b, OptionalType):
            return OptionalType(self.type(a.elem, b.elem))
        if isinstance(a, MapType) and isinstance(b, MapType):
            return MapType(a.key if a.key is b.key else None, self.type(a.value, b.value))
        return None

    def shape(self, a: tuple[Dim, ...] | None, b: tuple[Dim, ...] | None) -> tuple[Dim, ...] | None:
        """Join two shapes; different ranks have nothing in common."""
        if a is None or b is None or len(a) != len(b):
            return None
        return tuple([self.dim(one, other) for one, other in zip(a, b, strict=True)])

    def dim(self, a: Dim, b: Dim) -> Dim:
        """Return a dim that both may be: the same one, or a fresh symbol between them."""
        if a is b or a == b:
            return a
        scope = self.scope
        if self.hint is EACH:  # elements differ in each dim in its own way, so that no two share a symbol
            return a if isinstance(a, Symbol) and a.hint is EACH else scope.fresh(EACH)
        if scope.equal(a, b):
            return a
        found = self.pairs.get((a, b))
        if found is None:
            found = self.pairs[a, b] = scope.fresh(self.hint)
            if self.bounded:
                bound(scope, found, a, b)
        return found

    def sequence(self, a: SequenceType, b: SequenceType) -> SequenceType:
        """Join two sequence types; an empty sequence says nothing of its elements' shapes."""
        if self.bounded and a.elements is not None and b.elements is not None and len(a.elements) == len(b.elements):
            elements = [self.type(one, other) for one, other in zip(a.elements, b.elements, strict=True)]
            whole = tuple([one for one in elements if one is not None])
            if len(whole) == len(elements):
                return SequenceType(common(self.scope, whole) if whole else a.elem, whole, len(whole))
        length = None if a.length is None or b.length is None else self.dim(a.length, b.length)
        if a.elements == ():
            elem = b.elem
        elif b.elements == ():
            elem = a.elem
        else:
            elem = None if a.elem is None or b.elem is None else common(self.scope, (a.elem, b.elem))
        return SequenceType(elem, None, length)

    def content(self, a: Content | None, b: Content | None, kind: Type | None) -> Content | None:
        """Join what is known of elements."""
        if a is None or b is None or len(a) != len(b):
            return None
        integers = isinstance(kind, TensorType) and kind.dtype in INTEGERS
        return tuple([self.element(one, other, integers) for one, other in zip(a, b, strict=True)])

    def element(self, a: Element, b: Element, integers: bool) -> Element:
        """Return an element that both may be."""
        if type(a) is type(b) and a == b:
            return a
        if not integers or not isinstance(a, (int, Expr)) or not isinstance(b, (int, Expr)):
            return None
        if self.scope.at_least(a, 0) and self.scope.at_least(b, 0):
            return self.dim(a, b)
        found = self.pairs.get((a, b))
        if found is None:
            found = self.pairs[a, b] = self.scope.fresh(self.hint, signed=True)
        return found


def bound(scope: Scope, found: Dim, a: Dim, b: Dim) -> None:
    """Record that a dim is one of two others."""
    try:
        scope.note_at_least(scope.maximum(a, b), found)
        scope.note_at_least(found, scope.minimum(a, b))
    except TooLarge:
        pass


def common(scope: Scope, kinds: Sequence[Type]) -> Type | None:
    """Return what is true of every one of some types, as the element type of a sequence."""
    found: Type | None = kinds[0]
    join = Join(scope, EACH, False)
    for kind in kinds[1:]:
        found = join.type(found, kind)
    return found


class Renewal:
    """Puts fresh symbols in place of the anonymous ones with numbers from `first` on (and below `last`)."""

    def __init__(self, scope: Scope, first: int, last: int | None = None, kept: Set[Symbol] = frozenset()) -> None:
        self.scope = scope
        self.kept = kept
        """Symbols that stay, whatever their numbers."""
        self.first = first
        self.last = last
        self.known: dict[Symbol, Dim] = {}

    def is_old(self, symbol: Symbol) -> bool:
        """Whether a symbol is to be replaced."""
        if not symbol.anonymous or symbol.number < self.first or symbol in self.kept:
            return False
        return self.last is None or symbol.number < self.last

    def dim(self, dim: Dim) -> Dim:
        """Return a dim in fresh symbols."""
        if isinstance(dim, int):
            return dim
        old = [symbol for symbol in dim.symbols if self.is_old(symbol)]
        if not old:
            return dim
        for symbol in old:
            if symbol not in self.known:
                self.known[symbol] = self.scope.fresh(symbol.hint, signed=symbol.signed)
        try:
            return self.scope.substitute(dim, self.known)
        except (TooLarge, ValueError, ZeroDivisionError):
            return self.scope.fresh(signed=True)

    def type(self, kind: Type) -> Type:
        """Return a type in fresh symbols."""
        return mapped(kind, self.dim)

    def fact(self, fact: Fact) -> Fact:
        """Return a fact in fresh symbols."""
        return Fact(None if fact.type is None else self.type(fact.type), self.content(fact.content))

    def content(self, content: Content | None) -> Content | None:
        """Return elements in fresh symbols."""
        return None if content is None else tuple([mapped_element(one, self.dim) for one in content])


def mapped(kind: Type, change: Callable[[Dim], Dim], numbers: bool = False) -> Type:
    """Return a type with every dim changed, known ones too with `numbers`; the same object when nothing changes."""
    if isinstance(kind, TensorType):
        shape = kind.shape
        if not shape:
            return kind
        dims = tuple([dim if isinstance(dim, int) and not numbers else change(dim) for dim in shape])
        return kind if all(new is old for new, old in zip(dims, shape, strict=True)) else type(kind)(kind.dtype, dims)
    if isinstance(kind, SequenceType):
        elements = None if kind.elements is None else tuple([mapped(one, change, numbers) for one in kind.elements])
        length = kind.length if kind.length is None or isinstance(kind.length, int) else change(kind.length)
        return SequenceType(None if kind.elem is None else mapped(kind.elem, change, numbers), elements, length)
    if isinstance(kind, OptionalType):
        return kind if kind.elem is None else OptionalType(mapped(kind.elem, change, numbers))
    if isinstance(kind, MapType):
        return kind if kind.value is None else MapType(kind.key, mapped(kind.value, change, numbers))
    return kind


def mapped_element(one: Element, change: Callable[[Dim], Dim]) -> Element:
    """Return an element with every dim in it changed."""
    if isinstance(one, Expr):
        return change(one)
    if isinstance(one, (Ratio, Quotient)):
        return type(one)(change(one.expr), one.divisor) if isinstance(one.expr, Expr) else one
    if isinstance(one, Test):
        expr = change(one.expr)
        if isinstance(expr, int):
            return ((expr == 0) if one.equal else (expr >= 0)) is not one.negated
        return Test(expr, one.equal, one.negated)
    return one
