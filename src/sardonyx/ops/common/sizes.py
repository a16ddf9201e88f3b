"""Calculate sizes that always come out: one that outgrows what a dim or an expression may hold is a fresh symbol."""

from __future__ import annotations

from sardonyx.dims import DIM_MAX, TooLarge, total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call


def as_size(call: Call, dim: Dim) -> Dim:
    """Return a size; a number above 2^63-1 is unknown, and said to be odd (decisions S3)."""
    if isinstance(dim, int) and dim > DIM_MAX:
        call.warn("size-too-large", f"a dim would be {dim}, which is above 2^63-1")
        return call.fresh()
    return dim


def product(call: Call, dims: Iterable[Dim]) -> Dim:
    """Return how many elements dims make."""
    result: Dim = 1
    known = 1
    rest: list[Dim] = []
    for dim in dims:
        if isinstance(dim, int):
            known *= dim
        else:
            rest.append(dim)
    if known == 0:
        return 0
    try:
        for dim in rest:
            result = dim if result == 1 else result * dim
        return as_size(call, result * known)
    except TooLarge:
        return call.fresh()


def plus(call: Call, *dims: Dim) -> Dim:
    """Return a sum of dims."""
    known = 0
    for dim in dims:
        if type(dim) is not int:
            break
        known += dim
    else:
        return as_size(call, known)
    try:
        return as_size(call, dims[0] + dims[1] if len(dims) == 2 else total(dims))
    except TooLarge:
        return call.fresh()


def times(call: Call, a: Dim, b: Dim) -> Dim:
    """Return a product of two dims."""
    try:
        return as_size(call, a * b)
    except TooLarge:
        return call.fresh()


def as_known_now(call: Call, dim: Dim) -> Dim:
    """Return a size that was calculated some time ago in the light of what is known by now."""
    if isinstance(dim, int) or dim.depth < 3:
        return dim
    try:
        return call.scope.simplify(dim)
    except (TooLarge, ZeroDivisionError):
        return dim


def attempt(call: Call, calculate: Callable[[], Dim]) -> Dim:
    """Return a size, or a fresh symbol where it outgrows its limits or divides by 0."""
    try:
        return as_size(call, calculate())
    except (TooLarge, ZeroDivisionError):
        return call.fresh()


def joined(call: Call, a: Dim, b: Dim, message: str) -> Dim:
    """Return the one size of two dims that a run implies to be equal: a number wins, else the first.

    Refuses the node with `message` where they provably differ. A dim that nothing is known of says nothing about the
    other, so the other wins.
    """
    if a is b or a == b:
        return a
    equal = call.scope.equal(a, b)
    if equal is False:
        call.fail("dim-mismatch", message)
    if equal is None:
        call.assume("joined-dims", a, b)
    if isinstance(b, int):
        return b
    if isinstance(a, int):
        return a
    first = a.symbol
    return b if first is not None and first.anonymous else a
