"""Rules for recurrent layers: RNN, GRU and LSTM."""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.common.wanted import fresh_dims, same, share
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("")

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
DIRECTIONS = {"forward": 1, "foward": 1, "reverse": 1, "bidirectional": 2}
"""Number of directions; the default of the first opset is misspelled in its schema."""


def recurrent(call: Call) -> tuple[Answer, ...]:
    """Run over X[seq, batch, input], with layout=1 [batch, seq, input]; give all states, the last, and its cell.

    W is [directions, gates*hidden, input], R is [directions, gates*hidden, hidden].
    """
    x = call.tensor(0)
    if x.shape is not None and len(x.shape) != 3:
        call.fail("rank-mismatch", f"X has {len(x.shape)} dims, but must have 3")
    directions = DIRECTIONS.get(call.str("direction", "forward").lower())
    if directions is None:
        call.fail("bad-attribute", f"{call.str('direction')!r} is no direction", attr="direction")
    hidden = hidden_size(call)
    layout: int = call.int("layout", 0)
    first, second = fresh_dims(call, 2) if x.shape is None else x.shape[:2]
    every = (first, second, directions, hidden) if layout else (first, directions, second, hidden)
    state = TensorType(x.dtype, (first, directions, hidden) if layout else (directions, second, hidden))
    return TensorType(x.dtype, every), state, state


rules.table(recurrent, dict.fromkeys(GATES, 1))


def hidden_size(call: Call) -> Dim:
    """Return the size of the hidden state: the attribute, else what the weights say."""
    hidden: Dim | None = call.int("hidden_size", None)
    if isinstance(hidden, int) and hidden < 1:
        call.fail("bad-attribute", f"hidden_size is {hidden}, but must be at least 1", attr="hidden_size")
    recurrence, weights = call.peek(2), call.peek(1)
    if isinstance(recurrence, TensorType) and recurrence.shape is not None:
        if len(recurrence.shape) != 3:
            call.fail("rank-mismatch", f"R has {len(recurrence.shape)} dims, but must have 3")
        size = recurrence.shape[2]
        return size if hidden is None else same(call, hidden, size, "hidden_size and the last dim of R")
    if hidden is None and isinstance(weights, TensorType) and weights.shape is not None and len(weights.shape) == 3:
        return share(call, weights.shape[1], GATES[call.node.op_type], "the second dim of W")
    return call.fresh() if hidden is None else hidden
