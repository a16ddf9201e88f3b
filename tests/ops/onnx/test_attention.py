"""Check rules for attention."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_attention_over_separate_heads():
    case("Attention", "f32[b,8,s,16] f32[b,2,t,16] f32[b,2,t,12]", "f32[b,8,s,12]")
    case(
        "Attention",
        "f16[b,8,s,16] f16[b,2,t,16] f32[b,2,t,12]",
        "f16[b,8,s,12] f16[b,2,t,16] f32[b,2,t,12] f16[b,8,s,t]",
    )


def test_attention_over_heads_side_by_side():
    heads = {"q_num_heads": 8, "kv_num_heads": 2}
    case("Attention", "f32[b,s,128] f32[b,t,32] f32[b,t,24]", "f32[b,s,96]", **heads)
    case("Attention", "f32[b,s,128] f32[b,t,32] f32[b,t,24]", "f32[b,s,96] f32[b,2,t,16] f32[b,2,t,12]", **heads)
    case("Attention", "f32[b,s,8*h] f32[b,t,2*h] f32[b,t,2*h]", "f32[b,s,8*h]", **heads)


def test_present_keys_and_values_follow_past_ones():
    inputs = "f32[b,8,s,16] f32[b,2,t,16] f32[b,2,t,12] - f32[b,2,p,16] f32[b,2,p,12]"
    case("Attention", inputs, "f32[b,8,s,12] f32[b,2,p+t,16] f32[b,2,p+t,12] f32[b,8,s,p+t]")
    inputs = "f32[b,8,s,16] f32[b,2,t,16] f32 - f32[b,2,p,16] f32[b,2,p,12]"
    case("Attention", inputs, "f32[b,8,s,?] f32[b,2,p+t,16] f32[b,2,?,12]")
    inputs = "f32[b,8,s,16] f32[b,2,t,16] f32[b,2,t,12] - f32 f32"
    case("Attention", inputs, "f32[b,8,s,12] f32[b,2,?,16] f32[b,2,?,12]")


def test_attention_knows_what_its_inputs_say():
    case("Attention", "f32 f32[b,2,t,16] f32[b,2,t,12]", "f32 f32[b,2,t,16] f32[b,2,t,12] f32[?,?,?,t]")
    case("Attention", "f32[b,8,s,16] f32 f32", "f32[b,8,s,?]")


def test_attention_that_cannot_run_is_refused():
    fails("Attention", "f32[s,16] f32[b,2,t,16] f32[b,2,t,12]", "rank-mismatch")
    fails("Attention", "f32[b,s,128] f32[b,t,32] f32[b,t,24]", "missing-attribute")
    fails("Attention", "f32[b,s,100] f32[b,t,32] f32[b,t,24]", "bad-input", q_num_heads=8, kv_num_heads=2)
    fails("Attention", "f32[b,s,100] f32[b,t,32] f32[b,t,24]", "bad-attribute", q_num_heads=0, kv_num_heads=2)
    past = "f32[b,8,s,16] f32[b,2,t,16] f32[b,2,t,12] -"
    fails("Attention", f"{past} f32[b,3,p,16] f32[b,2,p,12]", "dim-mismatch", outputs=3)
    fails("Attention", f"{past} f32[b,p,16] f32[b,2,p,12]", "rank-mismatch", outputs=3)


def test_linear_attention_carries_a_state():
    given = {"q_num_heads": 4, "kv_num_heads": 2}
    case("LinearAttention", "f16[b,t,32] f16[b,t,16] f16[b,t,24] f32[b,2,8,12]", "f16[b,t,48] f32[b,2,8,12]", **given)
    case("LinearAttention", "f16[b,t,32] f16[b,t,16] f16[b,t,24]", "f16[b,t,48] f16[b,2,8,12]", **given)
    case("LinearAttention", "f16[b,t,32] f16 f16 f32[b,2,8,12]", "f16[b,t,48] f32[b,2,8,12]", **given)
    fails("LinearAttention", "f16[b,t,32] f16[b,t,15] f16[b,t,24]", "bad-input", outputs=2, **given)
    fails("LinearAttention", "f16[b,t] f16[b,t,16] f16[b,t,24]", "rank-mismatch", outputs=2, **given)
    fails("LinearAttention", "f16[b,t,32] f16[b,t,16] f16[b,t,24] f32[b,2,8]", "rank-mismatch", outputs=2, **given)


def test_turning_features_and_writing_to_a_cache_keep_the_type():
    case("RotaryEmbedding", "f16[b,8,s,64] f16[p,32] f16[p,32] i64[b,s]", "f16[b,8,s,64]")
    case("TensorScatter", "f16[b,8,m,64] f16[b,8,s,64] i64[b]", "f16[b,8,m,64]")
