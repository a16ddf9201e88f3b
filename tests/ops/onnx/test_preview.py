"""Check rules for the domain ai.onnx.preview."""

from __future__ import annotations

from sardonyx.ir.attrs import Attr, AttrKind
from sardonyx.ir.graph import Graph, Node, Value
from tests.ops.cases import case, fails

DOMAIN = "ai.onnx.preview"


def test_flexible_attention_has_the_length_of_q_and_the_width_of_v():
    case("FlexAttention", "f16[b,8,s,16] f16[b,2,t,16] f16[b,2,t,12]", "f16[b,8,s,12]", domain=DOMAIN)
    case("FlexAttention", "f16 f16[b,2,t,16] f16[b,2,t,12]", "f16[?,?,?,12]", domain=DOMAIN)
    fails("FlexAttention", "f16[8,s,16] f16[b,2,t,16] f16[b,2,t,12]", "rank-mismatch", domain=DOMAIN)


def test_bodies_of_flexible_attention_are_walked():
    for name in ("score_mod", "prob_mod"):
        scores, changed = Value("scores"), Value("changed")
        beyond = Node("Softmax", (scores,), (changed,), {"axis": Attr("axis", AttrKind.INT, 4)})
        body = Graph("body", (scores,), (changed,), (beyond,))
        inputs = "f16[b,8,s,16] f16[b,2,t,16] f16[b,2,t,12]"
        message = fails("FlexAttention", inputs, "axis-out-of-range", domain=DOMAIN, **{name: body})
        assert message == "axis 4 is out of range for rank 4"
