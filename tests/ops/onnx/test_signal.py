"""Check rules for Fourier transforms."""

from __future__ import annotations

import pytest

from tests.ops.cases import case, fails


@pytest.mark.parametrize("op_type", ["HannWindow", "HammingWindow", "BlackmanWindow"])
def test_a_window_has_the_size_asked_for(op_type):
    case(op_type, "i64[]=[400]", "f32[400]")
    case(op_type, "i32[]=[s]", "f64[s]", output_datatype=11)
    case(op_type, "i64[]", "f32[?]")
    fails(op_type, "i64[]=[-1]", "bad-input")
    fails(op_type, "i64[]=[4]", "bad-element-type", output_datatype=99)


def test_bins_are_mapped_to_bands():
    case("MelWeightMatrix", "i64[]=[80] i64[]=[400] i64[] f32[] f32[]", "f32[201,80]")
    case("MelWeightMatrix", "i64[]=[m] i64[]=[d] i64[] f32[] f32[]", "f16[d//2+1,m]", output_datatype=10)


def test_a_transform_keeps_the_shape_and_gives_complex_numbers():
    case("DFT", "f32[b,n,m,1] - i64[]=[1]", "f32[b,n,m,2]")
    case("DFT", "f32[b,n,m,1]", "f32[b,n,m,2]")
    case("DFT", "f32[b,n,m,2]", "f32[b,n,m,2]", opset=17, inverse=1)
    case("DFT", "f32[b,n,m,1] i64[]=[7] i64[]=[-3]", "f32[b,7,m,2]")
    case("DFT", "f32[b,n,m,1] i64[]", "f32[b,n,?,2]")


def test_one_side_of_a_spectrum_is_half_of_it():
    case("DFT", "f32[b,n,m,1] - i64[]=[1]", "f32[b,n//2+1,m,2]", onesided=1)
    case("DFT", "f32[b,n,m,1] i64[]=[k]", "f32[b,k//2+1,m,2]", onesided=1, opset=17)
    case("DFT", "f32[b,n,m,2] - i64[]=[1]", "f32[b,2*n-2,m,1]", onesided=1, inverse=1, least={"n": 1})
    case("DFT", "f32[b,n,m,2] i64[]=[9]", "f32[b,9,m,1]", onesided=1, inverse=1, opset=17)


def test_an_unknown_axis_leaves_what_no_axis_changes():
    case("DFT", "f32[b,n,m,1] - i64[]", "f32[b,n,m,2]")
    case("DFT", "f32[b,n,m,1] - i64[]", "f32[?,?,?,2]", onesided=1)
    case("DFT", "f32", "f32")
    fails("DFT", "f32[b,n,1] - i64[]=[-1]", "axis-out-of-range")
    fails("DFT", "f32[b,n,1] - i64[]=[3]", "axis-out-of-range")
    fails("DFT", "f32[n]", "rank-mismatch")
    fails("DFT", "f32[b,0,1,2] - i64[]=[1]", "bad-input", onesided=1, inverse=1)


def test_frames_of_a_signal_are_transformed():
    case("STFT", "f32[b,128,1] i64[]=[8] f32[16]", "f32[b,15,9,2]")
    case("STFT", "f32[b,s,1] i64[]=[160] f32[400] i64[]=[400]", "f32[b,(s-400)//160+1,201,2]")
    case("STFT", "f32[b,s,2] i64[]=[160] - i64[]=[400]", "f32[b,(s-400)//160+1,400,2]", onesided=0)
    case("STFT", "f32[b,s,1] i64[]=[8]", "f32[b,1,s//2+1,2]")
    case("STFT", "f32[b,s] i64[]=[8] f32[16]", "f32[b,(s-16)//8+1,9,2]")
    case("STFT", "f32[b,s,1] i64[] f32[400]", "f32[b,?,201,2]")
    case("STFT", "f32 i64[]=[8] f32[16]", "f32[?,?,9,2]")
    assert case("STFT", "f32[b,s,1] i64[]=[k] f32[16]", "f32[b,(s-16)//k+1,9,2]").assumed == [
        "window-fits s 16",
        "divisor-not-zero k 0",
    ]


def test_signals_that_cannot_be_transformed_are_refused():
    fails("STFT", "f32[s] i64[]=[8] f32[16]", "rank-mismatch")
    fails("STFT", "f32[b,s,1] i64[]=[0] f32[16]", "bad-input")
    fails("STFT", "f32[b,s,1] i64[]=[8] f32[16] i64[]=[17]", "dim-mismatch")
    outcome = case("STFT", "f32[b,12,1] i64[]=[8] f32[16]", "f32[b,?,9,2]")
    assert [issue.code for issue in outcome.issues] == ["window-too-large"]
