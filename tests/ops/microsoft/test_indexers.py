"""Check rules for indexers of sparse attention: no CPU kernel exists, so the documentation is all there is."""

from __future__ import annotations

from functools import partial

from tests.ops import cases

case = partial(cases.case, domain="com.microsoft")

QSA = {"policy_mode": "qsa", "token_budget": 32, "compress_ratio": 4}
CSA = {"policy_mode": "csa", "index_topk": 16, "compress_ratio": 4}


def test_attributes_say_how_many_entries_are_picked():
    inputs = "f16[b,s,32] f16[b,s,8] f16[8] f16[8] f16[m,4] f16[m,4] - f16[b,p,8]"
    case("SparseAttentionIndexer", inputs, "i32[b,s,35] f16[b,p+s,8]", **QSA)
    case("SparseAttentionIndexer", f"{inputs} - - - - i32[1]", "i32[b,s,35] f16[b,p,8]", **QSA)
    case(
        "SparseAttentionIndexer",
        f"{inputs} f16[b,s,16] f16[4,16] f16[b,s,4] i64[b,s] - f16[2,b,l,16]",
        "i32[b,s,16] f16[b,?,8] f16[2,b,?,16]",
        **CSA,
    )


def test_states_of_packed_requests_keep_their_sizes():
    inputs = "f16[t,32] f16[t,8] f16[8] f16[8] f16[m,4] f16[m,4] i32[b+1] i32[b] - - - - f16[b,c,8] f16[b,7,8] -"
    case("PackedSparseAttentionIndexer", f"{inputs} i32[b,2]",
         "i32[t,35] i32[t] f16[b,c,8] f16[b,7,8] - i32[b,2] f16[b,2,8] - i32[b]", state_capacity=9,
         state_update_capacity=2, **QSA)  # fmt: skip
    case("PackedSparseAttentionIndexerMerge", "i32[r,c] i32[r] i32[n] i32[n] i32[n]", "i32[n,64] i32[n] i32[n]",
         max_output_entries=64, policy_mode="append_range")  # fmt: skip
