"""Rules for indexers, which pick the entries that sparse attention reads."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.sizes import plus
from sardonyx.ops.common.wanted import fresh_dims
from sardonyx.ops.microsoft.documented import documented, dtype_of, shape_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")


def capacity(call: Call) -> Dim:
    """Return how many entries are picked at most for a query; the attributes say it."""
    if call.str("policy_mode") == "csa":
        return size(call, call.int("index_topk", -1))
    budget, ratio = call.int("token_budget", -1), call.int("compress_ratio")
    return size(call, budget + ratio - 1 if budget >= 0 else -1)


def size(call: Call, number: int) -> Dim:
    """Return a number that is a size, else a size of which nothing is known."""
    return number if number >= 0 else call.fresh()


@rules("SparseAttentionIndexer")
def sparse_attention_indexer(call: Call) -> tuple[Answer, ...]:
    """Return the picked entries [batch, sequence, capacity], the keys, and what is not compressed yet."""
    query, past = shape_of(call, 0), shape_of(call, 7)
    batch, length = fresh_dims(call, 2) if query is None or len(query) != 3 else query[:2]
    keys = past
    if not call.has(12) and past is not None and len(past) == 3:
        grown = plus(call, past[1], length) if call.str("policy_mode") == "qsa" else call.fresh()
        keys = (past[0], grown, past[2])
    buffer = shape_of(call, 13)
    left = None if buffer is None or len(buffer) != 4 else (*buffer[:2], call.fresh(), buffer[3])
    return (
        TensorType(DType.INT32, (batch, length, capacity(call))),
        TensorType(dtype_of(call, "7"), keys),
        TensorType(dtype_of(call, "0"), left),
    )


@rules("PackedSparseAttentionIndexer")
def packed_sparse_attention_indexer(call: Call) -> tuple[Answer, ...]:
    """Return the picked entries [tokens, capacity], how many they are, and states, which keep their sizes."""
    query, states = shape_of(call, 0), shape_of(call, 15)
    tokens = query[0] if query else call.fresh()
    batch = states[0] if states else call.fresh()
    keys = shape_of(call, 12)
    width = keys[2] if keys is not None and len(keys) == 3 else call.fresh()
    most: int = call.int("max_output_entries", 0)
    integers = dtype_of(call, "6")
    return (
        TensorType(integers, (tokens, capacity(call) if most <= 0 else call.fresh())),
        TensorType(integers, (tokens,)),
        call.peek(12),
        call.peek(13),
        call.peek(14),
        call.peek(15),
        TensorType(dtype_of(call, "0"), (batch, size(call, call.int("state_update_capacity", 0)), width)),
        TensorType(integers, (tokens,)),
        TensorType(integers, (batch,)),
    )


rules.table(documented("2[n] -> 0[n,@max_output_entries] 0[n] 0[n]"), {"PackedSparseAttentionIndexerMerge": 1})
