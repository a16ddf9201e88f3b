"""Check rules for arithmetic."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_matrices_multiply_as_numpy_does():
    case("MatMul", "f32[b,4,8] f32[8,16]", "f32[b,4,16]")
    case("MatMul", "f32[8] f32[8,16]", "f32[16]")
    case("MatMul", "f32[a,b,4,8] f32[b,8,k]", "f32[a,b,4,k]")
    case("MatMul", "f32[8] f32[8]", "f32[]")
    case("MatMul", "f32[4,a] f32[b,5]", "f32[4,5]")
    case("MatMul", "f32 f32[8,16]", "f32")
    fails("MatMul", "f32[3,4] f32[5,6]", "dim-mismatch")
    fails("MatMul", "f32[] f32[5,6]", "rank-mismatch")
