"""Calculate with elements of float tensors: every result is the one that a run gives, or unknown.

Known numbers are rounded to the element type after every operation. A number made of sizes is an exact fraction
(`Ratio`), as long as the arithmetic of the element type is exact for it: integers below 2^24 in a 32-bit float, and
what powers of two make of them. A size itself is taken to be in that range; a product of sizes, or a large multiple of
one, is not. A quotient by another number (`Quotient`) is not exact, but its floor and ceiling are: between a fraction
that is no integer and the next integer there is room for the rounding error.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, copysign, floor, gcd, inf, isfinite, sqrt, trunc
from struct import pack, unpack

from sardonyx.dims import Expr, TooLarge
from sardonyx.ir.types import DType
from sardonyx.ops.common import integers
from sardonyx.ops.common.predicates import as_ratio, is_power_of_two

from sardonyx.ops.call import Quotient, Ratio  # isort: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call, Element

    Unary = Callable[[Call, DType, Element], Element]
    Binary = Callable[[Call, DType, Element, Element], Element]

FORMS = {
    DType.FLOAT: (24, -126, 127),
    DType.DOUBLE: (53, -1022, 1023),
    DType.FLOAT16: (11, -14, 15),
    DType.BFLOAT16: (8, -126, 127),
}
"""Bits of the significand, and the least and largest exponent of a normal number."""
FACTOR = 256
"""The largest odd factor of a size that is taken to stay exact."""


def nearest(value: Fraction, dtype: DType) -> float:
    """Round a number to the nearest one of a float type, ties to even; beyond the largest it is infinite."""
    if value == 0:
        return 0.0
    bits, least, most = FORMS[dtype]
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, least) - bits + 1)
    rounded = round(size / step) * step
    result = inf if rounded >= Fraction(2) ** (most + 1) else float(rounded)
    return -result if value < 0 else result


def rounded(value: float, dtype: DType) -> float:
    """Round a double to a float type."""
    if dtype is DType.DOUBLE or not isfinite(value) or value == 0:
        return value
    if dtype is DType.FLOAT:
        try:
            return float(unpack("<f", pack("<f", value))[0])
        except OverflowError:
            return copysign(inf, value)
    return nearest(Fraction(value), dtype)


def exact(call: Call, dtype: DType, expr: Dim, divisor: int) -> Element:
    """Return `expr / divisor` as an element, if the element type holds it exactly; else None."""
    if isinstance(expr, int):
        value = Fraction(expr, divisor)
        found = nearest(value, dtype)
        return found if isfinite(found) and Fraction(found) == value else None
    shared = gcd(divisor, *expr.terms.values())
    if shared > 1:
        expr, divisor = call.scope.exact_div(expr, shared), divisor // shared
        if isinstance(expr, int):
            return exact(call, dtype, expr, divisor)
    return Ratio(expr, divisor) if is_small(call, dtype, expr) and divisor <= 1 << 20 else None


def is_small(call: Call, dtype: DType, expr: Expr) -> bool:
    """Return whether an expression stays in the range of integers that a float type holds exactly."""
    bits = FORMS[dtype][0]
    if bits >= 24 and not any(symbol.signed for symbol in expr.symbols):  # sizes, not integers of any magnitude
        most = FACTOR if bits == 24 else 1 << 20
        degree = 1 if bits == 24 else 2
        common = gcd(*expr.terms.values())
        common &= -common
        if all(
            len(monomial) <= degree and (abs(coefficient) // common <= most or not monomial)
            for monomial, coefficient in expr.terms.items()
        ) and abs(expr.constant) < 1 << (bits - 1):
            return True
    low, high = call.scope.bounds(expr)
    return low is not None and high is not None and max(-low, high) <= 1 << bits


def from_integer(call: Call, dtype: DType, value: Dim) -> Element:
    """Return an integer element as a float one."""
    if isinstance(value, int):
        found = nearest(Fraction(value), dtype)
        return found if isfinite(found) else None
    return exact(call, dtype, value, 1)


def to_integer(call: Call, dtype: DType, value: Element) -> Dim:
    """Return a float element as one of an integer type: the fraction is cut off; what does not fit is unknown."""
    if isinstance(value, float) and isfinite(value):
        return integers.fit(call, trunc(value), dtype)
    if isinstance(value, (Ratio, Quotient)):
        scope = call.scope
        if value.divisor == 1:
            return integers.fit(call, value.expr, dtype)
        if scope.at_least(value.expr, 0):
            return integers.fit(call, scope.floordiv(value.expr, value.divisor), dtype)
        if scope.at_least(-value.expr, 0):
            return integers.fit(call, -scope.floordiv(-value.expr, value.divisor), dtype)
    return integers.unknown(call, dtype)


def reround(call: Call, dtype: DType, value: Element) -> Element:
    """Return a float element in another float type."""
    if isinstance(value, float):
        return rounded(value, dtype)
    if isinstance(value, Ratio):
        return exact(call, dtype, value.expr, value.divisor)
    return None


# ---------------------------------------------------------------- of one element


def negative(call: Call, dtype: DType, a: Element) -> Element:
    """Return `-a`."""
    if isinstance(a, float):
        return -a
    return type(a)(-a.expr, a.divisor) if isinstance(a, (Ratio, Quotient)) else None


def absolute(call: Call, dtype: DType, a: Element) -> Element:
    """Return `abs(a)`."""
    if isinstance(a, float):
        return abs(a)
    return type(a)(integers.absolute(call, a.expr), a.divisor) if isinstance(a, (Ratio, Quotient)) else None


def round_down(call: Call, dtype: DType, a: Element) -> Element:
    """Return the largest integer that is not above `a`."""
    if isinstance(a, float):
        return rounded(float(floor(a)), dtype) if isfinite(a) and a != 0 else a
    return exact(call, dtype, call.scope.floordiv(a.expr, a.divisor), 1) if isinstance(a, (Ratio, Quotient)) else None


def round_up(call: Call, dtype: DType, a: Element) -> Element:
    """Return the smallest integer that is not below `a`."""
    if isinstance(a, float):
        return rounded(copysign(float(ceil(a)), a), dtype) if isfinite(a) and a != 0 else a
    return exact(call, dtype, call.scope.ceildiv(a.expr, a.divisor), 1) if isinstance(a, (Ratio, Quotient)) else None


def round_even(call: Call, dtype: DType, a: Element) -> Element:
    """Return the nearest integer, the even one of two."""
    if isinstance(a, float):
        return copysign(float(round(a)), a) if isfinite(a) else a
    return a if isinstance(a, Ratio) and a.divisor == 1 else None


def square_root(call: Call, dtype: DType, a: Element) -> Element:
    """Return the square root, correctly rounded as IEEE 754 wants it."""
    return rounded(sqrt(a), dtype) if isinstance(a, float) and isfinite(a) and a >= 0 else None


def reciprocal(call: Call, dtype: DType, a: Element) -> Element:
    """Return `1 / a`."""
    return divide(call, dtype, 1.0, a)


# ---------------------------------------------------------------- of two elements


def add(call: Call, dtype: DType, a: Element, b: Element) -> Element:
    """Return `a + b`."""
    if isinstance(a, float) and isinstance(b, float):
        return rounded(a + b, dtype)
    left, right = as_ratio(a), as_ratio(b)
    if left is None or right is None:
        return None
    return exact(call, dtype, left.expr * right.divisor + right.expr * left.divisor, left.divisor * right.divisor)


def subtract(call: Call, dtype: DType, a: Element, b: Element) -> Element:
    """Return `a - b`."""
    return add(call, dtype, a, negative(call, dtype, b))


def multiply(call: Call, dtype: DType, a: Element, b: Element) -> Element:
    """Return `a * b`."""
    if isinstance(a, float) and isinstance(b, float):
        return rounded(a * b, dtype)
    left, right = as_ratio(a), as_ratio(b)
    if left is None or right is None:
        return None
    return exact(call, dtype, left.expr * right.expr, left.divisor * right.divisor)


def divide(call: Call, dtype: DType, a: Element, b: Element) -> Element:
    """Return `a / b`."""
    if isinstance(a, float) and isinstance(b, float):
        return rounded(a / b, dtype) if b != 0 and isfinite(a) and isfinite(b) else None
    left, right = as_ratio(a), as_ratio(b)
    if left is None or right is None or not isinstance(right.expr, int) or right.expr == 0:
        return None
    top, bottom = left.expr * right.divisor, left.divisor * right.expr
    if bottom < 0:
        top, bottom = -top, -bottom
    if isinstance(top, int):
        return None
    shared = gcd(bottom, *top.terms.values())
    if shared > 1:
        top, bottom = call.scope.exact_div(top, shared), bottom // shared
    if is_power_of_two(bottom):
        return exact(call, dtype, top, bottom)
    if isinstance(top, Expr) and bottom <= 1 << 12 and FORMS[dtype][0] >= 24 and is_small(call, dtype, top):
        return Quotient(top, bottom)
    return None


def larger(call: Call, dtype: DType, a: Element, b: Element) -> Element:
    """Return the larger of two."""
    return extreme(call, dtype, a, b, True)


def smaller(call: Call, dtype: DType, a: Element, b: Element) -> Element:
    """Return the smaller of two."""
    return extreme(call, dtype, a, b, False)


def extreme(call: Call, dtype: DType, a: Element, b: Element, largest: bool) -> Element:
    """Return the larger or the smaller of two."""
    if isinstance(a, float) and isinstance(b, float):
        if a != a or b != b or a == b:
            return a if a == b and copysign(1, a) == copysign(1, b) else None
        return max(a, b) if largest else min(a, b)
    left, right = as_ratio(a), as_ratio(b)
    if left is None or right is None:
        return None
    choose = call.scope.maximum if largest else call.scope.minimum
    return exact(
        call, dtype, choose(left.expr * right.divisor, right.expr * left.divisor), left.divisor * right.divisor
    )


def power(call: Call, dtype: DType, a: Element, b: Element) -> Element:
    """Return `a ** b` where it is a number of the type; otherwise a run may round it either way."""
    if not isinstance(b, float) or not isfinite(b):
        return None
    if b == 1.0:
        return a if isinstance(a, float) or as_ratio(a) is not None else None
    if b == 0.0:
        return 1.0
    if not isinstance(a, float) or not isfinite(a) or a == 0 or b != int(b) or abs(b) > 64:
        return None
    value = Fraction(a) ** int(b)
    found = nearest(value, dtype)
    return found if isfinite(found) and Fraction(found) == value else None


def remainder(call: Call, dtype: DType, a: Element, b: Element) -> Element:
    """Return C's `fmod(a, b)`, which is exact."""
    from math import fmod

    if isinstance(a, float) and isinstance(b, float) and isfinite(a) and isfinite(b) and b != 0:
        return fmod(a, b)
    return None


def apply1(call: Call, operation: Unary, dtype: DType) -> Callable[[Element], Element]:
    """Return an operation on elements of one type that never raises."""

    def calculate(a: Element) -> Element:
        try:
            return operation(call, dtype, a)
        except (TooLarge, OverflowError):
            return None

    return calculate


def apply2(call: Call, operation: Binary, dtype: DType) -> Callable[[Element, Element], Element]:
    """Return an operation on elements of one type that never raises."""

    def calculate(a: Element, b: Element) -> Element:
        try:
            return operation(call, dtype, a, b)
        except (TooLarge, OverflowError):
            return None

    return calculate
