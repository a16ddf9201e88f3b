"""Combine shapes as multidirectional broadcasting does (ONNX, Broadcasting; numpy's rule)."""

from __future__ import annotations

from sardonyx.dims import DimMismatch, TooLarge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call


def broadcast(call: Call, *shapes: Shape | None) -> Shape | None:
    """Return the shape that all broadcast to, or None when a rank is not known.

    Two dims of which neither is known to be 1 stay one exact expression, `broadcast(a, b)`. Refuses the node for two
    numbers that differ, neither being 1.
    """
    result: Shape | None = None
    for shape in shapes:
        if shape is None:
            return None
        result = shape if result is None else pair(call, result, shape)
    return () if result is None else result


def pair(call: Call, left: Shape, right: Shape) -> Shape:
    """Broadcast two shapes."""
    if left == right:
        return left
    if len(left) < len(right):
        left, right = right, left
    if not right:
        return left
    offset = len(left) - len(right)
    dims = list(left)
    combine = call.scope.broadcast
    for axis, dim in enumerate(right, offset):
        mine = dims[axis]
        if mine is not dim and dim != 1:
            try:
                dims[axis] = combine(mine, dim)
            except DimMismatch:
                call.fail("dim-mismatch", f"axis {axis} is {mine} in one input and {dim} in another, and neither is 1")
            except TooLarge:
                dims[axis] = call.fresh()
    return tuple(dims)
