"""Check rules for mixtures of experts, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops import cases
from tests.ops.runtime import ran

case = partial(cases.case, domain="com.microsoft")


def test_tokens_keep_their_shape():
    ran("MoE", "f32[t,16] f32[t,4] f32[4,8,16] f32[4,8] f32[4,16,8] f32[4,16]", "f32[t,16]", k=2)
    ran("MoE", "f32[b,s,16] f32[b*s,4] f32[4,8,16] - f32[4,16,8]", "f32[b,s,16]", k=1)
    ran("QMoE", "f32[t,32] f32[t,2] u8[2,32,16] f32[2,32] - u8[2,32,16] f32[2,32]", "f32[t,32]", k=1)
    case("MoEPacked", "bf16[t,h] f32[t,e] u8[e,i,99] u8[e,i,99] u8[e,h,99]", "bf16[t,h]", gate_type=12, down_type=12)


def test_routers_score_every_expert():
    ran("MoEGroupRouter", "f32[t,8] f32[8]", "f32[t,8]", top_k=2, n_group=2)
    ran("MoEGroupRouter", "f32[b,s,8] f32[8]", "f32[b*s,8]", top_k=2)
    ran("MoEGroupRouter", "f32[t,8] f32[8]", "- f32[t,8] f32[t,8]", top_k=2)
    case("MoEGroupRouter", "bf16[t,256] f32[8] bf16[8,256]", "- f32[t,8] f32[t,8]", top_k=2)
