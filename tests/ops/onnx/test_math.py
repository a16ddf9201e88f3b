"""Check rules for elementwise arithmetic."""

from __future__ import annotations

import numpy as np

from tests.ops.cases import case, fails


def test_functions_of_one_tensor_keep_its_type():
    for op_type in (
        "Abs",
        "Neg",
        "Relu",
        "Sign",
        "Ceil",
        "Floor",
        "Round",
        "Sqrt",
        "Reciprocal",
        "Exp",
        "Gelu",
        "Mish",
    ):
        case(op_type, "f32[b,4]", "f32[b,4]")
    case("Sigmoid", "f16", "f16", opset=6)
    case("Clip", "f32[b,4]", "f32[b,4]", opset=6, min=0.0)
    case("PRelu", "f32[b,4] f32[4]", "f32[b,4]")
    fails("PRelu", "f32[b,1] f32[4]", "dim-mismatch")
    fails("PRelu", "f32[4] f32[3,1]", "rank-mismatch")


def test_arithmetic_broadcasts():
    case("Add", "f32[b,4] f32[4]", "f32[b,4]")
    case("Sub", "f32[b,1,4] f32[s,1]", "f32[b,s,4]")
    case("Mul", "f32[a] f32[b]", "f32[broadcast(a,b)]")
    case("Div", "f32[a,3] f32[b,1]", "f32[broadcast(a,b),3]")
    case("Add", "f32[0] f32[1]", "f32[0]")
    case("Add", "f32[a] f32[4]", "f32[4]")
    case("Add", "f32 f32[4]", "f32")
    case("Pow", "f32[b,4] i64[]", "f32[b,4]")
    case("Mod", "i64[b] i64[]", "i64[b]")
    fails("Add", "f32[3] f32[4]", "dim-mismatch")
    fails("Mul", "f32[2,0] f32[2,3]", "dim-mismatch")


def test_variadic_arithmetic_broadcasts_from_opset_8_on():
    case("Max", "f32[b,1] f32[1,s] f32[]", "f32[b,s]")
    case("Mean", "f32[b,4]", "f32[b,4]")
    case("Sum", "f32[a,4] f32[a,4]", "f32[a,4]", opset=6)
    case("Min", "f32[a,4] f32[b,4]", "f32[a,4]", opset=6)
    fails("Sum", "f32[3,4] f32[4]", "rank-mismatch", opset=6)


def test_before_opset_7_b_fits_into_a():
    case("Add", "f32[b,4] f32[b,4]", "f32[b,4]", opset=6)
    case("Add", "f32[2,b,4,5] f32[b,4]", "f32[2,b,4,5]", opset=6, broadcast=1, axis=1)
    case("Mul", "f32[2,3,4] f32[4]", "f32[2,3,4]", opset=1, broadcast=1)
    case("Pow", "f32[2,3,4] f32[]", "f32[2,3,4]", opset=1, broadcast=1)
    fails("Sub", "f32[2,3] f32[3]", "rank-mismatch", opset=6)
    fails("Sub", "f32[2,3] f32[2]", "dim-mismatch", opset=6, broadcast=1)
    fails("Div", "f32[2,3] f32[1,2,3]", "rank-mismatch", opset=6, broadcast=1)


def test_integers_are_calculated_exactly():
    case("Add", "i64[2]=[b,3] i64[]=[2]", "i64[2]=[b+2,5]")
    case("Sub", "i64[]=[b] i64[]=[b]", "i64[]=[0]")
    case("Mul", "i64[2]=[b,s] i64[2]=[s,0]", "i64[2]=[b*s,0]")
    case("Div", "i64[]=[s+7] i64[]=[8]", "i64[]=[(s+7)//8]")
    case("Div", "i64[2]=[-7,7] i64[]=[2]", "i64[2]=[-3,3]")
    case("Div", "i64[]=[s-8] i64[]=[2]", "i64[]=[?]")
    case("Div", "i64[]=[s-1] i64[]=[4]", "i64[]=[max((s-1)//4,0)]")
    case("Div", "i64[]=[s+3] i64[]=[-2]", "i64[]=[?]")
    case("Mod", "i64[]=[s] i64[]=[8]", "i64[]=[s-8*(s//8)]")
    case("Mod", "i64[2]=[-7,7] i64[2]=[3,-3]", "i64[2]=[2,-2]")
    case("Mod", "i64[2]=[-7,7] i64[2]=[3,-3]", "i64[2]=[-1,1]", fmod=1)
    case("Pow", "i64[]=[s] i64[]=[2]", "i64[]=[s*s]")
    case("Pow", "i64[]=[3] f32[]=[2.0]", "i64[]=[9]")
    case("Max", "i64[]=[s] i64[]=[1]", "i64[]=[max(s,1)]")
    case("Min", "i64[]=[s] i64[]=[s+1] i64[]=[7]", "i64[]=[min(s,7)]")
    case("Neg", "i64[]=[s]", "i64[]=[-s]")
    case("Abs", "i64[2]=[-4,s]", "i64[2]=[4,s]")
    case("Relu", "i32[2]=[-4,s-3]", "i32[2]=[0,max(s-3,0)]")
    case("Clip", "i64[]=[s] i64[]=[1] i64[]=[9]", "i64[]=[min(max(s,1),9)]")
    case("Sign", "i64[3]=[-4,0,9]", "i64[3]=[-1,0,1]")


def test_what_would_wrap_around_is_unknown():
    case("Add", "i8[]=[100] i8[]=[100]", "i8[]=[?]")
    case("Mul", "i64[]=[9223372036854775807] i64[]=[2]", "i64[]=[?]")
    case("Sub", "u8[]=[3] u8[]=[4]", "u8[]=[?]")
    case("Sub", "u64[]=[a] u64[]=[b]", "u64[]=[?]")
    case("Div", "i64[]=[4] i64[]=[0]", "i64[]=[?]")


def test_elements_of_two_types_are_not_calculated_with():
    for op_type in ("Add", "Div", "Max", "Mod"):
        fails(op_type, "i64[1]=[s] f32[1]=[0.5]", "bad-element-type")
    fails("Add", "i64[1]=[2] bool[1]", "bad-element-type")
    fails("Clip", "i64[1]=[s] f32[]=[0.5]", "bad-element-type")


def test_a_quotient_by_a_size_assumes_that_it_is_not_zero():
    outcome = case("Div", "i64[]=[a] i64[]=[b]", "i64[]=[a//b]")
    assert outcome.assumed == ["divisor-not-zero b 0"]


def test_an_unknown_integer_is_the_same_one_wherever_it_is_read():
    case("Sub", "i64[2]=[n,m] i64[2]=[m,m]", "i64[2]=[n-m,0]")
    case("Add", "i64[] i64[]=[1]", "i64[]=[?]")


def test_floats_are_rounded_to_their_type():
    case("Add", "f32[]=[16777216.0] f32[]=[1.0]", "f32[]=[16777216.0]")
    case("Add", "f64[]=[16777216.0] f64[]=[1.0]", "f64[]=[16777217.0]")
    case("Add", "f16[]=[2048.0] f16[]=[1.0]", "f16[]=[2048.0]")
    case("Mul", "bf16[]=[3.0] bf16[]=[43.0]", "bf16[]=[129.0]")
    case("Mul", "bf16[]=[3.0] bf16[]=[87.0]", "bf16[]=[260.0]")
    case("Div", "f32[]=[1.0] f32[]=[3.0]", f"f32[]=[{float(np.float32(1) / np.float32(3))!r}]")
    case("Mul", "f16[]=[60000.0] f16[]=[2.0]", "f16[]=[inf]")
    case("Sqrt", "f32[2]=[2.0,-1.0]", f"f32[2]=[{float(np.sqrt(np.float32(2)))!r},?]")
    case("Round", "f32[4]=[0.5,1.5,-0.5,2.6]", "f32[4]=[0.0,2.0,-0.0,3.0]")
    case("Pow", "f32[2]=[2.0,3.0] f32[2]=[0.5,4.0]", "f32[2]=[?,81.0]")
    case("Max", "f32[]=[1.0] f32[]=[nan]", "f32[]=?")


def test_fractions_of_sizes_are_exact_by_powers_of_two():
    case("Mul", "f32[]=[s] f32[]=[0.5]", "f32[]=[s/2]")
    case("Div", "f32[]=[s] f32[]=[4.0]", "f32[]=[s/4]")
    case("Floor", "f32[]=[s/4]", "f32[]=[s//4]")
    case("Ceil", "f32[]=[s/4]", "f32[]=[(s+3)//4]")
    case("Add", "f32[]=[s/2] f32[]=[0.5]", "f32[]=[s+1/2]")
    case("Sub", "f32[]=[s] f32[]=[1.0]", "f32[]=[s-1]")
    case("Mul", "f32[]=[s/2] f32[]=[2.0]", "f32[]=[s]")
    case("Neg", "f32[]=[s/2]", "f32[]=[-s/2]")


def test_other_quotients_can_only_be_rounded():
    case("Floor", "f32[]=[s/3]", "f32[]=[s//3]")
    case("Ceil", "f32[]=[s/3]", "f32[]=[(s+2)//3]")
    case("Mul", "f32[]=[s/3] f32[]=[3.0]", "f32[]=?")
    case("Mul", "f32[]=[s] f32[]=[0.7]", "f32[]=?")
    case("Mul", "f32[]=[s] f32[]=[50257.0]", "f32[]=?")
    case("Mul", "f32[]=[a] f32[]=[b]", "f32[]=?")
    case("Mul", "f16[]=[a] f16[]=[2.0]", "f16[]=?")
    case("Round", "f32[]=[s/2]", "f32[]=?")


def test_running_sums_and_products():
    case("CumSum", "f32[b,4] i64[]", "f32[b,4]")
    case("CumSum", "i64[3]=[b,2,s] i64[]=[0]", "i64[3]=[b,b+2,b+s+2]")
    case("CumSum", "i64[3]=[b,2,s] i64[]=[0]", "i64[3]=[0,b,b+2]", exclusive=1)
    case("CumSum", "i64[3]=[b,2,s] i64[]=[-1]", "i64[3]=[b+s+2,s+2,s]", reverse=1)
    case("CumSum", "i64[2,2]=[1,2,3,4] i64[]=[0]", "i64[2,2]=[1,2,4,6]")
    case("CumProd", "i64[3]=[2,3,4] i64[]=[0]", "i64[3]=[2,6,24]")


def test_gates_have_one_shape():
    case("SwiGLU", "f32[b,4] f32[b,4]", "f32[b,4]")
    fails("SwiGLU", "f32[3,4] f32[4]", "rank-mismatch")
