"""Rules for products of matrices: fused with other work, over quantized weights, of quantized operands."""

from __future__ import annotations

from sardonyx.ir.types import DTYPES, DType, TensorType
from sardonyx.ops.common.wanted import share, size_of
from sardonyx.ops.microsoft.documented import documented, dtype_of, shape_of
from sardonyx.ops.onnx.products import gemm, matrix, product_shape
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")
rules.table(gemm, {"FusedGemm": 1})


def fused_matmul(call: Call) -> TensorType:
    """Multiply as MatMul does, operands transposed if asked."""
    a, b = call.tensor(0), call.tensor(1)
    left = turned(a.shape, call.int("transA", 0), call.int("transBatchA", 0))
    right = turned(b.shape, call.int("transB", 0), call.int("transBatchB", 0))
    return TensorType(b.dtype or a.dtype, product_shape(call, left, right))


rules.table(
    fused_matmul, {"FusedMatMul": 1, "FusedMatMulActivation": 1, "SparseToDenseMatMul": 1, "TransposeMatMul": 1}
)


def turned(shape: Shape | None, transposed: int, batch: int) -> Shape | None:
    """Return a shape with its first axis moved behind the batch axes, and the last two axes swapped, if asked."""
    if shape is None or len(shape) < 2:
        return shape
    if batch:
        shape = (*shape[1:-1], shape[0], shape[-1])
    return (*shape[:-2], shape[-1], shape[-2]) if transposed else shape


@rules("GemmFastGelu")
def gemm_fast_gelu(call: Call) -> TensorType:
    """Multiply as MatMul does."""
    a = call.tensor(0)
    return a.with_shape(product_shape(call, a.shape, call.tensor(1).shape))


rules.table(gemm_fast_gelu, {"DynamicQuantizeMatMul": 1})


@rules("MatMulIntegerToFloat")
def matmul_integer_to_float(call: Call) -> TensorType:
    """Multiply 8-bit integers; the result has the type of the scales."""
    return TensorType(dtype_of(call, "2"), product_shape(call, call.tensor(0).shape, call.tensor(1).shape))


@rules("MatMulInteger16")
def matmul_integer_16(call: Call) -> TensorType:
    """Multiply 16-bit integers into 32-bit ones."""
    dtype = call.tensor(0).dtype
    result = DType.UINT32 if dtype is DType.UINT16 else None if dtype is None else DType.INT32
    return TensorType(result, product_shape(call, call.tensor(0).shape, call.tensor(1).shape))


def columns(call: Call, count: Dim) -> TensorType:
    """Return the type of the first input with its last axis replaced."""
    a = call.tensor(0)
    if a.shape is None:
        return a
    if not a.shape:
        call.fail("rank-mismatch", "a scalar cannot be multiplied as a matrix")
    return a.with_shape((*a.shape[:-1], count))


def features(call: Call, name: str) -> int:
    """Return an INT attribute that is a number of features."""
    count: int = call.int(name)
    if count < 0:
        call.fail("bad-attribute", f"is {count}, but must not be negative", attr=name)
    return count


def projected(call: Call) -> tuple[Answer, ...]:
    """Multiply by weights that `N` and `K` describe; a second output is the residual sum."""
    return columns(call, features(call, "N")), call.peek(0)


rules.table(projected, {"MatMulNBits": 1, "MatMulNBitsMlp": 1, "MatMulNBitsQLoRA": 1, "MatMulPacked": 1})


@rules("MatMulBnb4")
def matmul_bnb4(call: Call) -> TensorType:
    """Multiply by 4-bit weights [N, K], transposed unless told otherwise."""
    return columns(call, features(call, "N" if call.int("transB", 1) else "K"))


@rules("MatMulNBitsQkv")
def matmul_nbits_qkv(call: Call) -> tuple[Answer, ...]:
    """Project queries, keys and values; the fourth output is the residual sum."""
    queries, keys = columns(call, features(call, "Nq")), columns(call, features(call, "Nkv"))
    return queries, keys, keys, call.peek(0)


@rules("MatMulFpQ4")
def matmul_fpq4(call: Call) -> TensorType:
    """Multiply by packed weights whose shape is the third input."""
    a, content = call.tensor(0), call.content(2)
    if content is None:
        if a.shape is None:
            return a
        return columns(call, call.fresh())
    return a.with_shape(product_shape(call, a.shape, tuple(size_of(call, one, "B_shape") for one in content)))


rules.table(
    documented("0[...,_] 1[n,_] -> 0[...,n]"), {"MatMulBlockQuantizedFp4Weight": 1, "MatMulBlockQuantizedFp8Weight": 1}
)


@rules("QGemm")
def q_gemm(call: Call) -> TensorType:
    """Multiply two matrices; quantized where the output has a zero point, else floats."""
    shape = product_of_matrices(call, shape_of(call, 0), shape_of(call, 3))
    return TensorType(dtype_of(call, "8") if call.has(8) else DType.FLOAT, shape)


@rules("GemmFloat8")
def gemm_float8(call: Call) -> TensorType:
    """Multiply two matrices; `dtype` names the element type of the result."""
    code: int = call.int("dtype", 1)
    if not 0 < code < len(DTYPES):
        call.fail("bad-element-type", f"{code} is not an element type", attr="dtype")
    return TensorType(DTYPES[code], product_of_matrices(call, shape_of(call, 0), shape_of(call, 1)))


def product_of_matrices(call: Call, a: Shape | None, b: Shape | None) -> Shape:
    """Return the shape of a product of two matrices, each transposed if asked."""
    rows, inner = matrix(call, a, "A", call.int("transA", 0))
    other, width = matrix(call, b, "B", call.int("transB", 0))
    product_shape(call, (rows, inner), (other, width))
    return rows, width


rules.table(documented("0[m,_] 1[k,_] -> 0[m,k]"), {"CDist": 1})


@rules("QOrderedMatMul")
def q_ordered_matmul(call: Call) -> TensorType:
    """Multiply as MatMul does, in a layout of cuBLASLt; shapes are those of matrices, however they are stored."""
    a = call.tensor(0)
    return a.with_shape(product_shape(call, a.shape, shape_of(call, 2)))


@rules("RouterGateUpProj")
def router_gate_up_proj(call: Call) -> tuple[Answer, ...]:
    """Multiply by [K, router_size + 2*inter]: the router's scores, and the gated half of the rest."""
    weights = shape_of(call, 1)
    router = features(call, "router_size")
    inner: Dim = call.fresh()
    if weights is not None and len(weights) == 2:
        inner = share(call, weights[1] - router, 2, "what W has beside the router")
    return columns(call, router), columns(call, inner)
