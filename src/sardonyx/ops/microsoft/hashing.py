"""Rules for hashes of runs of tokens, which index tables of embeddings."""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.microsoft.documented import dtype_of, shape_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")


@rules("NGramHashMapping")
def ngram_hash_mapping(call: Call) -> tuple[Answer, ...]:
    """Hash every run of tokens [batch, sequence]; the state is the last tokens of each sequence."""
    ids = call.tensor(0)
    state = shorter(call)
    if ids.shape is not None and len(ids.shape) != 2:
        call.fail("rank-mismatch", f"input_ids has {len(ids.shape)} dims, but must be [batch, sequence]")
    batch, length = (call.fresh(), call.fresh()) if ids.shape is None else ids.shape
    return ids.with_shape((batch, length, hashes(call))), ids.with_shape((batch, state))


@rules("VarlenNGramHashMapping")
def varlen_ngram_hash_mapping(call: Call) -> tuple[Answer, ...]:
    """Hash every run of packed tokens; states are those of each sequence of the batch."""
    ids = call.tensor(0)
    state = shorter(call)
    offsets = shape_of(call, 3)
    tokens = ids.shape[0] if ids.shape else call.fresh()
    batch: Dim = offsets[0] - 1 if offsets else call.fresh()
    segments = TensorType(dtype_of(call, "3"), (batch, state))
    captured = max(call.int("state_update_capacity", 0), 0)
    return (
        ids.with_shape((tokens, hashes(call))),
        ids.with_shape((batch, state)),
        segments,
        ids.with_shape((batch, captured, state)),
    )


def shorter(call: Call) -> int:
    """Return one less than the longest run, which is at least 2."""
    most: int = call.int("max_ngram_size")
    if most < 2:
        call.fail("bad-attribute", f"is {most}, but must be at least 2", attr="max_ngram_size")
    return most - 1


def hashes(call: Call) -> int:
    """Return the number of hashes for each token."""
    each: int = call.int("n_head_per_ngram")
    if each < 1:
        call.fail("bad-attribute", f"is {each}, but must be at least 1", attr="n_head_per_ngram")
    return shorter(call) * each
