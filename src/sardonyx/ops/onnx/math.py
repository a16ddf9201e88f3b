"""Rules for arithmetic: elementwise functions, products of matrices, and what computes shapes among them."""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.common.broadcast import broadcast
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ops.call import Call

rules = Rules("")


def same_as_first(call: Call) -> TensorType:
    """Return the type of the first input: elementwise functions of one tensor."""
    return call.tensor(0)


rules.table(
    same_as_first,
    {
        "Abs": 1, "Acos": 7, "Acosh": 9, "Asin": 7, "Asinh": 9, "Atan": 7, "Atanh": 9, "Ceil": 1, "Cos": 7,
        "Cosh": 9, "Erf": 9, "Exp": 1, "Floor": 1, "Log": 1, "Neg": 1, "Reciprocal": 1, "Relu": 1, "Round": 11,
        "Sigmoid": 1, "Sign": 9, "Sin": 7, "Sinh": 9, "Sqrt": 1, "Tan": 7, "Tanh": 1,
    },
)  # fmt: skip


def elementwise(call: Call) -> TensorType:
    """Broadcast all inputs; the element type is that of the first."""
    tensors = [call.tensor(at) for at in range(call.count)]
    return TensorType(tensors[0].dtype, broadcast(call, *[tensor.shape for tensor in tensors]))


rules.table(elementwise, {"Add": 7, "Sub": 7, "Mul": 7, "Div": 7, "Max": 8, "Min": 8, "Mean": 8, "Sum": 8})


@rules("MatMul", since=1)
def matmul(call: Call) -> TensorType:
    """Multiply matrices as numpy.matmul does: a 1-D operand gains an axis that the result lacks."""
    a, b = call.tensor(0), call.tensor(1)
    if a.shape is None or b.shape is None:
        return TensorType(a.dtype, None)
    if not a.shape or not b.shape:
        call.fail("rank-mismatch", "a scalar cannot be multiplied as a matrix")
    left = a.shape if len(a.shape) > 1 else (1, *a.shape)
    right = b.shape if len(b.shape) > 1 else (*b.shape, 1)
    inner, other = left[-1], right[-2]
    if inner != other:
        if call.scope.equal(inner, other) is False:
            call.fail("dim-mismatch", f"last axis of A is {inner} but first matrix axis of B is {other}")
        call.assume("joined-dims", inner, other)
    batch = broadcast(call, left[:-2], right[:-2]) or ()
    rows = (left[-2],) if len(a.shape) > 1 else ()
    columns = (right[-1],) if len(b.shape) > 1 else ()
    return TensorType(a.dtype, (*batch, *rows, *columns))
