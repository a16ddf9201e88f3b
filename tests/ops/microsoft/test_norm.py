"""Check rules for fused normalizations, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops import cases
from tests.ops.runtime import ran

case = partial(cases.case, domain="com.microsoft")
fails = partial(cases.fails, domain="com.microsoft")


def test_the_sum_is_shaped_like_the_input():
    ran("SkipLayerNormalization", "f32[b,s,8] f32[b,s,8] f32[8] f32[8]", "f32[b,s,8] - - f32[b,s,8]")
    ran("SkipLayerNormalization", "f32[b,s,8] f32[1,s,8] f32[8] f32[8] f32[8]", "f32[b,s,8] - - f32[b,s,8]")
    ran("SkipLayerNormalization", "f32[b,s,8] f32[s,8] f32[8]", "f32[b,s,8] f32[b,s,1] f32[b,s,1]")
    ran("SkipSimplifiedLayerNormalization", "f32[b,s,8] f32[b,s,8] f32[8]", "f32[b,s,8] - - f32[b,s,8]")
    ran("SkipSimplifiedLayerNormalization", "f32[t,8] f32[t,8] f32[8]", "f32[t,8] - f32[t,1] f32[t,8]")
    case("GroupNorm", "f16[n,h,w,c] f32[c] f32[c]", "f16[n,h,w,c]")
    case("SkipGroupNorm", "f16[n,h,w,c] f32[c] f32[c] f16[n,h,w,c]", "f16[n,h,w,c] f16[n,h,w,c]")


def test_words_are_looked_up_and_normalized():
    tables = "f32[9,8] f32[32,8] f32[2,8] f32[8] f32[8]"
    ran("EmbedLayerNormalization", f"i32[b,s] i32[b,s] {tables} i32[b,s]", "f32[b,s,8] i32[b] f32[b,s,8]")
    ran("EmbedLayerNormalization", "i32[b,s] - f32[9,8] f32[32,8] - f32[8] f32[8]", "f32[b,s,8] - f32[b,s,8]")
    case("EmbedLayerNormalization", "i32[b,s] - f32[v,h] f32[p,h] - f32[h] f32[h]", "f32[b,s,h]")
    scales = "f32[]=[0.1] f32[]=[0.1] f32[]=[0.1] f32[]=[0.1] f32[]=[0.1]"
    zeros = "u8[]=[0] u8[]=[0] u8[]=[0] u8[]=[0] u8[]=[0]"
    quantized = tables.replace("f32", "u8")
    ran("QEmbedLayerNormalization", f"i32[b,s] i32[b,s] {quantized} i32[b,s] {scales} {zeros}", "f32[b,s,8] i32[b]")
    fails("EmbedLayerNormalization", "i32[3] - f32[9,8] f32[32,8] - f32[8] f32[8]", "rank-mismatch")


def test_streams_are_mixed():
    ran("HyperConnectionPreMix", "f32[b,s,4,h] f32[b,s,4]", "f32[b,s,h]")
    ran("HyperConnectionPreMix", "f32[b,s,12] f32[b,s,4]", "f32[b,s,3]", num_branches=4)
    ran("HyperConnectionPostMix", "f32[b,s,4,h] f32[b,s,h] f32[b,s,4]", "f32[b,s,4,h]")
    ran("HyperConnectionPostMix", "f32[b,s,12] f32[b,s,3] f32[b,s,4]", "f32[b,s,12]", num_branches=4)
    case("HyperConnectionLowRankMix", "bf16[t,4*h] bf16[4*h] bf16[4*h,r] bf16[r,4*h] bf16[4*h,4]",
         "bf16[t,h] bf16[t,4] bf16[t,4*h]", num_branches=4)  # fmt: skip
    fails("HyperConnectionPreMix", "f32[3] f32[3]", "rank-mismatch")
    fails("HyperConnectionPreMix", "f32[3,10] f32[3,4]", "bad-input", num_branches=4)


def test_normalized_heads_lie_side_by_side():
    inputs = "bf16[b,s,4,24] f32[16] i64[1] bf16[99,8] bf16[99,8]"
    case("RMSNormRotary", inputs, "bf16[b,s,64] f32[b,s,4,16]", rotary_embedding_dim=16, input_width=16)
    inputs = inputs.replace("f32[16]", "f32[24]")
    case("RMSNormRotary", inputs, "f16[1,b*s,96]", rotary_embedding_dim=16, output_fp16=1, flatten_batch=1)
