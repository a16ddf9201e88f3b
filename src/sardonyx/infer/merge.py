"""Compare what the file declares of a value with what was inferred, and keep the best of both (decision S6).

Only a graph input's declaration is a fact; any other is a claim. What was inferred stays: a claim gives names to
symbols that nothing is known of, fills in what was not inferred (and that is noted as an assumption), and is noted as
a constraint where it says something else that may be true. Where it cannot be true, it is an issue.

In a body or a function names mean nothing beyond one activation (decision S2), and a body may run often, with another
size each time: there a claim only fills in an element type, a rank, or a whole type, never a single dim.
"""

from __future__ import annotations

from sardonyx.dims import Expr, Symbol
from sardonyx.infer.scope import DIGITS, is_label
from sardonyx.ir.types import MapType, OptionalType, SequenceType, TensorType
from sardonyx.ops.common.join import EACH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sardonyx.dims import Dim
    from sardonyx.infer.activation import Level
    from sardonyx.infer.engine import Engine
    from sardonyx.ir.graph import Graph, Value
    from sardonyx.ir.types import Type


def claims_of(graph: Graph) -> Mapping[Value, Type]:
    """Return what the file says of every value: the table of types, with what further declarations add to it."""
    claims: Mapping[Value, Type] = graph.types
    for declared in graph.declared:
        value, kind = declared.value, declared.type
        if value is None or kind is None or declared.role == "input":
            continue
        known = claims.get(value)
        if known is not kind and known != kind:
            if claims is graph.types:
                claims = dict(graph.types)
            claims[value] = kind if known is None else both(known, kind)  # type: ignore[index]
    return claims


def both(one: Type, other: Type) -> Type:
    """Return what two declarations of one value say; the first counts where they differ."""
    if not isinstance(one, TensorType) or type(one) is not type(other) or not isinstance(other, TensorType):
        return one
    dtype = other.dtype if one.dtype is None else one.dtype
    if one.shape is None or other.shape is None or len(one.shape) != len(other.shape):
        return type(one)(dtype, other.shape if one.shape is None else one.shape)
    return type(one)(
        dtype,
        tuple(
            [
                there if not isinstance(here, int) and any(symbol.anonymous for symbol in here.symbols) else here
                for here, there in zip(one.shape, other.shape, strict=True)
            ]
        ),
    )


def merge(engine: Engine, value: Value, inferred: Type | None, claim: Type, alone: bool = True) -> Type | None:
    """Return the type to keep for a value that has a claim; `alone` says that it is no part of a sequence."""
    if inferred is claim or (inferred is not None and inferred == claim):
        return inferred
    if inferred is None:
        engine.assumptions.setdefault(("claim-taken", 0, 0), value)
        return taken(engine, claim)
    if type(inferred) is not type(claim):
        contradict(engine, value, f"declared as {claim.type_str}, but it is a {inferred.type_str}")
        return inferred
    if isinstance(inferred, TensorType) and isinstance(claim, TensorType):
        return merge_tensor(engine, value, inferred, claim, alone)
    if isinstance(inferred, SequenceType) and isinstance(claim, SequenceType):
        return merge_sequence(engine, value, inferred, claim)
    if isinstance(inferred, OptionalType) and isinstance(claim, OptionalType):
        return OptionalType(merge_part(engine, value, inferred.elem, claim.elem, alone))
    if isinstance(inferred, MapType) and isinstance(claim, MapType):
        key = claim.key if inferred.key is None else inferred.key
        if claim.key is not None and key is not claim.key:
            contradict(engine, value, f"declared as {claim.type_str}, but it is a {inferred.type_str}")
        return MapType(key, merge_part(engine, value, inferred.value, claim.value, False))
    return inferred


def merge_part(engine: Engine, value: Value, inferred: Type | None, claim: Type | None, alone: bool) -> Type | None:
    """Merge what types are made of."""
    return inferred if claim is None else merge(engine, value, inferred, claim, alone)


def merge_sequence(engine: Engine, value: Value, inferred: SequenceType, claim: SequenceType) -> SequenceType:
    """Merge two sequence types; a file says nothing of a length or of single elements."""
    if inferred.elements is not None:
        if inferred.elements:
            merge_part(engine, value, inferred.elem, claim.elem, False)  # for what it contradicts
        return inferred
    elem = merge_part(engine, value, inferred.elem, claim.elem, False)
    return SequenceType(elem, inferred.elements, inferred.length)


def merge_tensor(engine: Engine, value: Value, inferred: TensorType, claim: TensorType, alone: bool) -> TensorType:
    """Merge two tensor types part by part."""
    dtype, shape = inferred.dtype, inferred.shape
    if claim.dtype is not None and claim.dtype is not dtype:
        if dtype is None:
            engine.assumptions.setdefault(("claim-taken", 0, 0), value)
            dtype = claim.dtype
        else:
            contradict(engine, value, f"declared as {claim.dtype.text}, but it is {dtype.text}")
    said = claim.shape
    if said is not None and said != shape:
        if shape is None:
            engine.assumptions.setdefault(("claim-taken", 0, 0), value)
            shape = taken_shape(engine, said)
        elif len(shape) != len(said):
            contradict(engine, value, f"declared with {len(said)} dims, but it has {len(shape)}")
        else:
            dim = merge_dim if alone and engine.level.parent is None else compare_dim
            shape = tuple(
                [
                    mine if mine is other or mine == other else dim(engine, value, axis, mine, other)
                    for axis, (mine, other) in enumerate(zip(shape, said, strict=True))
                ]
            )
    if dtype is inferred.dtype and (shape is inferred.shape or shape == inferred.shape):
        return inferred
    found = type(inferred)(dtype, shape)
    if engine.log is not None:
        engine.log.note(engine, "refined", value, inferred, found)
    return found


def merge_dim(engine: Engine, value: Value, axis: int, mine: Dim, said: Dim) -> Dim:
    """Merge an inferred dim of the main graph with a claimed one that differs from it."""
    if says_nothing(engine, said):
        return mine
    if isinstance(mine, Symbol):
        mine = engine.renames.get(mine, mine)
    if mine == said:
        return mine
    new = isinstance(said, Symbol) and said not in engine.scope.input_dims and said not in engine.used
    if not new and differ(engine, mine, said):  # of a name that nothing else has, nothing is known
        contradict(engine, value, f"declared as {said} on axis {axis}, but it is {mine} there")
        return mine
    if isinstance(mine, Symbol) and mine.anonymous:
        if isinstance(said, Symbol) and is_phrase(engine, said):
            if mine in engine.phrases:
                if engine.phrases[mine] is not said:
                    constrain(engine, value, mine, said)
                return mine
            engine.phrases[mine] = said
            if said in engine.used:
                engine.assumptions.setdefault(("claim-taken", mine, said), value)
            engine.used.add(said)
            return mine
        engine.renames[mine] = said
        if said in engine.used or isinstance(said, int) or said in engine.scope.input_dims:
            engine.assumptions.setdefault(("claim-taken", mine, said), value)
        engine.used.add(said)
        return said
    if isinstance(mine, Expr) and any(symbol.anonymous for symbol in mine.symbols) and not is_phrase(engine, said):
        engine.equalities.append((mine, said))
    constrain(engine, value, mine, said)
    return mine


def compare_dim(engine: Engine, value: Value, axis: int, mine: Dim, said: Dim) -> Dim:
    """Compare a dim inside a body, a function or a sequence with a claimed one; the inferred one stays."""
    if isinstance(said, int):
        if differ(engine, mine, said):
            contradict(engine, value, f"declared as {said} on axis {axis}, but it is {mine} there")
        elif not isinstance(mine, int):
            constrain(engine, value, mine, said)
    elif said in engine.scope.input_dims and engine.scope.equal(mine, said) is None:
        constrain(engine, value, mine, said)
    return mine


def differ(engine: Engine, mine: Dim, said: Dim) -> bool:
    """Whether two dims are different numbers in every run."""
    if isinstance(mine, int) and isinstance(said, int):
        return mine != said
    return engine.scope.equal(mine, said) is False


def constrain(engine: Engine, value: Value, mine: Dim, said: Dim) -> None:
    """Note that a claim holds only if two dims are equal."""
    key = ("==", mine, said)
    if key not in engine.constraints:
        engine.constraints[key] = value
        if engine.log is not None:
            engine.log.note(engine, "constraint", value, mine, said)


def says_nothing(engine: Engine, said: Dim) -> bool:
    """Whether a claimed dim is no claim: unknown, a name without a letter or digit, or of another inference.

    The names that an inference made and a file was saved with mean no more than "unknown" to the next one.
    """
    if isinstance(said, int):
        return said < 0
    if isinstance(said, Symbol):
        if said.anonymous:
            return True
        if not any(letter.isalnum() for letter in said.name) or engine.scope.is_made(said.name):
            return said not in engine.scope.input_dims
    return not engine.scope.is_own(said)


def taken(engine: Engine, claim: Type | None) -> Type | None:
    """Return a claim as a type of this activation: what it does not say, and names of its own, are fresh symbols."""
    if isinstance(claim, TensorType):
        return claim if claim.shape is None else claim.with_shape(taken_shape(engine, claim.shape))
    if isinstance(claim, SequenceType):
        return SequenceType(each(engine, claim.elem))
    if isinstance(claim, OptionalType):
        return OptionalType(taken(engine, claim.elem))
    if isinstance(claim, MapType):
        return MapType(claim.key, taken(engine, claim.value))
    return claim


def taken_shape(engine: Engine, shape: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return a claimed shape in symbols of this activation."""
    return tuple([dim if isinstance(dim, int) and dim >= 0 else taken_dim(engine, dim) for dim in shape])


def taken_dim(engine: Engine, said: Dim) -> Dim:
    """Return a claimed dim as a dim of this activation."""
    level = engine.level
    name = said.name if isinstance(said, Symbol) and not said.anonymous else ""
    made = is_label(name) and name not in engine.scope.input_names
    if not made:
        if says_nothing(engine, said):
            return engine.scope.fresh()
        if level.parent is None:
            return said
    known = level.names.get(said)
    if known is None:
        hint = name if name.isidentifier() else None
        if made:
            hint = name.rstrip(DIGITS)[1:].removesuffix("_")
        if in_call(level):  # a function has one declaration for all calls, which may have to be less than this
            hint = None
        known = level.names[said] = engine.scope.fresh(hint)
    return known


def in_call(level: Level) -> bool:
    """Whether a place is in the call of a function."""
    here: Level | None = level
    while here is not None and here.parent is not None:
        if here.attribute is None:
            return True
        here = here.parent
    return False


def is_phrase(engine: Engine, said: Dim) -> bool:
    """Whether a claimed dim is a calculation that cannot be read, or is not meant to be: with names no input has."""
    if not isinstance(said, Symbol) or said in engine.scope.input_dims:
        return False
    return any(letter in "+-*/%()" for letter in said.name)


def each(engine: Engine, kind: Type | None) -> Type | None:
    """Return the type of a sequence's elements with a symbol for every dim in which they may differ."""
    if isinstance(kind, TensorType):
        if kind.shape is None or all(isinstance(dim, int) for dim in kind.shape):
            return kind
        scope = engine.scope
        main = engine.level.parent is None
        return kind.with_shape(
            dim if isinstance(dim, int) or (main and not says_nothing(engine, dim)) else scope.fresh(EACH)
            for dim in kind.shape
        )
    return taken(engine, kind)


def contradict(engine: Engine, value: Value, message: str) -> None:
    """Report a claim that cannot be true."""
    engine.issue("claim-contradicted", f"{value.name!r} is {message}", "error")
