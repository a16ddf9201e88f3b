"""Find what all calls of a function agree on, for the one table of types that a function has in a file."""

from __future__ import annotations

from sardonyx.ir.types import MapType, OptionalType, SequenceType, TensorType
from sardonyx.ops.common.join import EACH
from sardonyx.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from sardonyx.dims import Dim, Scope
    from sardonyx.infer.activation import Activation
    from sardonyx.infer.engine import Engine
    from sardonyx.ir.graph import Function, FunctionKey, Value
    from sardonyx.ir.types import Type


def typed_functions(engine: Engine, main: Activation) -> Mapping[FunctionKey, Function]:
    """Return the model's functions, each with the types that all its calls agree on.

    A function that is called where nobody looked keeps what the file says: such a call may differ from all others.
    """
    functions = engine.model.functions
    if not engine.plans:
        return functions
    plans = engine.plans
    missed: dict[Function, None] = {}
    for graph, activations in ((engine.model.graph, [main]), *[(one.graph, one.activations) for one in plans.values()]):
        sites = engine.sites.within(graph)
        if sites:
            for activation in activations:
                if len(activation.calls) < len(sites):
                    missed.update((function, None) for node, function in sites.items() if node not in activation.calls)
    unseen = engine.sites.reached(missed)
    return {
        key: function if function in unseen or function not in plans else typed(engine, function)
        for key, function in functions.items()
    }


def typed(engine: Engine, function: Function) -> Function:
    """Return a function whose body has the types that all its calls agree on."""
    tables = [activation.types for activation in engine.plans[function].activations]
    if not tables:
        return function
    body = replace(function.body, types=agreed(engine.scope, tables))
    made: Function = replace(function, body=body)
    return made


def agreed(scope: Scope, tables: Sequence[Mapping[Value, Type]]) -> dict[Value, Type]:
    """Return what all calls of a function know of its values."""
    if len(tables) == 1:
        return dict(tables[0])
    agreement = Agreement(scope)
    found: dict[Value, Type] = {}
    for value in tables[0]:
        kind = agreement.type([table.get(value) for table in tables])
        if kind is not None:
            found[value] = kind
    return found


class Agreement:
    """What several types have in common, where the n-th of each list belongs to the n-th call.

    Dims that are the same list of sizes, call by call, are one dim.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.symbols: dict[tuple[Dim, ...], Dim] = {}

    def type(self, kinds: Sequence[Type | None], hint: str | None = None) -> Type | None:
        """Return what is true of every one of some types."""
        first = kinds[0]
        for kind in kinds:
            if kind is not first and kind != first:
                break
        else:
            return first
        if len(set(map(type, kinds))) > 1:
            return None
        alike: Any = kinds  # of one class, which the type checker does not see
        if isinstance(first, TensorType):
            return type(first)(common([kind.dtype for kind in alike]), self.shape([kind.shape for kind in alike], hint))
        if isinstance(first, SequenceType):
            return SequenceType(
                self.type([kind.elem for kind in alike], EACH),
                self.elements([kind.elements for kind in alike]),
                self.length([kind.length for kind in alike]),
            )
        if isinstance(first, OptionalType):
            return OptionalType(self.type([kind.elem for kind in alike], hint))
        if isinstance(first, MapType):
            return MapType(common([kind.key for kind in alike]), self.type([kind.value for kind in alike], EACH))
        return None

    def shape(self, shapes: Sequence[tuple[Dim, ...] | None], hint: str | None) -> tuple[Dim, ...] | None:
        """Return the shape that all have, a dim in which they differ unknown; None when their ranks differ."""
        known: Any = shapes
        if None in shapes or len(set(map(len, known))) > 1:
            return None
        return tuple([self.dim(column, hint) for column in zip(*known, strict=True)])

    def dim(self, dims: tuple[Dim, ...], hint: str | None = None) -> Dim:
        """Return the dim that all are, or a symbol."""
        if dims.count(dims[0]) == len(dims):
            return dims[0]
        if hint is not None:  # the elements of a sequence differ, each in its own way
            return self.scope.fresh(hint)
        found = self.symbols.get(dims)
        if found is None:
            found = self.symbols[dims] = self.scope.fresh()
        return found

    def elements(self, lists: Sequence[tuple[Type, ...] | None]) -> tuple[Type, ...] | None:
        """Return the types of a sequence's elements one by one, while all sequences have as many."""
        known = [one for one in lists if one is not None]
        if len(known) < len(lists) or len({len(one) for one in known}) > 1:
            return None
        found = [self.type(column) for column in zip(*known, strict=True)]
        whole = tuple([one for one in found if one is not None])
        return whole if len(whole) == len(found) else None

    def length(self, lengths: Sequence[Dim | None]) -> Dim | None:
        """Return the number of elements that all sequences have."""
        known = tuple([length for length in lengths if length is not None])
        return self.dim(known) if len(known) == len(lengths) else None


def common(parts: Sequence[Any]) -> Any:
    """Return what all of some parts are, None when they differ."""
    return parts[0] if parts.count(parts[0]) == len(parts) else None
