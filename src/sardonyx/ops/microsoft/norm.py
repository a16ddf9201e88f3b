"""Rules for normalizations that are fused with what comes before or after them."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.sizes import times
from sardonyx.ops.common.wanted import share
from sardonyx.ops.microsoft.documented import dtype_of, shape_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")


def skip_layer_normalization(call: Call) -> tuple[Answer, ...]:
    """Return the input normalized, the mean and the inverse deviation of each row, and the sum that was normalized."""
    data = call.tensor(0)
    row = TensorType(DType.FLOAT, None if not data.shape else (*data.shape[:-1], 1))
    return data, row, row, data


rules.table(skip_layer_normalization, {"SkipLayerNormalization": 1, "SkipSimplifiedLayerNormalization": 1})


def group_norm(call: Call) -> tuple[Answer, ...]:
    """Return the input normalized, and the sum that was normalized."""
    data = call.tensor(0)
    return data, data


rules.table(group_norm, {"GroupNorm": 1, "SkipGroupNorm": 1})


@rules("EmbedLayerNormalization")
def embed_layer_normalization(call: Call) -> tuple[Answer, ...]:
    """Look words up: [batch, sequence, hidden]; count the words of each sequence; the sum before normalizing."""
    return embedded(call, "2", (5, 6))


@rules("QEmbedLayerNormalization")
def q_embed_layer_normalization(call: Call) -> tuple[Answer, ...]:
    """Look words up in quantized tables; the result has the type of the scales."""
    return embedded(call, "8", (5, 6))


def embedded(call: Call, dtype: str, vectors: tuple[int, ...]) -> tuple[Answer, ...]:
    """Return the types for word ids [batch, sequence] and a table of words [words, hidden]."""
    words = call.peek(0)
    ids = words.shape if isinstance(words, TensorType) else None
    if ids is not None and len(ids) != 2:
        call.fail("rank-mismatch", f"input_ids has {len(ids)} dims, but must be [batch, sequence]")
    batch, length = (call.fresh(), call.fresh()) if ids is None else ids
    found = [shape[-1] for shape in (shape_of(call, at) for at in (2, *vectors)) if shape]
    hidden: Dim = next((dim for dim in found if isinstance(dim, int)), found[0] if found else call.fresh())
    output = TensorType(dtype_of(call, dtype), (batch, length, hidden))
    return output, TensorType(DType.INT32, (batch,)), output


@rules("EngramGate")
def engram_gate(call: Call) -> tuple[Answer, ...]:
    """Return gated values in the layout of the keys."""
    return call.peek(0), call.peek(0)


@rules("HyperConnectionPreMix")
def hyper_connection_pre_mix(call: Call) -> TensorType:
    """Reduce streams [..., C, H], or [..., C*H] with `num_branches`, to [..., H]."""
    return reduced(call, call.tensor(0), call.int("num_branches", 0))


def reduced(call: Call, streams: TensorType, branches: int) -> TensorType:
    """Return the type of what all branches together make."""
    shape = streams.shape
    if shape is None:
        return streams
    if branches > 0:
        if not shape:
            call.fail("rank-mismatch", "the streams are a scalar")
        return streams.with_shape((*shape[:-1], share(call, shape[-1], branches, "the last axis")))
    if len(shape) < 2:
        call.fail("rank-mismatch", f"the streams have {len(shape)} axes, but need at least 2")
    return streams.with_shape((*shape[:-2], shape[-1]))


@rules("HyperConnectionLowRankMix")
def hyper_connection_low_rank_mix(call: Call) -> tuple[Answer, ...]:
    """Return the next block's input [..., H], the gate of each branch [..., C], and the streams."""
    streams = call.tensor(0)
    branches: int = call.int("num_branches")
    gates: Shape | None = None if streams.shape is None else (*streams.shape[:-1], branches)
    return reduced(call, streams, branches), streams.with_shape(gates), streams


@rules("RMSNormRotary")
def rms_norm_rotary(call: Call) -> tuple[Answer, ...]:
    """Normalize a slice of X[B, S, heads, stride], then turn it: [B, S, heads*width], or [1, B*S, heads*width]."""
    shape = shape_of(call, 0)
    dtype = DType.FLOAT16 if call.int("output_fp16", 0) else DType.BFLOAT16
    if shape is None or len(shape) != 4:
        return TensorType(dtype, None), TensorType(DType.FLOAT, None)
    batch, length, heads, stride = shape
    width: Dim = call.int("input_width", 0) or stride
    rows = (1, times(call, batch, length)) if call.int("flatten_batch", 0) else (batch, length)
    normalized = TensorType(DType.FLOAT, (batch, length, heads, width))
    return TensorType(dtype, (*rows, times(call, heads, width))), normalized
