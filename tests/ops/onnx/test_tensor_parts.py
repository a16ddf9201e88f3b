"""Check rules for what joins, cuts, repeats and pads tensors."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_concat_adds_up_one_axis():
    case("Concat", "f32[b,p,4] f32[b,s,4]", "f32[b,p+s,4]", axis=1)
    case("Concat", "f32[b,2] f32[b,3] f32[b,s]", "f32[b,s+5]", axis=-1)
    case("Concat", "f32[2,3] f32[2,4]", "f32[2,7]", opset=1)
    case("Concat", "i64[1]=[b] i64[2]=[-1,s]", "i64[3]=[b,-1,s]", axis=0)
    case("Concat", "i64[1]=[b] i64[1]", "i64[2]=[b,?]", axis=0)
    case("Concat", "i64[2,1]=[b,1] i64[2,2]=[2,3,4,5]", "i64[2,3]=[b,2,3,1,4,5]", axis=1)
    case("Concat", "f32[b,2] f32", "f32[b,?]", axis=1)
    case("Concat", "f32[b,2] ?", "f32[b,?]", axis=1)
    case("Concat", "f32 f32", "f32", axis=1)
    case("Concat", "i64[0] i64[2]=[b,s]", "i64[2]=[b,s]", axis=0)
    fails("Concat", "f32[2,3] f32[4,3]", "dim-mismatch", axis=1)
    fails("Concat", "f32[2,3] f32[3]", "rank-mismatch", axis=0)
    fails("Concat", "f32[2,3]", "axis-out-of-range", axis=2)
    fails("Concat", "f32[] f32[]", "rank-mismatch", axis=0)
    fails("Concat", "f32[2] f32[2]", "missing-attribute")


def test_the_other_axes_of_a_concat_are_assumed_to_be_equal():
    outcome = case("Concat", "f32[a,2] f32[b,3] f32[7,4]", "f32[7,9]", axis=1)
    assert outcome.assumed == ["joined-dims a b", "joined-dims a 7"]


def test_split_into_given_lengths():
    case("Split", "f32[b,6] i64[2]=[2,4]", "f32[b,2] f32[b,4]", axis=1)
    case("Split", "f32[b,6]", "f32[b,1] f32[b,5]", opset=11, axis=1, split=[1, 5])
    case("Split", "f32[b,s] i64[2]=[n,?]", "f32[b,n] f32[b,s-n]", axis=1)
    case("Split", "f32[b,s] i64[2]", "f32[b,?] f32[b,?]", axis=1)
    case("Split", "f32 i64[2]=[2,4]", "f32 f32")
    case("Split", "i64[3]=[b,s,4] i64[2]=[1,2]", "i64[1]=[b] i64[2]=[s,4]")
    case("Split", "i64[2,2]=[1,2,3,4] i64[2]=[1,1]", "i64[2,1]=[1,3] i64[2,1]=[2,4]", axis=1)
    fails("Split", "f32[6] i64[2]=[2,5]", "dim-mismatch", outputs=2)
    fails("Split", "f32[6] i64[3]=[2,2,2]", "bad-input", outputs=2)
    fails("Split", "f32[6] i64[2]=[-2,8]", "bad-input", outputs=2)


def test_split_into_equal_parts():
    case("Split", "f32[6,4]", "f32[3,4] f32[3,4]", opset=13)
    case("Split", "f32[2*s,4]", "f32[s,4] f32[s,4]", opset=2)
    case("Split", "f32[7,4]", "f32[3,4] f32[3,4] f32[1,4]", num_outputs=3)
    case("Split", "f32[6]", "f32[3] f32[3]", opset=11, split=[])  # as runtimes read it
    case("Split", "f32[6] i64[0]=[]", "f32[3] f32[3]")
    case("Split", "f32[6] i64[0]", "f32[3] f32[3]", opset=13)
    case("Split", "f32[4*s]", "f32[2*s] f32[2*s]", num_outputs=2)
    case("Split", "f32[s]", "f32[(s+1)//2] f32[s//2]", num_outputs=2)
    fails("Split", "f32[7]", "dim-mismatch", opset=13, outputs=2)
    fails("Split", "f32[7]", "bad-attribute", outputs=2, num_outputs=3)
    fails("Split", "f32[7]", "missing-attribute", outputs=2)


def test_slice_clamps_numbers():
    case("Slice", "f32[10,20]", "f32[3,20]", opset=1, starts=[2], ends=[5], axes=[0])
    case("Slice", "f32[10,20]", "f32[8,15]", opset=1, starts=[2, 5], ends=[100, 20])
    case("Slice", "f32[10] i64[1]=[-3] i64[1]=[9223372036854775807]", "f32[3]")
    case("Slice", "f32[10] i64[1]=[-1] i64[1]=[-100] i64[1]=[0] i64[1]=[-2]", "f32[5]")
    case("Slice", "f32[10] i64[1]=[7] i64[1]=[3]", "f32[0]")
    case("Slice", "f32[0] i64[1]=[0] i64[1]=[3]", "f32[0]")
    case("Slice", "f32[0] i64[1]=[-1] i64[1]=[-9] i64[1]=[0] i64[1]=[-1]", "f32[0]")
    fails("Slice", "f32[10] i64[1]=[0] i64[1]=[3] i64[1]=[0] i64[1]=[0]", "bad-input")
    fails("Slice", "f32[10] i64[2]=[0,0] i64[1]=[3]", "bad-input")
    fails("Slice", "f32[10] i64[1]=[0] i64[1]=[3] i64[1]=[1]", "axis-out-of-range")


def test_slice_with_sizes():
    case("Slice", "f32[b,s] i64[1]=[0] i64[1]=[9223372036854775807] i64[1]=[1]", "f32[b,s]")
    case("Slice", "f32[b,s] i64[1]=[1] i64[1]=[9223372036854775807] i64[1]=[1]", "f32[b,max(s-1,0)]")
    case("Slice", "f32[s] i64[1]=[0] i64[1]=[-1]", "f32[max(s-1,0)]")
    case("Slice", "f32[s] i64[1]=[-1] i64[1]=[9223372036854775807]", "f32[min(s,1)]")
    case("Slice", "f32[s] i64[1]=[0] i64[1]=[9223372036854775807] i64[1]=[0] i64[1]=[2]", "f32[(s+1)//2]")
    case("Slice", "f32[s] i64[1]=[-1] i64[1]=[-9223372036854775807] i64[1]=[0] i64[1]=[-1]", "f32[s]")
    case("Slice", "f32[s] i64[1]=[2] i64[1]=[-9223372036854775807] i64[1]=[0] i64[1]=[-1]", "f32[min(s,3)]")
    case("Slice", "f32[512] i64[1]=[0] i64[1]=[s]", "f32[min(s,512)]")
    case("Slice", "f32[p+s] i64[1]=[p] i64[1]=[p+s]", "f32[s]")
    case("Slice", "f32[s] i64[1]=[n] i64[1]=[n+2]", "f32[max(min(n+2,s)-min(n,s),0)]")


def test_slice_by_what_is_not_known():
    case("Slice", "f32[b,s] i64[1] i64[1]=[3] i64[1]=[1]", "f32[b,?]")
    case("Slice", "f32[b,s] i64[1]=[0] i64[1]=[3] i64[1]", "f32[?,?]")
    case("Slice", "f32[b,s] i64[1]=[0] i64[1]=[3] i64[1]=[1] i64[1]", "f32[b,?]")
    case("Slice", "f32[b,s] i64 i64", "f32[?,?]")
    case("Slice", "f32 i64[1]=[0] i64[1]=[3]", "f32")
    case("Slice", "f32[4] i64[1]=[3] i64[1]=[9223372036854775807] i64[1]=[0] i64[1]=[-1]", "f32[?]")


def test_slices_of_shapes():
    case("Slice", "i64[4]=[b,s,3,4] i64[1]=[-2] i64[1]=[9223372036854775807]", "i64[2]=[3,4]")
    case("Slice", "i64[4]=[b,s,3,4] i64[1]=[3] i64[1]=[-9] i64[1]=[0] i64[1]=[-2]", "i64[2]=[4,s]")
    case("Slice", "i64[2,2]=[1,2,3,4] i64[1]=[1] i64[1]=[2] i64[1]=[1]", "i64[2,1]=[2,4]")


def test_tile_repeats():
    case("Tile", "f32[b,3] i64[2]=[2,s]", "f32[2*b,3*s]")
    case("Tile", "f32[b,3] i64[2]", "f32[?,?]")
    case("Tile", "f32 i64[2]=[2,s]", "f32[?,?]")
    case("Tile", "f32[b,3] f32[]=[2.0] f32[]=[1.0]", "f32[b,6]", opset=1)
    case("Tile", "i64[2]=[b,1] i64[1]=[2]", "i64[4]=[b,1,b,1]")
    case("Tile", "i64[2,1]=[b,1] i64[2]=[2,2]", "i64[4,2]=[b,b,1,1,b,b,1,1]")
    fails("Tile", "f32[2,3] i64[1]=[2]", "bad-input")
    fails("Tile", "f32[2] i64[1]=[-1]", "bad-input")


def test_pad_adds_to_both_ends():
    case("Pad", "f32[b,s]", "f32[b,s+3]", opset=2, pads=[0, 1, 0, 2])
    case("Pad", "f32[b,s]", "f32[b,s+3]", opset=1, paddings=[0, 1, 0, 2])
    case("Pad", "f32[b,s] i64[4]=[0,1,0,n]", "f32[b,s+n+1]")
    case("Pad", "f32[b,5] i64[4]=[0,-1,0,-2]", "f32[b,2]")
    case("Pad", "f32[b,s] i64[2]=[1,2] - i64[1]=[-1]", "f32[b,s+3]")
    case("Pad", "f32[b,s] i64[2]=[1,2] - i64[1]", "f32[?,?]")
    case("Pad", "f32[b,s] i64[4]", "f32[?,?]")
    case("Pad", "f32 i64[4]=[0,1,0,2]", "f32[?,?]")
    case("Pad", "i64[2]=[b,s] i64[2]=[1,2] i64[]=[1]", "i64[5]=[1,b,s,1,1]")
    case("Pad", "i64[3]=[b,s,7] i64[2]=[-1,1]", "i64[3]=[s,7,0]")
    fails("Pad", "f32[2,3] i64[3]=[1,1,1]", "bad-input")
    fails("Pad", "f32[3] i64[2]=[-2,-2]", "bad-input")


def test_blocks_move_between_channels_and_space():
    case("DepthToSpace", "f32[b,12,h,w]", "f32[b,3,2*h,2*w]", blocksize=2)
    case("SpaceToDepth", "f32[b,3,2*h,4]", "f32[b,12,h,2]", blocksize=2)
    case("DepthToSpace", "f32", "f32[?,?,?,?]", blocksize=2)
    fails("DepthToSpace", "f32[1,3,4,4]", "dim-mismatch", blocksize=2)
    fails("DepthToSpace", "f32[1,4,4]", "rank-mismatch", blocksize=2)
    fails("SpaceToDepth", "f32[1,3,5,4]", "dim-mismatch", blocksize=2)
    fails("SpaceToDepth", "f32[1,3,4,4]", "bad-attribute", blocksize=0)


def test_crops_take_the_sizes_given():
    case("CenterCropPad", "f32[b,s,3] i64[2]=[10,n]", "f32[10,n,3]", axes=[0, 1])
    case("CenterCropPad", "f32[b,s] i64[2]", "f32[?,?]")
    case("CenterCropPad", "f32[b,s,3] i64[1]=[4]", "f32[b,s,4]", axes=[-1])
    fails("CenterCropPad", "f32[2,3] i64[1]=[4]", "bad-input")
    fails("CenterCropPad", "f32[2] i64[1]=[-4]", "bad-input")


def test_triangles_and_reversals_keep_the_type():
    case("Trilu", "f32[b,s,s]", "f32[b,s,s]")
    case("Trilu", "i64[2,2]=[b,2,3,s]", "i64[2,2]=[b,2,0,s]")
    case("Trilu", "i64[2,3]=[1,2,3,4,5,6] i64[]=[1]", "i64[2,3]=[1,2,0,4,5,6]", upper=0)
    case("ReverseSequence", "f32[s,b,4] i64[b]", "f32[s,b,4]")
