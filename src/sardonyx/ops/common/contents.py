"""Carry elements through operators: broadcasting, indexing, reshaping of what is known of small tensors."""

from __future__ import annotations

from sardonyx.ops.call import MOST_ELEMENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call, Content, Element


def count_of(shape: Shape | None) -> int | None:
    """Return how many elements a shape has, None when that is not known or more than contents are kept for."""
    if shape is None:
        return None
    count = 1
    for dim in shape:
        if not isinstance(dim, int):
            return None
        count *= dim
    return count if count <= MOST_ELEMENTS else None


def strides_of(shape: Sequence[int]) -> list[int]:
    """Return the row-major strides of a shape, in elements."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides


def spread(content: Content, shape: Shape, target: Shape) -> Content:
    """Broadcast elements of one shape to another; both shapes are numbers."""
    if shape == target or len(content) == 0:
        return content
    size = 1
    for dim in target:
        size *= dim  # type: ignore[operator]
    if len(content) == 1:
        return content * size
    offset = len(target) - len(shape)
    strides = [0] * offset + [
        0 if dim == 1 else stride
        for dim, stride in zip(shape, strides_of(shape), strict=True)  # type: ignore[arg-type]
    ]
    indices = [0]
    for dim, stride in zip(target, strides, strict=True):
        indices = [base + at * stride for base in indices for at in range(dim)]  # type: ignore[arg-type]
    return tuple(content[at] for at in indices)


def elementwise(call: Call, shape: Shape | None, function: Callable[..., Element], *inputs: int) -> Content | None:
    """Apply a function to the elements of some inputs, broadcast to `shape`; None when too little is known.

    Nothing is computed unless something is known of every input's elements.
    """
    count = count_of(shape)
    if count is None:
        return None
    columns = []
    for at in inputs:
        content = call.known(at)
        if content is None:
            content = call.content(at) if any(call.known(other) is not None for other in inputs) else None
        if content is None:
            return None
        columns.append(spread(content, call.tensor(at).shape or (), shape or ()))
    return tuple(map(function, *columns))
