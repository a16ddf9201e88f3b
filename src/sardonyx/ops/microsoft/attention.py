"""Rules for attention over padded batches, its caches included.

Present keys and values are the past ones with the new ones behind them, unless both share one buffer, which keeps its
size.
"""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.common.sizes import plus, times
from sardonyx.ops.common.wanted import fresh_dims, share
from sardonyx.ops.microsoft.documented import documented, shape_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")


def with_rank(call: Call, at: int, name: str, *ranks: int) -> Shape | None:
    """Return an input's shape, None when it is omitted or not known; refuse any but these ranks."""
    shape = shape_of(call, at)
    if shape is not None and len(shape) not in ranks:
        wanted = " or ".join(map(str, ranks))
        call.fail("rank-mismatch", f"{name} has {len(shape)} dims, but must have {wanted}")
    return shape


def heads_of(call: Call, name: str = "num_heads") -> int:
    """Return a number of heads."""
    count: int = call.int(name)
    if count < 1:
        call.fail("bad-attribute", f"is {count}, but must be at least 1", attr=name)
    return count


# --- projections inside: Attention and its kin


def attention(call: Call) -> tuple[Answer, ...]:
    """Project an input [batch, sequence, _], attend, and return [batch, sequence, v_hidden] and the present.

    The weights of Q, K and V lie side by side in [_, hidden + hidden + v_hidden].
    """
    return projected_attention(call, past_at=4)


rules.table(attention, {"Attention": 1, "DecoderMaskedSelfAttention": 1})


@rules("QAttention")
def q_attention(call: Call) -> tuple[Answer, ...]:
    """Attend as Attention does, from quantized input and weights to the scales' type."""
    return projected_attention(call, past_at=8, dtype_at=3)


def projected_attention(call: Call, past_at: int, dtype_at: int = 0) -> tuple[Answer, ...]:
    """Return the types of attention with its projections inside."""
    heads = heads_of(call)
    data = with_rank(call, 0, "the input", 3)
    weights = with_rank(call, 1, "weights", 2)
    kind = call.peek(dtype_at)
    dtype = kind.dtype if isinstance(kind, TensorType) else None
    batch, length = fresh_dims(call, 2) if data is None else data[:2]
    sizes = call.ints("qkv_hidden_sizes", None)
    width: Dim
    if sizes:
        if len(sizes) != 3 or min(sizes) < 1:
            call.fail("bad-attribute", f"{sizes} are not the three hidden sizes", attr="qkv_hidden_sizes")
        width = sizes[2]
    else:
        bias = shape_of(call, 2)
        whole = weights[1] if weights is not None else bias[0] if bias is not None and len(bias) == 1 else None
        width = call.fresh() if whole is None else share(call, whole, 3, "the second dim of weights")
    output = TensorType(dtype, (batch, length, width))
    if not call.wants(1):
        return (output,)
    past = with_rank(call, past_at, "past", 5)
    if call.int("past_present_share_buffer", 0):
        return output, TensorType(dtype, past)
    size = share(call, width, heads, "the hidden size of V")
    total: Dim = length
    if call.has(past_at):
        total = call.fresh() if past is None else plus(call, past[3], length)
    return output, TensorType(dtype, (2, batch, heads, total, size))


@rules("QOrderedAttention")
def q_ordered_attention(call: Call) -> TensorType:
    """Project an input by separate weights and attend: [batch, sequence, hidden].

    The documentation and the runtime's own inference differ unless the hidden size is that of the input.
    """
    data, values = with_rank(call, 0, "the input", 3), shape_of(call, 7)
    if data is None:
        return call.tensor(0).with_shape(fresh_dims(call, 3))
    agreed = values is not None and len(values) == 2 and values[1] == data[2]
    return call.tensor(0).with_shape((*data[:2], data[2] if agreed else call.fresh()))


rules.table(documented("0[b,s,h] -> 0[b,s,h]"), {"LongformerAttention": 1, "QOrderedLongformerAttention": 1})


@rules("DecoderAttention")
def decoder_attention(call: Call) -> tuple[Answer, ...]:
    """Attend from [sequence, batch, hidden]; whether the caches grow is decided by flags in the data."""
    heads = heads_of(call)
    query = call.tensor(0)
    shape = with_rank(call, 0, "query", 3)
    batch, size = call.fresh(), call.fresh()
    if shape is not None:
        batch, size = shape[1], share(call, shape[2], heads, "the hidden size")  # type: ignore[assignment]
    cache = query.with_shape((batch, heads, call.fresh("cached"), size))
    return query, cache, cache


# --- queries, keys and values given


@rules("MultiHeadAttention")
def multi_head_attention(call: Call) -> tuple[Answer, ...]:
    """Attend from queries to keys and values, given apart or packed; a 4-D key is a past that nothing is added to."""
    return given_attention(call, past_at=6, shared=call.has(8))


@rules("DecoderMaskedMultiHeadAttention")
def decoder_masked_multi_head_attention(call: Call) -> tuple[Answer, ...]:
    """Attend from one query in each sequence; packed queries have no key."""
    return given_attention(call, past_at=5, shared=bool(call.int("past_present_share_buffer", 0)))


def given_attention(call: Call, past_at: int, shared: bool) -> tuple[Answer, ...]:
    """Return output, present key and value, and the scores.

    The scores have whichever element type they are declared with.
    """
    heads = heads_of(call)
    query = call.tensor(0)
    q = with_rank(call, 0, "query", 3, 5)
    k, v = with_rank(call, 1, "key", 3, 4, 5), with_rank(call, 2, "value", 3, 4)
    if q is None:
        return (query,)
    batch, length = q[:2]
    size: Dim = call.fresh()
    v_size: Dim = call.fresh()
    added: Dim | None = call.fresh()
    packed = not call.has(1)
    if len(q) == 5:  # [batch, sequence, heads, 3, size]
        size = v_size = q[4]
        added = length
    elif packed:  # [batch, sequence, 3*hidden], for one step of a decoder
        size = v_size = share(call, q[2], 3 * heads, "the packed queries")
        added = length
    else:
        size = share(call, q[2], heads, "the hidden size")
        if k is not None and len(k) == 5:  # [batch, kv_sequence, heads, 2, size]
            v_size, added = k[4], k[1]
        elif k is not None and len(k) == 4:  # [batch, heads, kv_sequence, size]
            added = k[2]
        elif k is not None:
            added = k[1]
        if v is not None:
            v_size = v[3] if len(v) == 4 else share(call, v[2], heads, "the hidden size of value")
    width = v[2] if v is not None and len(v) == 3 and len(q) == 3 else times(call, heads, v_size)
    output = query.with_shape((batch, length, width))
    if call.outputs == 1:
        return (output,)
    past = with_rank(call, past_at, "the past", 4)
    if shared:
        buffers = query.with_shape(past), query.with_shape(shape_of(call, past_at + 1))
        return (output, *buffers, TensorType(None, (batch, heads, length, call.fresh())))
    total: Dim = call.fresh() if added is None else added
    if call.has(past_at):
        total = plus(call, past[2], total) if past is not None else call.fresh()
    return (
        output,
        query.with_shape((batch, heads, total, size)),
        query.with_shape((batch, heads, total, v_size)),
        TensorType(None, (batch, heads, length, total)),
    )


@rules("GroupQueryAttention")
def group_query_attention(call: Call) -> tuple[Answer, ...]:
    """Attend with several query heads for each head of keys and values.

    The present is as long as the past, or as `total_sequence_length` where that is more.
    """
    query = call.tensor(0)
    q = with_rank(call, 0, "query", 3)
    heads, groups = heads_of(call), heads_of(call, "kv_num_heads")
    batch, length = fresh_dims(call, 2) if q is None else q[:2]
    size: Dim = call.fresh()
    if q is not None:
        size = share(call, q[2], heads if call.has(1) else heads + 2 * groups, "the last dim of query")
    output = query.with_shape((batch, length, times(call, heads, size)))
    if call.outputs == 1:
        return (output,)
    total = call.scalar(6)
    whole = total if isinstance(total, int) or hasattr(total, "symbols") else call.fresh()
    found: list[TensorType] = []
    for at in (3, 4):
        kind, past = call.peek(at), with_rank(call, at, "the past", 4)
        dtype = kind.dtype if isinstance(kind, TensorType) else query.dtype if not call.has(at) else None
        if call.has(at) and past is None:
            found.append(TensorType(dtype, (batch, groups, *fresh_dims(call, 2))))
        elif past is None:
            found.append(TensorType(dtype, (batch, groups, whole, size)))  # type: ignore[arg-type]
        elif call.int("sliding_window_cache", 0) == 1:
            found.append(TensorType(dtype, past))
        else:
            found.append(TensorType(dtype, (batch, groups, longer(call, past[2], whole), past[3])))  # type: ignore[arg-type]
    return output, *found, query.with_shape((batch, heads, length, whole))  # type: ignore[arg-type]


def longer(call: Call, past: Dim, total: Dim) -> Dim:
    """Return the length of a cache: the past's, or the total where that is more.

    Of a total that nothing is known of, a symbol by itself says as much, and a declared name can take its place.
    """
    if isinstance(total, int) or not any(symbol.anonymous for symbol in total.symbols):
        return call.scope.maximum(past, total)
    length = call.fresh("cached")
    call.scope.assume_at_least(length, past)
    return length


@rules("SparseAttention")
def sparse_attention(call: Call) -> tuple[Answer, ...]:
    """Attend to blocks that a mask picks; caches keep their size."""
    query = call.tensor(0)
    q = with_rank(call, 0, "query", 3)
    return query.with_shape(unpacked(call, q)), call.peek(3), call.peek(4)


@rules("DynamicSparseAttention")
def dynamic_sparse_attention(call: Call) -> tuple[Answer, ...]:
    """Attend to entries that an indexer picked; the caches keep their sizes."""
    query = call.tensor(0)
    q = with_rank(call, 0, "query", 3)
    output = query.with_shape(unpacked(call, q))
    if call.int("output_bf16", 0):
        from sardonyx.ir.types import DType

        output = output.with_dtype(DType.BFLOAT16)
    return output, call.peek(3), call.peek(4)


def unpacked(call: Call, q: Shape | None) -> Shape | None:
    """Return [batch, sequence, num_heads*size] of queries, which hold keys and values too where no key is given."""
    if q is None or call.has(1):
        return q
    heads, groups = heads_of(call), heads_of(call, "kv_num_heads")
    size = share(call, q[2], heads + 2 * groups, "the last dim of query")
    return (*q[:2], times(call, heads, size))


# --- biases


@rules("RelativePositionBias")
def relative_position_bias(call: Call) -> TensorType:
    """Return [1, heads, query_length, key_length] from a table [buckets, heads]."""
    table, shape = call.tensor(0), shape_of(call, 0)
    heads = shape[1] if shape is not None and len(shape) == 2 else call.fresh()
    lengths = []
    for at in (1, 2):
        length = call.scalar(at)
        lengths.append(length if isinstance(length, int) or hasattr(length, "symbols") else call.fresh())
    return table.with_shape((1, heads, *lengths))  # type: ignore[arg-type]


@rules("GatedRelativePositionBias")
def gated_relative_position_bias(call: Call) -> TensorType:
    """Return [batch, heads, sequence, sequence]; packed queries have a `token_offset` [batch, sequence]."""
    query = call.tensor(0)
    shape = shape_of(call, 6) if call.has(6) else shape_of(call, 0)
    batch, length = fresh_dims(call, 2) if shape is None or len(shape) < 2 else shape[:2]
    return query.with_shape((batch, heads_of(call), length, length))
