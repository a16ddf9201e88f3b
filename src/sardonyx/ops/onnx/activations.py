"""Rules for functions that normalize along an axis into probabilities."""

from __future__ import annotations

from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.types import TensorType
    from sardonyx.ops.call import Call

rules = Rules("")


def along_axis(call: Call) -> TensorType:
    """Return the type of the input, whose `axis` must exist."""
    x = call.tensor(0)
    if x.shape is not None and "axis" in call.node.attrs:
        call.axis(call.int("axis"), len(x.shape), attr="axis")
    return x


rules.table(along_axis, {"Softmax": 1, "LogSoftmax": 1, "Hardmax": 1})
