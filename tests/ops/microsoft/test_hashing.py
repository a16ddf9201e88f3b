"""Check rules for hashes of runs of tokens, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops import cases
from tests.ops.runtime import ran

case = partial(cases.case, domain="com.microsoft")
fails = partial(cases.fails, domain="com.microsoft")

RUNS = {"max_ngram_size": 3, "n_head_per_ngram": 2, "pad_id": 0}
TABLES = "i64[3]=[3,5,7] i64[4]=[11,13,17,19]"


def test_every_token_has_a_hash_for_each_run_and_head():
    ran("NGramHashMapping", f"i64[b,s] {TABLES}", "i64[b,s,4] i64[b,2]", **RUNS)
    ran("NGramHashMapping", f"i64[b,s] {TABLES} i64[b,2]", "i64[b,s,4] i64[b,2]", **RUNS)
    ran("VarlenNGramHashMapping", f"i64[t] {TABLES} i32[2]=[0,t]", "i64[t,4] i64[1,2]", **RUNS)
    more = "- - - i32[t] i32[1,2] i32[1]=[1]"
    ran("VarlenNGramHashMapping", f"i64[t] {TABLES} i32[2]=[0,t] {more}",
        "i64[t,4] i64[1,2] i32[1,2] i64[1,3,2]", state_update_capacity=3, **RUNS)  # fmt: skip
    case("VarlenNGramHashMapping", "i32[t] i32[3] i32[4] i32[b+1]", "i32[t,4] i32[b,2]", **RUNS)
    fails("NGramHashMapping", f"i64[b,s] {TABLES}", "bad-attribute", max_ngram_size=1, n_head_per_ngram=2, pad_id=0)
    fails("NGramHashMapping", f"i64[b,s] {TABLES}", "bad-attribute", max_ngram_size=2, n_head_per_ngram=0, pad_id=0)
    fails("NGramHashMapping", f"i64[s] {TABLES}", "rank-mismatch", **RUNS)


def test_drafts_are_committed():
    case("SpeculativePrefixCommit", "i64[b,8] i64[b,8] i32[1] i64[b,16] i64[b,2]", "i32[b] i64[b,16] i64[b,2]")
    case("SpeculativePrefixCommit", "i64[8] i64[8] i32[1] i64[16] i64[2]", "i32[1] i64[16] i64[2]")
