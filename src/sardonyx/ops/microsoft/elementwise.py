"""Rules for functions of every element, and for those that keep the shape of an input for another reason."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.broadcast import broadcast
from sardonyx.ops.common.wanted import share
from sardonyx.ops.microsoft.documented import documented
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")


def same_as_first(call: Call) -> TensorType:
    """Return the type of the first input."""
    return call.tensor(0)


rules.table(
    same_as_first,
    dict.fromkeys(
        (
            "BiasAdd", "BiasGelu", "BiasSoftmax", "BranchwiseRMSNorm", "FastGelu", "GatedAdd", "GatedRMSNorm", "Gelu",
            "HyperConnectionPostMix", "Inverse", "MRotaryEmbedding", "QLinearLeakyRelu", "QLinearSigmoid",
            "QLinearSoftmax", "QOrderedGelu", "QOrderedLayerNormalization", "QuickGelu", "RotaryEmbedding", "SampleOp",
            "ScaledSiLU", "Trilu",
        ),
        1,
    ),
)  # fmt: skip


def replayed(call: Call) -> TensorType:
    """Return the type of the backing tensor that is written to."""
    return call.tensor(2)


rules.table(replayed, {"ConvStateReplay": 1, "GatedDeltaNetStateReplay": 1})


@rules("NGramRepeatBlock")
def ngram_repeat_block(call: Call) -> TensorType:
    """Forbid repetitions among the scores."""
    return call.tensor(1)


@rules("GemmaRotaryEmbedding")
def gemma_rotary_embedding(call: Call) -> tuple[Answer, ...]:
    """Turn queries (input 1) and keys (input 3), which have one shape."""
    queries, keys = call.peek(1), call.tensor(3)
    same = isinstance(queries, TensorType) and queries.shape == keys.shape
    return queries, keys if same else keys.with_shape(None)


@rules("LinearAttentionGate")
def linear_attention_gate(call: Call) -> tuple[Answer, ...]:
    """Return the decay, shaped like `a`, and the update rate, shaped like `b`."""
    return call.peek(0), call.peek(3)


def broadcast_inputs(*positions: int, dtype: DType | None = None) -> Callable[[Call], TensorType]:
    """Return a rule that broadcasts inputs; the element type is that of the last, unless one is named."""

    def rule(call: Call) -> TensorType:
        tensors = [call.tensor(at) for at in positions]
        return TensorType(dtype or tensors[-1].dtype, broadcast(call, *[tensor.shape for tensor in tensors]))

    rule.__doc__ = f"Broadcast inputs {positions}."
    return rule


rules.table(broadcast_inputs(0, 3), {"QLinearAdd": 1, "QLinearMul": 1})
rules.table(broadcast_inputs(0, 2, dtype=DType.INT32), {"MulInteger": 1})
rules.table(broadcast_inputs(0, 1, 4), {"QLinearWhere": 1})


def complex_product(call: Call) -> TensorType:
    """Multiply complex numbers; only operands of one shape are documented."""
    a, b = call.tensor(0), call.tensor(1)
    return a if a.shape == b.shape else a.with_shape(None)


rules.table(complex_product, {"ComplexMul": 1, "ComplexMulConj": 1})


@rules("MurmurHash3")
def murmur_hash(call: Call) -> TensorType:
    """Hash every element to 32 bits."""
    return call.tensor(0).with_dtype(DType.UINT32 if call.int("positive", 1) == 1 else DType.INT32)


def dropout(call: Call) -> tuple[Answer, ...]:
    """Return the data, and a bool for every element of it."""
    data = call.tensor(0)
    return data, data.with_dtype(DType.BOOL)


rules.table(dropout, {"BiasDropout": 1})
rules.table(documented("0[...] -> 0[...] uint32[?]"), {"BitmaskBiasDropout": 1, "BitmaskDropout": 1})
rules.table(documented("-> bool[]"), {"IsAllFinite": 1})


@rules("BiasSplitGelu")
def bias_split_gelu(call: Call) -> TensorType:
    """Multiply one half of the last axis by a function of the other."""
    return halved(call, call.tensor(0))


@rules("SwiGLU")
def swiglu(call: Call) -> TensorType:
    """Multiply two halves of a projection, which come as two inputs or side by side in one."""
    gate = call.tensor(0)
    return gate if call.has(1) else halved(call, gate)


def halved(call: Call, data: TensorType) -> TensorType:
    """Return a type with half the last axis."""
    if data.shape is None:
        return data
    if not data.shape:
        call.fail("rank-mismatch", "a scalar has no halves")
    return data.with_shape((*data.shape[:-1], share(call, data.shape[-1], 2, "the last axis")))
