"""Rules for convolutions, their transposes and their quantized forms."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.wanted import same
from sardonyx.ops.common.windows import per_axis, read_windows, slide, spread_windows
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("")


@rules("Conv")
def conv(call: Call) -> TensorType:
    """Slide kernels over the spatial axes of X[N, C, ...]; W is [M, C/group, ...]."""
    x = call.tensor(0)
    return TensorType(x.dtype, convolved(call, x.shape, call.tensor(1).shape))


@rules("ConvInteger", since=10)
def conv_integer(call: Call) -> TensorType:
    """Convolve 8-bit integers; sums are int32."""
    return TensorType(DType.INT32, convolved(call, call.tensor(0).shape, call.tensor(1).shape))


@rules("QLinearConv", since=10)
def qlinear_conv(call: Call) -> TensorType:
    """Convolve quantized tensors; the element type is that of the output's zero point."""
    zero = call.peek(7)
    dtype = zero.dtype if isinstance(zero, TensorType) else None
    return TensorType(dtype, convolved(call, call.tensor(0).shape, call.tensor(3).shape))


@rules("DeformConv", since=19)
def deform_conv(call: Call) -> TensorType:
    """Convolve with kernels whose places are moved by `offset`; sizes are those of Conv."""
    x = call.tensor(0)
    return TensorType(x.dtype, convolved(call, x.shape, call.tensor(1).shape))


def convolved(call: Call, x: Shape | None, w: Shape | None) -> Shape | None:
    """Return the shape of a convolution of `x` with weights `w`, as far as either is known."""
    kernel = kernel_of(call, x, w)
    if kernel is None:
        return None
    group = group_of(call)
    if x is not None and w is not None:
        same(call, x[1], w[1] * group, f"channels of X and of W times group {group}")
    maps: Dim = call.fresh() if w is None else w[0]
    if isinstance(maps, int) and maps % group:
        call.fail("bad-input", f"W makes {maps} feature maps, which is no multiple of group {group}")
    sizes: Sequence[Dim | None] = [None] * len(kernel) if x is None else x[2:]
    batch = call.fresh() if x is None else x[0]
    return (batch, maps, *slide(call, sizes, read_windows(call, kernel)))


def kernel_of(call: Call, x: Shape | None, w: Shape | None) -> Sequence[Dim | None] | None:
    """Return the kernel's sizes from `kernel_shape` and the weights; None when the rank is not known.

    Refuses tensors that are not [N, C, ...] with at least one spatial axis, and ranks that differ.
    """
    for shape, name in ((x, "X"), (w, "W")):
        if shape is not None and len(shape) < 3:
            call.fail("rank-mismatch", f"{name} has {len(shape)} dims, but a convolution needs at least 3")
    if x is not None and w is not None and len(x) != len(w):
        call.fail("rank-mismatch", f"X has {len(x)} dims, but W has {len(w)}")
    given: tuple[int, ...] | None = call.ints("kernel_shape", None) or None
    known = x if w is None else w
    if known is None:
        return given
    if given is None:
        return [None] * (len(known) - 2) if w is None else w[2:]
    if len(given) != len(known) - 2:
        call.fail(
            "bad-attribute",
            f"kernel_shape has {len(given)} entries for {len(known) - 2} spatial axes",
            attr="kernel_shape",
        )
    if w is not None and given != w[2:]:
        for size, dim in zip(given, w[2:], strict=True):
            same(call, size, dim, "kernel_shape and the spatial dims of W")
    return given


def group_of(call: Call) -> int:
    """Return the attribute `group`."""
    group: int = call.int("group", 1)
    if group < 1:
        call.fail("bad-attribute", f"group is {group}, but must be at least 1", attr="group")
    return group


@rules("ConvTranspose")
def conv_transpose(call: Call) -> TensorType:
    """Go back from where windows stop to what they slide over; W is [C, M/group, ...].

    `output_shape` says the spatial sizes outright, and the padding follows from it.
    """
    x, w = call.tensor(0), call.tensor(1).shape
    kernel = kernel_of(call, x.shape, w)
    if kernel is None:
        return TensorType(x.dtype, None)
    group = group_of(call)
    if x.shape is not None and w is not None:
        same(call, x.shape[1], w[0], "channels of X and of W")
    count = len(kernel)
    wanted = per_axis(call, "output_shape", count, -1, 0)
    sizes: Sequence[Dim | None] = [None] * count if x.shape is None else x.shape[2:]
    if -1 in wanted:
        spatial = spread_windows(call, sizes, read_windows(call, kernel), per_axis(call, "output_padding", count, 0, 0))
    else:
        spatial = list(wanted)
    batch = call.fresh() if x.shape is None else x.shape[0]
    maps = call.fresh() if w is None else w[1] * group
    return TensorType(x.dtype, (batch, maps, *spatial))


@rules("CausalConvWithState", since=27)
def causal_conv_with_state(call: Call) -> tuple[Answer, ...]:
    """Convolve each channel with its past; the state holds the last k - 1 positions."""
    x, w = call.tensor(0), call.tensor(1)
    if x.shape is not None and len(x.shape) != 3:
        call.fail("rank-mismatch", f"the input has {len(x.shape)} dims, but must be [batch, channels, length]")
    if w.shape is not None and len(w.shape) != 3:
        call.fail("rank-mismatch", f"the weight has {len(w.shape)} dims, but must be [channels, 1, k]")
    past = call.peek(3)
    states = past.shape if isinstance(past, TensorType) else None
    kept: Dim
    if w.shape is not None:
        kept = w.shape[2] - 1
    else:
        kept = call.fresh() if states is None or len(states) != 3 else states[2]
    if isinstance(kept, int) and kept < 0:
        call.fail("bad-input", "the kernel is empty")
    batch, channels = (call.fresh(), call.fresh()) if x.shape is None else x.shape[:2]
    if x.shape is not None and w.shape is not None:
        channels = same(call, channels, w.shape[0], "channels of the input and of the weight")
        x = x.with_shape((batch, channels, x.shape[2]))
    return x, TensorType(x.dtype, (batch, channels, kept))
