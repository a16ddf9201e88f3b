"""Check rules for quantized numbers, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops import cases
from tests.ops.runtime import ran

case = partial(cases.case, domain="com.microsoft")
fails = partial(cases.fails, domain="com.microsoft")

ONE, ZERO = "f32[]=[0.1]", "u8[]=[0]"


def test_the_zero_point_names_the_type():
    ran("QuantizeLinear", f"f32[a,b] {ONE} i8[]=[0]", "i8[a,b]")
    ran("QuantizeLinear", f"f32[a,b] {ONE} u16[]=[0]", "u16[a,b]")
    ran("QuantizeLinear", "f32[a,3] f32[3] u8[3]", "u8[a,3]", axis=1)
    case("QuantizeLinear", f"f32[a] {ONE}", "u8[a]")
    ran("DequantizeLinear", f"u8[a,b] {ONE} {ZERO}", "f32[a,b]")
    case("DequantizeLinear", "i8[a] f16[] i8[]", "f16[a]")


def test_layouts_of_cublas_keep_shapes():
    case("QuantizeWithOrder", "f16[a,b] f32[]", "i8[a,b]", order_input=1, order_output=2)
    case("DequantizeWithOrder", "i8[a,b] f32[]", "f16[a,b]", order_input=1, order_output=2, to=10)
    case("QOrderedGelu", "i8[a,b] f32[] f32[]", "i8[a,b]")
    case("QOrderedLayerNormalization", "i8[a,b] f32[] f16[b] f16[b] f32[]", "i8[a,b]")


def test_block_floating_point():
    case("QuantizeBFP", "f32[a,b]", "u8[?] i64[2] i64[2]", bfp_type=0)
    case("DequantizeBFP", "u8[n] i64[2]=[a,4] i64[2]", "f32[?,4]", bfp_type=0)
    case("DequantizeBFP", "u8[n] i64[k] i64[k]", "f16", bfp_type=0, dtype=10)


def test_concatenation():
    more = f"{ONE} {ZERO}"
    ran("QLinearConcat", f"{more} u8[a,b] {more} u8[a,c] {more}", "u8[a,b+c]", axis=1)
    ran("QLinearConcat", f"{more} u8[a,2] {more} u8[3,2] {more} u8[c,2] {more}", "u8[a+c+3,2]", axis=-2)
    fails("QLinearConcat", f"{more} u8[2,2] {more} u8[3,3] {more}", "dim-mismatch", axis=0)
    fails("QLinearConcat", f"{more} u8[2,2] {more} u8[3] {more}", "rank-mismatch", axis=0)


def test_reductions():
    case("QLinearReduceMean", f"u8[a,b,c] {ONE} {ZERO} {ONE} {ZERO}", "u8[a,1,c]", axes=[1], keepdims=1)
    case("ReduceSumInteger", "i8[a,b,c]", "i32[b]", axes=[0, -1], keepdims=0)
    fails("ReduceSumInteger", "i8[a,b,c]", "axis-out-of-range", axes=[3], keepdims=0)
