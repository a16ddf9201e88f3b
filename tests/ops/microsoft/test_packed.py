"""Check rules for packed sequences: no CPU kernel exists, so the documentation is all there is."""

from __future__ import annotations

from functools import partial

from tests.ops import cases

case = partial(cases.case, domain="com.microsoft")


def test_padding_goes_and_comes_back():
    case("RemovePadding", "f16[b,s,h] i32[b]", "f16[?,h] i32[b,s] i32[b+1] i32[1]")
    case("RestorePadding", "f16[t,h] i32[b,s]", "f16[b,s,h]")


def test_attention_over_packed_tokens():
    case("PackedAttention", "f16[t,i] f16[i,3*h] f16[3*h] i32[b,s] i32[b+1]", "f16[t,h]", num_heads=2)
    case("PackedAttention", "f16[t,i] f16[i,22] f16[22]", "f16[t,6]", num_heads=2, qkv_hidden_sizes=[8, 8, 6])
    case("PackedMultiHeadAttention", "f16[t,h] f16[t,h] f16[t,v]", "f16[t,v]", num_heads=2)
    case("PackedMultiHeadAttention", "f16[t,2,3,4]", "f16[t,8]", num_heads=2)


def test_attention_over_pages():
    cache, heads = "f16[n,16,2,4] f16[n,16,2,4]", {"num_heads": 4, "kv_num_heads": 2}
    case("PagedAttention", f"f16[t,16] f16[t,8] f16[t,8] {cache}", "f16[t,16] f16[n,16,2,4] f16[n,16,2,4]", **heads)
    case("PagedAttention", f"f16[t,32] - - {cache}", "f16[t,16]", **heads)
    case("SparsePagedAttention", f"f16[t,32] - - {cache}", "f16[t,16] f16[n,16,2,4] f16[n,16,2,4]", **heads)
    case("PagedAttention", "f16[t,16] f16[t,4] - f16[n,16,1,4]", "f16[t,12] f16[n,16,1,4]", num_heads=4,
         kv_num_heads=1, kv_cache_layout="LATENT", v_head_size=3)  # fmt: skip
