"""Rules for what decides and records which drafted tokens a decoder keeps."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.microsoft.documented import shape_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")


@rules("SpeculativePrefixCommit")
def speculative_prefix_commit(call: Call) -> tuple[Answer, ...]:
    """Return the cache lengths [batch], and the states updated."""
    tokens = shape_of(call, 0)
    batch = call.fresh() if tokens is None or len(tokens) > 2 else tokens[0] if len(tokens) == 2 else 1
    return TensorType(DType.INT32, (batch,)), call.peek(3), call.peek(4)
