"""Check rules for functions of every element, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops import cases
from tests.ops.runtime import ran

case = partial(cases.case, domain="com.microsoft")
fails = partial(cases.fails, domain="com.microsoft")

Q = "f32[]=[0.1] u8[]=[0]"


def test_shapes_stay_where_a_function_is_applied():
    ran("Gelu", "f32[a,b]", "f32[a,b]")
    ran("QuickGelu", "f32[a]", "f32[a]", alpha=1.0)
    ran("FastGelu", "f32[a,b,c]", "f32[a,b,c]")
    ran("FastGelu", "f32[a,8] f32[8]", "f32[a,8]")
    ran("BiasGelu", "f32[a,b,8] f32[8]", "f32[a,b,8]")
    ran("ScaledSiLU", "f32[a,b]", "f32[a,b]")
    ran("SampleOp", "f32[a,b]", "f32[a,b]")
    ran("Inverse", "f32[1,1]", "f32[1,1]")
    ran("Inverse", "f64[b,2,2]", "f64[b,2,2]")
    ran("Trilu", "i64[b,n,m]", "i64[b,n,m]")
    ran("Trilu", "f32[n,m] i64[]=[1]", "f32[n,m]", upper=0)
    ran("GatedAdd", "f32[a,b,c] f32[a,b,c] f32[a,b,1]", "f32[a,b,c]")
    ran("GatedRMSNorm", "f32[a,b,8] f32[4] f32[a,b,8]", "f32[a,b,8]")
    ran("BranchwiseRMSNorm", "f32[a,b,8] f32[8]", "f32[a,b,8]", num_branches=2)
    ran("BranchwiseRMSNorm", "f32[a,4,c]", "f32[a,4,c]")
    ran("QLinearSigmoid", f"u8[a,b] {Q} {Q}", "u8[a,b]")
    ran("QLinearLeakyRelu", "i8[a,b] f32[]=[0.1] i8[]=[0] f32[]=[0.1] i8[]=[0]", "i8[a,b]")
    ran("QLinearSoftmax", f"u8[a,b] {Q} {Q}", "u8[a,b]", given={"opset": 13})
    ran("NGramRepeatBlock", "i64[b,s] f32[b,9]", "f32[b,9]", ngram_size=2)
    case("BiasAdd", "f16[n,s,c] f16[c] f16[n,s,c]", "f16[n,s,c]")
    case("BiasSoftmax", "f32[a,b,c] f32[1,b,c]", "f32[a,b,c]", is_inner_broadcast=0)


def test_positions_turn_without_changing_shapes():
    cache = "f32[32,4] f32[32,4]"
    ran("RotaryEmbedding", f"f32[b,s,16] i64[b,s] {cache}", "f32[b,s,16]")
    ran("RotaryEmbedding", f"f32[b,2,s,8] i64[1] {cache}", "f32[b,2,s,8]")
    ran("MRotaryEmbedding", f"f32[b,s,16] i64[3,b,s] {cache}", "f32[b,s,16]", num_heads=2, mrope_section=[2, 1, 1])
    case("GemmaRotaryEmbedding", "f32[b,s,d] f16[b,h,s,d] f16[b,h,s,d] f16[b,h,s,d] f16[b,h,s,d]",
         "f16[b,h,s,d] f16[b,h,s,d]")  # fmt: skip


def test_operands_broadcast():
    ran("QLinearAdd", f"u8[a,b] {Q} u8[b] {Q} {Q}", "u8[a,b]")
    ran("QLinearMul", f"u8[a,1] {Q} u8[1,b] {Q} {Q}", "u8[a,b]")
    ran("QLinearMul", f"u8[a,b] {Q} u8[] {Q} {Q}", "u8[a,b]")
    ran("QLinearWhere", f"bool[b] u8[a,b] {Q} u8[a,1] {Q} {Q}", "u8[a,b]")
    case("MulInteger", "u8[a,b] u8[] i8[b] i8[]", "i32[a,b]")
    case("ComplexMul", "f32[a,2] f32[a,2]", "f32[a,2]")
    case("ComplexMulConj", "f32[a,2] f32[b,2]", "f32")
    fails("QLinearAdd", "u8[3] f32[] u8[] u8[2] f32[] u8[] f32[] u8[]", "dim-mismatch")


def test_hashes_have_32_bits():
    ran("MurmurHash3", "i32[a,b]", "u32[a,b]")
    ran("MurmurHash3", "str[a]", "i32[a]", positive=0)


def test_gates_keep_the_shapes_of_their_inputs():
    ran("LinearAttentionGate", "f32[b,t,4] f32[4] f32[4] f32[b,t,4]", "f32[b,t,4] f32[b,t,4]")
    ran("LinearAttentionGate", "f32[b,t,4] f32[4] f32[4]", "f32[b,t,4]")
    ran("EngramGate", "f32[b,s,2,8] f32[b,s,2,8] f32[b,s,8] f32[2,8] f32[2,8] f32[2,8]", "f32[b,s,2,8] f32[b,s,2,8]")
    case("BiasSplitGelu", "f16[n,s,2*d] f16[2*d]", "f16[n,s,d]")
    case("SwiGLU", "f16[n,2*d]", "f16[n,d]")
    case("SwiGLU", "f16[n,d] f16[n,d]", "f16[n,d]")
    fails("SwiGLU", "f16[n,3]", "bad-input")


def test_masks_of_dropout():
    case("BiasDropout", "f32[a,b] f32[b]", "f32[a,b] bool[a,b]")
    case("BitmaskDropout", "f32[a,b]", "f32[a,b] u32[?]")
    case("BitmaskBiasDropout", "f32[a,b] f32[b]", "f32[a,b] u32[?]")
    case("IsAllFinite", "f32[a] f32[b]", "bool[]")


def test_backing_tensors_stay():
    case("ConvStateReplay", "f32[a] f32[b] f32[c] i64[8]", "f32[c]")
    case("GatedDeltaNetStateReplay", "f32[a] f32[b] f32[c] i64[11]", "f32[c]")
