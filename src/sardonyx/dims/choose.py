"""Choose between expressions: the largest, the smallest, the one that broadcasts, the one a comparison selects.

`max` and `min` have one form up to what their operands share: common terms stand outside, a common number too, and an
operand that never wins is gone. `facts` is the scope that may be asked for bounds; without it only operands that differ
by a number are compared.
"""

from __future__ import annotations

from math import gcd

from sardonyx.dims.divide import content, settle, shrink
from sardonyx.dims.expr import Atom, Expr, TooLarge, operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sardonyx.dims.expr import Dim, Monomial
    from sardonyx.dims.scope import Scope

MAX_ARMS = 16


class DimMismatch(ValueError):
    """Two numbers, neither of them 1, cannot broadcast; `sizes` holds them."""

    def __init__(self, sizes: tuple[int, int]) -> None:
        super().__init__(f"{sizes[0]} and {sizes[1]} do not broadcast")
        self.sizes = sizes


def extreme(kind: str, dims: Iterable[Dim], facts: Scope | None = None) -> Dim:
    """Return the largest (`kind` "max") or smallest ("min") of one or more dims.

    Raises:
        TooLarge: More than `MAX_ARMS` operands are left, or the result outgrew the limits.
    """
    given = [arm for dim in dims for arm in arms(dim, kind)]
    if not given:
        raise ValueError(f"{kind} of nothing")
    if len(given) > 4 * MAX_ARMS:
        raise TooLarge(f"{kind} of {len(given)} expressions")
    left: list[Dim] = []
    for dim in given:
        if any(wins(kind, other, dim, facts) for other in left):
            continue
        left = [other for other in left if not wins(kind, dim, other, facts)]
        left.append(dim)
    if len(left) == 1:
        return left[0]
    if len(left) > MAX_ARMS:
        raise TooLarge(f"{kind} of {len(left)} expressions")
    common = shared_part(left)
    left = [dim - common for dim in left]
    factor = gcd(*[content(dim) for dim in left])
    left = [shrink(dim, factor) for dim in left]
    return factor * operation(kind, tuple(left), frozenset(left)) + common


def wins(kind: str, one: Dim, other: Dim, facts: Scope | None) -> bool:
    """Whether `one` is always the answer when compared with `other`."""
    difference = one - other if kind == "max" else other - one
    if isinstance(difference, int):
        return difference >= 0
    return facts is not None and facts.reaches(difference, 0)


def arms(dim: Dim, kind: str) -> list[Dim]:
    """Return dims of which `dim` is the `kind`: itself, or the operands of one such operation inside its sum."""
    if isinstance(dim, Expr):
        opposite = "min" if kind == "max" else "max"
        for monomial, coefficient in dim.terms.items():
            if len(monomial) == 1 and monomial[0].kind == (kind if coefficient > 0 else opposite):
                rest = dim - coefficient * monomial[0]
                return [rest + coefficient * arg for arg in monomial[0].args]
    return [dim]


def shared_part(dims: list[Dim]) -> Dim:
    """Return the largest part that can be taken out of all dims leaving no negative coefficient behind."""
    tables: list[Mapping[Monomial, int]] = [dim.terms if isinstance(dim, Expr) else {(): dim} for dim in dims]
    shared: Mapping[Monomial, int] = tables[0]
    for table in tables[1:]:  # a term that one of them lacks counts as 0
        least = {}
        for key, coefficient in shared.items():
            other = table.get(key, 0)
            if other < coefficient:
                coefficient = other
            if coefficient:
                least[key] = coefficient
        least.update({key: number for key, number in table.items() if number < 0 and key not in shared})
        shared = least
    return settle(dict(shared))


def broadcast(dims: Iterable[Dim], facts: Scope | None = None) -> Dim:
    """Return the common size of dims that broadcast together: the one that is not 1.

    It is exact for every run, in which dims that are not 1 are equal: a number other than 1 wins at once, so does an
    expression that is known to be 2 or more.

    Raises:
        DimMismatch: Two numbers differ and neither is 1.
    """
    left: dict[Dim, None] = {}
    for dim in dims:
        left.update(dict.fromkeys(dim.args if isinstance(dim, Atom) and dim.kind == "broadcast" else (dim,)))
    left.pop(1, None)
    numbers = [dim for dim in left if isinstance(dim, int)]
    if len(numbers) > 1:
        raise DimMismatch((numbers[0], numbers[1]))
    if numbers:
        return numbers[0]
    if not left:
        return 1
    if len(left) > 1:
        for dim in left:
            if is_above_one(dim, facts):
                return dim
        capped = [dim for dim in left if is_capped(dim, left, facts)]
        for dim in capped:
            del left[dim]
    if len(left) == 1:
        return next(iter(left))
    if len(left) > MAX_ARMS:
        raise TooLarge(f"broadcast of {len(left)} expressions")
    return operation("broadcast", tuple(left), frozenset(left))


def is_capped(dim: Dim, beside: Iterable[Dim], facts: Scope | None) -> bool:
    """Whether `dim` is `min(a, k)` with `a` beside it and k >= 2: where both broadcast, they are equal or `a` is 1."""
    choices = arms(dim, "min")
    kept = [choice for choice in choices if choice in beside and choice is not dim]
    if len(choices) < 2 or len(kept) != 1:
        return False
    return all(other is kept[0] or is_above_one(other, facts) for other in choices)


def is_above_one(dim: Dim, facts: Scope | None) -> bool:
    """Whether `dim >= 2` is known."""
    return dim >= 2 if isinstance(dim, int) else facts is not None and facts.reaches(dim, 2)


def select(x: Dim, a: Dim, b: Dim, facts: Scope | None = None) -> Dim:
    """Return `a` where `x >= 0`, else `b`."""
    if isinstance(x, int):
        return a if x >= 0 else b
    if a is b or (isinstance(a, int) and a == b):
        return a
    if facts is not None:
        known = facts.at_least(x, 0)
        if known is not None:
            return a if known else b
    constant = x.constant
    step = gcd(*[coefficient for monomial, coefficient in x.terms.items() if monomial])
    return operation("select", (shrink(x - constant, step) + constant // step, a, b))
