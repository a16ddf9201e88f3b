"""Rules for mixtures of experts."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.sizes import product
from sardonyx.ops.microsoft.documented import shape_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")


def experts(call: Call) -> TensorType:
    """Return the type of the tokens."""
    return call.tensor(0)


rules.table(experts, {"MoE": 1, "MoEPacked": 1, "QMoE": 1})


@rules("MoEGroupRouter")
def moe_group_router(call: Call) -> tuple[Answer, ...]:
    """Score every expert for every token: [tokens, experts]; scores in full come as 32-bit floats."""
    logits, bias = call.tensor(0), shape_of(call, 1)
    shape = logits.shape
    tokens: Dim = call.fresh("tokens") if not shape else product(call, shape[:-1])
    count: Dim
    if bias is not None and len(bias) == 1:
        count = bias[0]
    else:
        count = shape[-1] if shape and not call.has(2) else call.fresh("experts")
    scores = TensorType(DType.FLOAT, (tokens, count))
    return logits.with_shape((tokens, count)), scores, scores
