"""Check rules for pooling."""

from __future__ import annotations

import pytest

from tests.ops.cases import case, fails

KINDS = ("AveragePool", "MaxPool", "LpPool")


@pytest.mark.parametrize("op_type", KINDS)
def test_windows_slide_over_every_spatial_axis(op_type):
    case(op_type, "f32[n,c,8,9]", "f32[n,c,4,4]", kernel_shape=[2, 2], strides=[2, 2])
    case(op_type, "f32[n,c,h,w]", "f32[n,c,h//2,w//2]", kernel_shape=[2, 2], strides=[2, 2], least={"h": 2, "w": 2})
    case(op_type, "f32[n,c,l]", "f32[n,c,(l-1)//2+1]", kernel_shape=[3], strides=[2], pads=[1, 1], opset=7)
    case(op_type, "f32[n,c,l]", "f32[n,c,l-4]", kernel_shape=[3], dilations=[2])
    case(op_type, "f32[n,c,l]", "f32[n,c,(l+1)//2]", kernel_shape=[3], strides=[2], auto_pad="SAME_UPPER")
    case(op_type, "f32", "f32[?,?,?]", kernel_shape=[3])


@pytest.mark.parametrize("op_type", KINDS)
def test_a_last_window_may_hang_over_the_end(op_type):
    case(op_type, "f32[n,c,7]", "f32[n,c,4]", kernel_shape=[2], strides=[2], ceil_mode=1)
    case(op_type, "f32[n,c,l]", "f32[n,c,(l+1)//2]", kernel_shape=[2], strides=[2], ceil_mode=1)
    case(op_type, "f32[n,c,l]", "f32[n,c,l//2]", kernel_shape=[3], strides=[2], ceil_mode=1)


@pytest.mark.parametrize("op_type", KINDS)
def test_a_last_window_that_starts_in_the_padding_does_not_count(op_type):
    given = {"kernel_shape": [3], "strides": [3], "pads": [1, 1], "ceil_mode": 1}
    for size, count in ((2, 1), (5, 2), (6, 3), (9, 4)):
        case(op_type, f"f32[n,c,{size}]", f"f32[n,c,{count}]", **given)
    case(op_type, "f32[n,c,l]", "f32[n,c,l//3+1]", **given)
    case(op_type, "f32[n,c,l]", "f32[n,c,(l+2)//3]", kernel_shape=[1], strides=[3], ceil_mode=1)
    case(
        op_type,
        "f32[n,c,l]",
        "f32[n,c,min((l+2)//4+1,(l+4)//4)]",
        kernel_shape=[2],
        strides=[4],
        pads=[1, 1],
        ceil_mode=1,
    )


def test_where_runtimes_differ_the_size_is_unknown():
    case("MaxPool", "f32[n,c,8]", "f32[n,c,?]", kernel_shape=[3], strides=[2], auto_pad="VALID", ceil_mode=1)
    case("MaxPool", "f32[n,c,7]", "f32[n,c,3]", kernel_shape=[3], strides=[2], auto_pad="VALID", ceil_mode=1)
    case("MaxPool", "f32[n,c,7]", "f32[n,c,?]", kernel_shape=[3], strides=[2], auto_pad="SAME_UPPER", dilations=[2])
    case("MaxPool", "f32[n,c,7]", "f32[n,c,?]", kernel_shape=[2], strides=[2], pads=[0, 3], ceil_mode=1)


def test_max_pool_also_says_where_the_maxima_are():
    case("MaxPool", "f16[n,c,l]", "f16[n,c,l-1] i64[n,c,l-1]", kernel_shape=[2])


def test_pools_that_cannot_run_are_refused():
    fails("MaxPool", "f32[n,c,h,w]", "rank-mismatch", kernel_shape=[2])
    fails("MaxPool", "f32[n,c,h,w]", "missing-attribute")
    fails("MaxPool", "f32[n,c,l]", "bad-attribute", kernel_shape=[0])
    fails("MaxPool", "f32[n,c,l]", "bad-attribute", kernel_shape=[2], strides=[1, 1])


def test_the_first_lp_pool_did_not_need_a_kernel():
    case("LpPool", "f32[n,c,8,9]", "f32[n,c,?,?]", opset=1)
    case("LpPool", "f32[n,c,8,9]", "f32[n,c,7,8]", kernel_shape=[2, 2], opset=1)


@pytest.mark.parametrize("op_type", ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
def test_a_global_pool_leaves_one_element_for_each_channel(op_type):
    case(op_type, "f32[n,c,h,w]", "f32[n,c,1,1]")
    case(op_type, "f32[n,c]", "f32[n,c]", opset=1)
    case(op_type, "f32", "f32")


def test_unpooling_asks_for_a_size_or_takes_the_least():
    case("MaxUnpool", "f32[n,c,2,2] i64[n,c,2,2]", "f32[n,c,4,4]", kernel_shape=[2, 2], strides=[2, 2])
    given = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0, 0, 1, 1]}
    case("MaxUnpool", "f32[n,c,h,w] i64[n,c,h,w]", "f32[n,c,2*h-1,2*w-1]", **given)
    case("MaxUnpool", "f32[n,c,2,2] i64[n,c,2,2] i64[4]=[n,c,5,h]", "f32[n,c,5,h]", kernel_shape=[2, 2])
    case("MaxUnpool", "f32[n,c,2,2] i64[n,c,2,2] i64[4]", "f32[?,?,?,?]", kernel_shape=[2, 2])
    case("MaxUnpool", "f32 i64 i64[4]=[1,2,5,6]", "f32[1,2,5,6]", kernel_shape=[2, 2])
    fails("MaxUnpool", "f32[n,c,2,2] i64[n,c,2,2] i64[2]=[5,5]", "bad-input", kernel_shape=[2, 2])
    fails("MaxUnpool", "f32[n,c,2,2] i64[n,c,2,2] i64[4]=[1,1,-5,5]", "bad-input", kernel_shape=[2, 2])


def test_regions_are_pooled_to_a_grid():
    case("MaxRoiPool", "f32[n,c,h,w] f32[r,5]", "f32[r,c,2,3]", pooled_shape=[2, 3])
    case("RoiAlign", "f32[n,c,h,w] f32[r,4] i64[r]", "f32[r,c,2,3]", output_height=2, output_width=3)
    case("RoiAlign", "f32[n,c,h,w] f32[r,4] i64[7]", "f32[7,c,1,1]")
    case("RoiAlign", "f32 f32 i64[r]", "f32[r,?,1,1]")
    fails("RoiAlign", "f32[n,c,h,w] f32[5,4] i64[6]", "dim-mismatch")
    fails("RoiAlign", "f32[n,c,h] f32[5,4] i64[6]", "rank-mismatch")
    fails("RoiAlign", "f32[n,c,h,w] f32[5] i64[5]", "rank-mismatch")
    fails("RoiAlign", "f32[n,c,h,w] f32[5,4] i64[5]", "bad-attribute", output_height=0)
    fails("MaxRoiPool", "f32[n,c,h,w] f32[r,5]", "bad-attribute", pooled_shape=[2])


def test_how_many_boxes_are_selected_is_bounded():
    outcome = case("NonMaxSuppression", "f32[1,6,4] f32[1,2,6] i64[1]=[3]", "i64[?,3]")
    assert outcome.scope.upper(outcome.facts[0].type.shape[0]) == 6
    outcome = case("NonMaxSuppression", "f32[b,s,4] f32[b,c,s] i64[]", "i64[?,3]")
    assert outcome.scope.at_least(outcome.scope.parse("b*c*s"), outcome.facts[0].type.shape[0])
    case("NonMaxSuppression", "f32[1,6,4] f32[1,2,6]", "i64[0,3]")
    case("NonMaxSuppression", "f32[1,6,4] f32[1,2,6] i64[]=[0]", "i64[0,3]")
    fails("NonMaxSuppression", "f32[1,6,4] f32[2,6] i64[]", "rank-mismatch")
    fails("NonMaxSuppression", "f32[6,4] f32[1,2,6] i64[]", "rank-mismatch")
