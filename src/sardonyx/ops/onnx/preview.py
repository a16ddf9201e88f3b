"""Rules for the domain ai.onnx.preview."""

from __future__ import annotations

from sardonyx.ir.types import DTYPES, DType, TensorType
from sardonyx.ops.common.wanted import fresh_dims
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ops.call import Call

rules = Rules("ai.onnx.preview")


@rules("FlexAttention")
def flex_attention(call: Call) -> TensorType:
    """Attend from Q to K and V of rank 4, with bodies that change the scores and the probabilities."""
    q, k, v = call.tensor(0), call.tensor(1), call.tensor(2)
    for tensor, name in ((q, "Q"), (k, "K"), (v, "V")):
        if tensor.shape is not None and len(tensor.shape) != 4:
            call.fail("rank-mismatch", f"{name} has {len(tensor.shape)} dims, but must have 4")
    batch, heads, length = fresh_dims(call, 3) if q.shape is None else q.shape[:3]
    code: int = call.int("softmax_precision", 0)
    if code:
        precision: DType | None = DTYPES[code] if 0 < code < len(DTYPES) else None
    else:
        precision = None if q.dtype is None else DType.DOUBLE if q.dtype is DType.DOUBLE else DType.FLOAT
    scores = TensorType(precision, (batch, heads, length, call.fresh() if k.shape is None else k.shape[2]))
    for name in ("score_mod", "prob_mod"):
        if name in call.node.attrs:
            call.run_body(call.graph(name), [scores])
    return TensorType(q.dtype, (batch, heads, length, call.fresh() if v.shape is None else v.shape[3]))
