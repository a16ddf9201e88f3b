"""Check rules for sampling and decoding images."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_a_grid_says_where_an_image_is_sampled():
    case("GridSample", "f32[n,c,h,w] f32[n,a,b,2]", "f32[n,c,a,b]")
    case("GridSample", "f32[n,c,d,h,w] f32[4,a,b,e,3]", "f32[4,c,a,b,e]")
    case("GridSample", "f32 f32[n,a,b,2]", "f32[n,?,a,b]")
    case("GridSample", "f32[n,c,h,w] f32", "f32[n,c,?,?]")
    case("GridSample", "f32 f32", "f32")
    fails("GridSample", "f32[n,c,h,w] f32[n,a,b,e,3]", "rank-mismatch")
    fails("GridSample", "f32[n,c] f32[n,a]", "rank-mismatch")
    fails("GridSample", "f32[3,c,h,w] f32[4,a,b,2]", "dim-mismatch")


def test_a_grid_is_made_for_an_image_of_a_size():
    case("AffineGrid", "f32[n,2,3] i64[4]=[n,c,h,w]", "f32[n,h,w,2]")
    case("AffineGrid", "f32[n,3,4] i64[5]=[2,c,d,h,w]", "f32[2,d,h,w,3]")
    case("AffineGrid", "f32 i64[4]", "f32[?,?,?,2]")
    case("AffineGrid", "f32[n,3,4] i64", "f32[n,?,?,?,3]")
    case("AffineGrid", "f32 i64", "f32")
    fails("AffineGrid", "f32[n,2,3] i64[5]=[2,c,d,h,w]", "bad-input")
    fails("AffineGrid", "f32[3,2,3] i64[4]=[2,c,h,w]", "dim-mismatch")
    fails("AffineGrid", "f32[2,3] i64[4]=[2,c,h,w]", "rank-mismatch")


def test_a_file_says_how_large_its_image_is():
    case("ImageDecoder", "u8[n]", "u8[?,?,3]")
    case("ImageDecoder", "u8[n]", "u8[?,?,1]", pixel_format="Grayscale")
    fails("ImageDecoder", "u8[n]", "bad-attribute", pixel_format="CMYK")


def test_blocks_are_put_back_into_an_image():
    case("Col2Im", "f32[n,12,16] i64[2]=[5,5] i64[2]=[2,2]", "f32[n,3,5,5]")
    case("Col2Im", "f32[n,6*c,l] i64[2]=[h,w] i64[2]=[2,3]", "f32[n,c,h,w]")
    case("Col2Im", "f32[n,a*b*c,l] i64[2]=[h,w] i64[2]=[a,b]", "f32[n,c,h,w]", least={"a": 1, "b": 1}, deeper=False)
    case("Col2Im", "f32[n,12,l] i64[3]=[5,5,6] i64[3]", "f32[n,?,5,5,6]")
    case("Col2Im", "f32 i64 i64[2]=[2,2]", "f32[?,?,?,?]")
    case("Col2Im", "f32[n,12,l] i64 i64", "f32")
    fails("Col2Im", "f32[n,13,16] i64[2]=[5,5] i64[2]=[2,2]", "bad-input")
    fails("Col2Im", "f32[n,12] i64[2]=[5,5] i64[2]=[2,2]", "rank-mismatch")
    fails("Col2Im", "f32[n,12,16] i64[2]=[5,5] i64[3]=[2,2,1]", "bad-input")
    fails("Col2Im", "f32[n,12,16] i64[2]=[5,5] i64[2]=[2,2]", "bad-attribute", strides=[1])
