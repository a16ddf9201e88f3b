"""Check rules for what makes tensors out of nothing, out of a shape, or out of chance."""

from __future__ import annotations

import numpy as np

from sardonyx.ir.attrs import Attr, AttrKind
from sardonyx.ir.tensor import SparseTensor, tensor_of
from sardonyx.ir.types import DType
from tests.ops.cases import case, fails


def test_constants_in_every_form():
    case("Constant", "", "i64[2]=[3,-1]", value=np.array([3, -1], np.int64))
    case("Constant", "", "f16[]=[0.5]", value=np.array(0.5, np.float16))
    case("Constant", "", "f32[2000]", value=np.zeros(2000, np.float32))
    case("Constant", "", "i64[]=[3]", value_int=3)
    case("Constant", "", "i64[2]=[3,4]", value_ints=[3, 4])
    case("Constant", "", "f32[]=[0.5]", value_float=0.5)
    case("Constant", "", "f32[2]=[0.5,1.5]", value_floats=[0.5, 1.5])
    case("Constant", "", 'str[]=["a"]', value_string="a")
    case("Constant", "", 'str[2]=["a","b"]', value_strings=["a", "b"])
    sparse = SparseTensor(tensor_of(np.ones(1, np.float32)), tensor_of(np.zeros(1, np.int64)), (3, 4))
    case("Constant", "", "f32[3,4]", sparse_value=Attr("sparse_value", AttrKind.SPARSE_TENSOR, sparse))
    fails("Constant", "", "missing-attribute")


def test_constant_of_shape_fills():
    case("ConstantOfShape", "i64[2]=[b,3]", "f32[b,3]")
    case("ConstantOfShape", "i64[2]=[2,1]", "i64[2,1]=[7,7]", value=np.array([7], np.int64))
    case("ConstantOfShape", "i64[1]=[2]", "f32[2]=[0.0,0.0]")
    case("ConstantOfShape", "i64[0]=[]", "f32[]=[0.0]")
    case("ConstantOfShape", "i64[2]", "f32[?,?]")
    case("ConstantOfShape", "i64[n]", "f32")
    fails("ConstantOfShape", "i64[1]=[-1]", "bad-input")


def test_a_range_is_measured_not_counted():
    case("Range", "i64[]=[0] i64[]=[s] i64[]=[1]", "i64[s]")
    case("Range", "i64[]=[p] i64[]=[p+s] i64[]=[1]", "i64[s]")
    case("Range", "i64[]=[0] i64[]=[s] i64[]=[3]", "i64[(s+2)//3]")
    case("Range", "i64[]=[s] i64[]=[0] i64[]=[-1]", "i64[s]")
    case("Range", "i64[]=[2] i64[]=[s] i64[]=[1]", "i64[max(s-2,0)]")
    case("Range", "i64[]=[1] i64[]=[8] i64[]=[3]", "i64[3]=[1,4,7]")
    case("Range", "i64[]=[8] i64[]=[1] i64[]=[-3]", "i64[3]=[8,5,2]")
    case("Range", "i64[]=[0] i64[]=[4611686018427387904] i64[]=[1]", "i64[4611686018427387904]")
    case("Range", "i64[]=[5] i64[]=[1] i64[]=[1]", "i64[0]")
    case("Range", "i64[]=[s] i64[]=[s+2] i64[]=[1]", "i64[2]=[s,s+1]")
    case("Range", "i64[] i64[] i64[]", "i64[?]")
    case("Range", "i64[]=[0] i64[] i64[]=[1]", "i64[?]")
    fails("Range", "i64[]=[0] i64[]=[4] i64[]=[0]", "bad-input")


def test_a_range_of_floats_is_known_where_every_way_to_calculate_agrees():
    case("Range", "f32[]=[0.0] f32[]=[4.0] f32[]=[0.5]", "f32[8]")
    case("Range", "f32[]=[0.0] f32[]=[s] f32[]=[1.0]", "f32[s]")
    case("Range", "f32[]=[0.0] f32[]=[0.6000000238418579] f32[]=[0.10000000149011612]", "f32[?]")
    case("Range", "f32[]=[0.0] f32[]=[inf] f32[]=[1.0]", "f32[?]")
    case("Range", "f32[]=[0.0] f32[]=[1e38] f32[]=[1e-38]", "f32[?]")
    case("Range", "f64[]=[0.0] f64[]=[1e308] f64[]=[5e-324]", "f64[?]")


def test_eyes():
    case("EyeLike", "f32[b,s]", "f32[b,s]")
    case("EyeLike", "f32[b,s]", "f64[b,s]", dtype=DType.DOUBLE)
    case("EyeLike", "i64[2,3]", "i64[2,3]=[0,1,0,0,0,1]", k=1)
    case("EyeLike", "f32", "f32[?,?]")
    fails("EyeLike", "f32[3]", "rank-mismatch")


def test_chance():
    case("RandomNormal", "", "f32[2,3]", shape=[2, 3])
    case("RandomUniform", "", "f64[2,3]", shape=[2, 3], dtype=DType.DOUBLE)
    case("RandomNormalLike", "f32[b,s]", "f32[b,s]")
    case("RandomUniformLike", "i64[b,s]", "f16[b,s]", dtype=DType.FLOAT16)
    case("Bernoulli", "f32[b,s]", "f32[b,s]")
    case("Bernoulli", "f32[b,s]", "bool[b,s]", dtype=DType.BOOL)
    case("Multinomial", "f32[b,10]", "i32[b,4]", sample_size=4)
    case("Multinomial", "f32", "i64[?,1]", dtype=DType.INT64)
    fails("Multinomial", "f32[10]", "rank-mismatch")
    fails("RandomNormal", "", "bad-input", shape=[-2])
