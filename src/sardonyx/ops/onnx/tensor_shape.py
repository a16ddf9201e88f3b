"""Rules for what tells, changes or keeps the shape of a tensor, element for element."""

from __future__ import annotations

from sardonyx.dims import Expr, TooLarge
from sardonyx.ir.types import DType, OptionalType, TensorType
from sardonyx.ops.call import FLOATS, INTEGERS, MOST_ELEMENTS, Fact
from sardonyx.ops.common import axes as axis_lists
from sardonyx.ops.common.broadcast import broadcast
from sardonyx.ops.common.contents import count_of, numbers, permuted, spread
from sardonyx.ops.common.sizes import as_known_now, product
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape, Type
    from sardonyx.ops.call import Call, Content, Element

rules = Rules("")

FEW_FLOATS = 64
"""Floats beyond which a transposed matrix is a weight: no size comes out of it."""


def with_content(call: Call, kind: TensorType) -> TensorType | Fact:
    """Return a type together with the elements of the first input, which are the same in the same order."""
    shape = kind.shape
    if not shape:
        if shape is None:
            return kind
    elif type(shape[0]) is not int or len(shape) > 4 or count_of(shape) is None:
        return kind
    content = call.known(0)
    if content is None:
        if not may_hold_sizes(kind):
            return kind
        content = call.content(0)
    return kind if content is None else Fact(kind, content)


def may_hold_sizes(kind: TensorType) -> bool:
    """Return whether a tensor holds so few integers that they may be sizes: its unknown elements get symbols."""
    shape = kind.shape
    if kind.dtype not in INTEGERS or shape is None or len(shape) > 1:
        return False
    return not shape or (type(shape[0]) is int and shape[0] <= 16)


# ---------------------------------------------------------------- what a shape is


@rules("Shape", since=1)
def shape_of(call: Call) -> TensorType | Fact:
    """Return the dims of any tensor."""
    return dims_of(call, None, None)


@rules("Shape", since=15)
def part_of_shape(call: Call) -> TensorType | Fact:
    """Return the dims from `start` to `end`, which count from the end when negative and are clamped."""
    if not call.node.attrs:
        return dims_of(call, None, None)
    return dims_of(call, call.int("start", None), call.int("end", None))


def dims_of(call: Call, start: int | None, end: int | None) -> TensorType | Fact:
    """Return a tensor that holds the dims of the input, or a part of them: Python's slices clamp as Shape does."""
    kind = call.peek(0)
    if not isinstance(kind, TensorType) or kind.shape is None:
        return TensorType(DType.INT64, (call.fresh(),))
    shape = kind.shape if start is None and end is None else kind.shape[start:end]
    return Fact(TensorType(DType.INT64, (len(shape),)), shape if len(shape) <= MOST_ELEMENTS else None)


@rules("Size", since=1)
def size(call: Call) -> TensorType | Fact:
    """Return how many elements a tensor has."""
    kind = call.peek(0)
    if not isinstance(kind, TensorType) or kind.shape is None:
        return TensorType(DType.INT64, ())
    return Fact(TensorType(DType.INT64, ()), (product(call, kind.shape),))


@rules("Identity", since=1)
def identity(call: Call) -> Type | Fact:
    """Return what the input is, of whatever kind."""
    kind = call.any(0)
    if isinstance(kind, OptionalType):
        return Fact(kind, call.known(0))
    if not isinstance(kind, TensorType) or count_of(kind.shape) is None:
        return kind
    # unknown elements that may be sizes get their symbols here, so that the copy has the same ones
    content = call.content(0) if may_hold_sizes(kind) else call.known(0)
    return kind if content is None else Fact(kind, content)


# ---------------------------------------------------------------- Reshape


@rules("Reshape", since=1)
def reshape_by_attribute(call: Call) -> TensorType | Fact:
    """Reshape to the attribute `shape`: the form of opset 1 to 4."""
    return reshaped(call, call.ints("shape", ()))


@rules("Reshape", since=5)
def reshape(call: Call) -> TensorType | Fact:
    """Reshape to what the second input holds: 0 copies a dim, -1 is what is left."""
    kind = call.peek(1)
    if isinstance(kind, TensorType) and kind.shape is not None and len(kind.shape) != 1:
        call.fail("rank-mismatch", f"the new shape is a tensor of {len(kind.shape)} dims; it must have 1")
    target = call.content(1)
    if target is not None:
        return reshaped(call, target)
    data = call.peek(0)
    return TensorType(data.dtype if isinstance(data, TensorType) else None, None)


def reshaped(call: Call, target: Content) -> TensorType | Fact:
    """Return the data in a new shape, whose elements may be expressions of unknown sign."""
    kind = call.peek(0)
    if kind is not None and not isinstance(kind, TensorType):
        call.fail("wrong-kind", f"input 0 is a {kind.type_str}, not a tensor")
    dtype = None if kind is None else kind.dtype
    source = None if kind is None else kind.shape
    result = TensorType(dtype, new_shape(call, source, target))
    return with_content(call, result) if kind is not None else result


def new_shape(call: Call, source: Shape | None, target: Content) -> Shape:
    """Return the shape that Reshape makes of `source`."""
    keeps_zero = bool(call.int("allowzero", 0)) if call.node.attrs else False
    rest = target.index(-1) if -1 in target else -1
    if rest >= 0 and target.count(-1) > 1:
        call.fail("bad-input", f"the new shape {text_of(target)} has -1 twice")
    dims: list[Dim] = []
    open_ones: list[int] = []
    for at, one in enumerate(target):
        if type(one) is int and one > 0:  # most often
            dims.append(one)
            continue
        dim = target_dim(call, source, at, one, keeps_zero, rest >= 0)
        if dim is None:
            open_ones.append(at)
            dim = 1 if at == rest else call.fresh()
        dims.append(dim)
    if source is None:
        if rest >= 0:
            dims[rest] = call.fresh()
        return tuple(dims)
    if rest >= 0:
        if keeps_zero and 0 in target:
            call.fail("bad-input", f"the new shape {text_of(target)} has 0 and -1, which allowzero forbids")
        if 0 in dims:
            call.fail("bad-input", f"-1 in the new shape {text_of(target)}, but the other dims make 0 elements")
        dims[rest] = what_is_left(call, source, dims, rest)
    elif len(open_ones) == 1 and len(dims) == 1:
        dims[0] = product(call, source)
    elif len(open_ones) == 1:
        at = open_ones[0]
        others = product(call, [dim for axis, dim in enumerate(dims) if axis != at])
        if call.scope.is_positive(others):
            dims[at] = what_is_left(call, source, [1 if axis == at else dim for axis, dim in enumerate(dims)], at)
    elif not open_ones:
        check_count(call, source, tuple(dims))
    return tuple(dims)


def target_dim(call: Call, source: Shape | None, at: int, one: Element, keeps_zero: bool, has_rest: bool) -> Dim | None:
    """Return the dim that an element of Reshape's target means; None for -1 and for what may be -1."""
    if isinstance(one, int):
        if one > 0 or (one == 0 and keeps_zero):
            return one
        if one < -1:
            call.fail("bad-input", f"element {at} of the new shape is {one}")
        if one == -1:
            return None
        if source is None:
            return call.fresh()
        if at >= len(source):
            call.fail("bad-input", f"element {at} of the new shape is 0, but the input has {len(source)} dims to copy")
        return source[at]
    if not isinstance(one, Expr):
        return call.fresh()
    if source is not None and at < len(source) and one is source[at]:
        return one
    scope = call.scope
    if one.depth > 2:
        simpler = as_known_now(call, one)
        if not isinstance(simpler, Expr):
            return target_dim(call, source, at, simpler, keeps_zero, has_rest)
        one = simpler
    if scope.reaches(one, 1):
        return one
    if not has_rest and not scope.reaches(one, 0):
        return None
    if keeps_zero:
        return one
    if source is None:
        call.assume("reshape-zero", one, 1)
    elif at < len(source) and not scope.same(one, source[at]):  # beyond, there is no dim that 0 could copy
        call.assume("reshape-zero", one, source[at])
    return one


def what_is_left(call: Call, source: Shape, dims: list[Dim], at: int) -> Dim:
    """Return the dim for which the number of elements stays the same: a run implies that the others are not 0."""
    given = list(source)
    others = []
    for axis, dim in enumerate(dims):
        if axis == at:
            continue
        if dim in given:  # copied dims, and all others that stand on both sides
            given.remove(dim)
        else:
            others.append(dim)
    if len(given) == 1 and not others:
        return given[0]
    try:
        return call.scope.exact_div(product(call, given), product(call, others))
    except ZeroDivisionError:
        call.fail("bad-input", f"-1 in the new shape, and the other dims make 0 elements, not {show(source)}")
    except ValueError:
        call.fail("dim-mismatch", f"{show(source)} cannot be reshaped to {show(dims, at)}: it does not divide")
    except TooLarge:
        return call.fresh()


def check_count(call: Call, source: Shape, dims: Shape) -> None:
    """Refuse a new shape that provably has another number of elements."""
    same = 0
    for one, other in zip(source, dims, strict=False):
        if one is not other and one != other:
            break
        same += 1
    if same and product(call, source[same:]) == product(call, dims[same:]):
        return
    before, after = product(call, source), product(call, dims)
    if call.scope.differs(before, after):
        call.fail("dim-mismatch", f"{show(source)} cannot be reshaped to {show(dims)}: {before} elements, not {after}")


def show(dims: Shape | list[Dim], rest: int = -1) -> str:
    """Print dims, -1 standing for the one at `rest`."""
    return f"[{', '.join('-1' if axis == rest else str(dim) for axis, dim in enumerate(dims))}]"


def text_of(content: Content) -> str:
    """Print elements."""
    return f"[{', '.join(map(str, content))}]"


@rules("Flatten", since=1)
def flatten(call: Call) -> TensorType | Fact:
    """Make a matrix: the axes before `axis`, and those from it on."""
    data = call.tensor(0)
    axis = call.int("axis", 1)
    if data.shape is None:
        return data.with_shape((call.fresh(), call.fresh()))
    rank = len(data.shape)
    if not -rank <= axis <= rank:
        call.fail("axis-out-of-range", f"axis {axis} is out of range for rank {rank}", attr="axis")
    axis = axis + rank if axis < 0 else axis
    return with_content(call, data.with_shape((product(call, data.shape[:axis]), product(call, data.shape[axis:]))))


# ---------------------------------------------------------------- axes of size 1


@rules("Squeeze", since=1)
def squeeze_by_attribute(call: Call) -> TensorType | Fact:
    """Drop axes of size 1, those in the attribute `axes` or all: the form before opset 13."""
    return squeezed(call, call.ints("axes", None))


@rules("Squeeze", since=13)
def squeeze(call: Call) -> TensorType | Fact:
    """Drop axes of size 1, those in the second input or all."""
    if not call.has(1):
        return squeezed(call, None)
    axes = axis_lists.from_input(call, 1)
    if axes is not None:
        return squeezed(call, axes)
    data = call.tensor(0)
    count = axis_lists.count_in(call, 1) if call.peek(1) is not None else None
    if data.shape is None or count is None:
        return data.with_shape(None)
    if count == 0:
        return squeezed(call, ())
    left = len(data.shape) - count
    if left < 0:
        call.fail("axis-out-of-range", f"{count} axes of a tensor of {len(data.shape)} dims")
    ones = sum(1 for dim in data.shape if dim == 1)
    if not any(type(dim) is not int for dim in data.shape) and ones == count:
        return with_content(call, data.with_shape(dim for dim in data.shape if dim != 1))
    return data.with_shape(call.fresh() for _ in range(left))


def squeezed(call: Call, axes: tuple[int, ...] | None) -> TensorType | Fact:
    """Drop axes; a run implies that they have size 1."""
    data = call.tensor(0)
    shape = data.shape
    if shape is None:
        return data
    if axes == () and any(call.scope.equal(dim, 1) is not False for dim in shape):
        return data.with_shape(None)  # no axis, or every axis of size 1: runtimes differ
    if axes is None:
        if any(type(dim) is not int and call.scope.equal(dim, 1) is None for dim in shape):
            return data.with_shape(None)  # any of them may be 1
        return with_content(call, data.with_shape([dim for dim in shape if call.scope.equal(dim, 1) is not True]))
    chosen = axis_lists.normalized(call, axes, len(shape))
    for axis in chosen:
        if shape[axis] != 1 and call.scope.equal(shape[axis], 1) is False:
            call.fail("dim-mismatch", f"axis {axis} is {shape[axis]}, not 1")
    return with_content(call, data.with_shape([dim for axis, dim in enumerate(shape) if axis not in chosen]))


@rules("Unsqueeze", since=1)
def unsqueeze_by_attribute(call: Call) -> TensorType | Fact:
    """Insert axes of size 1 where the attribute `axes` says: the form before opset 13."""
    return unsqueezed(call, call.ints("axes"))


@rules("Unsqueeze", since=13)
def unsqueeze(call: Call) -> TensorType | Fact:
    """Insert axes of size 1 where the second input says, counted in the result."""
    axes = axis_lists.from_input(call, 1)
    if axes is not None:
        return unsqueezed(call, axes)
    data = call.tensor(0)
    count = axis_lists.count_in(call, 1)
    if data.shape is None or count is None:
        return data.with_shape(None)
    if all(dim == 1 for dim in data.shape):
        return with_content(call, data.with_shape((1,) * (len(data.shape) + count)))
    return data.with_shape(call.fresh() for _ in range(len(data.shape) + count))


def unsqueezed(call: Call, axes: tuple[int, ...]) -> TensorType | Fact:
    """Insert axes."""
    data = call.tensor(0)
    if data.shape is None:
        return data
    rank = len(data.shape) + len(axes)
    if len(axes) == 1 and -rank <= axes[0] < rank:
        at = axes[0] % rank
        return with_content(call, data.with_shape((*data.shape[:at], 1, *data.shape[at:])))
    chosen = axis_lists.normalized(call, axes, rank)
    rest = iter(data.shape)
    return with_content(call, data.with_shape([1 if axis in chosen else next(rest) for axis in range(rank)]))


# ---------------------------------------------------------------- order, copies


@rules("Transpose", since=1)
def transpose(call: Call) -> TensorType | Fact:
    """Permute the axes of `data`; without `perm`, reverse them."""
    data = call.tensor(0)
    perm = call.ints("perm", None)
    shape = data.shape
    if shape is None:
        return data if perm is None else data.with_shape([call.fresh() for _ in perm])
    rank = len(shape)
    perm = tuple(range(rank))[::-1] if perm is None else perm
    if len(perm) != rank or sorted(perm) != list(range(rank)):
        call.fail("bad-permutation", f"perm={list(perm)} does not permute {rank} axes", attr="perm")
    kind = data.with_shape([shape[axis] for axis in perm])
    count = None if shape and type(shape[0]) is not int else count_of(shape)
    if count is None or (count > FEW_FLOATS and data.dtype in FLOATS):
        return kind
    content = call.known(0)
    return kind if content is None else Fact(kind, permuted(content, numbers(shape), perm))


@rules("Expand", since=8)
def expand(call: Call) -> TensorType | Fact:
    """Broadcast the data with a shape that the second input holds."""
    data = call.tensor(0)
    target = call.content(1)
    if target is None:
        kind = call.peek(1)
        if isinstance(kind, TensorType) and kind.shape is not None and len(kind.shape) != 1:
            call.fail("rank-mismatch", f"the shape is a tensor of {len(kind.shape)} dims; it must have 1")
        return data.with_shape(None)
    for one in target:
        if isinstance(one, int) and one < 0:
            call.fail("bad-input", f"the shape {text_of(target)} has a negative dim")
    wanted = tuple([as_known_now(call, one) if isinstance(one, (int, Expr)) else call.fresh() for one in target])
    shape = broadcast(call, data.shape, wanted)
    kind = data.with_shape(shape)
    if shape is None or data.shape is None or count_of(shape) is None:
        return kind
    content = call.content(0) if may_hold_sizes(data) else call.known(0)
    return kind if content is None else Fact(kind, spread(content, data.shape, shape))
