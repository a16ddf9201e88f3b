"""Rules for operators that move elements about: looking up, padding, counting, cutting, sampling."""

from __future__ import annotations

from sardonyx.dims import Expr
from sardonyx.ir.types import DTYPES, DType, TensorType
from sardonyx.ops.common.sizes import attempt, plus, times
from sardonyx.ops.common.wanted import fresh_dims
from sardonyx.ops.common.windows import fits
from sardonyx.ops.microsoft.documented import documented, dtype_of, shape_of
from sardonyx.ops.onnx.generator import numbers_in_range, whole_count
from sardonyx.ops.onnx.image import grid_sample
from sardonyx.ops.onnx.tensor_index import gather_nd
from sardonyx.ops.onnx.tensor_parts import pad
from sardonyx.ops.onnx.tensor_shape import unsqueezed
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call, Fact
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")
rules.table(pad, {"Pad": 1})
rules.table(gather_nd, {"GatherND": 1})
rules.table(grid_sample, {"GridSample": 1})


@rules("Range")
def numbers(call: Call) -> Answer | tuple[Answer, ...]:
    """Count from `start` to `limit`, exclusive, by `delta`, 1 when it is not given."""
    if call.has(2):
        return numbers_in_range(call)
    dtype = dtype_of(call, "0") or dtype_of(call, "1")
    return TensorType(dtype, (whole_count(call, call.scalar(0), call.scalar(1), 1),))


@rules("ExpandDims")
def expand_dims(call: Call) -> TensorType | Fact:
    """Insert an axis of size 1 where the second input says."""
    data, axis = call.tensor(0), call.scalar(1)
    if isinstance(axis, int):
        return unsqueezed(call, (axis,))
    return data.with_shape(None if data.shape is None else fresh_dims(call, len(data.shape) + 1))


# --- looking up


rules.table(documented("0[_,m] 1[...] -> 0[...,m]"), {"TorchEmbedding": 1})


@rules("GatherPacked")
def gather_packed(call: Call) -> TensorType:
    """Look rows of `K` numbers up in a packed table."""
    code: int = call.int("output_dtype", 16)
    dtype = DTYPES[code] if 0 < code < len(DTYPES) else None
    indices = shape_of(call, 1)
    return TensorType(dtype, None if indices is None else (*indices, call.int("K")))


@rules("GatherBlockQuantized")
def gather_block_quantized(call: Call) -> TensorType:
    """Gather from a table that is quantized in blocks; 8-bit data may hold several numbers in a byte."""
    dtype, table, indices = dtype_of(call, "2"), shape_of(call, 0), shape_of(call, 1)
    data = call.peek(0)
    if table is None or indices is None or not isinstance(data, TensorType) or data.dtype is None:
        return TensorType(dtype, None)
    axis = call.axis(call.int("gather_axis", 0), len(table), attr="gather_axis")
    bits: int = call.int("bits", 4)
    found = list(table)
    if data.dtype is DType.UINT8 and bits in (2, 4):
        found[-1] = times(call, found[-1], 8 // bits)
    return TensorType(dtype, (*found[:axis], *indices, *found[axis + 1 :]))


# --- cutting and sampling


@rules("UnfoldTensor")
def unfold_tensor(call: Call) -> TensorType:
    """Cut an axis into slices of `size`, `step` apart; they lie along a new last axis."""
    data = call.tensor(0)
    if data.shape is None:
        return data
    axis = call.axis(call.int("dim", -1), len(data.shape), attr="dim")
    size, step = call.int("size"), call.int("step", 1)
    if size < 0 or step < 1:
        call.fail("bad-attribute", f"slices of {size}, {step} apart, cannot be cut", attr="size")
    dim = data.shape[axis]
    if fits(call, dim, size):
        count = attempt(call, lambda: call.scope.floordiv(plus(call, dim, -size), step) + 1)
    else:
        count = call.fresh()
    return data.with_shape((*data.shape[:axis], count, *data.shape[axis + 1 :], size))


@rules("CropAndResize")
def crop_and_resize(call: Call) -> TensorType:
    """Cut regions [regions, 4] out of [N, C, H, W] and resize them to the size that the fourth input holds."""
    x, regions, content = call.tensor(0), shape_of(call, 1), call.content(3)
    channels = x.shape[1] if x.shape is not None and len(x.shape) == 4 else call.fresh()
    count = regions[0] if regions else call.fresh()
    sizes = content if content is not None and len(content) == 2 else (None, None)
    grid = [one if isinstance(one, (int, Expr)) else call.fresh() for one in sizes]
    return x.with_shape((count, channels, *grid))


# --- Fourier transforms


def real_fft(call: Call) -> TensorType:
    """Transform the last axis of n real numbers to n//2 + 1 pairs."""
    x = call.tensor(0)
    if x.shape is None or not x.shape or call.int("signal_ndim", 1) != 1:
        return x.with_shape(None)
    bins = attempt(call, lambda: call.scope.floordiv(x.shape[-1], 2) + 1)  # type: ignore[index]
    return x.with_shape((*x.shape[:-1], bins, 2))


def inverse_real_fft(call: Call) -> TensorType:
    """Transform n//2 + 1 pairs back to n numbers, n being even."""
    x = call.tensor(0)
    if x.shape is None or len(x.shape) < 2 or call.int("signal_ndim", 1) != 1:
        return x.with_shape(None)
    return x.with_shape((*x.shape[:-2], plus(call, times(call, x.shape[-2], 2), -2)))


rules.table(real_fft, {"Rfft": 1})
rules.table(inverse_real_fft, {"Irfft": 1})


# --- what the data decides


@rules("Unique")
def unique(call: Call) -> tuple[Answer, ...]:
    """Return what differs in a vector, where each element went, and how often each occurs."""
    x = call.tensor(0)
    count = call.fresh("unique")
    length = x.shape[0] if x.shape is not None and len(x.shape) == 1 else call.fresh()
    call.scope.assume_at_least(length, count)
    return x.with_shape((count,)), TensorType(DType.INT64, (length,)), TensorType(DType.INT64, (count,))


@rules("Tokenizer")
def tokenizer(call: Call) -> TensorType:
    """Split strings into tokens along a new axis; where there are no strings, there is no new axis either."""
    x = call.tensor(0)
    if x.shape is None:
        return x
    if len(x.shape) not in (1, 2):
        call.fail("rank-mismatch", f"the strings have {len(x.shape)} axes, but must have 1 or 2")
    if any(dim == 0 for dim in x.shape):
        return x.with_shape((0,) if len(x.shape) == 1 else (x.shape[0], 0))
    some = all(call.scope.is_positive(dim) for dim in x.shape)
    return x.with_shape((*x.shape, call.fresh("tokens")) if some else None)


@rules("DynamicTimeWarping")
def dynamic_time_warping(call: Call) -> TensorType:
    """Find a path through a matrix of costs: its rows and columns, step by step."""
    steps: Dim = call.fresh("steps")
    return TensorType(DType.INT32, (2, steps))


@rules("BifurcationDetector")
def bifurcation_detector(call: Call) -> tuple[Answer, ...]:
    """Append the predicted tokens from where they differ, and say where in the source the text goes on."""
    return TensorType(dtype_of(call, "1"), (call.fresh("tokens"),)), call.peek(2)
