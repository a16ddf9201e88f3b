"""Check rules for products of matrices, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops import cases
from tests.ops.runtime import ran

case = partial(cases.case, domain="com.microsoft")
fails = partial(cases.fails, domain="com.microsoft")


def test_operands_may_be_transposed():
    for name in ("FusedMatMul", "TransposeMatMul"):
        ran(name, "f32[b,n,k] f32[k,m]", "f32[b,n,m]")
        ran(name, "f32[b,k,n] f32[b,m,k]", "f32[b,n,m]", transA=1, transB=1)
        ran(name, "f32[k] f32[b,m,k]", "f32[b,m]", transA=1, transB=1)
        ran(name, "f32[n,k] f32[k]", "f32[n]", transB=1)
    ran("FusedMatMul", "f32[n,b,k] f32[b,k,m]", "f32[b,n,m]", transBatchA=1)
    ran("FusedMatMul", "f32[k,a,b,n] f32[a,b,k,m]", "f32[a,b,n,m]", transBatchA=1, transA=1)
    ran("FusedMatMul", "f32[a,b,n,k] f32[k,a,b,m]", "f32[a,b,n,m]", transBatchB=1)
    case("FusedMatMulActivation", "f32[b,n,k] f32[k,m]", "f32[b,n,m]", activation="Relu")
    case("GemmFastGelu", "f16[b,n,k] f16[k,m]", "f16[b,n,m]")
    ran("FusedGemm", "f32[n,k] f32[k,m] f32[m]", "f32[n,m]", activation="Relu")
    ran("FusedGemm", "f32[k,n] f32[m,k]", "f32[n,m]", transA=1, transB=1, activation="Relu")
    fails("FusedMatMul", "f32[2,3] f32[3,4]", "dim-mismatch", transA=1)


def test_quantized_operands():
    one, zero = "f32[]=[0.1]", "u8[]=[0]"
    ran("QGemm", f"u8[n,k] {one} {zero} u8[k,m] {one} {zero}", "f32[n,m]")
    ran("QGemm", f"u8[k,n] {one} {zero} u8[m,k] {one} {zero} - {one} {zero}", "u8[n,m]", transA=1, transB=1)
    ran("DynamicQuantizeMatMul", f"f32[b,n,k] u8[k,m] {one}", "f32[b,n,m]")
    ran("MatMulIntegerToFloat", f"u8[b,n,k] u8[k,m] {one} {one}", "f32[b,n,m]")
    ran("MatMulInteger16", "i16[n,k] i16[k,m]", "i32[n,m]")
    case("MatMulInteger16", "u16[n,k] u16[k,m]", "u32[n,m]")
    case("QOrderedMatMul", "i8[b,n,k] f32[] i8[k,m] f32[] f32[]", "i8[b,n,m]", order_A=2, order_B=3, order_Y=2)
    case("GemmFloat8", "f8e4m3fn[n,k] f8e4m3fn[m,k]", "f16[n,m]", transB=1, dtype=10)
    fails("GemmFloat8", "f8e4m3fn[n,k] f8e4m3fn[m,k]", "bad-element-type", transB=1, dtype=99)


def test_weights_of_a_few_bits():
    ran("MatMulNBits", "f32[b,s,32] u8[5,1,16] f32[5]", "f32[b,s,5]", N=5, K=32, block_size=32, bits=4)
    ran("MatMulNBits", "f32[n,32] u8[5,1,16] f32[5]", "f32[n,5]", N=5, K=32, block_size=32)
    ran("MatMulBnb4", "f32[b,s,32] u8[128] f32[8]", "f32[b,s,8]", N=8, K=32, block_size=32, quant_type=0)
    ran("MatMulBnb4", "f32[n,8] u8[128] f32[8]", "f32[n,32]", N=8, K=32, block_size=32, quant_type=1, transB=0)
    case("MatMulFpQ4", "f32[b,n,32] u8[99] i64[2]=[32,16]", "f32[b,n,16]")
    case("MatMulFpQ4", "f32[b,n,32] u8[99] i64", "f32[b,n,?]")
    case("MatMulNBitsMlp", "f16[b,s,32] f16[b,s,32] f16[32] u8 f16 - u8 f16", "f16[b,s,8] f16[b,s,32]",
         N=8, K=32, block_size=32, activation="silu")  # fmt: skip
    case("MatMulNBitsQkv", "f16[b,s,32] f16[b,s,32] f16[32] u8 f16 - u8 f16 - u8 f16",
         "f16[b,s,32] f16[b,s,8] f16[b,s,8] f16[b,s,32]", Nq=32, Nkv=8, K=32, block_size=32)  # fmt: skip
    case("MatMulNBitsQLoRA", "f16[b,s,32] u8 f16 u8 f16 u8 f16", "f16[b,s,8]", N=8, K=32)
    case("MatMulPacked", "bf16[b,s,256] u8[8,99]", "bf16[b,s,8]", N=8, K=256, packed_type=12)
    case("MatMulBlockQuantizedFp8Weight", "f16[b,s,k] f8e4m3fn[n,k] f32[n,b2]", "f16[b,s,n]")
    case("MatMulBlockQuantizedFp4Weight", "f16[b,s,2*k] u8[n,k] u8[n,b2] f32[]", "f16[b,s,n]")
    fails("MatMulNBits", "f32[] u8[5,1,16] f32[5]", "rank-mismatch", N=5, K=32)


def test_distances_and_routers():
    ran("CDist", "f32[m,n] f32[k,n]", "f32[m,k]", metric="euclidean")
    case("RouterGateUpProj", "bf16[t,k] bf16[k,2*i+8]", "bf16[t,8] bf16[t,i]", router_size=8)
    ran("SparseToDenseMatMul", "sparse(f32[n,k]) f32[k,m]", "f32[n,m]")
    ran("SparseToDenseMatMul", "sparse(f32[k,n]) f32[m,k]", "f32[n,m]", transA=1, transB=1)
