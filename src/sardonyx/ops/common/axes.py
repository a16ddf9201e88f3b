"""Read lists of axes: from attributes or from an input, counted from the front, each at most once."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call


MOST_AXES = 64
"""A length says a rank only up to here: more dims than numpy holds are no rank, and 2^31 of them would fill memory."""


def normalized(call: Call, axes: Iterable[int], rank: int, attr: str | None = None) -> tuple[int, ...]:
    """Return axes counted from the front; refuse one out of range or named twice."""
    found = []
    for axis in axes:
        if not -rank <= axis < rank:
            call.fail("axis-out-of-range", f"axis {axis} is out of range for rank {rank}", attr=attr)
        found.append(axis + rank if axis < 0 else axis)
    if len(set(found)) < len(found):
        call.fail("axis-twice", f"axes {list(axes)} name one axis twice for rank {rank}", attr=attr)
    return tuple(found)


def from_input(call: Call, at: int) -> tuple[int, ...] | None:
    """Return the numbers in an integer input, or None when one of them is not known."""
    content = call.known(at)
    if content is None:
        return None
    for one in content:
        if type(one) is not int:
            return None
    return content  # type: ignore[return-value]  # numbers, as was just seen


def count_in(call: Call, at: int) -> int | None:
    """Return how many axes a 1-D input names, or None when that is not known or cannot be meant."""
    kind = call.tensor(at)
    if kind.shape is not None and len(kind.shape) == 1:
        return as_rank(kind.shape[0])
    return None


def as_rank(length: Dim) -> int | None:
    """Return a length as a number of axes, or None when it is not known or cannot be meant."""
    return length if isinstance(length, int) and length <= MOST_AXES else None
