"""Rules for reductions over axes, in all their forms."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.call import FLOATS, INTEGERS, Fact
from sardonyx.ops.common import axes as axis_lists
from sardonyx.ops.common import floats, integers
from sardonyx.ops.common.contents import count_of, numbers, positions, strides_of, useful
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call, Content, Element
    from sardonyx.ops.rules import Rule

    Fold = Callable[[Call, TensorType, Content], Element]

rules = Rules("")


def folded(whole: integers.Operation, real: floats.Binary | None, start: int | None) -> Fold:
    """Return how a reduction combines known elements; `start` is what it gives for none at all.

    Floats are combined only where every intermediate result is exact, as then their order does not matter.
    """

    def fold(call: Call, kind: TensorType, content: Content) -> Element:
        dtype = kind.dtype
        if dtype is None:
            return None
        if dtype in INTEGERS:
            calculate: Callable[..., Element] = integers.apply(call, whole, dtype)
            if not content:
                return integers.unknown(call, dtype) if start is None else start
            first: Element = content[0]
        else:
            if real is None or not content or not all(is_whole(one) for one in content):
                return None
            calculate, first = floats.apply2(call, real, dtype), content[0]
        for one in content[1:]:
            first = calculate(first, one)
            if dtype not in INTEGERS and not is_whole(first):
                return None
        return first

    return fold


def is_whole(one: Element) -> bool:
    """Return whether a float is an integer small enough for every sum of such to be exact."""
    return isinstance(one, float) and one.is_integer() and abs(one) < 2048


def reduction(fold: Fold | None, *, axes_from: str) -> Rule:
    """Return the rule of a reduction whose axes come from an attribute, or from an input."""

    def rule(call: Call) -> TensorType | Fact:
        data = call.tensor(0)
        keep = call.int("keepdims", 1)
        if axes_from == "attribute":
            axes = call.ints("axes", None)
            if axes == ():
                axes = None
        else:
            axes = None
            if call.has(1):
                axes = axis_lists.from_input(call, 1)
                if axes is None:
                    return without_axes(call, data, keep)
            if not axes:
                if call.int("noop_with_empty_axes", 0):
                    return data if fold is None else Fact(data, call.known(0) if count_of(data.shape) else None)
                axes = None
        shape = data.shape
        if shape is None:
            return data if keep else TensorType(data.dtype, None if axes is not None else ())
        rank = len(shape)
        if axes is None:
            chosen: tuple[int, ...] = tuple(range(rank))
        elif len(axes) == 1 and -rank <= axes[0] < rank:
            chosen = (axes[0] % rank,)
        elif rank == 0 and all(axis in (0, -1) for axis in axes):  # runtimes take a scalar for a list of one
            chosen = ()
        else:  # runtimes take one axis named twice, in whichever way, for one
            attr = "axes" if axes_from == "attribute" else None
            chosen = tuple(dict.fromkeys([call.axis(axis, rank, attr=attr) for axis in axes]))
        kind = TensorType(data.dtype, reduced_shape(shape, chosen, keep))
        if fold is None or count_of(shape) is None:
            return kind
        return Fact(kind, reduced_content(call, data, numbers(shape), chosen, fold))

    return rule


def reduced_shape(shape: Shape, axes: tuple[int, ...], keep: int) -> Shape:
    """Return a shape with some axes reduced to 1, or gone."""
    if keep:
        return tuple([1 if axis in axes else dim for axis, dim in enumerate(shape)])
    return tuple([dim for axis, dim in enumerate(shape) if axis not in axes])


def without_axes(call: Call, data: TensorType, keep: int) -> TensorType:
    """Return what is known of a reduction over axes that are not known: how many dims are left, perhaps."""
    if data.shape is None:
        return data
    count = axis_lists.count_in(call, 1) if call.peek(1) is not None else None
    if count == 0:
        if call.int("noop_with_empty_axes", 0):
            return data
        return data.with_shape((1,) * len(data.shape) if keep else ())
    rank = len(data.shape)
    if count is not None and rank < 2:
        return data.with_shape((1,) * rank if keep else ())
    if keep:
        return data.with_shape(dim if dim == 1 else call.fresh() for dim in data.shape)
    if count != 1:  # one axis may be named twice
        return data.with_shape(None)
    return data.with_shape([call.fresh() for _ in range(rank - 1)])


def reduced_content(
    call: Call, data: TensorType, shape: tuple[int, ...], axes: tuple[int, ...], fold: Fold
) -> Content | None:
    """Return the elements that a reduction leaves."""
    if data.dtype not in INTEGERS and data.dtype not in FLOATS:
        return None
    content = call.known(0)
    if content is None:
        return None
    strides = strides_of(shape)
    rest = [axis for axis in range(len(shape)) if axis not in axes]
    starts = positions([shape[axis] for axis in rest], [strides[axis] for axis in rest])
    offsets = positions([shape[axis] for axis in axes], [strides[axis] for axis in axes])
    return useful(tuple([fold(call, data, tuple([content[at + off] for off in offsets])) for at in starts]))


REDUCTIONS: dict[str, tuple[int, Fold | None]] = {
    "ReduceSum": (13, folded(integers.add, floats.add, 0)),
    "ReduceProd": (18, folded(integers.multiply, floats.multiply, 1)),
    "ReduceMax": (18, folded(integers.larger, floats.larger, None)),
    "ReduceMin": (18, folded(integers.smaller, floats.smaller, None)),
    "ReduceMean": (18, None),
    "ReduceL1": (18, None),
    "ReduceL2": (18, None),
    "ReduceLogSum": (18, None),
    "ReduceLogSumExp": (18, None),
    "ReduceSumSquare": (18, None),
}
"""Operator to the opset from which the axes are an input, and how it combines elements."""

for name, (since, fold) in REDUCTIONS.items():
    rules.add(name, 1, reduction(fold, axes_from="attribute"))
    rules.add(name, since, reduction(fold, axes_from="input"))


def position_of(best: Callable[[Call, Element, Element], bool | None]) -> Rule:
    """Return the rule of ArgMax and ArgMin."""

    def rule(call: Call) -> TensorType | Fact:
        data = call.tensor(0)
        keep = call.int("keepdims", 1)
        axis = call.int("axis", 0)
        if data.shape is None:
            return TensorType(DType.INT64, None)
        rank = len(data.shape)
        if rank == 0 and axis in (0, -1):  # runtimes take a scalar for a list of one
            return TensorType(DType.INT64, ())
        axis = call.axis(axis, rank, attr="axis")
        shape = reduced_shape(data.shape, (axis,), keep)
        kind = TensorType(DType.INT64, shape)
        if count_of(data.shape) is None or data.dtype not in INTEGERS:
            return kind
        last = call.int("select_last_index", 0)

        def fold(call: Call, _: TensorType, line: Content) -> Element:
            found = find_best(call, line, best, last)
            return integers.unknown(call) if found is None else found

        content = reduced_content(call, data, numbers(data.shape), (axis,), fold)
        return Fact(kind, content)

    return rule


def find_best(
    call: Call, line: Content, best: Callable[[Call, Element, Element], bool | None], last: int
) -> int | None:
    """Return the position of the best element of a line, None when that is not decided."""
    if not line:
        return None
    found = 0
    for at, one in enumerate(line):
        if at == 0:
            continue
        better = best(call, one, line[found])
        worse = best(call, line[found], one)
        if better and worse:  # equal
            found = at if last else found
        elif better is True and worse is False:
            found = at
        elif not (worse is True and better is False):
            return None
    return found


def not_below(call: Call, a: Dim, b: Dim) -> bool | None:
    """Return whether `a >= b`, None when that is not known."""
    return call.scope.at_least(a, b)


def not_above(call: Call, a: Dim, b: Dim) -> bool | None:
    """Return whether `a <= b`, None when that is not known."""
    return call.scope.at_least(b, a)


rules.add("ArgMax", 1, position_of(not_below))  # type: ignore[arg-type]
rules.add("ArgMin", 1, position_of(not_above))  # type: ignore[arg-type]
