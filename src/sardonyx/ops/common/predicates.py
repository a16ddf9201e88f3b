"""Compare elements, and choose by what is decided and what is not.

A comparison of expressions that is not decided is an element of its own (`Test`), which Where, Not, And, Or and Cast
understand.
"""

from __future__ import annotations

from math import gcd

from sardonyx.dims import Expr, TooLarge
from sardonyx.ops.call import Quotient, Ratio, Test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call, Element


NOT_NUMBERS = (bool, bytes, Test, Quotient, type(None))
"""What cannot be compared as a number; of a quotient only floor and ceiling are exact."""


def at_least(call: Call, a: Element, b: Element) -> Element:
    """Return whether `a >= b`."""
    pair = comparable(a, b)
    if pair is None:
        return None
    left, right = pair
    if not isinstance(left, Expr) and not isinstance(right, Expr):
        return left >= right
    try:
        decided = call.scope.at_least(left, right)  # type: ignore[arg-type]
        return test(left - right, False) if decided is None else decided  # type: ignore[operator]
    except TooLarge:
        return None


def less(call: Call, a: Element, b: Element) -> Element:
    """Return whether `a < b`."""
    if has_nan(a, b):
        return False
    return negation(at_least(call, a, b))


def equals(call: Call, a: Element, b: Element) -> Element:
    """Return whether `a == b`."""
    if isinstance(a, bytes) and isinstance(b, bytes):
        return a == b
    if isinstance(a, bool) and isinstance(b, bool):
        return a == b
    pair = comparable(a, b)
    if pair is None:
        return same_truth(a, b)
    left, right = pair
    if not isinstance(left, Expr) and not isinstance(right, Expr):
        return left == right
    try:
        decided = call.scope.equal(left, right)  # type: ignore[arg-type]
        return test(left - right, True) if decided is None else decided  # type: ignore[operator]
    except TooLarge:
        return None


def same_truth(a: Element, b: Element) -> Element:
    """Return whether two bools, one of which may be undecided, are equal."""
    if isinstance(a, bool) and isinstance(b, Test):
        a, b = b, a
    if isinstance(a, Test) and isinstance(b, bool):
        return a if b else negation(a)
    return True if isinstance(a, Test) and a == b else None


def test(expr: int | float | Expr, equal: bool) -> Element:
    """Return an undecided comparison of an expression with 0."""
    if not isinstance(expr, Expr):
        return expr == 0 if equal else expr >= 0
    shared = gcd(*[coefficient for monomial, coefficient in expr.terms.items() if monomial])
    if shared > 1:
        if equal and expr.constant % shared:
            return False
        reduced = expr // shared
        return Test(reduced, equal) if isinstance(reduced, Expr) else None
    return Test(expr, equal)


def comparable(a: Element, b: Element) -> tuple[int | float | Expr, int | float | Expr] | None:
    """Return two numbers in a form that compares exactly: fractions are multiplied out; None for what is unknown."""
    if isinstance(a, NOT_NUMBERS) or isinstance(b, NOT_NUMBERS):
        return None
    if not isinstance(a, Ratio) and not isinstance(b, Ratio):
        return (a, b)
    left, right = as_ratio(a), as_ratio(b)
    if left is None or right is None:
        return None
    return left.expr * right.divisor, right.expr * left.divisor


def has_nan(*elements: Element) -> bool:
    """Return whether one of the elements is not a number."""
    return any(isinstance(one, float) and one != one for one in elements)


def as_ratio(one: Element) -> Ratio | None:
    """Return a float element as an exact fraction; None for what is none, or is not finite."""
    if isinstance(one, Ratio):
        return one
    if isinstance(one, float) and one - one == 0:
        top, bottom = one.as_integer_ratio()
        return Ratio(top, bottom)
    return None


def is_power_of_two(number: int) -> bool:
    """Return whether a positive number is a power of two: dividing a float by it is exact."""
    return number & (number - 1) == 0


def negation(one: Element) -> Element:
    """Return the opposite of a bool element."""
    if isinstance(one, Test):
        return Test(one.expr, one.equal, not one.negated)
    return None if one is None else not one


def conjunction(a: Element, b: Element) -> Element:
    """Return whether both hold."""
    if a is False or b is False:
        return False
    if a is True:
        return b
    if b is True or (a is not None and a == b):
        return a
    return False if a is not None and a == negation(b) else None


def disjunction(a: Element, b: Element) -> Element:
    """Return whether one of them holds."""
    return negation(conjunction(negation(a), negation(b)))


def difference(a: Element, b: Element) -> Element:
    """Return whether exactly one of them holds."""
    return negation(same_truth(a, b) if not (isinstance(a, bool) and isinstance(b, bool)) else a == b)


def choose(call: Call, condition: Element, a: Element, b: Element) -> Element:
    """Return the element that Where takes: `a` where the condition holds, else `b`.

    With an undecided condition two integers become one expression; None is an unknown of any kind.
    """
    if condition is True:
        return a
    if condition is False:
        return b
    if a is b or (a is not None and type(a) is type(b) and a == b):
        return a
    if not isinstance(condition, Test):
        return None
    if isinstance(a, (Test, bool)) or isinstance(b, (Test, bool)):
        return chosen_truth(condition, a, b)
    if not isinstance(a, (int, Expr)) or not isinstance(b, (int, Expr)):
        return None
    try:
        return selected(call, condition, a, b)
    except TooLarge:
        return None


def selected(call: Call, condition: Test, a: Dim, b: Dim) -> Dim:
    """Return `a` where a test holds, else `b`, as an expression."""
    if condition.negated:
        a, b = b, a
    if not condition.equal:
        return call.scope.select(condition.expr, a, b)
    return call.scope.select(condition.expr, call.scope.select(-condition.expr, a, b), b)


def chosen_truth(condition: Test, a: Element, b: Element) -> Element:
    """Return Where of two bools."""
    if a is True and b is False:
        return condition
    if a is False and b is True:
        return negation(condition)
    if b is False:
        return conjunction(condition, a)
    return disjunction(condition, b) if a is True else None
