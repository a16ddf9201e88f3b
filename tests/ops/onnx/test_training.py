"""Check rules for gradients and optimizers."""

from __future__ import annotations

import pytest

from tests.ops.cases import case, fails

DOMAIN = "ai.onnx.preview.training"


def test_a_gradient_has_the_type_of_what_it_is_taken_by():
    case("Gradient", "f32[a] f64[b,2] i64[c]", "f32[a] f64[b,2]", domain=DOMAIN, xs=["a", "b"], zs=["c"], y="y")


@pytest.mark.parametrize("op_type", ["Adagrad", "Momentum"])
def test_two_of_three_kinds_of_tensors_are_updated(op_type):
    inputs = "f32[] i64[] f32[a] f32[b] f32[a] f32[b] f32[a] f32[b]"
    case(op_type, inputs, "f32[a] f32[b] f32[a] f32[b]", domain=DOMAIN)
    fails(op_type, "f32[] i64[] f32[a] f32[b]", "bad-input", domain=DOMAIN)


def test_adam_updates_three_of_four_kinds():
    case("Adam", "f32[] i64[] f32[a] f32[a] f32[a] f64[a]", "f32[a] f32[a] f64[a]", domain=DOMAIN)
