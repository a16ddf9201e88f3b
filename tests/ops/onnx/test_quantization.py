"""Check rules for quantized numbers."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_the_zero_point_says_the_quantized_type():
    case("QuantizeLinear", "f32[b,s] f32[] i8[]", "i8[b,s]")
    case("QuantizeLinear", "f32[b,s] f32[s] i4[s]", "i4[b,s]")
    case("QuantizeLinear", "f32[b,s] f32[]", "u8[b,s]", opset=10)
    case("QuantizeLinear", "f32[b,s] f32[]", "i16[b,s]", output_dtype=5)
    case("QuantizeLinear", "f32[b,s] f32[] ?", "?[b,s]")
    fails("QuantizeLinear", "f32[b,s] f32[]", "bad-element-type", output_dtype=99)


def test_the_scale_says_the_real_type():
    case("DequantizeLinear", "i8[b,s] f32[] i8[]", "f32[b,s]", opset=10)
    case("DequantizeLinear", "i8[b,s] f16[] i8[]", "f16[b,s]")
    case("DequantizeLinear", "i8[b,s] f32[] i8[]", "bf16[b,s]", output_dtype=16)
    case("DequantizeLinear", "i8 f32[b] i8[]", "f32")


def test_a_range_is_quantized_to_bytes():
    case("DynamicQuantizeLinear", "f32[b,s]", "u8[b,s] f32[] u8[]")


def test_quantized_matrices_multiply_as_numpy_does():
    case("QLinearMatMul", "u8[b,4,8] f32[] u8[] i8[8,16] f32[] i8[] f32[] i8[]", "i8[b,4,16]")
    fails("QLinearMatMul", "u8[b,4,8] f32[] u8[] i8[9,16] f32[] i8[] f32[] i8[]", "dim-mismatch")
