"""Calculate what Slice takes of an axis, as ONNX clamps its bounds, for numbers and for expressions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim, Scope

FAR = 2**31 - 1
"""An end from here on means "to the end", in whichever integer type: exporters write the largest number it has."""


def extent(scope: Scope, size: Dim, start: Dim, end: Dim, step: int) -> Dim:
    """Return how many elements a slice of an axis has; `step` is not 0.

    Raises:
        TooLarge: the expression outgrew the limits.
    """
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        first, last = bounds(size, start, end, step)
        return len(range(first, last, step))
    if step > 0 and isinstance(start, int) and -FAR < start < 0 and isinstance(end, int) and end >= FAR:
        return scope.ceildiv(scope.minimum(-start, size), step)  # the last ones
    if step == 1 and isinstance(start, int) and start > 0 and isinstance(end, int) and end >= FAR:
        return scope.maximum(size - start, 0)  # all but the first ones
    if step > 0:
        first_dim = forward(scope, size, start)
        last_dim = forward(scope, size, end)
        length = scope.ceildiv(last_dim - first_dim, step) if step > 1 else last_dim - first_dim
        if first_dim == 0:  # what is clamped is no less than nothing
            return length
    else:
        first_dim = backward(scope, size, start, 0)
        last_dim = backward(scope, size, end, -1)
        length = scope.ceildiv(first_dim - last_dim, -step) if step < -1 else first_dim - last_dim
    return scope.maximum(length, 0)


def bounds(size: int, start: int, end: int, step: int) -> tuple[int, int]:
    """Return the clamped start and end of a slice of an axis of known size, as `range` takes them."""
    if start < 0:
        start += size
    if end < 0:
        end += size
    if step > 0:
        return min(max(start, 0), size), min(max(end, 0), size)
    return min(max(start, 0), size - 1), min(max(end, -1), size - 1)


def forward(scope: Scope, size: Dim, bound: Dim) -> Dim:
    """Return a bound clamped to `[0, size]`, counted from the end when negative."""
    if isinstance(bound, int):
        if bound == 0 or bound <= -FAR:
            return 0
        if bound >= FAR:
            return size
        return scope.minimum(bound, size) if bound > 0 else scope.maximum(size + bound, 0)
    if scope.at_least(bound, 0):
        return scope.minimum(bound, size)
    if scope.at_least(-1, bound):
        return scope.maximum(size + bound, 0)
    return scope.select(bound, scope.minimum(bound, size), scope.maximum(size + bound, 0))


def backward(scope: Scope, size: Dim, bound: Dim, least: int) -> Dim:
    """Return a bound clamped to `[least, size - 1]`, for a negative step; counted from the end when negative."""
    last = size - 1
    if isinstance(bound, int):
        if bound >= FAR:
            return last
        if bound <= -FAR:
            return scope.minimum(least, last)
        return scope.minimum(scope.maximum(bound if bound >= 0 else size + bound, least), last)
    counted = scope.minimum(scope.maximum(size + bound, least), last)
    if scope.at_least(-1, bound):
        return counted
    direct = scope.minimum(scope.maximum(bound, least), last)
    return direct if scope.at_least(bound, 0) else scope.select(bound, direct, counted)
