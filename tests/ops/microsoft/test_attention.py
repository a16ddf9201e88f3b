"""Check rules for attention, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops import cases
from tests.ops.runtime import ran

case = partial(cases.case, domain="com.microsoft")
fails = partial(cases.fails, domain="com.microsoft")


def test_projections_inside():
    ran("Attention", "f32[b,s,6] f32[6,24] f32[24]", "f32[b,s,8]", num_heads=2)
    ran("Attention", "f32[b,s,6] f32[6,24] f32[24]", "f32[b,s,8] f32[2,b,2,s,4]", num_heads=2)
    ran("Attention", "f32[b,s,6] f32[6,24] f32[24] - f32[2,b,2,p,4]", "f32[b,s,8] f32[2,b,2,p+s,4]", num_heads=2)
    ran(
        "Attention",
        "f32[b,s,6] f32[6,22] f32[22] i32[b,s]",
        "f32[b,s,6] f32[2,b,2,s,3]",
        num_heads=2,
        qkv_hidden_sizes=[8, 8, 6],
    )
    case("Attention", "f32[b,s,i] f32[i,3*h] f32[3*h]", "f32[b,s,h]", num_heads=2)
    case("Attention", "f16[b,s,i] f16[i,24] f16[24] - f16[2,b,2,m,4] - i32[1]", "f16[b,s,8] f16[2,b,2,m,4]",
         num_heads=2, past_present_share_buffer=1)  # fmt: skip
    case("DecoderMaskedSelfAttention", "f16[b,1,i] f16[i,24] f16[24] - f16[2,b,2,m,4] - i32[1]",
         "f16[b,1,8] f16[2,b,2,m,4]", num_heads=2, past_present_share_buffer=1)  # fmt: skip
    fails("Attention", "f32[3,6] f32[6,24] f32[24]", "rank-mismatch", num_heads=2)
    fails("Attention", "f32[2,3,6] f32[6,25] f32[25]", "bad-input", num_heads=2)
    fails("Attention", "f32[2,3,6] f32[6,24] f32[24]", "bad-attribute", num_heads=0)
    fails("Attention", "f32[2,3,6] f32[6,24]", "bad-attribute", num_heads=2, qkv_hidden_sizes=[8])


def test_quantized_projections_inside():
    inputs = "u8[b,s,6] u8[6,24] f32[24] f32[]=[0.1] f32[]=[0.1]"
    ran("QAttention", f"{inputs} - u8[]=[0] u8[]=[0]", "f32[b,s,8]", num_heads=2)
    ran("QAttention", f"{inputs} - u8[]=[0] u8[]=[0] f32[2,b,2,p,4]", "f32[b,s,8] f32[2,b,2,p+s,4]", num_heads=2,
        given={"unidirectional": 1})  # fmt: skip
    orders = {"order_input": 1, "order_weight": 0, "order_output": 1}
    case("QOrderedAttention", "i8[b,s,h] f32[] f32[] f32[] f32[] i8[h,h] i8[h,h] i8[h,h]", "i8[b,s,h]", num_heads=2,
         **orders)  # fmt: skip
    case("LongformerAttention", "f16[b,s,h] f16[h,3*h] f16[3*h]", "f16[b,s,h]", num_heads=2, window=4)
    case("QOrderedLongformerAttention", "i8[b,s,h] f32[] i8[h,3*h]", "i8[b,s,h]", num_heads=2, window=4,
         order_global_weight=0, **orders)  # fmt: skip
    case("DecoderAttention", "f16[s,b,8] f16[t,b,8] f16[8,8] f16[8,16] f16[24]",
         "f16[s,b,8] f16[b,2,?,4] f16[b,2,?,4]", num_heads=2)  # fmt: skip


def test_queries_keys_and_values_apart():
    name = "MultiHeadAttention"
    ran(name, "f32[b,s,8] f32[b,l,8] f32[b,l,6]", "f32[b,s,6]", num_heads=2)
    ran(name, "f32[b,s,8] f32[b,s,8] f32[b,s,8]", "f32[b,s,8] f32[b,2,s,4] f32[b,2,s,4]", num_heads=2)
    ran(name, "f32[b,s,8] f32[b,l,8] f32[b,l,6] f32[22]", "f32[b,s,6] f32[b,2,l,4] f32[b,2,l,3]", num_heads=2)
    ran(name, "f32[b,s,8] f32[b,s,8] f32[b,s,8] - - - f32[b,2,p,4] f32[b,2,p,4]",
        "f32[b,s,8] f32[b,2,p+s,4] f32[b,2,p+s,4]", num_heads=2)  # fmt: skip
    ran(name, "f32[b,s,8] f32[b,s,8] f32[b,s,8] - - - f32[b,2,p,4] f32[b,2,p,4]",
        "f32[b,s,8] f32[b,2,p+s,4] f32[b,2,p+s,4] ?[b,2,s,p+s]", num_heads=2, declared={3: 1})  # fmt: skip
    ran(name, "f32[b,s,8] f32[b,2,l,4] f32[b,2,l,4]", "f32[b,s,8]", num_heads=2)
    case(name, "f16[b,s,2,3,4]", "f16[b,s,8]", num_heads=2)
    case(name, "f16[b,s,8] f16[b,l,2,2,4]", "f16[b,s,8]", num_heads=2)
    fails(name, "f32[2,3] f32[2,3,8] f32[2,3,8]", "rank-mismatch", num_heads=2)


def test_one_step_of_a_decoder():
    name = "DecoderMaskedMultiHeadAttention"
    case(name, "f16[b,1,8] f16[b,1,8] f16[b,1,8] - - f16[b,2,p,4] f16[b,2,p,4]",
         "f16[b,1,8] f16[b,2,p+1,4] f16[b,2,p+1,4]", num_heads=2)  # fmt: skip
    ran(name, "f32[b,1,8] f32[b,1,8] f32[b,1,8] - - f32[b,2,16,4] f32[b,2,16,4] i32[1]=[3]",
        "f32[b,1,8] f32[b,2,16,4] f32[b,2,16,4]", num_heads=2, past_present_share_buffer=1,
        shared={1: 5, 2: 6})  # fmt: skip
    ran(name, "f32[b,1,8] f32[b,2,l,4] f32[b,2,l,4]", "f32[b,1,8]", num_heads=2)


def test_groups_of_queries():
    name, heads = "GroupQueryAttention", {"num_heads": 4, "kv_num_heads": 2}
    ran(name, "f32[1,s,32] f32[1,s,16] f32[1,s,16] - - i32[1]=[s-1] i32[1]=[s]",
        "f32[1,s,32] f32[1,2,s,8] f32[1,2,s,8] f32[1,4,s,s]", given={"qk_output": 1}, **heads)  # fmt: skip
    ran(name, "f32[1,s,64] - - - - i32[1]=[s-1] i32[1]=[s]", "f32[1,s,32] f32[1,2,s,8] f32[1,2,s,8]", **heads)
    ran(name, "f32[1,1,32] f32[1,1,16] f32[1,1,16] f32[1,2,p,8] f32[1,2,p,8] i32[1]=[p] i32[1]=[p+1]",
        "f32[1,1,32] f32[1,2,p+1,8] f32[1,2,p+1,8]", **heads)  # fmt: skip
    ran(name, "f32[1,1,32] f32[1,1,16] f32[1,1,16] f32[1,2,m,8] f32[1,2,m,8] i32[1]=[p] i32[1]=[p+1]",
        "f32[1,1,32] f32[1,2,max(m,p+1),8] f32[1,2,max(m,p+1),8]", sizes=({"m": 9, "p": 3},), **heads)  # fmt: skip
    ran(name, "f32[b,s,32] f32[b,s,16] f32[b,s,16] f32[b,2,0,8] f32[b,2,0,8] i32[b] i32[1]=[s]",
        "f32[b,s,32] f32[b,2,s,8] f32[b,2,s,8]", feed={5: seqlens}, **heads)  # fmt: skip
    case(name, "f16[b,s,32] f16[b,s,16] f16[b,s,16] f16[b,2,p,8] f16[b,2,p,8] i32[b] i32[1]",
         "f16[b,s,32] f16[b,2,?,8] f16[b,2,?,8]", **heads)  # fmt: skip
    case(name, "f16[b,s,32] f16[b,s,16] f16[b,s,16] i8[b,2,w,8] i8[b,2,w,8] i32[b] i32[1]",
         "f16[b,s,32] i8[b,2,w,8] i8[b,2,w,8]", sliding_window_cache=1, **heads)  # fmt: skip


def seqlens(sizes):
    """Return a batch of full sequences."""
    return 6, (sizes["b"],), [sizes["s"] - 1] * sizes["b"]


def test_sparse_attention_keeps_its_caches():
    heads = {"num_heads": 4, "kv_num_heads": 2, "sparse_block_size": 16}
    caches = "f32[1,2,32,8] f32[1,2,32,8] i32[1,3]=[0,1,3] i32[1,3]=[0,0,1]"
    ran("SparseAttention", f"f32[1,s,32] f32[1,s,16] f32[1,s,16] {caches} i32[1]=[s] i32[1]=[s]",
        "f32[1,s,32] f32[1,2,32,8] f32[1,2,32,8]", shared={1: 3, 2: 4}, **heads)  # fmt: skip
    case("SparseAttention", f"f16[1,s,64] - - {caches} i32[1] i32[1]", "f16[1,s,32] f32[1,2,32,8] f32[1,2,32,8]",
         **heads)  # fmt: skip
    case("DynamicSparseAttention", "f16[b,s,32] f16[b,s,16] f16[b,s,16] i8[b,2,m,8] i8[b,2,m,8]",
         "bf16[b,s,32] i8[b,2,m,8] i8[b,2,m,8]", num_heads=4, kv_num_heads=2, output_bf16=1)  # fmt: skip


def test_biases_of_positions():
    case("RelativePositionBias", "f16[32,h] i64[1]=[q] i64[1]=[k]", "f16[1,h,q,k]", max_distance=128)
    case("GatedRelativePositionBias", "f16[b,s,8] f16[8] f16[1,2,s,s] f16[4,8] f16[8] f16[1,2,1,1]", "f16[b,2,s,s]",
         num_heads=2)  # fmt: skip
    case("GatedRelativePositionBias", "f16[t,8] f16[8] f16[1,2,s,s] f16[4,8] f16[8] f16[1,2,1,1] i32[b,s]",
         "f16[b,2,s,s]", num_heads=2)  # fmt: skip
