"""Carry elements through operators: broadcasting, indexing, reshaping of what is known of small tensors.

Contents are elements in row-major order; shapes here are numbers. Moving elements about is done on positions: what a
permutation, a slice or a gather does to `0, 1, 2, ...` it does to any elements.
"""

from __future__ import annotations

from sardonyx.ops.call import INTEGERS, MOST_ELEMENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sardonyx.ir.types import Shape, TensorType
    from sardonyx.ops.call import Call, Content, Element

FEW = 16
"""Unknown integers are given symbols, unasked, in tensors of at most this many elements: those hold sizes."""


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


def numbers(shape: Shape) -> tuple[int, ...]:
    """Return a shape whose dims are numbers as such."""
    return tuple(dim for dim in shape if isinstance(dim, int))


def positions(shape: Sequence[int], strides: Sequence[int], start: int = 0) -> list[int]:
    """Return the positions that walking over `shape` with these strides visits, in row-major order."""
    found = [start]
    for dim, stride in zip(shape, strides, strict=True):
        found = [base + at * stride for base in found for at in range(dim)]
    return found


def pick(content: Content, where: Sequence[int]) -> Content:
    """Return the elements at some positions."""
    return tuple([content[at] for at in where])


def spread(content: Content, shape: Shape, target: Shape) -> Content:
    """Broadcast elements of one shape to another."""
    if shape == target or len(content) == 0:
        return content
    wanted, given = numbers(target), numbers(shape)
    if len(content) == 1:
        size = 1
        for dim in wanted:
            size *= dim
        return content * size
    strides = [0] * (len(wanted) - len(given))
    strides += [0 if dim == 1 else stride for dim, stride in zip(given, strides_of(given), strict=True)]
    return pick(content, positions(wanted, strides))


def permuted(content: Content, shape: Sequence[int], perm: Sequence[int]) -> Content:
    """Return the elements with the axes of their tensor permuted."""
    strides = strides_of(shape)
    return pick(content, positions([shape[axis] for axis in perm], [strides[axis] for axis in perm]))


def lanes(shape: Sequence[int], axis: int) -> list[list[int]]:
    """Return the positions of each line along an axis, lines in row-major order of the other axes."""
    strides = strides_of(shape)
    others = [dim for at, dim in enumerate(shape) if at != axis]
    starts = positions(others, [stride for at, stride in enumerate(strides) if at != axis])
    return [[start + at * strides[axis] for at in range(shape[axis])] for start in starts]


def columns(call: Call, kinds: Sequence[TensorType], shape: Shape | None) -> list[Content] | None:
    """Return the elements of all inputs, broadcast to `shape`; None where too little is known to be worth it.

    That is: where some input is known (the others then show symbols), or all are few integers.
    """
    count = count_of(shape)
    if count is None or shape is None:
        return None
    known = [call.known(at) for at in range(len(kinds))]
    if None in known:
        few = count <= FEW and all(kind.dtype in INTEGERS for kind in kinds)
        if not few and all(one is None for one in known):
            return None
        known = [call.content(at) if one is None else one for at, one in enumerate(known)]
    found = []
    for content, kind in zip(known, kinds, strict=True):
        if content is None or kind.shape is None or kind.dtype is None:
            return None
        found.append(spread(content, kind.shape, shape))
    return found


def elementwise(
    call: Call, kinds: Sequence[TensorType], shape: Shape | None, function: Callable[..., Element]
) -> Content | None:
    """Apply a function to the elements of all inputs, broadcast to `shape`; None when too little is known."""
    found = columns(call, kinds, shape)
    return None if found is None else useful(tuple(map(function, *found)))


def useful(content: Content) -> Content | None:
    """Return elements, or None when nothing is known of any of them."""
    for one in content:
        if one is not None:
            return content
    return None if content else content
