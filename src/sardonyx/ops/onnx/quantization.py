"""Rules for quantized numbers: into them, back from them, and products of them."""

from __future__ import annotations

from sardonyx.ir.types import DTYPES, DType, TensorType
from sardonyx.ops.onnx.products import product_shape
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("")


@rules("QuantizeLinear", since=10)
def quantize_linear(call: Call) -> TensorType:
    """Quantize to the zero point's element type, else to `output_dtype`, else to uint8."""
    return call.tensor(0).with_dtype(type_of(call, 2, DType.UINT8) if call.has(2) else output_type(call, DType.UINT8))


@rules("DequantizeLinear", since=10)
def dequantize_linear(call: Call) -> TensorType:
    """Go back to real numbers: of type `output_dtype`, else of the scale's type."""
    return call.tensor(0).with_dtype(output_type(call, type_of(call, 1, None)))


def type_of(call: Call, at: int, default: DType | None) -> DType | None:
    """Return the element type of an input, the default when it is omitted."""
    if not call.has(at):
        return default
    kind = call.peek(at)
    return kind.dtype if isinstance(kind, TensorType) else None


def output_type(call: Call, default: DType | None) -> DType | None:
    """Return what the attribute `output_dtype` names; 0 names nothing."""
    code: int = call.int("output_dtype", 0)
    if not 0 <= code < len(DTYPES):
        call.fail("bad-element-type", f"{code} is not an element type", attr="output_dtype")
    return DTYPES[code] if code else default


@rules("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(call: Call) -> tuple[Answer, ...]:
    """Quantize to uint8 by the range of the data; scale and zero point are scalars."""
    x = call.tensor(0)
    return x.with_dtype(DType.UINT8), TensorType(DType.FLOAT, ()), TensorType(DType.UINT8, ())


@rules("QLinearMatMul", since=10)
def qlinear_matmul(call: Call) -> TensorType:
    """Multiply quantized matrices; the element type is that of the output's zero point."""
    return TensorType(type_of(call, 7, None), product_shape(call, call.tensor(0).shape, call.tensor(3).shape))
