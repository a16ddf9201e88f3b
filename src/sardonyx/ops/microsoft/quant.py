"""Rules for quantized numbers, and for tensors that are concatenated or reduced in quantized form."""

from __future__ import annotations

from sardonyx.ir.types import DTYPES, DType, TensorType
from sardonyx.ops.common.axes import normalized
from sardonyx.ops.common.sizes import plus
from sardonyx.ops.common.wanted import same
from sardonyx.ops.microsoft.documented import dtype_of, shape_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")


@rules("QuantizeLinear")
def quantize_linear(call: Call) -> TensorType:
    """Quantize to the zero point's element type, uint8 without one."""
    return call.tensor(0).with_dtype(dtype_of(call, "2") if call.has(2) else DType.UINT8)


@rules("DequantizeLinear")
def dequantize_linear(call: Call) -> TensorType:
    """Return real numbers of the scale's type."""
    return call.tensor(0).with_dtype(dtype_of(call, "1"))


@rules("QuantizeWithOrder")
def quantize_with_order(call: Call) -> TensorType:
    """Quantize to int8, in a layout of cuBLASLt that has the same shape."""
    return call.tensor(0).with_dtype(DType.INT8)


@rules("DequantizeWithOrder")
def dequantize_with_order(call: Call) -> TensorType:
    """Return real numbers of the type that `to` names."""
    return call.tensor(0).with_dtype(call.dtype("to"))


@rules("QuantizeBFP")
def quantize_bfp(call: Call) -> tuple[Answer, ...]:
    """Return raw data of some length, and the shape and strides of the input."""
    shape = shape_of(call, 0)
    sizes = TensorType(DType.INT64, (call.fresh() if shape is None else len(shape),))
    return TensorType(DType.UINT8, (call.fresh(),)), sizes, sizes


@rules("DequantizeBFP")
def dequantize_bfp(call: Call) -> TensorType:
    """Return a tensor whose shape is the second input."""
    code: int = call.int("dtype", 1)
    dtype = DTYPES[code] if 0 < code < len(DTYPES) else None
    count = shape_of(call, 1)
    if count is None or len(count) != 1 or not isinstance(count[0], int):
        return TensorType(dtype, None)
    content = call.content(1)
    known = content or (None,) * count[0]
    return TensorType(dtype, tuple(one if isinstance(one, int) and one >= 0 else call.fresh() for one in known))


@rules("QLinearConcat")
def q_linear_concat(call: Call) -> TensorType:
    """Concatenate tensors, each of which is followed by its scale and zero point."""
    dtype = dtype_of(call, "1")
    shapes = [shape_of(call, at) for at in range(2, call.count, 3)]
    first = next((shape for shape in shapes if shape is not None), None)
    if first is None:
        return TensorType(dtype, None)
    rank = len(first)
    axis = call.axis(call.int("axis"), rank, attr="axis")
    found = list(first)
    for shape in shapes:
        if shape is None:
            continue
        if len(shape) != rank:
            call.fail("rank-mismatch", f"inputs have {rank} and {len(shape)} dims, but must have one number of them")
        for at, dim in enumerate(shape):
            if at != axis:
                found[at] = same(call, found[at], dim, f"dims of axis {at}")
    known = [shape[axis] for shape in shapes if shape is not None]
    found[axis] = plus(call, *known) if len(known) == len(shapes) else call.fresh()
    return TensorType(dtype, tuple(found))


@rules("QLinearReduceMean")
def q_linear_reduce_mean(call: Call) -> TensorType:
    """Average along axes."""
    data = call.tensor(0)
    return data.with_shape(reduced(call, data.shape))


@rules("ReduceSumInteger")
def reduce_sum_integer(call: Call) -> TensorType:
    """Add 8-bit integers along axes into 32-bit ones."""
    data = call.tensor(0)
    wide = {DType.INT8: DType.INT32, DType.UINT8: DType.UINT32}
    return TensorType(None if data.dtype is None else wide.get(data.dtype), reduced(call, data.shape))


def reduced(call: Call, shape: Shape | None) -> Shape | None:
    """Return a shape without the axes that are reduced, or with 1 in their place."""
    if shape is None:
        return None
    axes = normalized(call, call.ints("axes"), len(shape), "axes")
    if call.int("keepdims"):
        return tuple(1 if at in axes else dim for at, dim in enumerate(shape))
    return tuple(dim for at, dim in enumerate(shape) if at not in axes)
