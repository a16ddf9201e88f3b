"""Check rules for what onnxruntime adds to ONNX's own domain, against the runtime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops.cases import case, fails
from tests.ops.runtime import ran as run_case

ran = partial(run_case, domain="", opset=9)


def test_functions_of_the_first_drafts():
    ran("Affine", "f32[a,b]", "f32[a,b]", alpha=2.0, beta=1.0)
    ran("ParametricSoftplus", "f32[a]", "f32[a]", alpha=2.0, beta=1.0)
    ran("ScaledTanh", "f32[a,b]", "f32[a,b]", alpha=2.0, beta=1.0)
    ran("Scale", "f32[a,b]", "f32[a,b]", scale=2.0)
    ran("ImageScaler", "f32[n,3,h,w]", "f32[n,3,h,w]", scale=2.0, bias=[1.0, 1.0, 1.0])
    ran("ThresholdedRelu", "f32[a,b]", "f32[a,b]", alpha=1.0)
    run_case("MeanVarianceNormalization", "f32[n,c,h,w]", "f32[n,c,h,w]", domain="", opset=8, across_channels=1)
    case("GRUUnit", "f32[n,d] f32[n,3*d] f32[n] f32[1]", "f32[n,d]", opset=9)
    case("MemcpyToHost", "f32[a]", "f32[a]")
    case("MemcpyFromHost", "f32[a]", "f32[a]")


def test_normalization_before_onnx_had_it():
    run_case("LayerNormalization", "f32[b,s,8] f32[8] f32[8]", "f32[b,s,8] f32[b,s,1] f32[b,s,1]", domain="", opset=15)
    run_case("SimplifiedLayerNormalization", "f32[b,s,8] f32[8]", "f32[b,s,8] f32[b,s,1]", domain="", opset=18)
    run_case("SimplifiedLayerNormalization", "f32[b,4,8] f32[4,8]", "f32[b,4,8]", domain="", opset=18, axis=1)


def test_cropping():
    ran("Crop", "f32[n,c,h,w]", "f32[n,c,h-3,w-2]", border=[1, 2, 1, 1], sizes=({"n": 1, "c": 2, "h": 9, "w": 8},),
        least={"h": 4, "w": 3})  # fmt: skip
    ran("Crop", "f32[n,c,8,9]", "f32[n,c,3,2]", border=[1, 2, 1, 1], scale=[3, 2])
    fails("Crop", "f32[1,1,2,2]", "bad-attribute", opset=9, border=[1, 2, 1, 1])
    fails("Crop", "f32[1,2,2]", "rank-mismatch", opset=9, border=[1, 2, 1, 1])
    ran("DynamicSlice", "f32[a,9] i64[1]=[2] i64[1]=[-1] i64[1]=[1]", "f32[a,6]")
    ran("DynamicSlice", "f32[8,9] i32[2]=[0,2] i32[2]=[3,7]", "f32[3,5]")


def test_filling():
    case("GivenTensorFill", "", "f32[2,3]", opset=9, shape=[2, 3], values=[1.0])
    case("GivenTensorFill", "i64[2]", "f32", opset=9, input_as_shape=1)


def test_plugins_give_what_the_runtime_infers_for_them():
    case("EfficientNMS_TRT", "f32[b,n,1,4] f32[b,n,c]", "i32[b,1] f32[b,77,4] f32[b,77] i32[b,77]", max_output_boxes=77)
    case("PyramidROIAlign_TRT", "f32[b,n,4] f32[b,c,h,w] f32 f32 f32", "f32[b,n,c,7,7]", pooled_size=7)
    case("MultilevelCropAndResize_TRT", "f32[b,n,4] f32[b,c,h,w] f32 f32 f32", "f32[b,n,c,7,7]", pooled_size=7)
    case("DisentangledAttention_TRT", "f32[b,s,s] f32[b,s,k] f32[b,s,k]", "f32[b,s,s]")


def test_payloads_are_known_but_say_nothing():
    case("EPContext", "f32[a] f32[b]", "? ?", domain="com.microsoft")
    case("Snpe", "f32[a]", "?", domain="com.microsoft", DLC="x")
