"""Check rules for operators that move elements about, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops import cases
from tests.ops.runtime import ran

case = partial(cases.case, domain="com.microsoft")
fails = partial(cases.fails, domain="com.microsoft")


def test_padding_may_be_one_row():
    ran("Pad", "f32[a,b] i64[4]=[0,2,1,0]", "f32[a+1,b+2]")
    ran("Pad", "f32[a,b] i64[1,4]=[0,2,1,0] f32[1]", "f32[a+1,b+2]")
    ran("Pad", "f32[a,b] i64[4]=[0,-1,0,0]", "f32[a,b-1]", least={"b": 1})
    case("Pad", "f32[a,b] i64[4]", "f32[?,?]")


def test_ranges():
    ran("Range", "i64[]=[2] i64[]=[9]", "i64[7]")
    ran("Range", "i32[]=[0] i32[1]=[n]", "i32[n]")
    ran("Range", "i64[]=[0] i64[]=[n] i64[]=[3]", "i64[(n+2)//3]")
    ran("Range", "f32[]=[0.0] f32[]=[2.0] f32[]=[0.5]", "f32[4]")


def test_axes_are_inserted():
    ran("ExpandDims", "f32[a,b] i32[]=[1]", "f32[a,1,b]")
    ran("ExpandDims", "f32[a,b] i32[]=[-1]", "f32[a,b,1]")
    case("ExpandDims", "f32[a,b] i32[]", "f32[?,?,?]")


def test_looking_up():
    ran("GatherND", "f32[3,4,c] i64[k,2]", "f32[k,c]")
    ran("GatherND", "i64[3,4] i32[k,m,1]", "i64[k,m,4]")
    case("TorchEmbedding", "f32[v,m] i64[b,s]", "f32[b,s,m]")
    ran("GatherPacked", "u8[v,36] i64[b,s]", "bf16[b,s,64]", K=64, packed_type=2, least={"v": 1})
    ran("GatherPacked", "u8[9,18] i32[b]", "f32[b,32]", K=32, packed_type=2, output_dtype=1)
    scales = "f32[9,1]"
    ran("GatherBlockQuantized", f"u8[9,16] i64[b,s] {scales}", "f32[b,s,32]", block_size=32)
    ran("GatherBlockQuantized", f"u8[9,32] i64[b] {scales}", "f32[b,32]", block_size=32, bits=8)
    case("GatherBlockQuantized", f"i4[9,32] i64[b,s] {scales}", "f32[b,s,32]", block_size=32)


def test_windows_are_cut_out():
    ran("UnfoldTensor", "f32[a,b]", "f32[a,(b-3)//2+1,3]", size=3, step=2, sizes=({"a": 2, "b": 6},))
    ran("UnfoldTensor", "f32[7,b]", "f32[6,b,2]", size=2, dim=0)
    ran("UnfoldTensor", "f32[7,b]", "f32[8,b,0]", size=0, dim=0)
    fails("UnfoldTensor", "f32[7,b]", "bad-attribute", size=-1)
    fails("UnfoldTensor", "f32[7,b]", "axis-out-of-range", size=2, dim=2)
    ran("CropAndResize", "f32[n,c,8,8] f32[r,4] i32[r] i32[2]=[3,5]", "f32[r,c,3,5]", sizes=({"n": 2, "c": 3, "r": 4},))
    case("CropAndResize", "f32[n,c,8,8] f32[r,4] i32[r] i32[2]", "f32[r,c,?,?]")
    ran("GridSample", "f32[n,c,5,6] f32[n,h,w,2]", "f32[n,c,h,w]")


def test_fourier_transforms():
    case("Rfft", "f32[a,n]", "f32[a,n//2+1,2]")
    case("Irfft", "f32[a,n,2]", "f32[a,2*n-2]", signal_ndim=1, least={"n": 1})


def test_what_the_data_decides():
    ran("Unique", "f32[n]", "f32[?] i64[n] i64[?]")
    ran("DynamicTimeWarping", "f32[m,n]", "i32[2,?]")
    ran("DynamicTimeWarping", "f32[1,m,n]", "i32[2,?]")
    ran("BifurcationDetector", "i64[s] i64[c] i64[]=[0]", "i64[?] i64[]", sizes=({"s": 5, "c": 4},))
    ran("BifurcationDetector", "i64[s] i64[c] i64[1]=[0] i64[p]", "i64[?] i64[1]", sizes=({"s": 4, "c": 3, "p": 5},))


def test_tokens_lie_along_a_new_axis_unless_there_is_nothing_to_split():
    attributes = {"separators": [" "], "mark": 0, "mincharnum": 1, "pad_value": "#"}
    ran("Tokenizer", "str[3]", "str[3,?]", **attributes)
    ran("Tokenizer", "str[2,3]", "str[2,3,?]", **attributes)
    ran("Tokenizer", "str[n]", "str", **attributes)
    ran("Tokenizer", "str[0]", "str[0]", **attributes)
    ran("Tokenizer", "str[0,2]", "str[0,0]", **attributes)
    ran("Tokenizer", "str[2,0]", "str[2,0]", **attributes)
    ran("Tokenizer", "str[n,c]", "str[n,c,?]", least={"n": 1, "c": 1}, **attributes)
    fails("Tokenizer", "str[1,1,1]", "rank-mismatch", **attributes)
