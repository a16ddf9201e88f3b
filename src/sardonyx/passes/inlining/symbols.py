"""Give the symbols in the types of a function a meaning of their own in each call.

The symbols of the main graph's inputs mean one thing in the whole model (decisions S2). Any other symbol says only that
dims are equal within one call of the function that it stands in, so each call gets a new one in its place.
"""

from __future__ import annotations

from sardonyx.dims import Symbol
from sardonyx.dims.expr import TooLarge
from sardonyx.dims.substitute import substitute
from sardonyx.ir.types import MapType, OptionalType, SequenceType, TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sardonyx.dims import Dim, Expr
    from sardonyx.ir.graph import Model
    from sardonyx.ir.types import Type


class Symbols:
    """The symbols that one model shares, and the types that hold no others."""

    def __init__(self, model: Model) -> None:
        types = model.graph.types
        inputs = [types[value] for value in model.graph.inputs if value in types]
        self.shared = frozenset(symbol for kind in inputs for dim in dims_of(kind) for symbol in symbols_of(dim))
        self.plain: dict[Type, bool] = {}
        """Whether a type can be taken over as it is."""

    def localized(self, kind: Type, own: dict[Symbol, Symbol]) -> Type:
        """Return a type with its local symbols replaced by those of one call, which `own` remembers."""
        plain = self.plain.get(kind)
        if plain is None:
            shared = self.shared
            plain = all(symbol in shared for dim in dims_of(kind) for symbol in symbols_of(dim))
            self.plain[kind] = plain
        return kind if plain else self.rebuilt(kind, own)

    def rebuilt(self, kind: Type, own: dict[Symbol, Symbol]) -> Type:
        """Return a type with every dim translated; recurses over the nesting of types, which the file bounds."""
        if isinstance(kind, TensorType):
            return kind if kind.shape is None else kind.with_shape(self.dim(dim, own) for dim in kind.shape)
        if isinstance(kind, SequenceType):
            elements = kind.elements and tuple(self.rebuilt(one, own) for one in kind.elements)
            length = kind.length if kind.length is None else self.dim(kind.length, own)
            return SequenceType(kind.elem and self.rebuilt(kind.elem, own), elements, length)
        if isinstance(kind, OptionalType):
            return OptionalType(kind.elem and self.rebuilt(kind.elem, own))
        if isinstance(kind, MapType):
            return MapType(kind.key, kind.value and self.rebuilt(kind.value, own))
        return kind

    def dim(self, dim: Dim, own: dict[Symbol, Symbol]) -> Dim:
        """Translate one dim."""
        if isinstance(dim, int):
            return dim
        for symbol in dim.symbols:
            if symbol not in self.shared and symbol not in own:
                own[symbol] = anonymous(symbol)
        try:
            return substitute(dim, own)
        except TooLarge:  # pragma: no cover - a symbol for a symbol keeps the size
            return anonymous(dim)


def anonymous(dim: Expr) -> Symbol:
    """Return a new symbol of the pool that an expression belongs to."""
    return Symbol(dim.pool, None, number=dim.pool.number())


def symbols_of(dim: Dim) -> tuple[Symbol, ...]:
    """Return the symbols in a dim."""
    return () if isinstance(dim, int) else dim.symbols


def dims_of(kind: Type | None) -> Iterator[Dim]:
    """Yield every dim in a type."""
    if isinstance(kind, TensorType):
        yield from kind.shape or ()
    elif isinstance(kind, SequenceType):
        yield from dims_of(kind.elem)
        for one in kind.elements or ():
            yield from dims_of(one)
        if kind.length is not None:
            yield kind.length
    elif isinstance(kind, OptionalType):
        yield from dims_of(kind.elem)
    elif isinstance(kind, MapType):
        yield from dims_of(kind.value)
