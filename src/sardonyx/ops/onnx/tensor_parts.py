"""Rules for what joins, cuts, repeats and pads tensors, and moves blocks of them."""

from __future__ import annotations

from sardonyx.dims import Expr, Symbol, TooLarge
from sardonyx.ir.types import TensorType
from sardonyx.ops.call import INTEGERS, Fact
from sardonyx.ops.common import axes as axis_lists
from sardonyx.ops.common import slicing
from sardonyx.ops.common.contents import (
    count_of,
    numbers,
    pick,
    positions,
    strides_of,
    useful,
)
from sardonyx.ops.common.sizes import as_size, attempt, joined, plus, times
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call, Content, Element

rules = Rules("")


# ---------------------------------------------------------------- Concat


@rules("Concat", since=1)
def concat_along_axis_1(call: Call) -> TensorType | Fact:
    """Join tensors along `axis`, by default 1: the form of opset 1 to 3."""
    return joined_along(call, call.int("axis", 1))


@rules("Concat", since=4)
def concat(call: Call) -> TensorType | Fact:
    """Join tensors along `axis`; all other axes are equal."""
    return joined_along(call, call.int("axis"))


def joined_along(call: Call, axis: int) -> TensorType | Fact:
    """Join tensors along an axis."""
    shapes: list[Shape | None] = []
    rank: int | None = None
    dtype = None
    for at in range(len(call.node.inputs)):
        kind = call.peek(at)
        if kind is None:
            shapes.append(None)
            continue
        if not isinstance(kind, TensorType):
            call.fail("wrong-kind", f"input {at} is a {kind.type_str}, not a tensor")
        shape = kind.shape
        if shape is not None:
            if rank is None:
                rank = len(shape)
            elif rank != len(shape):
                call.fail("rank-mismatch", f"input {at} has {len(shape)} dims, another has {rank}")
        if dtype is None:
            dtype = kind.dtype
        shapes.append(shape)
    if not shapes:
        call.missing(0)
    if rank is None:
        return TensorType(dtype, None)
    if rank == 0:
        call.fail("rank-mismatch", "scalars have no axis to be joined along")
    axis = call.axis(axis, rank, attr="axis")
    known = [shape for shape in shapes if shape is not None]
    dims: list[Dim] = list(known[0])
    if rank > 1:
        for shape in known[1:]:
            for other in range(rank):
                mine, theirs = dims[other], shape[other]
                if other != axis and mine is not theirs and mine != theirs:
                    dims[other] = joined(
                        call, mine, theirs, f"axis {other} is {mine} in one input and {theirs} in another"
                    )
    if len(known) < len(shapes):
        dims[axis] = call.fresh()
        return TensorType(dtype, tuple(dims))
    dims[axis] = plus(call, *[shape[axis] for shape in known])
    joint = TensorType(dtype, tuple(dims))
    if type(dims[0]) is not int or count_of(joint.shape) is None:
        return joint
    return Fact(joint, joined_content(call, known, joint, axis))


def joined_content(call: Call, shapes: Sequence[Shape], kind: TensorType, axis: int) -> Content | None:
    """Return the elements of tensors joined along an axis."""
    count = len(shapes)
    parts = [call.known(at) for at in range(count)]
    if None in parts:
        if parts.count(None) == count and (kind.dtype not in INTEGERS or len(shapes[0]) > 1):
            return None
        parts = [call.content(at) if part is None else part for at, part in enumerate(parts)]
        if None in parts:
            return None
    if len(shapes[0]) == 1:
        joined_up: list[Element] = []
        for part in parts:
            joined_up += part or ()
        return useful(tuple(joined_up))
    outer = 1
    for dim in numbers(shapes[0])[:axis]:
        outer *= dim
    found: list[Element] = []
    for block in range(outer):
        for part in parts:
            length = len(part or ()) // outer
            found += (part or ())[block * length : (block + 1) * length]
    return useful(tuple(found))


# ---------------------------------------------------------------- Split


@rules("Split", since=1)
def split_by_attribute(call: Call) -> tuple[TensorType | Fact, ...]:
    """Cut along `axis` into lengths given by an attribute (in opset 1 also an input), or equal ones."""
    lengths: Content | None = call.ints("split", None) or None  # no lengths are as good as none given
    if lengths is None and call.has(1):
        return cut(call, sizes_in(call, 1))
    return cut(call, lengths)


@rules("Split", since=13)
def split(call: Call) -> tuple[TensorType | Fact, ...]:
    """Cut along `axis` into lengths given by the second input, or equal ones."""
    return cut(call, sizes_in(call, 1) if call.has(1) else None)


@rules("Split", since=18)
def split_in_chunks(call: Call) -> tuple[TensorType | Fact, ...]:
    """Cut along `axis` into given lengths, or into `num_outputs` chunks of which the last may be shorter."""
    if call.has(1):
        return cut(call, sizes_in(call, 1))
    count: int | None = call.int("num_outputs", None)
    if count is None:
        if call.outputs > 1:
            call.fail("missing-attribute", "neither `split` nor num_outputs is given", attr="num_outputs")
        count = 1
    if count != call.outputs:
        call.fail("bad-attribute", f"num_outputs is {count}, but there are {call.outputs} outputs", attr="num_outputs")
    data = call.tensor(0)
    if data.shape is None:
        return (data,) * count
    axis = call.axis(call.int("axis", 0), len(data.shape), attr="axis")
    size = data.shape[axis]
    chunk = attempt(call, lambda: call.scope.ceildiv(size, count))
    last = attempt(call, lambda: size - chunk * (count - 1))
    if isinstance(last, int) and last < 0:
        call.fail("bad-input", f"{size} elements cannot be cut into {count} chunks of {chunk}")
    return pieces(call, data, axis, [chunk] * (count - 1) + [last])


def sizes_in(call: Call, at: int) -> Content | None:
    """Return the lengths that an input holds, fresh sizes when they are not known; None when it is empty."""
    content = call.content(at)
    if content == ():  # runtimes take that for no input
        return None
    if content is None or len(content) != call.outputs:
        if content is not None:
            call.fail("bad-input", f"{len(content)} lengths for {call.outputs} outputs")
        return tuple(call.fresh() for _ in range(call.outputs))
    return content


def cut(call: Call, lengths: Content | None) -> tuple[TensorType | Fact, ...]:
    """Cut the data into pieces of given lengths, or into equal ones."""
    data = call.tensor(0)
    count = call.outputs
    if data.shape is None:
        return (data,) * count
    axis = call.axis(call.int("axis", 0), len(data.shape), attr="axis")
    size = data.shape[axis]
    if lengths is None:
        try:
            equal = call.scope.exact_div(size, count)
        except ValueError:
            call.fail("dim-mismatch", f"axis {axis} is {size}, which {count} equal parts do not make up")
        return pieces(call, data, axis, [equal] * count)
    if len(lengths) != count:
        call.fail("bad-attribute", f"{len(lengths)} lengths for {count} outputs", attr="split")
    dims: list[Dim] = []
    for one in lengths:
        if isinstance(one, int) and one < 0:
            call.fail("bad-input", f"a piece of length {one}")
        dims.append(one if isinstance(one, (int, Expr)) else call.fresh())
    open_ones = [at for at, dim in enumerate(dims) if isinstance(dim, Symbol) and dim.anonymous]
    if len(open_ones) == 1:
        at = open_ones[0]
        dims[at] = attempt(call, lambda: size - plus(call, *dims[:at], *dims[at + 1 :]))
        if isinstance(dims[at], int) and dims[at] < 0:  # type: ignore[operator]
            call.fail("dim-mismatch", f"axis {axis} is {size}, too small for the other pieces")
    elif all(isinstance(dim, int) for dim in dims):
        total = plus(call, *dims)
        if call.scope.equal(total, size) is False:
            call.fail("dim-mismatch", f"axis {axis} is {size}, but the pieces make {total}")
    return pieces(call, data, axis, dims)


def pieces(call: Call, data: TensorType, axis: int, lengths: list[Dim]) -> tuple[TensorType | Fact, ...]:
    """Return the types of pieces along an axis, and their elements."""
    shape = data.shape or ()
    kinds = [data.with_shape((*shape[:axis], length, *shape[axis + 1 :])) for length in lengths]
    if count_of(shape) is None or not all(isinstance(length, int) for length in lengths):
        return tuple(kinds)
    content = call.content(0) if data.dtype in INTEGERS and len(shape) == 1 else call.known(0)
    if content is None:
        return tuple(kinds)
    found: list[TensorType | Fact] = []
    strides = strides_of(numbers(shape))
    start = 0
    for kind in kinds:
        where = positions(numbers(kind.shape or ()), strides, start * strides[axis])
        found.append(Fact(kind, pick(content, where)))
        start += numbers(kind.shape or ())[axis]
    return tuple(found)


# ---------------------------------------------------------------- Slice


@rules("Slice", since=1)
def slice_by_attributes(call: Call) -> TensorType | Fact:
    """Take from `starts` to `ends`, both attributes: the form before opset 10."""
    starts, ends = call.ints("starts"), call.ints("ends")
    axes = call.ints("axes", None)
    return sliced(call, starts, ends, tuple(range(len(starts))) if axes is None else axes, (1,) * len(starts))


@rules("Slice", since=10)
def slice_by_inputs(call: Call) -> TensorType | Fact:
    """Take from `starts` to `ends` in `steps`, all inputs, clamped and counted from the end when negative."""
    starts, ends = call.content(1), call.content(2)
    steps: Content | None = call.known(4) if call.has(4) else ()
    axes: tuple[int, ...] | None = None
    if call.has(3):
        axes = axis_lists.from_input(call, 3)
    else:
        given = starts if starts is not None else ends
        axes = None if given is None else tuple(range(len(given)))
    if axes is None:
        return somewhere_sliced(call)
    return sliced(call, starts, ends, axes, (1,) * len(axes) if steps == () else steps)


def somewhere_sliced(call: Call) -> TensorType:
    """Return what is left of a shape when it is not known which axes are cut."""
    data = call.tensor(0)
    if data.shape is None:
        return data
    return data.with_shape([0 if dim == 0 else call.fresh() for dim in data.shape])


def sliced(
    call: Call, starts: Content | None, ends: Content | None, axes: tuple[int, ...], steps: Content | None
) -> TensorType | Fact:
    """Cut the data along some axes; bounds that are not known leave the size of their axis unknown."""
    data = call.tensor(0)
    shape = data.shape
    if shape is None:
        return data
    for name, bounds in (("starts", starts), ("ends", ends), ("steps", steps)):
        if bounds is not None and len(bounds) != len(axes):
            call.fail("bad-input", f"{len(axes)} axes are cut, but `{name}` has {len(bounds)} elements")
    chosen = axis_lists.normalized(call, axes, len(shape))
    dims = list(shape)
    for at, axis in enumerate(chosen):
        step = None if steps is None else steps[at]
        if step == 0:
            call.fail("bad-input", f"the step along axis {axis} is 0")
        start, end = None if starts is None else starts[at], None if ends is None else ends[at]
        dims[axis] = cut_extent(call, shape[axis], start, end, step)
    kind = data if tuple(dims) == shape else data.with_shape(dims)
    if count_of(kind.shape) is None or count_of(shape) is None or starts is None or ends is None or steps is None:
        return kind
    if kind.shape is None or not all(type(one) is int for one in (*kind.shape, *starts, *ends, *steps)):
        return kind
    content = call.content(0) if data.dtype in INTEGERS and len(shape) == 1 else call.known(0)
    if content is None:
        return kind
    sizes = numbers(shape)
    strides = strides_of(sizes)
    offset = 0
    for at, axis in enumerate(chosen):
        first, _ = slicing.bounds(sizes[axis], starts[at], ends[at], steps[at])  # type: ignore[arg-type]
        offset += first * strides[axis]
        strides[axis] *= int(steps[at])  # type: ignore[arg-type]
    return Fact(kind, pick(content, positions(numbers(kind.shape or ()), strides, offset)))


def cut_extent(call: Call, size: Dim, start: Element, end: Element, step: Element) -> Dim:
    """Return how many elements a slice has."""
    if start == 0 and step == 1 and isinstance(end, int) and end >= slicing.FAR:
        return size
    if size == 0:
        return 0
    if type(step) is int and step < 0 and isinstance(end, int) and end >= slicing.FAR:
        return call.fresh()  # nothing by the specification, all by onnxruntime
    if type(step) is int and isinstance(start, (int, Expr)) and isinstance(end, (int, Expr)):
        try:
            return slicing.extent(call.scope, size, start, end, step)
        except TooLarge:
            pass
    return call.fresh()


# ---------------------------------------------------------------- Tile, Pad


@rules("Tile", since=1)
def tile_along_axis(call: Call) -> TensorType:
    """Repeat along one axis: the form of opset 1 to 5, whose numbers have the element type of the data."""
    data = call.tensor(0)
    if data.shape is None:
        return data
    tiles, axis = call.scalar(1), call.scalar(2)
    if isinstance(tiles, float) and tiles.is_integer():
        tiles = int(tiles)
    if isinstance(axis, float) and axis.is_integer():
        axis = int(axis)
    if type(axis) is not int:
        return data.with_shape([call.fresh() for _ in data.shape])
    axis = call.axis(axis, len(data.shape))
    repeated = times(call, data.shape[axis], tiles) if isinstance(tiles, (int, Expr)) else call.fresh()
    return data.with_shape((*data.shape[:axis], repeated, *data.shape[axis + 1 :]))


@rules("Tile", since=6)
def tile(call: Call) -> TensorType | Fact:
    """Repeat along every axis."""
    data = call.tensor(0)
    repeats = call.content(1)
    if data.shape is None:
        return data if repeats is None else data.with_shape([call.fresh() for _ in repeats])
    if repeats is None:
        return data.with_shape([call.fresh() for _ in data.shape])
    if len(repeats) != len(data.shape):
        call.fail("bad-input", f"{len(repeats)} repeats for {len(data.shape)} axes")
    dims: list[Dim] = []
    for dim, count in zip(data.shape, repeats, strict=True):
        if isinstance(count, int) and count < 0:
            call.fail("bad-input", f"a tensor cannot be repeated {count} times")
        dims.append(times(call, dim, count) if isinstance(count, (int, Expr)) else call.fresh())
    kind = data.with_shape(dims)
    if count_of(kind.shape) is None or count_of(data.shape) is None or kind.shape is None:
        return kind
    content = call.known(0)
    if content is None:
        return kind
    where = [0]
    for size, total, stride in zip(
        numbers(data.shape), numbers(kind.shape), strides_of(numbers(data.shape)), strict=True
    ):
        where = [base + at % size * stride for base in where for at in range(total)]
    return Fact(kind, pick(content, where))


@rules("Pad", since=1)
def pad_by_paddings(call: Call) -> TensorType:
    """Add to both ends of every axis what the attribute `paddings` says: the form of opset 1."""
    found = padded(call, call.ints("paddings"), None)
    return found.type if isinstance(found, Fact) else found  # type: ignore[return-value]


@rules("Pad", since=2)
def pad_by_attribute(call: Call) -> TensorType | Fact:
    """Add to both ends of every axis what the attribute `pads` says."""
    return padded(call, call.ints("pads"), None, call.float("value", 0.0))


@rules("Pad", since=11)
def pad(call: Call) -> TensorType | Fact:
    """Add to both ends of every axis, or of those in `axes`, what `pads` holds; a negative number takes away."""
    data = call.tensor(0)
    axes = None
    if call.has(3):
        axes = axis_lists.from_input(call, 3)
        if axes is None:
            return data.with_shape(None if data.shape is None else [call.fresh() for _ in data.shape])
    value: Element = 0
    if call.has(2):
        value = call.scalar(2)
    return padded(call, call.content(1), axes, value)


def padded(call: Call, pads: Content | None, axes: tuple[int, ...] | None, value: Element = None) -> TensorType | Fact:
    """Pad the data: `pads` are all beginnings, then all ends."""
    data = call.tensor(0)
    shape = data.shape
    if shape is None:
        if pads is not None and axes is None and len(pads) % 2 == 0:
            return data.with_shape([call.fresh() for _ in range(len(pads) // 2)])
        return data
    chosen = tuple(range(len(shape))) if axes is None else axis_lists.normalized(call, axes, len(shape))
    dims = list(shape)
    if pads is None:
        for axis in chosen:
            dims[axis] = call.fresh()
        return data.with_shape(dims)
    count = len(chosen)
    if len(pads) != 2 * count:
        call.fail("bad-input", f"{len(pads)} pads for {count} axes; there must be {2 * count}")
    for at, axis in enumerate(chosen):
        before, after = pads[at], pads[at + count]
        if not isinstance(before, (int, Expr)) or not isinstance(after, (int, Expr)):
            dims[axis] = call.fresh()
            continue
        dims[axis] = plus(call, shape[axis], before, after)
        if isinstance(dims[axis], int) and dims[axis] < 0:  # type: ignore[operator]
            call.fail("bad-input", f"axis {axis} is {shape[axis]}; padding by {before} and {after} makes {dims[axis]}")
    kind = data.with_shape(dims)
    if call.str("mode", "constant") != "constant" or count_of(kind.shape) is None or count_of(shape) is None:
        return kind
    content = call.known(0)
    if content is None or not all(type(one) is int for one in pads) or data.dtype not in INTEGERS or value is None:
        return kind
    return Fact(kind, surrounded(content, numbers(shape), numbers(kind.shape or ()), chosen, pads[:count], value))


def surrounded(
    content: Content,
    shape: tuple[int, ...],
    target: tuple[int, ...],
    axes: tuple[int, ...],
    before: Content,
    value: Element,
) -> Content:
    """Return elements with `value` around them."""
    shift = [0] * len(shape)
    for axis, number in zip(axes, before, strict=True):
        shift[axis] = number  # type: ignore[assignment]
    where: list[int] = [0]
    for size, total, stride, first in zip(shape, target, strides_of(shape), shift, strict=True):
        inside = [at - first for at in range(total)]
        where = [-1 if base < 0 or not 0 <= at < size else base + at * stride for base in where for at in inside]
    return tuple([value if at < 0 else content[at] for at in where])


# ---------------------------------------------------------------- blocks


def block_size(call: Call) -> int:
    """Return the attribute `blocksize`."""
    size: int = call.int("blocksize")
    if size < 1:
        call.fail("bad-attribute", f"blocksize is {size}, must be at least 1", attr="blocksize")
    return size


@rules("DepthToSpace", since=1)
def depth_to_space(call: Call) -> TensorType:
    """Move blocks of channels into height and width."""
    data, block = call.tensor(0), block_size(call)
    if data.shape is None:
        return data.with_shape([call.fresh() for _ in range(4)])
    if len(data.shape) != 4:
        call.fail("rank-mismatch", f"the input has {len(data.shape)} dims; it must have 4")
    batch, channels, height, width = data.shape
    return data.with_shape(
        (batch, exact(call, 1, channels, block * block), times(call, height, block), times(call, width, block))
    )


@rules("SpaceToDepth", since=1)
def space_to_depth(call: Call) -> TensorType:
    """Move blocks of height and width into channels."""
    data, block = call.tensor(0), block_size(call)
    if data.shape is None:
        return data.with_shape([call.fresh() for _ in range(4)])
    if len(data.shape) != 4:
        call.fail("rank-mismatch", f"the input has {len(data.shape)} dims; it must have 4")
    batch, channels, height, width = data.shape
    return data.with_shape(
        (batch, times(call, channels, block * block), exact(call, 2, height, block), exact(call, 3, width, block))
    )


def exact(call: Call, axis: int, dim: Dim, by: int) -> Dim:
    """Return a dim divided by a number that divides it in every run."""
    try:
        return call.scope.exact_div(dim, by)
    except ValueError:
        call.fail("dim-mismatch", f"axis {axis} is {dim}, which is not a multiple of {by}")
    except TooLarge:
        return call.fresh()


@rules("CenterCropPad", since=18)
def center_crop_pad(call: Call) -> TensorType:
    """Crop or pad some axes to the sizes that the second input holds."""
    data = call.tensor(0)
    target = call.content(1)
    if data.shape is None:
        return data
    axes = call.ints("axes", None)
    chosen = tuple(range(len(data.shape))) if axes is None else axis_lists.normalized(call, axes, len(data.shape))
    dims = list(data.shape)
    if target is not None and len(target) != len(chosen):
        call.fail("bad-input", f"{len(target)} sizes for {len(chosen)} axes")
    for at, axis in enumerate(chosen):
        one = None if target is None else target[at]
        if isinstance(one, int) and one < 0:
            call.fail("bad-input", f"axis {axis} cannot have the size {one}")
        dims[axis] = as_size(call, one) if isinstance(one, (int, Expr)) else call.fresh()
    return data.with_shape(dims)


@rules("ReverseSequence", since=10)
def reverse_sequence(call: Call) -> TensorType:
    """Reverse parts of the data, which keeps its type."""
    return call.tensor(0)


@rules("Trilu", since=14)
def triangle(call: Call) -> TensorType | Fact:
    """Keep the upper or lower triangle of each matrix; the rest is 0."""
    data = call.tensor(0)
    shape = data.shape
    if shape is None or count_of(shape) is None or data.dtype not in INTEGERS:
        return data
    if len(shape) < 2:
        call.fail("rank-mismatch", f"the input has {len(shape)} dims; matrices have 2")
    content = call.known(0)
    shift = call.scalar(1) if call.has(1) else 0
    if content is None or type(shift) is not int:
        return data
    upper = call.int("upper", 1)
    rows, columns = numbers(shape)[-2:]
    found: list[Element] = []
    for at, one in enumerate(content):
        row, column = divmod(at % (rows * columns), columns)
        kept = column - row >= shift if upper else column - row <= shift
        found.append(one if kept else 0)
    return Fact(data, tuple(found))
