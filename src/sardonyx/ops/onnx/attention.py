"""Rules for attention in its several forms, and for what goes with it."""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.common.sizes import plus, times
from sardonyx.ops.common.wanted import fresh_dims, same, share
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("")


@rules("Attention", since=23)
def attention(call: Call) -> Answer | tuple[Answer, ...]:
    """Attend from Q to K and V, each [batch, heads, length, size] or [batch, length, heads*size].

    The present keys and values are the past ones with the new ones behind them.
    """
    q, k, v = call.tensor(0), call.tensor(1), call.tensor(2)
    queries = split_heads(call, q.shape, "q_num_heads", "Q")
    keys = split_heads(call, k.shape, "kv_num_heads", "K")
    values = split_heads(call, v.shape, "kv_num_heads", "V")
    y: Shape | None = None
    if q.shape is not None and queries is not None:
        batch, heads, length, _ = queries
        width = call.fresh() if values is None else values[3]
        y = (batch, heads, length, width) if len(q.shape) == 4 else (batch, length, times(call, heads, width))
    if call.outputs == 1:
        return TensorType(q.dtype, y)
    present_keys = extended(call, call.peek(4), keys, call.has(4))
    present_values = extended(call, call.peek(5), values, call.has(5))
    total = present_keys[2]
    scores = (*(fresh_dims(call, 3) if queries is None else queries[:3]), total)
    return (
        TensorType(q.dtype, y),
        TensorType(k.dtype, present_keys),
        TensorType(v.dtype, present_values),
        TensorType(q.dtype, scores),
    )


def split_heads(call: Call, shape: Shape | None, heads_attr: str, name: str) -> Shape | None:
    """Return (batch, heads, length, size) of an input of rank 4, or of rank 3 with heads side by side."""
    if shape is None:
        return None
    if len(shape) == 4:
        return shape
    if len(shape) != 3:
        call.fail("rank-mismatch", f"{name} has {len(shape)} dims, but must have 3 or 4")
    heads: int = call.int(heads_attr)
    return shape[0], heads, shape[1], share(call, shape[2], heads, f"the last dim of {name}")


def extended(call: Call, past: object, new: Shape | None, has_past: bool) -> Shape:
    """Return the shape of past keys or values with new ones behind them."""
    if not has_past:
        return fresh_dims(call, 4) if new is None else new
    old = past.shape if isinstance(past, TensorType) else None
    if old is not None and len(old) != 4:
        call.fail("rank-mismatch", f"the past has {len(old)} dims, but must have 4")
    if new is None:
        return fresh_dims(call, 4) if old is None else (old[0], old[1], call.fresh(), old[3])
    if old is None:
        return (new[0], new[1], call.fresh(), new[3])
    return (
        same(call, new[0], old[0], "batch sizes of past and new"),
        same(call, new[1], old[1], "heads of past and new"),
        plus(call, old[2], new[2]),
        same(call, new[3], old[3], "head sizes of past and new"),
    )


@rules("LinearAttention", since=27)
def linear_attention(call: Call) -> tuple[Answer, ...]:
    """Attend by a recurrent state [batch, kv_heads, key size, value size]; inputs are [batch, length, heads*size]."""
    query, key, value = call.tensor(0), call.tensor(1), call.tensor(2)
    heads: int = call.int("q_num_heads")
    kv_heads: int = call.int("kv_num_heads")
    past = call.peek(3)
    state = past.shape if isinstance(past, TensorType) else None
    if state is not None and len(state) != 4:
        call.fail("rank-mismatch", f"past_state has {len(state)} dims, but must have 4")
    for tensor, name in ((query, "query"), (key, "key"), (value, "value")):
        if tensor.shape is not None and len(tensor.shape) != 3:
            call.fail("rank-mismatch", f"{name} has {len(tensor.shape)} dims, but must have 3")
    key_size: Dim
    if key.shape is not None:
        key_size = share(call, key.shape[2], kv_heads, "the last dim of key")
    elif query.shape is not None:
        key_size = share(call, query.shape[2], heads, "the last dim of query")
    else:
        key_size = call.fresh() if state is None else state[2]
    if value.shape is not None:
        size = share(call, value.shape[2], kv_heads, "the last dim of value")
    else:
        size = call.fresh() if state is None else state[3]
    batch, length = fresh_dims(call, 2) if query.shape is None else query.shape[:2]
    dtype = query.dtype
    if call.has(3):
        dtype = past.dtype if isinstance(past, TensorType) else None
    output = TensorType(query.dtype, (batch, length, times(call, heads, size)))
    return output, TensorType(dtype, (batch, kv_heads, key_size, size))


@rules("RotaryEmbedding", since=23)
def rotary_embedding(call: Call) -> TensorType:
    """Turn pairs of features by angles of their position."""
    return call.tensor(0)


@rules("TensorScatter", since=24)
def tensor_scatter(call: Call) -> TensorType:
    """Write new entries into a cache, which keeps its size."""
    return call.tensor(0)
