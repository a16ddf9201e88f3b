"""Check rules for reductions over axes."""

from __future__ import annotations

from sardonyx.ops import versions
from tests.ops.cases import case, fails

SINCE = {"ReduceSum": 13}


def test_axes_from_an_attribute():
    for op_type in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceLogSumExp"):
        opset = SINCE.get(op_type, 18) - 1
        assert opset >= versions("", op_type)[0]
        case(op_type, "f32[b,s,4]", "f32[b,1,4]", opset=opset, axes=[1])
        case(op_type, "f32[b,s,4]", "f32[b]", opset=opset, axes=[1, -1], keepdims=0)
        case(op_type, "f32[b,s,4]", "f32[1,1,1]", opset=opset)
        case(op_type, "f32[b,s,4]", "f32[]", opset=opset, keepdims=0)
        case(op_type, "f32", "f32", opset=opset, axes=[1])
        fails(op_type, "f32[2,3]", "axis-out-of-range", opset=opset, axes=[2])


def test_axes_from_an_input():
    for op_type in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceSumSquare"):
        case(op_type, "f32[b,s,4] i64[1]=[1]", "f32[b,1,4]")
        case(op_type, "f32[b,s,4] i64[2]=[1,-1]", "f32[b]", keepdims=0)
        case(op_type, "f32[b,s,4]", "f32[1,1,1]")
        case(op_type, "f32[b,s,4] i64[0]=[]", "f32[]", keepdims=0)
        case(op_type, "f32[b,s,4]", "f32[b,s,4]", noop_with_empty_axes=1)
        case(op_type, "f32[b,s,4] i64[0]=[]", "f32[b,s,4]", noop_with_empty_axes=1)
        case(op_type, "f32", "f32[]", keepdims=0)
        fails(op_type, "f32[2,3] i64[1]=[2]", "axis-out-of-range")


def test_axes_that_are_not_known():
    case("ReduceSum", "f32[b,s,4] i64[1]", "f32[?,?,?]")
    case("ReduceSum", "f32[b,s,4] i64[1]", "f32[?,?]", keepdims=0)
    case("ReduceSum", "f32[5] i64[2]", "f32[]", keepdims=0)
    case("ReduceSum", "f32[b,s,4] i64[n]", "f32", keepdims=0)
    case("ReduceSum", "f32[b,s,4] i64[0]", "f32[b,s,4]", noop_with_empty_axes=1)


def test_an_axis_may_be_named_twice():
    case("ReduceMax", "f32[2,3] i64[2]=[0,-2]", "f32[1,3]")
    case("ReduceMax", "f32[2,3]", "f32[3]", opset=13, axes=[-2, 0], keepdims=0)
    case("ReduceSum", "f32[b,s,4] i64[3]", "f32", keepdims=0)
    case("ReduceSum", "f32[b,s,4] i64[3]", "f32[?,?,?]")


def test_sizes_are_reduced():
    case("ReduceProd", "i64[3]=[b,3,s] i64[1]=[0]", "i64[]=[3*b*s]", keepdims=0)
    case("ReduceSum", "i64[3]=[b,3,s]", "i64[1]=[b+s+3]")
    case("ReduceMax", "i64[2]=[b,3]", "i64[]=[max(b,3)]", keepdims=0)
    case("ReduceMin", "i64[2,2]=[b,3,s,4] i64[1]=[0]", "i64[2]=[min(b,s),3]", keepdims=0)
    case("ReduceProd", "i64[0]=[]", "i64[]=[1]", keepdims=0)
    case("ReduceSum", "f32[2]=[1.0,2.0]", "f32[]=[3.0]", keepdims=0)
    case("ReduceSum", "f32[2]=[0.1,0.2]", "f32[]=?", keepdims=0)
    case("ReduceMean", "i64[2]=[1,2]", "i64[]=?", keepdims=0)
    case("ReduceSum", "i64[2]=[b,s]", "i64[2]=[b,s]", noop_with_empty_axes=1)


def test_the_position_of_the_best():
    case("ArgMax", "f32[b,s,4]", "i64[b,1,4]", axis=1)
    case("ArgMin", "f32[b,s,4]", "i64[b,s]", axis=-1, keepdims=0)
    case("ArgMax", "f32", "i64")
    case("ArgMax", "i64[4]=[3,9,1,9]", "i64[]=[1]", keepdims=0)
    case("ArgMax", "i64[4]=[3,9,1,9]", "i64[]=[3]", keepdims=0, select_last_index=1)
    case("ArgMin", "i64[2,2]=[3,9,1,9]", "i64[1,2]=[1,0]")
    case("ArgMax", "i64[3]=[s,s+2,s+1]", "i64[]=[1]", keepdims=0)
    case("ArgMax", "i64[2]=[b,s]", "i64[]=[?]", keepdims=0)
    fails("ArgMax", "f32[2,3]", "axis-out-of-range", axis=2)
