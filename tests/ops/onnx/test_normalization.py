"""Check rules for normalizations."""

from __future__ import annotations

import pytest

from tests.ops.cases import case, fails


@pytest.mark.parametrize("op_type", ["LRN", "MeanVarianceNormalization", "LpNormalization"])
def test_normalizing_keeps_the_type(op_type):
    case(op_type, "f32[n,c,h,w]", "f32[n,c,h,w]")
    case(op_type, "f32", "f32")


def test_the_axis_of_a_norm_must_exist():
    fails("LpNormalization", "f32[n,c]", "axis-out-of-range", axis=2)


def test_the_scale_says_the_channels():
    case("InstanceNormalization", "f32[n,c,l] f32[8] f32[8]", "f32[n,8,l]")
    case("BatchNormalization", "f32[n,c,l] f32[8] f32[8] f32[8] f32[8]", "f32[n,8,l]")
    case("GroupNormalization", "f32[n,c,l] f32[8] f32[8]", "f32[n,8,l]", num_groups=2)
    case("GroupNormalization", "f32[n,8,l] f32[2] f32[2]", "f32[n,8,l]", num_groups=2, opset=18)
    case("InstanceNormalization", "f32[n,c,l] f32[s] f32[s]", "f32[n,c,l]")
    case("BatchNormalization", "f32[n] f32[1] f32[1] f32[1] f32[1]", "f32[n]")
    fails("InstanceNormalization", "f32[n,4,l] f32[8] f32[8]", "dim-mismatch")
    fails("BatchNormalization", "f32[n,4] f32[8] f32[8] f32[8] f32[8]", "dim-mismatch")


def test_statistics_have_the_types_of_those_given():
    inputs = "f16[n,c,l] f32[c] f32[c] f64[c] f64[c]"
    case("BatchNormalization", inputs, "f16[n,c,l] f64[c] f64[c]", training_mode=1)
    case("BatchNormalization", "f32[n,c] f32[c] f32[c] f32[c] f32[c]", "f32[n,c] f32[c] f32[c] f32[c] f32[c]", opset=9)
    case(
        "BatchNormalization",
        "f32[n,c,9] f32[c,9] f32[c,9] f32[c,9] f32[c,9]",
        "f32[n,c,9] f32[c,9]",
        opset=7,
        spatial=0,
    )
    fails("BatchNormalization", "f32[n,c] f32[c] f32[c] f32[c] f32[c]", "bad-attribute", outputs=3)


def test_a_layer_is_normalized_from_an_axis_on():
    case("LayerNormalization", "f16[b,s,64] f16[64] f16[64]", "f16[b,s,64]")
    case("LayerNormalization", "f16[b,s,64] f16[64]", "f16[b,s,64] f32[b,s,1] f32[b,s,1]")
    case("LayerNormalization", "f16[b,s,64] f16[s,64]", "f16[b,s,64] f16[b,1,1] f16[b,1,1]", axis=1, stash_type=10)
    case("LayerNormalization", "f32 f32[64]", "f32 f32 f32")
    case("LayerNormalization", "f16[b,64] f32[64]", "f32[b,64]", opset=13)
    case("RMSNormalization", "f16[b,s,64] f32[64]", "f32[b,s,64]")
    case("SimplifiedLayerNormalization", "f32[b,s,64] f32[64]", "f32[b,s,64] f32[b,s,1]")
    fails("LayerNormalization", "f32[b,64] f32[64]", "axis-out-of-range", axis=2)
    fails("LayerNormalization", "f32[b,64] f32[64]", "axis-out-of-range", axis=-3, outputs=3)
    fails("RMSNormalization", "f32[b,64] f32[64]", "axis-out-of-range", axis=2)


def test_the_mask_of_a_dropout_became_bool_in_opset_10():
    case("Dropout", "f32[b,s]", "f32[b,s] bool[b,s]")
    case("Dropout", "f16[b,s]", "f16[b,s] f16[b,s]", opset=7)
    case("Dropout", "f32 f32[] bool[]", "f32 bool")
