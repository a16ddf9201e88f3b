"""Check rules for conversions of element types."""

from __future__ import annotations

from sardonyx.ir.types import DType
from tests.ops.cases import case, fails


def test_a_cast_changes_the_element_type_only():
    case("Cast", "f32[b,4]", "f16[b,4]", to=DType.FLOAT16)
    case("Cast", "f32[b,4]", "i64[b,4]", opset=1, to="INT64")
    case("Cast", "?", "i64", to=DType.INT64)
    case("CastLike", "f32[b] i32[3]", "i32[b]")
    case("CastLike", "f32[b] ?", "?[b]")
    fails("Cast", "f32[b]", "bad-element-type", opset=1, to="NUMBER")
    fails("Cast", "f32[b]", "bad-element-type", to=99)
    fails("Cast", "f32[b]", "missing-attribute")


def test_integers_that_fit_stay():
    case("Cast", "i64[3]=[b,-1,7]", "i32[3]=[b,-1,7]", to=DType.INT32)
    case("Cast", "i64[2]=[300,-1]", "u8[2]=[?,?]", to=DType.UINT8)
    case("Cast", "i64[2]=[b,7]", "i8[2]=[?,7]", to=DType.INT8)
    case("Cast", "i64[2]=[b,7]", "i64[2]=[b,7]", to=DType.INT64)


def test_sizes_become_floats_and_integers_again():
    case("Cast", "i64[2]=[s,3]", "f32[2]=[s,3.0]", to=DType.FLOAT)
    case("Cast", "i64[]=[s]", "f16[]=?", to=DType.FLOAT16)
    case("Cast", "i64[]=[16777217]", "f32[]=[16777216.0]", to=DType.FLOAT)
    case("Cast", "i64[]=[a*b]", "f32[]=?", to=DType.FLOAT)
    case("Cast", "i64[]=[a*b]", "f64[]=[a*b]", to=DType.DOUBLE)
    case("Cast", "f32[3]=[2.9,-2.9,1e30]", "i64[3]=[2,-2,?]", to=DType.INT64)
    case("Cast", "f32[]=[s/2]", "i64[]=[s//2]", to=DType.INT64)
    case("Cast", "f32[]=[-s/2]", "i64[]=[-(s//2)]", to=DType.INT64)
    case("Cast", "f32[]=[s-3/2]", "i64[]=[?]", to=DType.INT64)
    case("Cast", "f64[]=[0.1]", "f32[]=[0.10000000149011612]", to=DType.FLOAT)
    case("Cast", "f32[]=[s/3]", "f64[]=?", to=DType.DOUBLE)


def test_bools_become_numbers_and_numbers_bools():
    case("Cast", "bool[3]=[True,False,s>=3]", "i64[3]=[1,0,(1 if s-3>=0 else 0)]", to=DType.INT64)
    case("Cast", "bool[2]=[True,?]", "i64[2]=[1,?]", to=DType.INT64)
    case("Cast", "i64[3]=[0,5,s]", "bool[3]=[False,True,not s==0]", to=DType.BOOL)
    case("Cast", "f32[2]=[0.0,0.5]", "bool[2]=[False,True]", to=DType.BOOL)


def test_bits_are_read_as_another_type_of_the_same_width():
    case("BitCast", "f32[b,4]", "i32[b,4]", to=DType.INT32)
    fails("BitCast", "f32[b]", "bad-element-type", to=DType.INT64)
