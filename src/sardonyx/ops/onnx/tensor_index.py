"""Rules for what reads tensors by index, and finds positions in them."""

from __future__ import annotations

from sardonyx.dims import Expr
from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.call import Fact
from sardonyx.ops.common.contents import count_of, lanes, numbers, pick, strides_of
from sardonyx.ops.common.sizes import as_size, joined, product
from sardonyx.ops.onnx.tensor_shape import may_hold_sizes
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call, Content, Element

rules = Rules("")


def known_data(call: Call, data: TensorType) -> Content | None:
    """Return the elements of the first input if they are worth looking at."""
    return call.content(0) if may_hold_sizes(data) else call.known(0)


def index_in(call: Call, index: int, size: Dim, axis: int) -> int | None:
    """Return an index counted from the front; refuse one out of range; None when that depends on an unknown size."""
    if isinstance(size, int):
        if not -size <= index < size:
            call.fail("bad-input", f"index {index} is out of range for axis {axis} of size {size}")
        return index + size if index < 0 else index
    return index if index >= 0 else None


# ---------------------------------------------------------------- Gather


@rules("Gather", since=1)
def gather(call: Call) -> TensorType | Fact:
    """Take slices along one axis by index; the axis gives way to the axes of the indices."""
    data, indices = call.tensor(0), call.tensor(1)
    shape, other = data.shape, indices.shape
    if shape is None:
        return data
    axis = call.int("axis", 0)
    rank = len(shape)
    if not -rank <= axis < rank:
        call.fail("axis-out-of-range", f"axis {axis} is out of range for rank {rank}", attr="axis")
    if other is None:
        return data.with_shape(None)
    axis = axis + rank if axis < 0 else axis
    kind = TensorType(data.dtype, (*shape[:axis], *other, *shape[axis + 1 :]))
    if rank > 2 or type(shape[0]) is not int or count_of(shape) is None or count_of(kind.shape) is None:
        return kind
    where = call.known(1)
    if where is None:
        return kind
    content = known_data(call, data)
    if content is None:
        return kind
    for one in where:
        if type(one) is not int:
            return kind
    if rank == 1 and len(where) == 1:  # most often: one dim of a shape
        return Fact(kind, (content[index_in(call, where[0], shape[0], 0)],))  # type: ignore[arg-type,index]
    sizes = numbers(shape)
    picked = [index_in(call, one, sizes[axis], axis) for one in where]  # type: ignore[arg-type]
    if rank == 1:
        return Fact(kind, pick(content, picked))  # type: ignore[arg-type]
    inner = strides_of(sizes)[axis]
    outer = len(content) // (inner * sizes[axis]) if content else 0
    return Fact(
        kind,
        tuple(
            content[(block * sizes[axis] + at) * inner + offset]
            for block in range(outer)
            for at in picked
            for offset in range(inner)
        ),
    )


@rules("GatherElements", since=11)
def gather_elements(call: Call) -> TensorType | Fact:
    """Take one element for each index, along an axis; the result has the shape of the indices."""
    data, indices = call.tensor(0), call.tensor(1)
    kind = TensorType(data.dtype, indices.shape)
    if kind.shape is None:
        return kind if data.shape is None else kind.with_shape([call.fresh() for _ in data.shape])
    axis = call.axis(call.int("axis", 0), len(kind.shape), attr="axis")
    within(call, data.shape, indices.shape, axis)
    if count_of(kind.shape) is None or count_of(data.shape) is None or data.shape is None:
        return kind
    where = call.known(1)
    content = None if where is None else known_data(call, data)
    if content is None or where is None or not all(type(one) is int for one in where):
        return kind
    sizes = numbers(data.shape)
    strides = strides_of(sizes)
    found: list[Element] = []
    for index, one in zip(coordinates(numbers(kind.shape)), where, strict=True):
        at = index_in(call, one, sizes[axis], axis)  # type: ignore[arg-type]
        place = [at if a == axis else i for a, i in enumerate(index)]
        found.append(content[sum(i * stride for i, stride in zip(place, strides, strict=True))])  # type: ignore[operator,misc]
    return Fact(kind, tuple(found))


def within(call: Call, data: Shape | None, indices: Shape | None, axis: int) -> None:
    """Refuse indices that have another number of axes than the data, or more places along any but the indexed one."""
    if data is None or indices is None:
        return
    if len(data) != len(indices):
        call.fail("rank-mismatch", f"data has {len(data)} dims, the indices have {len(indices)}")
    for at, (most, given) in enumerate(zip(data, indices, strict=True)):
        if at != axis and isinstance(most, int) and isinstance(given, int) and given > most:
            call.fail("dim-mismatch", f"axis {at} is {given} in the indices, but only {most} in data")


def coordinates(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the index of every element, in row-major order."""
    found: list[tuple[int, ...]] = [()]
    for dim in shape:
        found = [(*index, at) for index in found for at in range(dim)]
    return found


@rules("GatherND", since=11)
def gather_nd(call: Call) -> TensorType | Fact:
    """Take slices by coordinates, which lie along the last axis of the indices; the first axes may be shared."""
    data, indices = call.tensor(0), call.tensor(1)
    batch = call.int("batch_dims", 0)
    if data.shape is None or indices.shape is None:
        return data.with_shape(None)
    if batch < 0:
        call.fail("bad-attribute", f"batch_dims is {batch}", attr="batch_dims")
    if not indices.shape or len(data.shape) <= batch:
        call.fail("rank-mismatch", f"data has {len(data.shape)} dims and the indices have {len(indices.shape)}")
    for axis in range(batch):
        joined(
            call,
            data.shape[axis],
            indices.shape[axis],
            f"axis {axis} is {data.shape[axis]} in data and {indices.shape[axis]} in the indices",
        )
    length = indices.shape[-1]
    if not isinstance(length, int):
        return data.with_shape(None)
    if not 0 <= length <= len(data.shape) - batch:
        call.fail("bad-input", f"coordinates of {length} numbers for {len(data.shape) - batch} axes")
    kind = data.with_shape((*indices.shape[:-1], *data.shape[batch + length :]))
    if batch or count_of(data.shape) is None or count_of(kind.shape) is None:
        return kind
    where = call.known(1)
    content = None if where is None else known_data(call, data)
    if content is None or where is None or not all(type(one) is int for one in where):
        return kind
    sizes = numbers(data.shape)
    strides = strides_of(sizes)
    width = 1
    for dim in sizes[length:]:
        width *= dim
    found: list[Element] = []
    for start in range(0, len(where), length) if length else ():
        at = 0
        for axis, one in enumerate(where[start : start + length]):
            at += index_in(call, one, sizes[axis], axis) * strides[axis]  # type: ignore[operator,arg-type]
        found += content[at : at + width]
    return Fact(kind, tuple(found)) if length else kind


# ---------------------------------------------------------------- OneHot, TopK


@rules("OneHot", since=9)
def one_hot(call: Call) -> TensorType | Fact:
    """Insert an axis of `depth` elements, of which the indexed one is on."""
    indices = call.peek(0)
    values = call.peek(2)
    dtype = values.dtype if isinstance(values, TensorType) else None
    shape = indices.shape if isinstance(indices, TensorType) else None
    if shape is None:
        return TensorType(dtype, None)
    axis = call.int("axis", -1)
    rank = len(shape) + 1
    at = call.axis(axis, rank, attr="axis")
    depth = call.scalar(1)
    if isinstance(depth, float) and depth.is_integer():
        depth = int(depth)
    if isinstance(depth, int) and depth < 0:
        call.fail("bad-input", f"the depth is {depth}")
    size = as_size(call, depth) if isinstance(depth, (int, Expr)) else call.fresh()
    kind = TensorType(dtype, (*shape[:at], size, *shape[at:]))
    if not isinstance(depth, int) or count_of(kind.shape) is None:
        return kind
    where, pair = call.known(0), call.known(2)
    if where is None or pair is None or len(pair) != 2 or not all(type(one) is int for one in where):
        return kind
    off, on = pair
    sizes = numbers(kind.shape or ())
    found = [off] * len(where) * depth
    for line, one in zip(lanes(sizes, at), where, strict=True):
        if -depth <= one < depth:  # type: ignore[operator]
            found[line[one]] = on  # type: ignore[index]
    return Fact(kind, tuple(found))


@rules("TopK", since=1)
def top_k_by_attribute(call: Call) -> tuple[TensorType, ...]:
    """Keep the `k` largest along an axis: the form before opset 10."""
    return tuple(one.type if isinstance(one, Fact) else one for one in best(call, call.int("k")))  # type: ignore[misc]


@rules("TopK", since=10)
def top_k(call: Call) -> tuple[TensorType | Fact, ...]:
    """Keep the K largest (or smallest) along an axis, and tell where they were."""
    return best(call, call.scalar(1))


def best(call: Call, count: Element) -> tuple[TensorType | Fact, ...]:
    """Return the types of the values and their positions."""
    data = call.tensor(0)
    if data.shape is None:
        return data, TensorType(DType.INT64, None)
    axis = call.axis(call.int("axis", -1), len(data.shape), attr="axis")
    size = data.shape[axis]
    if isinstance(count, int) and (count < 0 or (isinstance(size, int) and count > size)):
        call.fail("bad-input", f"{count} of {size} elements cannot be taken")
    length = count if isinstance(count, (int, Expr)) else call.fresh()
    shape = (*data.shape[:axis], length, *data.shape[axis + 1 :])
    kinds = (data.with_shape(shape), TensorType(DType.INT64, shape))
    if len(shape) != 1 or not isinstance(length, int) or count_of(data.shape) is None:
        return kinds
    content = call.known(0)
    if content is None or not all(type(one) in (int, float) and one == one for one in content):
        return kinds
    order = sorted(range(len(content)), key=lambda at: content[at], reverse=bool(call.int("largest", 1)))  # type: ignore[arg-type,return-value]
    if call.int("sorted", 1) == 0:
        return kinds
    return Fact(kinds[0], pick(content, order[:length])), Fact(kinds[1], tuple(order[:length]))


# ---------------------------------------------------------------- what the data decides


def at_most(call: Call, hint: str, most: Dim) -> Dim:
    """Return a size that the data decides, from 0 to `most`."""
    if most == 0:
        return 0
    found = call.fresh(hint)
    call.scope.assume_at_least(most, found)
    return found


@rules("NonZero", since=9)
def non_zero(call: Call) -> TensorType | Fact:
    """Return the coordinates of the elements that are not 0, one column for each."""
    data = call.tensor(0)
    if data.shape is None:
        return TensorType(DType.INT64, (call.fresh(), call.fresh()))
    shape = data.shape
    # The specification gives a scalar no row, runtimes give it one.
    rows: Dim = len(shape) if shape else call.fresh()
    content = call.known(0) if shape and count_of(shape) is not None else None
    if content is not None and all(isinstance(one, (bool, int, float)) for one in content):
        hits = [index for index, one in zip(coordinates(numbers(shape)), content, strict=True) if one != 0]
        kind = TensorType(DType.INT64, (rows, len(hits)))
        found = tuple(index[axis] for axis in range(len(shape)) for index in hits)
        return Fact(kind, found if count_of(kind.shape) is not None else None)
    return TensorType(DType.INT64, (rows, at_most(call, "nonzero", product(call, shape))))


@rules("Compress", since=9)
def compress(call: Call) -> TensorType | Fact:
    """Keep the slices, or elements, for which a condition holds; the condition may be shorter than the axis."""
    data = call.tensor(0)
    axis = call.int("axis", None)
    condition = call.known(1)
    kept = None if condition is None or None in condition else [at for at, one in enumerate(condition) if one is True]
    if condition is not None and not all(isinstance(one, bool) for one in condition):
        kept = None
    if data.shape is None:
        return data.with_shape((call.fresh(),)) if axis is None else data
    before: Shape = ()
    after: Shape = ()
    size: Dim
    if axis is None:
        size = product(call, data.shape)
    else:
        at = call.axis(axis, len(data.shape), attr="axis")
        size, before, after = data.shape[at], data.shape[:at], data.shape[at + 1 :]
    if kept and isinstance(size, int):
        kept = [place for place in kept if place < size]
    elif kept and call.scope.at_least(size, kept[-1] + 1) is not True:
        kept = None  # what the condition says beyond the end does not count
    length = at_most(call, "kept", size) if kept is None else len(kept)
    kind = data.with_shape((*before, length, *after))
    content = None if kept is None or before or after or count_of(data.shape) is None else call.known(0)
    return kind if content is None or kept is None else Fact(kind, pick(content, kept))


@rules("Unique", since=11)
def unique(call: Call) -> tuple[TensorType, ...]:
    """Return each element, or slice along an axis, once; how many there are the data decides."""
    data = call.tensor(0)
    axis = call.int("axis", None)
    shape = data.shape
    if axis is None:
        total = None if shape is None else product(call, shape)
        count = call.fresh("unique") if total is None else once(call, total)
        kept: Shape | None = (count,)
    elif shape is None:
        total, count, kept = None, call.fresh("unique"), None
    else:
        at = call.axis(axis, len(shape), attr="axis")
        total = shape[at]
        count = once(call, total)
        kept = (*shape[:at], count, *shape[at + 1 :])
    one = TensorType(DType.INT64, (count,))
    whole = TensorType(DType.INT64, (call.fresh() if total is None else total,))
    return data.with_shape(kept), one, whole, one


def once(call: Call, total: Dim) -> Dim:
    """Return how many different things there are among `total`."""
    if total == 0 or total == 1:
        return total
    count = at_most(call, "unique", total)
    if call.scope.is_positive(total):
        call.scope.assume_at_least(count, 1)
    return count
