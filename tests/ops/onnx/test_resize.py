"""Check rules for Resize and Upsample."""

from __future__ import annotations

import pytest

from tests.ops.cases import case, fails


def test_scales_are_applied_in_float32():
    case("Resize", "f32[n,c,10,100] - f32[4]=[1.0,1.0,0.7,0.29]", "f32[n,c,7,29]")
    case("Resize", "f32[n,c,3,7] - f32[4]=[1.0,1.0,2.5,1.7]", "f32[n,c,7,11]")
    case("Resize", "f32[n,c,0,4] - f32[4]=[1.0,1.0,2.5,0.1]", "f32[n,c,0,0]")


def test_scales_of_few_bits_apply_to_symbols():
    case("Resize", "f32[n,c,h,w] - f32[4]=[1.0,1.0,2.0,0.5]", "f32[n,c,2*h,w//2]")
    case("Resize", "f32[n,c,h,w] - f32[4]=[1.0,1.0,2.5,1.75]", "f32[n,c,5*h//2,7*w//4]")
    case("Resize", "f32[n,c,h,w] - f32[4]=[1.0,1.0,0.7,1.1]", "f32[n,c,?,?]")
    case("Resize", "f32[n,c,4*(h//4),w] - f32[4]=[1.0,1.0,0.25,1.0]", "f32[n,c,h//4,w]")


def test_a_scale_made_of_sizes_is_used_where_float32_is_exact():
    case("Resize", "f32[n,c,8,w] - f32[4]=[1.0,1.0,s/2,s/2]", "f32[n,c,4*s,?]")
    case("Resize", "f32[n,c,8,8] - f32[4]=[1.0,1.0,s/3,?]", "f32[n,c,?,?]")


def test_sizes_are_taken_as_they_are():
    case("Resize", "f32[n,c,h,w] - - i64[4]=[n,c,7,2*w]", "f32[n,c,7,2*w]")
    case("Resize", "f32[n,c,h,w] f32[0] f32[0] i64[4]=[1,3,7,9]", "f32[1,3,7,9]", opset=11)
    case("Resize", "f32 - - i64[4]=[1,3,7,9]", "f32[1,3,7,9]")
    case("Resize", "f32[n,c,h,w] - - i64[4]", "f32[?,?,?,?]")


def test_which_of_scales_and_sizes_counts_may_be_unknown():
    case("Resize", "f32[n,c,h,w] - f32[k] i64[m]", "f32[?,?,?,?]", opset=11)
    case("Resize", "f32[n,c,h,w] - f32[0] i64[m]", "f32[?,?,?,?]", opset=11)
    case("Resize", "f32[n,c,h,w] f32[0] f32[4]=[1.0,1.0,2.0,2.0] i64[0]", "f32[n,c,2*h,2*w]", opset=11)
    case("Resize", "f32[n,c,h,w] f32[0] f32[4]=[1.0,1.0,2.0,2.0] i64[m]", "f32[n,c,2*h,2*w]", opset=11)
    case("Resize", "f32 - f32[4]", "f32[?,?,?,?]")
    case("Resize", "f32 - f32", "f32")


def test_axes_that_are_not_chosen_keep_their_size():
    case("Resize", "f32[n,c,h,w] - - i64[1]=[9]", "f32[n,c,h,9]", axes=[-1])
    case("Resize", "f32[n,c,h,w] - f32[2]=[2.0,3.0]", "f32[n,c,3*h,2*w]", axes=[3, 2])
    case("Resize", "f32[n,c,h,w] - f32[2]", "f32[n,c,?,?]", axes=[3, 2])
    case("Resize", "f32 - f32[2]=[2.0,3.0]", "f32", axes=[3, 2])
    case("Resize", "f32[n,4] - f32[2]=[2.0,3.0]", "f32[2*n,12]", axes=[])  # as runtimes read it
    fails("Resize", "f32[n,c,h,w] - f32[2]=[2.0,3.0]", "axis-twice", axes=[3, -1])
    fails("Resize", "f32[n,c,h,w] - f32[2]=[2.0,3.0]", "axis-out-of-range", axes=[3, 4])


@pytest.mark.parametrize(
    ("policy", "sizes", "found"),
    [
        ("not_larger", "7,8", "7,5"), ("not_smaller", "7,8", "12,8"), ("not_larger", "9,3", "5,3"),
        ("not_smaller", "9,3", "9,6"), ("not_larger", "3,10", "3,2"), ("not_smaller", "3,10", "15,10"),
    ],
)  # fmt: skip
def test_the_aspect_ratio_can_be_kept(policy, sizes, found):
    given = {"axes": [2, 3], "keep_aspect_ratio_policy": policy}
    case("Resize", f"f32[n,c,6,4] - - i64[2]=[{sizes}]", f"f32[n,c,{found}]", **given)
    case("Resize", f"f32[n,c,h,4] - - i64[2]=[{sizes}]", "f32[n,c,?,?]", **given)


def test_a_tie_that_float32_may_round_either_way_is_unknown():
    given = {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}
    case("Resize", "f32[n,c,6,27] - - i64[2]=[7,40]", "f32[n,c,7,?]", **given)
    case("Resize", "f32[n,c,h,w] - - i64[1]=[9]", "f32[n,c,h,9]", axes=[3], keep_aspect_ratio_policy="not_larger")
    given["axes"] = [-2, -1]
    case("Resize", "f32[n,c,6,4] - - i64[2]=[7,8]", "f32[n,c,?,?]", **given)
    fails("Resize", "f32[n,c,6,4] - - i64[2]=[7,8]", "bad-attribute", axes=[2, 3], keep_aspect_ratio_policy="fit")


def test_a_crop_that_takes_effect_leaves_the_size_unknown():
    given = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    inputs = "f32[n,c,h,w] f32[8]=[0.0,0.0,0.2,0.0,1.0,1.0,0.8,1.0] f32[4]=[1.0,1.0,2.0,2.0]"
    case("Resize", inputs, "f32[n,c,?,2*w]", **given)
    case("Resize", "f32[n,c,h,w] f32[8] f32[4]=[1.0,1.0,2.0,2.0]", "f32[?,?,?,?]", **given)


def test_resizes_that_cannot_run_are_refused():
    fails("Resize", "f32[n,c] - f32[2]=[1.0,2.0] i64[2]=[3,4]", "bad-input")
    fails("Resize", "f32[n,c]", "bad-input")
    fails("Resize", "f32[n,c] - f32[3]=[1.0,2.0,3.0]", "bad-input")
    fails("Resize", "f32[n,c] - f32[2]=[1.0,-2.0]", "bad-input")
    fails("Resize", "f32[n,c] - - i64[2]=[3,-4]", "bad-input")


def test_the_first_resize_and_upsample_take_scales_alone():
    for op_type, opset in (("Resize", 10), ("Upsample", 9)):
        case(op_type, "f32[n,c,h,3] f32[4]=[1.0,1.0,2.5,1.7]", "f32[n,c,5*h//2,5]", opset=opset)
        case(op_type, "f32[n,c,h,3] f32[4]", "f32[?,?,?,?]", opset=opset)
        case(op_type, "f32 f32[4]", "f32[?,?,?,?]", opset=opset)
        fails(op_type, "f32[n,c,h,3] f32[2]=[1.0,1.0]", "bad-input", opset=opset)
    case("Upsample", "f32[n,c,h,3]", "f32[n,c,2*h,5]", opset=7, scales=[1.0, 1.0, 2.0, 1.7])
    case("Upsample", "f32[n,c,h,3]", "f32[n,c,2*h,5]", opset=1, height_scale=2.0, width_scale=1.7)
    case("Upsample", "f32", "f32[?,?,?,?]", opset=1, height_scale=2.0, width_scale=1.7)
    fails("Upsample", "f32[n,c,h]", "rank-mismatch", opset=1, height_scale=2.0, width_scale=1.7)
    fails("Upsample", "f32[n,c,h]", "missing-attribute", opset=7)
