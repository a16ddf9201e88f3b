"""Rules for convolution and pooling: fused, quantized, and with channels behind the spatial axes."""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.common.wanted import fresh_dims
from sardonyx.ops.common.windows import NONE, Windows, per_axis, read_windows, slide, spread_windows
from sardonyx.ops.microsoft.documented import dtype_of, shape_of
from sardonyx.ops.onnx.convolution import convolved, group_of, kernel_of
from sardonyx.ops.onnx.pooling import check_rank
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call

rules = Rules("com.microsoft")


def channels_first(shape: Shape | None) -> Shape | None:
    """Return [N, C, ...] of [N, ..., C]."""
    return shape if shape is None or len(shape) < 3 else (shape[0], shape[-1], *shape[1:-1])


def channels_last(shape: Shape | None) -> Shape | None:
    """Return [N, ..., C] of [N, C, ...]."""
    return shape if shape is None or len(shape) < 3 else (shape[0], *shape[2:], shape[1])


# --- convolution


@rules("FusedConv")
def fused_conv(call: Call) -> TensorType:
    """Convolve, add, and apply a function: sizes are those of Conv."""
    x = call.tensor(0)
    return x.with_shape(convolved(call, x.shape, shape_of(call, 1)))


def nhwc_conv(call: Call) -> TensorType:
    """Convolve with channels last; the weights are those of Conv, [M, C/group, ...]."""
    x = call.tensor(0)
    return x.with_shape(channels_last(convolved(call, channels_first(x.shape), shape_of(call, 1))))


rules.table(nhwc_conv, {"NhwcConv": 1, "NhwcFusedConv": 1})


@rules("QLinearConv")
def q_linear_conv(call: Call) -> TensorType:
    """Convolve quantized tensors; the element type is that of the output's zero point."""
    x, w, dtype = shape_of(call, 0), shape_of(call, 3), dtype_of(call, "7")
    if not call.int("channels_last", 0):
        return TensorType(dtype, convolved(call, x, w))
    return TensorType(dtype, channels_last(convolved(call, channels_first(x), w)))


@rules("ConvTransposeWithDynamicPads")
def conv_transpose_with_dynamic_pads(call: Call) -> TensorType:
    """Spread windows as ConvTranspose does, with the padding as an input."""
    x, w = call.tensor(0), shape_of(call, 1)
    kernel = kernel_of(call, x.shape, w)
    if kernel is None:
        return x.with_shape(None)
    count = len(kernel)
    batch = call.fresh() if x.shape is None else x.shape[0]
    maps = call.fresh() if w is None else w[1] * group_of(call)
    pads = call.content(2) if call.has(2) else (0,) * (2 * count)
    windows = read_windows(call, kernel)
    if pads is None or len(pads) != 2 * count or windows.auto_pad != NONE or not all(type(one) is int for one in pads):
        return x.with_shape((batch, maps, *fresh_dims(call, count)))
    numbers = [one for one in pads if isinstance(one, int)]
    padded = Windows(kernel, windows.strides, windows.dilations, numbers[:count], numbers[count:], NONE)
    sizes: Sequence[Dim | None] = [None] * count if x.shape is None else x.shape[2:]
    return x.with_shape(
        (batch, maps, *spread_windows(call, sizes, padded, per_axis(call, "output_padding", count, 0, 0)))
    )


@rules("WordConvEmbedding")
def word_conv_embedding(call: Call) -> TensorType:
    """Embed each word, a row of characters: [words, embedding], as long as the convolution has filters."""
    words, weights = shape_of(call, 0), shape_of(call, 1)
    given: int = call.int("embedding_size", 0)
    size: Dim = given if given > 0 else weights[0] if weights else call.fresh()
    return TensorType(dtype_of(call, "1"), (words[0] if words else call.fresh(), size))


# --- pooling


def pooled(call: Call, x: Shape | None) -> Shape:
    """Return the shape of [N, C, ...] after pooling."""
    kernel: tuple[int, ...] = call.ints("kernel_shape")
    check_rank(call, x, kernel)
    front = fresh_dims(call, 2) if x is None else x[:2]
    sizes: Sequence[Dim | None] = [None] * len(kernel) if x is None else x[2:]
    ceil = call.int("ceil_mode", 0) == 1  # the runtime takes other numbers for 0
    return (*front, *slide(call, sizes, read_windows(call, kernel), ceil=ceil, pool=True))


@rules("MaxpoolWithMask")
def maxpool_with_mask(call: Call) -> TensorType:
    """Take the maximum of every window, of what the mask leaves."""
    x = call.tensor(0)
    return x.with_shape(pooled(call, x.shape))


@rules("NhwcMaxPool")
def nhwc_max_pool(call: Call) -> TensorType:
    """Take the maximum of every window of [N, ..., C]."""
    x = call.tensor(0)
    return x.with_shape(channels_last(pooled(call, channels_first(x.shape))))


@rules("QLinearAveragePool")
def q_linear_average_pool(call: Call) -> TensorType:
    """Average every window of a quantized tensor."""
    x = call.tensor(0)
    if not call.int("channels_last", 0):
        return x.with_shape(pooled(call, x.shape))
    return x.with_shape(channels_last(pooled(call, channels_first(x.shape))))


@rules("QLinearGlobalAveragePool")
def q_linear_global_average_pool(call: Call) -> TensorType:
    """Average every spatial axis away, to size 1."""
    x = call.tensor(0)
    if x.shape is None or len(x.shape) < 2:
        return x
    last = call.int("channels_last", 0)
    ones = (1,) * (len(x.shape) - 2)
    return x.with_shape((x.shape[0], *ones, x.shape[-1]) if last else (*x.shape[:2], *ones))
