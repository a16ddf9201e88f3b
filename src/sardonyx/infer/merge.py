"""Compare what the file declares of a value with what was inferred, and keep the best of both (decision S6).

Only a graph input's declaration is a fact; any other is a claim. What was inferred stays: a claim gives names to
symbols that nothing is known of, fills in what was not inferred (and that is noted as an assumption), and is noted as
a constraint where it says something else that may be true. Where it cannot be true, it is an issue.
"""

from __future__ import annotations

from sardonyx.dims import Symbol
from sardonyx.ir.types import SequenceType, TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.infer.engine import Engine
    from sardonyx.ir.graph import Value
    from sardonyx.ir.types import Type


def merge(engine: Engine, value: Value, inferred: Type | None, claim: Type) -> Type:
    """Return the type to keep for a value that has a claim."""
    if inferred is None:
        engine.assumptions.setdefault(("claim-taken", 0, 0), value.name)
        return claim
    if inferred == claim:
        return inferred
    if isinstance(inferred, TensorType) and isinstance(claim, TensorType):
        return merge_tensor(engine, value, inferred, claim)
    if isinstance(inferred, SequenceType) and isinstance(claim, SequenceType):
        if inferred.elem is None and inferred.elements is None:
            return claim
        return inferred
    if type(inferred) is not type(claim):
        contradict(engine, value, f"declared as {claim.type_str}, but it is a {inferred.type_str}")
    return inferred


def merge_tensor(engine: Engine, value: Value, inferred: TensorType, claim: TensorType) -> TensorType:
    """Merge two tensor types part by part."""
    dtype, shape = inferred.dtype, inferred.shape
    if claim.dtype is not None and claim.dtype is not dtype:
        if dtype is None:
            dtype = claim.dtype
        else:
            contradict(engine, value, f"declared as {claim.dtype.text}, but it is {dtype.text}")
    if claim.shape is None or claim.shape == shape:
        return inferred if dtype is inferred.dtype else inferred.with_dtype(dtype)
    if shape is None:
        engine.assumptions.setdefault(("claim-taken", 0, 0), value.name)
        return TensorType(dtype, claim.shape)
    if len(shape) != len(claim.shape):
        contradict(engine, value, f"declared with {len(claim.shape)} dims, but it has {len(shape)}")
        return inferred if dtype is inferred.dtype else inferred.with_dtype(dtype)
    dims = tuple(
        mine if mine == said else merge_dim(engine, value, axis, mine, said)
        for axis, (mine, said) in enumerate(zip(shape, claim.shape, strict=True))
    )
    return TensorType(dtype, dims)


def merge_dim(engine: Engine, value: Value, axis: int, mine: Dim, said: Dim) -> Dim:
    """Merge an inferred dim with a claimed one that differs from it."""
    if isinstance(said, Symbol) and said.anonymous:
        return mine  # the file says nothing
    if isinstance(mine, int) and isinstance(said, int):
        contradict(engine, value, f"axis {axis} is declared as {said}, but it is {mine}")
        return mine
    if isinstance(mine, Symbol) and mine.anonymous:
        engine.renames.setdefault(mine, said)
        if isinstance(said, int):
            engine.assumptions.setdefault(("claim-taken", mine, said), value.name)
        return said
    if engine.scope.equal(mine, said) is False:
        contradict(engine, value, f"axis {axis} is declared as {said}, but it is {mine}")
    else:
        engine.constraints.setdefault((mine, said), value.name)
    return mine


def contradict(engine: Engine, value: Value, message: str) -> None:
    """Report a claim that cannot be true."""
    engine.issue("claim-contradicted", f"{value.name!r} is {message}", "error")
