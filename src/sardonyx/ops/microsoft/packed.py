"""Rules for sequences that are packed without padding, and for attention over them."""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.common.sizes import times
from sardonyx.ops.common.wanted import fresh_dims, share
from sardonyx.ops.microsoft.documented import documented, shape_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")


@rules("RemovePadding")
def remove_padding(call: Call) -> tuple[Answer, ...]:
    """Drop padding from [batch, sequence, hidden]: how many tokens stay is in the data."""
    data = call.tensor(0)
    counts = call.peek(1)
    dtype = counts.dtype if isinstance(counts, TensorType) else None
    known = data.shape is not None and len(data.shape) == 3
    batch, length, hidden = data.shape if known and data.shape is not None else fresh_dims(call, 3)
    return (
        data.with_shape((call.fresh("tokens"), hidden)),
        TensorType(dtype, (batch, length)),
        TensorType(dtype, (batch + 1,)),
        TensorType(dtype, (1,)),
    )


rules.table(documented("0[_,h] 1[b,s] -> 0[b,s,h]"), {"RestorePadding": 1})


@rules("PackedAttention")
def packed_attention(call: Call) -> TensorType:
    """Attend over packed tokens [tokens, _]: [tokens, v_hidden]."""
    data, weights = call.tensor(0), shape_of(call, 1)
    sizes = call.ints("qkv_hidden_sizes", None)
    width: Dim
    if sizes:
        width = sizes[-1]
    elif weights is not None and len(weights) == 2:
        width = share(call, weights[1], 3, "the last dim of the weights")
    else:
        width = call.fresh()
    tokens = data.shape[0] if data.shape else call.fresh()
    return data.with_shape((tokens, width))


@rules("PackedMultiHeadAttention")
def packed_multi_head_attention(call: Call) -> TensorType:
    """Attend over packed tokens; the query may hold keys and values too: [tokens, heads, 3, size]."""
    query, value = call.tensor(0), shape_of(call, 2)
    if query.shape is None:
        return query
    tokens = query.shape[0] if query.shape else call.fresh()
    if len(query.shape) == 4:
        return query.with_shape((tokens, times(call, query.shape[1], query.shape[3])))
    return query.with_shape((tokens, value[-1] if value else call.fresh()))


def paged_attention(call: Call) -> tuple[Answer, ...]:
    """Attend over a cache of pages; packed queries hold keys and values too."""
    query = call.tensor(0)
    heads: int = call.int("num_heads")
    narrow: int = call.int("v_head_size", 0)
    width: Dim = call.fresh()
    if query.shape is not None and len(query.shape) == 2:
        if narrow > 0:
            width = heads * narrow
        elif call.has(1) or call.str("kv_cache_layout", "SEPARATE") == "LATENT":
            width = query.shape[1]
        else:
            groups = heads + 2 * call.int("kv_num_heads")
            width = times(call, share(call, query.shape[1], groups, "the packed queries"), heads)
        return query.with_shape((query.shape[0], width)), call.peek(3), call.peek(4)
    return query.with_shape(None), call.peek(3), call.peek(4)


rules.table(paged_attention, {"PagedAttention": 1, "SparsePagedAttention": 1})
