"""Rules for com.microsoft.nchwc: tensors [N, C, H, W] whose channels are stored in blocks of 8 or 16.

A tensor keeps its rank; its channels are rounded up to whole blocks, whose size depends on the machine.
"""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.common.sizes import times
from sardonyx.ops.common.wanted import fresh_dims
from sardonyx.ops.common.windows import read_windows, slide
from sardonyx.ops.microsoft.documented import shape_of
from sardonyx.ops.microsoft.windows import channels_first, channels_last, pooled
from sardonyx.ops.onnx.convolution import kernel_of
from sardonyx.ops.onnx.pooling import global_pool
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call

rules = Rules("com.microsoft.nchwc")
rules.table(global_pool, {"GlobalAveragePool": 1, "GlobalMaxPool": 1})

BLOCK = 16
"""Multiples of it are whole blocks on every machine."""


@rules("ReorderInput")
def reorder_input(call: Call) -> TensorType:
    """Store channels in blocks, from [N, C, ...] or from [N, ..., C]."""
    x = call.tensor(0)
    shape = channels_first(x.shape) if call.int("channels_last", 0) else x.shape
    if shape is None or len(shape) < 2:
        return x.with_shape(None)
    count = shape[1]
    whole = isinstance(count, int) and count % BLOCK == 0
    return x.with_shape((shape[0], count if whole else call.fresh("channels"), *shape[2:]))


@rules("ReorderOutput")
def reorder_output(call: Call) -> TensorType:
    """Return to plain storage, with the number of channels that there really are."""
    x = call.tensor(0)
    if x.shape is None or len(x.shape) < 3:
        return x.with_shape(None)
    count: int = call.int("channels", 0)
    plain = (x.shape[0], count if count > 0 else call.fresh("channels"), *x.shape[2:])
    return x.with_shape(channels_last(plain) if call.int("channels_last", 0) else plain)


@rules("Conv")
def conv(call: Call) -> TensorType:
    """Convolve blocks of channels; the weights are stored in whole blocks too."""
    x, w = call.tensor(0), shape_of(call, 1)
    kernel = kernel_of(call, x.shape, w)
    if kernel is None or x.shape is None:
        return x.with_shape(None)
    maps: Dim = call.fresh() if w is None else w[0]
    return x.with_shape((x.shape[0], maps, *slide(call, x.shape[2:], read_windows(call, kernel))))


def pool(call: Call) -> TensorType:
    """Reduce every window to one element."""
    x = call.tensor(0)
    return x.with_shape(pooled(call, x.shape))


rules.table(pool, {"AveragePool": 1, "MaxPool": 1})


@rules("Upsample")
def upsample(call: Call) -> TensorType:
    """Repeat or interpolate by whole numbers, one for each axis."""
    x = call.tensor(0)
    scales: tuple[int, ...] = call.ints("scales", ())
    if x.shape is None:
        return x
    if len(scales) != len(x.shape) or min(scales, default=1) < 1:
        return x.with_shape(fresh_dims(call, len(x.shape)))
    return x.with_shape(times(call, dim, scale) for dim, scale in zip(x.shape, scales, strict=True))
