"""Give anonymous symbols their authors' names back, everywhere at once, and take out sizes that no tensor can have."""

from __future__ import annotations

from sardonyx.dims import DIM_MAX, Expr, Symbol, TooLarge
from sardonyx.dims.solve import solve
from sardonyx.ir.types import MapType, OptionalType, SequenceType, TensorType
from sardonyx.ops.common.join import mapped, mapped_element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.dims.pool import Pool
    from sardonyx.infer.engine import Engine
    from sardonyx.ir.graph import Value
    from sardonyx.ir.types import Shape, Type
    from sardonyx.ops.call import Content


class Naming:
    """What symbols are called once all claims are in."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.scope = engine.scope
        names: dict[Symbol, Dim] = dict(engine.renames)
        if engine.equalities:
            for symbol, dim in solve(engine.scope, [*engine.renames.items(), *engine.equalities]).items():
                if symbol not in names:
                    names[symbol] = dim
                    self.note_taken(symbol, dim)
        for symbol, phrase in engine.phrases.items():
            names.setdefault(symbol, phrase)
        for symbol in engine.scope.merged:
            names[symbol] = engine.scope.settled(symbol)
        self.names = names
        own = engine.scope.pool
        self.settled: Pool | None = None if any(symbol.pool is not own for symbol in names) else own.parent
        """Where dims lie that stay as they are: those that are written in the model's symbols alone."""
        self.dims: dict[Dim, Dim] = {}
        self.types: dict[int, tuple[Type, Type]] = {}
        self.fine: set[Shape | None] = set()
        """Shapes that stay as they are."""

    def note_taken(self, symbol: Symbol, dim: Dim) -> None:
        """Note that claims say what an unknown dim is, unless they only give it a name."""
        engine = self.engine
        named = frozenset() if isinstance(dim, int) else dim.symbols
        if any(one not in engine.scope.input_dims for one in named):
            return
        for mine, said in engine.equalities:
            place = engine.constraints.get(("==", mine, said))
            if place is not None and isinstance(mine, Expr) and symbol in mine.symbols:
                engine.assumptions.setdefault(("claim-taken", symbol, dim), place)
                return

    def dim(self, dim: Dim) -> Dim:
        """Return a dim by its final name."""
        if isinstance(dim, int) or dim.pool is self.settled:
            return dim
        found = self.dims.get(dim)
        if found is None:
            names = self.names
            if isinstance(dim, Symbol):
                found = names.get(dim, dim)
            elif any(symbol in names for symbol in dim.symbols):
                try:
                    found = self.scope.substitute(dim, names)
                    if isinstance(found, Expr) and found is not dim:
                        found = self.scope.substitute(found, names)  # what a solution was written in
                except (TooLarge, ValueError, ZeroDivisionError):
                    found = self.scope.fresh()
            else:
                found = dim
            self.dims[dim] = found
            if isinstance(found, Expr):
                for symbol in found.symbols:
                    if symbol.anonymous and symbol.given is None:
                        symbol.name  # noqa: B018  # names are numbered in the order of the values
        return found

    def table(self, types: dict[Value, Type]) -> None:
        """Rename every type of a table, in place; a size that is none becomes unknown, with an issue."""
        fine, known = self.fine, self.types
        changed: dict[Value, Type] = {}
        for value, kind in types.items():
            if type(kind) is TensorType:
                shape = kind.shape
                if not shape or shape in fine:
                    continue
                if self.stays(shape):
                    fine.add(shape)
                    continue
            elif self.stays_whole(kind):
                continue
            pair = known.get(id(kind))
            if pair is None:  # the type is kept too, so that its id stays its own
                pair = known[id(kind)] = kind, self.type(kind, value)
            if pair[1] is not kind:
                changed[value] = pair[1]
        if changed:
            types.update(changed)

    def stays(self, shape: Shape) -> bool:
        """Whether no dim of a shape has another name, and none is a number that no size is."""
        for dim in shape:
            if type(dim) is int:
                if not 0 <= dim <= DIM_MAX:
                    return False
            elif self.dim(dim) is not dim:
                return False
        return True

    def stays_whole(self, kind: Type | None) -> bool:
        """Whether a type of any kind stays as it is."""
        if kind is None:
            return True
        if isinstance(kind, TensorType):
            return not kind.shape or kind.shape in self.fine or self.stays(kind.shape)
        if isinstance(kind, SequenceType):
            if kind.length is not None and self.dim(kind.length) is not kind.length:
                return False
            return self.stays_whole(kind.elem) and all(map(self.stays_whole, kind.elements or ()))
        if isinstance(kind, OptionalType):
            return self.stays_whole(kind.elem)
        return not isinstance(kind, MapType) or self.stays_whole(kind.value)

    def type(self, kind: Type, value: Value) -> Type:
        """Return a type by its final names."""

        def checked(dim: Dim) -> Dim:
            dim = self.dim(dim)
            if isinstance(dim, int) and not 0 <= dim <= DIM_MAX:
                message = f"{value.name!r} has a dim of {dim}, which no tensor has"
                self.engine.issue_of(value, "size-too-large", message)
                return self.scope.fresh()
            return dim

        return mapped(kind, checked, numbers=True)

    def content(self, content: Content | None) -> Content | None:
        """Return elements by their final names."""
        return None if content is None else tuple([mapped_element(one, self.dim) for one in content])
