"""Check rules for convolutions."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_windows_slide_over_every_spatial_axis():
    case("Conv", "f32[n,3,224,224] f32[64,3,7,7]", "f32[n,64,112,112]", strides=[2, 2], pads=[3, 3, 3, 3])
    case("Conv", "f32[n,3,h,w] f32[64,3,7,7]", "f32[n,64,(h-1)//2+1,(w-1)//2+1]", strides=[2, 2], pads=[3, 3, 3, 3])
    case("Conv", "f32[n,c,l] f32[8,4,3]", "f32[n,8,l-2]")
    case("Conv", "f32[n,4,9] f32[8,2,3] f32[8]", "f32[n,8,7]", group=2)
    case("Conv", "f32[n,4,d,h,w] f32[8,4,3,3,3]", "f32[n,8,d-4,h,w-2]", dilations=[2, 1, 1], pads=[0, 1, 0, 0, 1, 0])
    case("Conv", "f32[0,4,9] f32[8,4,3]", "f32[0,8,7]")
    case("Conv", "f16[n,4,9] f16[8,4,3]", "f16[n,8,7]", opset=1)


def test_a_window_that_may_not_fit_is_assumed_to():
    outcome = case("Conv", "f32[n,c,l] f32[8,4,3]", "f32[n,8,l-2]")
    assert outcome.assumed == ["joined-dims c 4", "window-fits l 3"]
    outcome = case("Conv", "f32[n,4,l] f32[8,4,3]", "f32[n,8,l]", pads=[1, 1])
    assert outcome.assumed == ["window-fits l + 2 3"]
    assert case("Conv", "f32[n,4,l] f32[8,4,3]", "f32[n,8,l]", pads=[1, 1], least={"l": 1}).assumed == []


def test_a_window_that_does_not_fit_makes_an_unknown_size_and_a_warning():
    outcome = case("Conv", "f32[1,1,2] f32[1,1,3]", "f32[1,1,?]", strides=[2])
    assert [issue.code for issue in outcome.issues] == ["window-too-large"]


def test_padding_can_follow_from_the_stride():
    case("Conv", "f32[n,4,9] f32[8,4,3]", "f32[n,8,5]", strides=[2], auto_pad="SAME_UPPER")
    case("Conv", "f32[n,4,l] f32[8,4,3]", "f32[n,8,(l+1)//2]", strides=[2], auto_pad="SAME_LOWER")
    case("Conv", "f32[n,4,l] f32[8,4,3]", "f32[n,8,(l-3)//2+1]", strides=[2], auto_pad="VALID")
    case("Conv", "f32[n,4,l] f32[8,4,3]", "f32[n,8,?]", strides=[2], auto_pad="VALID", pads=[1, 1])


def test_what_is_unknown_of_one_tensor_leaves_what_the_other_says():
    case("Conv", "f32 f32[8,4,3]", "f32[?,8,?]")
    case("Conv", "f32[n,4,l] f32", "f32[n,?,?]")
    case("Conv", "f32[n,4,l] f32", "f32[n,?,l-2]", kernel_shape=[3])
    case("Conv", "f32 f32", "f32")
    case("Conv", "f32 f32", "f32[?,?,?,?]", kernel_shape=[3, 3])
    case("Conv", "f32[n,4,l] f32[m,4,k]", "f32[n,m,l-k+1]")


def test_tensors_that_do_not_go_together_are_refused():
    fails("Conv", "f32[1,4,9] f32[8,3,3]", "dim-mismatch")
    fails("Conv", "f32[1,4,9] f32[8,4,3,3]", "rank-mismatch")
    fails("Conv", "f32[1,4] f32[8,4]", "rank-mismatch")
    fails("Conv", "f32[1,4,9] f32[3,2,3]", "bad-input", group=2)
    fails("Conv", "f32[1,4,9] f32[8,4,3]", "dim-mismatch", kernel_shape=[2])
    fails("Conv", "f32[1,4,9] f32[8,4,3]", "bad-attribute", kernel_shape=[3, 3])
    fails("Conv", "f32[1,4,9] f32[8,4,3]", "bad-attribute", strides=[0])
    fails("Conv", "f32[1,4,9] f32[8,4,3]", "bad-attribute", pads=[-1, 0])
    fails("Conv", "f32[1,4,9] f32[8,4,3]", "bad-attribute", pads=[1])
    fails("Conv", "f32[1,4,9] f32[8,4,3]", "bad-attribute", auto_pad="SAME")
    fails("Conv", "f32[1,4,9] f32[8,4,3]", "bad-attribute", group=0)


def test_quantized_convolutions_say_their_element_type():
    case("ConvInteger", "u8[n,4,9] u8[8,4,3] u8[] u8[]", "i32[n,8,7]")
    inputs = "u8[n,4,9] f32[] u8[] i8[8,4,3] f32[8] i8[8] f32[] i8[] i32[8]"
    case("QLinearConv", inputs, "i8[n,8,7]")


def test_a_deformed_convolution_has_the_size_of_a_plain_one():
    case("DeformConv", "f32[n,4,h,w] f32[8,4,3,3] f32[n,18,a,b]", "f32[n,8,h-2,w-2]")


def test_the_transpose_goes_back_to_what_windows_slide_over():
    case("ConvTranspose", "f32[n,4,5] f32[4,2,3]", "f32[n,2,7]")
    case("ConvTranspose", "f32[n,4,h,w] f32[4,2,2,2]", "f32[n,2,2*h,2*w]", strides=[2, 2])
    case("ConvTranspose", "f32[n,4,l] f32[4,2,3]", "f32[n,2,2*l]", strides=[2], pads=[1, 1], output_padding=[1])
    case("ConvTranspose", "f32[n,4,l] f32[4,2,3]", "f32[n,4,2*l+3]", strides=[2], dilations=[2], group=2)
    outcome = case("ConvTranspose", "f32[n,4,l] f32[4,2,3]", "f32[n,2,l-4]", pads=[3, 3])
    assert outcome.assumed == ["window-fits l + 2 6"]


def test_the_size_of_a_transpose_can_be_asked_for():
    case("ConvTranspose", "f32[n,4,l] f32[4,2,3]", "f32[n,2,9]", output_shape=[9], strides=[2])
    case("ConvTranspose", "f32 f32[4,2,3]", "f32[?,2,9]", output_shape=[9])
    case("ConvTranspose", "f32[n,4,l] f32[4,2,3]", "f32[n,2,2*l]", strides=[2], auto_pad="SAME_UPPER")
    case(
        "ConvTranspose", "f32[n,4,l] f32[4,2,3]", "f32[n,2,2*l]", strides=[2], auto_pad="SAME_LOWER", output_padding=[1]
    )
    case("ConvTranspose", "f32[n,4,5] f32[4,2,3]", "f32[n,2,11]", strides=[2], auto_pad="VALID")


def test_a_gap_that_no_padding_removes_leaves_the_size_of_a_transpose_unknown():
    case("ConvTranspose", "f32[n,4,5] f32[4,2,3]", "f32[n,2,?]", strides=[4], auto_pad="SAME_UPPER")


def test_a_transpose_that_cannot_run_is_refused():
    fails("ConvTranspose", "f32[n,3,5] f32[4,2,3]", "dim-mismatch")
    fails("ConvTranspose", "f32[n,4,5] f32[4,2,3]", "bad-attribute", output_shape=[1, 2, 9])
    outcome = case("ConvTranspose", "f32[1,4,5] f32[4,2,3]", "f32[1,2,?]", pads=[4, 4])
    assert [issue.code for issue in outcome.issues] == ["window-too-large"]


def test_a_causal_convolution_keeps_the_length_and_gives_its_last_inputs():
    case("CausalConvWithState", "f32[b,c,l] f32[c,1,4] f32[c] f32[b,c,3]", "f32[b,c,l] f32[b,c,3]")
    case("CausalConvWithState", "f32[b,c,l] f32[8,1,k]", "f32[b,8,l] f32[b,8,k-1]", least={"k": 1})
    case("CausalConvWithState", "f32 f32[8,1,4]", "f32 f32[?,?,3]")
    fails("CausalConvWithState", "f32[b,c,l,m] f32[c,1,4]", "rank-mismatch", outputs=2)
    fails("CausalConvWithState", "f32[b,3,l] f32[4,1,4]", "dim-mismatch", outputs=2)


def test_a_window_over_one_element_always_fits():
    assert case("Conv", "f32[n,4,l] f32[8,4,1]", "f32[n,8,(l+1)//2]", strides=[2]).assumed == []
    case("Conv", "f32[n,4,0] f32[8,4,1]", "f32[n,8,0]", strides=[2])
