"""Check rules for losses."""

from __future__ import annotations

import pytest

from tests.ops.cases import case, fails


@pytest.mark.parametrize("op_type", ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
def test_a_loss_is_one_number_unless_nothing_is_reduced(op_type):
    case(op_type, "f32[n,c,d] i64[n,d]", "f32[]")
    case(op_type, "f32[n,c,d] i64[n,d]", "f32[]", reduction="sum")
    case(op_type, "f32[n,c,d] i64[n,d] f32[c]", "f32[n,d]", reduction="none")
    case(op_type, "f32[n,c] i64[4]", "f32[4]", reduction="none")
    case(op_type, "f32 i64[n,d]", "f32[n,d]", reduction="none")
    case(op_type, "f32[n,c,d] i64", "f32[n,d]", reduction="none")
    fails(op_type, "f32[n,c,d] i64[n]", "rank-mismatch", reduction="none")
    fails(op_type, "f32[n,c,3] i64[n,4]", "dim-mismatch", reduction="none")
    fails(op_type, "f32[n,c] i64[n]", "bad-attribute", reduction="max")
    fails(op_type, "f32[n] i64[n]", "rank-mismatch")


def test_logarithms_of_probabilities_have_the_type_of_the_scores():
    case("SoftmaxCrossEntropyLoss", "f16[n,c,d] i64[n,d]", "f16[] f16[n,c,d]")
