"""Calculate with tensor sizes that are not known yet: exact integer expressions over named symbols."""

from sardonyx.dims.choose import DimMismatch
from sardonyx.dims.expr import DIM_MAX, Dim, Expr, Symbol, TooLarge, total
from sardonyx.dims.scope import Scope
from sardonyx.dims.solve import solve
from sardonyx.dims.substitute import evaluate, substitute

__all__ = [
    "DIM_MAX",
    "Dim",
    "DimMismatch",
    "Expr",
    "Scope",
    "Symbol",
    "TooLarge",
    "evaluate",
    "solve",
    "substitute",
    "total",
]
