"""Rules for what writes into a copy of a tensor by index."""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.call import INTEGERS, Fact
from sardonyx.ops.common.contents import count_of, numbers, strides_of
from sardonyx.ops.onnx.tensor_index import coordinates, index_in, within
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ops.call import Call, Content, Element

rules = Rules("")


def inputs_of(call: Call, data: TensorType) -> tuple[Content, Content, Content] | None:
    """Return the elements of data, indices (all numbers) and updates; None when too little is known, or they reduce."""
    if count_of(data.shape) is None or call.str("reduction", "none") != "none":
        return None
    where = call.known(1)
    if where is None or not all(type(one) is int for one in where):
        return None
    before, updates = call.known(0), call.known(2)
    if before is None or updates is None:
        if data.dtype not in INTEGERS or (before is None and updates is None):
            return None
        before, updates = call.content(0), call.content(2)
    return None if before is None or updates is None else (before, where, updates)


def scatter_elements(call: Call) -> TensorType | Fact:
    """Write one element for each index, along an axis."""
    data = call.tensor(0)
    if data.shape is None:
        return data
    axis = call.axis(call.int("axis", 0), len(data.shape), attr="axis")
    indices, updates_kind = call.tensor(1).shape, call.peek(2)
    within(call, data.shape, indices, axis)
    if isinstance(updates_kind, TensorType) and updates_kind.shape is not None and indices is not None:
        if len(updates_kind.shape) != len(indices):
            call.fail("rank-mismatch", f"updates have {len(updates_kind.shape)} dims, the indices {len(indices)}")
        for other, (mine, theirs) in enumerate(zip(updates_kind.shape, indices, strict=True)):
            if call.scope.equal(mine, theirs) is False:
                call.fail("dim-mismatch", f"axis {other} is {mine} in updates and {theirs} in the indices")
    found = inputs_of(call, data)
    if found is None or indices is None or count_of(indices) is None:
        return data
    before, where, updates = found
    after: list[Element] = list(before)
    sizes = numbers(data.shape)
    strides = strides_of(sizes)
    for index, one, new in zip(coordinates(numbers(indices)), where, updates, strict=True):
        at = index_in(call, one, sizes[axis], axis)  # type: ignore[arg-type]
        place = [at if a == axis else i for a, i in enumerate(index)]
        after[sum(i * stride for i, stride in zip(place, strides, strict=True))] = new  # type: ignore[operator,misc]
    return Fact(data, tuple(after))


rules.table(scatter_elements, {"Scatter": 9, "ScatterElements": 11})


@rules("ScatterND", since=11)
def scatter_nd(call: Call) -> TensorType | Fact:
    """Write slices at coordinates, which lie along the last axis of the indices."""
    data = call.tensor(0)
    found = inputs_of(call, data)
    indices = call.tensor(1).shape
    if found is None or not indices or data.shape is None:
        return data
    before, where, updates = found
    length = indices[-1]
    sizes = numbers(data.shape)
    if not isinstance(length, int) or not 0 < length <= len(sizes):
        return data
    strides = strides_of(sizes)
    width = strides[length - 1]
    after: list[Element] = list(before)
    for number, start in enumerate(range(0, len(where), length)):
        at = 0
        for axis, one in enumerate(where[start : start + length]):
            at += index_in(call, one, sizes[axis], axis) * strides[axis]  # type: ignore[operator,arg-type]
        after[at : at + width] = updates[number * width : (number + 1) * width]
    return Fact(data, tuple(after)) if len(after) == len(before) else data
