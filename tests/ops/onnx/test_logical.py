"""Check rules for comparisons, bools and bits."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_comparisons_broadcast_to_bools():
    case("Equal", "i64[b,1] i64[s]", "bool[b,s]")
    case("Less", "f32[b,4] f32[]", "bool[b,4]")
    case("And", "bool[b] bool[b]", "bool[b]")
    case("Equal", "i64[2,b,3] i64[b,3]", "bool[2,b,3]", opset=1, broadcast=1)
    case("IsNaN", "f32[b,4]", "bool[b,4]")
    case("IsInf", "f32[b,4]", "bool[b,4]")
    fails("Greater", "f32[3] f32[4]", "dim-mismatch")


def test_comparisons_of_sizes_are_decided_where_they_can_be():
    case("Equal", "i64[3]=[b,3,-1] i64[]=[-1]", "bool[3]=[False,False,True]")
    case("Less", "i64[2]=[s,s] i64[2]=[s+1,5]", "bool[2]=[True,not s-5>=0]")
    case("GreaterOrEqual", "i64[]=[s] i64[]=[0]", "bool[]=[True]")
    case("Greater", "i64[]=[s] i64[]=[3]", "bool[]=[not 3-s>=0]")
    case("LessOrEqual", "i64[]=[s] i64[]=[3]", "bool[]=[3-s>=0]")
    case("Equal", "i64[]=[s] i64[]=[3]", "bool[]=[s==3]")
    case("Equal", "f32[]=[s/2] f32[]=[1.5]", "bool[]=[s==3]")
    case("Less", "f32[]=[1.0] f32[]=[nan]", "bool[]=[False]")
    case("GreaterOrEqual", "f32[]=[1.0] f32[]=[nan]", "bool[]=[False]")
    case("Equal", 'str[2]=["a","b"] str[]=["a"]', "bool[2]=[True,False]")


def test_elements_of_two_types_are_not_compared():
    fails("LessOrEqual", "i64[1]=[s] f32[1]=[0.5]", "bad-element-type")
    fails("Where", "bool[1]=[s>=3] i64[1]=[s] f32[1]=[0.5]", "bad-element-type")
    fails("Where", "i64[1]=[1] i64[1]=[s] i64[1]=[3]", "bad-element-type")


def test_bools_combine():
    case("Not", "bool[3]=[True,False,s>=3]", "bool[3]=[False,True,not s>=3]")
    case("And", "bool[3]=[True,False,True] bool[3]=[s>=3,?,True]", "bool[3]=[s>=3,False,True]")
    case("Or", "bool[3]=[True,False,False] bool[3]=[?,s>=3,False]", "bool[3]=[True,s>=3,False]")
    case("Xor", "bool[2]=[True,False] bool[2]=[True,True]", "bool[2]=[False,True]")
    case("Equal", "bool[]=[s>=3] bool[]=[False]", "bool[]=[not s>=3]")


def test_where_takes_what_is_decided():
    case("Where", "bool[b,1] f32[s] f32[]", "f32[b,s]")
    case("Where", "bool[2]=[True,False] i64[2]=[1,1] i64[2]=[b,s]", "i64[2]=[1,s]")
    case("Where", "bool[]=[s>=3] i64[]=[s] i64[]=[7]", "i64[]=[(s if s-3>=0 else 7)]")
    case("Where", "bool[]=[not s>=3] i64[]=[s] i64[]=[7]", "i64[]=[(7 if s-3>=0 else s)]")
    case("Where", "bool[]=[s==3] i64[]=[s+1] i64[]=[7]", "i64[]=[((s+1 if 3-s>=0 else 7) if s-3>=0 else 7)]")
    case("Where", "bool[2] i64[2]=[b,1] i64[2]=[b,2]", "i64[2]=[b,?]")
    case("Where", "bool[2]=[s>=3,s>=3] bool[2]=[True,?] bool[2]=[False,False]", "bool[2]=[s>=3,?]")
    case("Where", "bool[2]=[True,False] f32[] f32[]=[2.0]", "f32[2]=[?,2.0]")


def test_bits():
    case("BitwiseAnd", "i32[b,4] i32[4]", "i32[b,4]")
    case("BitwiseOr", "i64[2]=[5,s] i64[]=[2]", "i64[2]=[7,?]")
    case("BitwiseXor", "u8[]=[255] u8[]=[1]", "u8[]=[254]")
    case("BitwiseNot", "u8[]=[1]", "u8[]=[254]")
    case("BitwiseNot", "i8[]=[1]", "i8[]=[-2]")
    case("BitShift", "u8[2]=[255,3] u8[]=[1]", "u8[2]=[254,6]", direction="LEFT")
    case("BitShift", "i8[2]=[64,-4] i8[]=[1]", "i8[2]=[-128,-8]", direction="LEFT")
    case("BitShift", "i8[]=[-4] i8[2]=[1,9]", "i8[2]=[-2,?]", direction="RIGHT")
    fails("BitShift", "u8[2] u8[]", "bad-attribute", direction="UP")
