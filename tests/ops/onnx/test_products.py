"""Check rules for products of matrices."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_matrices_multiply_as_numpy_does():
    case("MatMul", "f32[b,4,8] f32[8,16]", "f32[b,4,16]")
    case("MatMul", "f32[8] f32[8,16]", "f32[16]")
    case("MatMul", "f32[a,b,4,8] f32[b,8,k]", "f32[a,b,4,k]")
    case("MatMul", "f32[b,4,8] f32[8]", "f32[b,4]")
    case("MatMul", "f32[8] f32[8]", "f32[]")
    case("MatMul", "f32[a,1,4,8] f32[c,8,5]", "f32[a,c,4,5]")
    case("MatMul", "f32[4,a] f32[b,5]", "f32[4,5]")
    case("MatMul", "f32 f32[8,16]", "f32")
    case("MatMulInteger", "u8[b,4,8] i8[8,16]", "i32[b,4,16]")
    fails("MatMul", "f32[3,4] f32[5,6]", "dim-mismatch")
    fails("MatMul", "f32[] f32[5,6]", "rank-mismatch")
    fails("MatMul", "f32[2,3,4] f32[3,4,5]", "dim-mismatch")


def test_the_inner_axes_are_assumed_to_be_equal():
    assert case("MatMul", "f32[4,a] f32[b,5]", "f32[4,5]").assumed == ["joined-dims a b"]


def test_gemm_transposes():
    case("Gemm", "f32[m,4] f32[4,n]", "f32[m,n]")
    case("Gemm", "f32[4,m] f32[n,4] f32[n]", "f32[m,n]", transA=1, transB=1)
    case("Gemm", "f32[m,4] f32[4,5] f32[]", "f32[m,5]", opset=6, broadcast=1)
    case("Gemm", "f32 f32[4,5]", "f32[?,5]")
    fails("Gemm", "f32[2,3] f32[4,5]", "dim-mismatch")
    fails("Gemm", "f32[2,3,4] f32[4,5]", "rank-mismatch")


def test_determinants():
    case("Det", "f32[b,3,3]", "f32[b]")
    case("Det", "f32[n,n]", "f32[]")
    fails("Det", "f32[2,3]", "dim-mismatch")
    fails("Det", "f32[2]", "rank-mismatch")


def test_einsum_does_not_know_a_letter_that_is_1_beside_an_unknown_rank():
    case("Einsum", "f32[a,1] f32", "f32[a,?,?]", equation="ij,jk->ijk")
    case("Einsum", "f32 f32[b,1,3]", "f32[?,?,3]", equation="bij,bjk->bik")
    case("Einsum", "f32[2,0] f32", "f32[0,?]", equation="ij,jk->jk")
    case("Einsum", "f32[2,a] f32", "f32[?,?]", equation="ij,jk->jk")
    case("Einsum", "f32[2,a] f32", "f32[a,?]", equation="ij,jk->jk", least={"a": 2})


def test_einsum_follows_its_letters():
    case("Einsum", "f32[b,i,j] f32[b,j,k]", "f32[b,i,k]", equation="bij,bjk->bik")
    case("Einsum", "f32[b,i,j] f32[b,j,k]", "f32[i,k]", equation="bij, bjk")
    case("Einsum", "f32[n,n]", "f32[]", equation="ii")
    case("Einsum", "f32[b,h,s,4] f32[h,4,5]", "f32[b,h,s,5]", equation="...ij,...jk->...ik")
    case("Einsum", "f32[2,3] f32[3,4]", "f32[4,2]", equation="ij,jk->ki")
    case("Einsum", "f32 f32[3,4]", "f32[?,4]", equation="ij,jk->ik")
    case("Einsum", "f32[a,3]", "f32[3,a]", equation="ij->ji")
    case("Einsum", "f32[2,1] f32[3,4]", "f32[2,3,4]", equation="ij,jk->ijk")
    fails("Einsum", "f32[2,3] f32[4,5]", "dim-mismatch", equation="ij,jk->ik")
    fails("Einsum", "f32[2,3]", "bad-attribute", equation="ij,jk->ik")
    fails("Einsum", "f32[2,3]", "rank-mismatch", equation="ijk->i")
    fails("Einsum", "f32[2,3]", "bad-attribute", equation="ij->ik")
    fails("Einsum", "f32[2,3]", "bad-attribute", equation="i1->i")
