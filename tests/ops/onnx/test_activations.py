"""Check rules for softmax and its relatives."""

from __future__ import annotations

import pytest

from tests.ops.cases import case, fails


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("opset", [1, 11, 13])
def test_the_type_stays_and_the_axis_must_exist(op_type, opset):
    case(op_type, "f16[b,s,4]", "f16[b,s,4]", opset=opset)
    case(op_type, "f32[b,s,4]", "f32[b,s,4]", axis=-3, opset=opset)
    case(op_type, "f32", "f32", axis=7, opset=opset)
    fails(op_type, "f32[b,s]", "axis-out-of-range", axis=2, opset=opset)
