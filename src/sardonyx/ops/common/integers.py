"""Calculate with elements of integer tensors: numbers exactly, expressions symbolically, the rest as fresh symbols.

An element is an int or an expression. A result that does not fit the element type would wrap around in a run; it
becomes a symbol of which nothing is known. So does a result that outgrows what an expression may hold.
"""

from __future__ import annotations

from sardonyx.dims import DIM_MAX, TooLarge
from sardonyx.ir.types import DType
from sardonyx.ops.call import INTEGERS, UNSIGNED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call

    Operation = Callable[[Call, Dim, Dim], Dim]


LIMITS = {
    dtype: (0, (1 << dtype.bits) - 1) if dtype in UNSIGNED else (-(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1)
    for dtype in INTEGERS
}
"""The least and the largest number of each integer type."""


def unknown(call: Call, dtype: DType = DType.INT64) -> Dim:
    """Return an element of which nothing is known."""
    return call.fresh("e", signed=dtype not in UNSIGNED)


def fit(call: Call, result: Dim, dtype: DType) -> Dim:
    """Return a result as an element of its type; one that would wrap around is unknown.

    An expression is taken to fit 32 and 64 bits, as sizes do; in a narrower type it must be proven to. An unsigned
    result must be proven not to be negative.
    """
    if isinstance(result, int):
        least, most = LIMITS[dtype]
        return result if least <= result <= most else unknown(call, dtype)
    if dtype is DType.INT64 or (dtype is DType.INT32 and result.is_symbol):
        return result
    least, most = LIMITS[dtype]
    low, high = call.scope.bounds(result)
    if dtype.bits >= 32:
        if (low is None or low >= least) and (high is None or high <= most) and (least < 0 or low is not None):
            return result
    elif low is not None and high is not None and least <= low and high <= most:
        return result
    return unknown(call, dtype)


def apply(call: Call, operation: Operation, dtype: DType) -> Callable[[Dim, Dim], Dim]:
    """Return an operation on elements of one type that never raises."""

    def calculate(a: Dim, b: Dim) -> Dim:
        try:
            return fit(call, operation(call, a, b), dtype)
        except (TooLarge, ZeroDivisionError):
            return unknown(call, dtype)

    return calculate


def add(call: Call, a: Dim, b: Dim) -> Dim:
    """Return `a + b`."""
    return a + b


def subtract(call: Call, a: Dim, b: Dim) -> Dim:
    """Return `a - b`."""
    return a - b


def multiply(call: Call, a: Dim, b: Dim) -> Dim:
    """Return `a * b`."""
    return a * b


def divide(call: Call, a: Dim, b: Dim) -> Dim:
    """Divide as ONNX does, toward zero: floor division where the signs are known and equal, else unknown.

    A dividend that is negative by less than the divisor, if at all, gives 0 there: exporters write `(s - 1)//4 + 1`.

    A run implies that the divisor is not 0; where a size divides, that is an assumption.
    """
    if isinstance(a, int) and isinstance(b, int):
        quotient = abs(a) // abs(b)
        return quotient if (a < 0) == (b < 0) else -quotient
    if b == 1:
        return a
    if b == -1:
        return -a
    scope = call.scope
    natural = scope.reaches(a, 0)
    if isinstance(b, int) and b > 0:
        if natural:
            return scope.floordiv(a, b)
        if scope.reaches(a, 1 - b):
            return scope.maximum(scope.floordiv(a, b), 0)
    if natural and scope.reaches(b, 0):
        if not scope.reaches(b, 1):
            call.assume("divisor-not-zero", b)
        return scope.floordiv(a, b)
    if scope.at_least(-1, b) and scope.at_least(0, a):
        return scope.floordiv(-a, -b)
    return unknown(call)


def floor_modulo(call: Call, a: Dim, b: Dim) -> Dim:
    """Return Mod with fmod=0: the sign of the divisor, as Python's `%`."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    scope = call.scope
    if scope.at_least(b, 0):
        if not scope.at_least(b, 1):
            call.assume("divisor-not-zero", b)
        return scope.mod(a, b)
    return unknown(call)


def truncated_modulo(call: Call, a: Dim, b: Dim) -> Dim:
    """Return Mod with fmod=1: the sign of the dividend, as C's `fmod`."""
    if isinstance(a, int) and isinstance(b, int):
        rest = abs(a) % abs(b)
        return -rest if a < 0 else rest
    if call.scope.at_least(a, 0):
        return floor_modulo(call, a, b)
    return unknown(call)


def larger(call: Call, a: Dim, b: Dim) -> Dim:
    """Return the larger of two elements."""
    return call.scope.maximum(a, b)


def smaller(call: Call, a: Dim, b: Dim) -> Dim:
    """Return the smaller of two elements."""
    return call.scope.minimum(a, b)


def power(call: Call, a: Dim, b: Dim) -> Dim:
    """Return `a ** b` for a small known exponent; integers to a negative power are not numbers of an integer type."""
    if not isinstance(b, int) or not 0 <= b <= 64:
        return unknown(call)
    if isinstance(a, int) and a.bit_length() * b > 4 * DIM_MAX.bit_length():
        return unknown(call)
    return a**b


def absolute(call: Call, a: Dim) -> Dim:
    """Return `abs(a)`."""
    if isinstance(a, int):
        return abs(a)
    return a if call.scope.at_least(a, 0) else call.scope.maximum(a, -a)
