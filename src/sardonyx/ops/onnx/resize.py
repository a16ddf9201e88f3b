"""Rules for Resize and Upsample, whose sizes come from the contents of `scales` and `sizes`.

A size from a scale is `floor(size * scale)` in float32, as onnxruntime and ONNX's own inference calculate it: ten times
0.7 is seven there, though the nearest float32 to 0.7 is below it. For a symbolic size only scales with few bits are
used (1/2, 3, 2.5), whose products are exact for any size below 65,536; a size that cannot be told is unknown.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, isfinite

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.call import Ratio
from sardonyx.ops.common import floats
from sardonyx.ops.common.axes import as_rank
from sardonyx.ops.common.sizes import attempt
from sardonyx.ops.common.wanted import fresh_dims, sizes_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call, Content, Element

rules = Rules("")


def single(number: float) -> float:
    """Round to float32."""
    return floats.rounded(number, DType.FLOAT)


def scaled(call: Call, size: Dim, scale: Element) -> Dim:
    """Return `floor(size * scale)` as float32 arithmetic gives it."""
    if isinstance(scale, float):
        if not scale > 0:
            call.fail("bad-input", f"a scale is {scale}, but must be above 0")
        scale = single(scale)
        if scale == 1:
            return size
        if isinstance(size, int):
            whole = single(single(size) * scale)
            return attempt(call, lambda: floor(whole)) if isfinite(whole) else call.fresh()
    if not isinstance(scale, (float, Ratio)):
        return call.fresh()
    found = floats.apply2(call, floats.multiply, DType.FLOAT)(Ratio(size), scale)
    if isinstance(found, float):
        return floor(found)
    return (
        attempt(call, lambda: call.scope.floordiv(found.expr, found.divisor))
        if isinstance(found, Ratio)
        else call.fresh()
    )


@rules("Upsample")
def upsample_1(call: Call) -> TensorType:
    """Scale the two last axes of [N, C, H, W] by attributes."""
    x = call.tensor(0)
    scales = (1.0, 1.0, call.float("height_scale"), call.float("width_scale"))
    if x.shape is None:
        return x.with_shape(fresh_dims(call, len(scales)))
    if len(x.shape) != 4:
        call.fail("rank-mismatch", f"X has {len(x.shape)} dims, but must have 4")
    return x.with_shape(map(scaled, [call] * 4, x.shape, scales))


@rules("Upsample", since=7)
def upsample_7(call: Call) -> TensorType:
    """Scale every axis by the attribute `scales`."""
    return by_scales(call, call.tensor(0), call.floats("scales"))


def resize_10(call: Call) -> TensorType:
    """Scale every axis by the input `scales`."""
    x, scales = call.tensor(0), call.content(1)
    if scales is None:
        return unknown_sizes(call, x, 1)
    return by_scales(call, x, scales)


rules.table(resize_10, {"Upsample": 9, "Resize": 10})


def by_scales(call: Call, x: TensorType, scales: Sequence[Element]) -> TensorType:
    """Scale every axis."""
    if x.shape is None:
        return x.with_shape(fresh_dims(call, len(scales)))
    if len(scales) != len(x.shape):
        call.fail("bad-input", f"scales has {len(scales)} elements, but X has {len(x.shape)} dims")
    return x.with_shape([scaled(call, dim, scale) for dim, scale in zip(x.shape, scales, strict=True)])


def unknown_sizes(call: Call, x: TensorType, *inputs: int) -> TensorType:
    """Return X with unknown dims; the length of an input that has an entry for each axis says the rank."""
    rank = None if x.shape is None else len(x.shape)
    for at in inputs:
        length = length_of(call, at)
        if rank is None and length:
            rank = as_rank(length)
    return x.with_shape(None if rank is None else fresh_dims(call, rank))


def length_of(call: Call, at: int) -> int | None:
    """Return the number of elements of a vector; 0 when it is omitted, None when that is not known."""
    if not call.has(at):
        return 0
    kind = call.peek(at)
    if not isinstance(kind, TensorType) or kind.shape is None or len(kind.shape) != 1:
        return None
    return kind.shape[0] if isinstance(kind.shape[0], int) else None


@rules("Resize", since=11)
def resize(call: Call) -> TensorType:
    """Resize to `sizes` or by `scales`, whichever has elements, on `axes` or all of them."""
    x = call.tensor(0)
    if x.shape == ():
        return x
    axes = call.ints("axes", None) or None
    scale_count, size_count = length_of(call, 2), length_of(call, 3)
    if size_count == 0:
        if scale_count == 0:
            call.fail("bad-input", "neither scales nor sizes has elements")
        use_sizes = False
    elif size_count is not None and scale_count:
        call.fail("bad-input", "both scales and sizes are given")
    elif size_count is not None or scale_count == 0:
        use_sizes = True
    elif scale_count is not None:
        use_sizes = False
    else:
        return unknown_on_axes(call, x, axes)
    wanted = call.content(3 if use_sizes else 2)
    if wanted is None:
        return unknown_on_axes(call, x, axes)
    if x.shape is None:
        if axes is not None:
            return TensorType(x.dtype, None)
        if use_sizes and call.str("keep_aspect_ratio_policy", "stretch") == "stretch":
            return x.with_shape(sizes_of(call, wanted, "an element of sizes"))
        return x.with_shape(fresh_dims(call, len(wanted)))
    rank = len(x.shape)
    chosen = tuple(range(rank)) if axes is None else tuple(call.axis(axis, rank, attr="axes") for axis in axes)
    if len(wanted) != len(chosen):
        call.fail("bad-input", f"{len(wanted)} axes are to be resized, but {len(chosen)} are chosen")
    if len(set(chosen)) != len(chosen):
        call.fail("axis-twice", f"axes={axes} names an axis twice", attr="axes")
    dims = list(x.shape)
    inside = [x.shape[axis] for axis in chosen]
    found = by_sizes(call, inside, wanted, axes) if use_sizes else by_cropped_scales(call, inside, wanted)
    for axis, dim in zip(chosen, found, strict=True):
        dims[axis] = dim
    return x.with_shape(dims)


def unknown_on_axes(call: Call, x: TensorType, axes: tuple[int, ...] | None) -> TensorType:
    """Return X with unknown dims on the axes that are resized."""
    if axes is None or x.shape is None:
        return unknown_sizes(call, x, *(() if axes is not None else (2, 3)))
    chosen = {call.axis(axis, len(x.shape), attr="axes") for axis in axes}
    return x.with_shape([call.fresh() if axis in chosen else dim for axis, dim in enumerate(x.shape)])


def by_cropped_scales(call: Call, inside: list[Dim], scales: Content) -> list[Dim]:
    """Scale dims. Where a crop takes effect, specification and runtimes differ, so those sizes are unknown."""
    found = [scaled(call, dim, scale) for dim, scale in zip(inside, scales, strict=True)]
    if call.str("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize":
        return found
    count = len(inside)
    roi = call.known(1)
    if roi is None or len(roi) != 2 * count:
        return list(fresh_dims(call, count))
    return [
        dim if roi[at] == 0.0 and roi[count + at] == 1.0 else call.fresh()
        for at, dim in enumerate(found)
    ]  # fmt: skip


def by_sizes(call: Call, inside: list[Dim], content: Content, axes: tuple[int, ...] | None) -> Shape:
    """Return the sizes asked for, or those of the same aspect ratio that touch them."""
    sizes = sizes_of(call, content, "an element of sizes")
    policy: str = call.str("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return sizes
    if policy not in ("not_larger", "not_smaller"):
        call.fail("bad-attribute", f"{policy!r} is no policy for the aspect ratio", attr="keep_aspect_ratio_policy")
    # onnxruntime takes negative axes for others here.
    if axes is None or all(axis >= 0 for axis in axes):
        if len(sizes) == 1:
            return sizes
        numbers = [one for one in (*inside, *sizes) if isinstance(one, int)]
        if len(numbers) == 2 * len(sizes) and 0 not in inside:
            return same_aspect(call, numbers[: len(sizes)], numbers[len(sizes) :], policy == "not_larger")
    return fresh_dims(call, len(sizes))


def same_aspect(call: Call, inside: list[int], sizes: list[int], smallest: bool) -> Shape:
    """Scale all dims by one factor, rounding halves up; where rounding in float32 matters, a size is unknown."""
    factors = sorted(Fraction(size, dim) for size, dim in zip(sizes, inside, strict=True))
    exact = factors[0] if smallest else factors[-1]
    found: list[Dim] = []
    for dim in inside:
        one = floor(exact * dim + Fraction(1, 2))
        other = floor(single(single(float(exact)) * dim) + 0.5)
        found.append(one if one == other else call.fresh())
    return tuple(found)
