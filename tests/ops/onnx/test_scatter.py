"""Check rules for what writes into a copy of a tensor by index."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_the_copy_keeps_its_type():
    case("ScatterElements", "f32[b,s] i64[b,3] f32[b,3]", "f32[b,s]", axis=1)
    case("Scatter", "f32[b,s] i64[b,3] f32[b,3]", "f32[b,s]", opset=9)
    case("ScatterND", "f32[b,s] i64[n,1] f32[n,s]", "f32[b,s]")


def test_elements_are_replaced():
    case("ScatterElements", "i64[3]=[b,s,7] i64[2]=[-1,0] i64[2]=[1,2]", "i64[3]=[2,s,1]")
    case("ScatterElements", "i64[2,2]=[1,2,3,4] i64[1,2]=[1,0] i64[1,2]=[b,s]", "i64[2,2]=[1,s,b,4]")
    case("ScatterElements", "i64[2]=[1,2] i64[1]=[1] i64[1]=[5]", "i64[2]=?", reduction="add")
    case("ScatterND", "i64[3]=[b,s,7] i64[2,1]=[2,0] i64[2]=[1,2]", "i64[3]=[2,s,1]")
    case("ScatterND", "i64[2,2]=[1,2,3,4] i64[1,1]=[1] i64[1,2]=[b,s]", "i64[2,2]=[1,2,b,s]")
    case("ScatterND", "i64[3]=[b,s,7] i64[1,1]=[1] i64[1]", "i64[3]=[b,?,7]")
    fails("ScatterElements", "i64[2]=[1,2] i64[1]=[2] i64[1]=[5]", "bad-input")
    fails("ScatterElements", "f32[2] i64[1] f32[1]", "axis-out-of-range", axis=1)
    fails("ScatterElements", "i64[3]=[1,2,3] i64[1]=[0] i64[2]=[4,5]", "dim-mismatch")
    fails("ScatterElements", "f32[b,3] i64[n,2] f32[n,1]", "dim-mismatch", axis=1)
    fails("ScatterElements", "i64[3]=[1,2,3] i64[2,1]=[0,1] i64[2]=[4,5]", "rank-mismatch")
    fails("ScatterElements", "f32[3] i64[2] f32[2,1]", "rank-mismatch")
    fails("ScatterElements", "i64[1,2]=[1,2] i64[2,1]=[0,1] i64[2,1]=[4,5]", "dim-mismatch", axis=1)
