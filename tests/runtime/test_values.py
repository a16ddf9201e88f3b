"""Arrays in and out of the runtime's values."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from sardonyx.ir.types import DType
from sardonyx.runtime.values import copied, to_array, to_value, zeros

ARRAYS = [
    np.float32(3),
    np.ones((2, 3), np.float16),
    np.arange(6, dtype=np.int64).reshape(2, 3).T,
    np.array([True, False]),
    np.zeros((2, 0, 3), np.float32),
    np.full((2, 3), 2.5, ml_dtypes.bfloat16),
    np.zeros((2, 0), ml_dtypes.bfloat16),
    np.ones(3, ml_dtypes.float8_e4m3fn),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda one: f"{one.dtype}{list(np.shape(one))}")
def test_an_array_comes_back_bit_by_bit(array: Any) -> None:
    for value in (to_value(array), copied(array), copied(to_value(array))):
        found = to_array(value)
        assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_a_value_shares_the_arrays_memory_and_a_copy_does_not() -> None:
    for kind in (np.float32, ml_dtypes.bfloat16):
        array = np.ones(4, kind)
        assert to_value(array).data_ptr() == array.ctypes.data
        value = copied(array)
        array[:] = 9
        assert to_array(value).astype(np.float32).tolist() == [1, 1, 1, 1]


def test_a_value_is_taken_as_it_is() -> None:
    value = to_value(np.ones(2))
    assert to_value(value) is value


@pytest.mark.parametrize("dtype", [DType.FLOAT, DType.FLOAT16, DType.BFLOAT16, DType.INT64, DType.BOOL])
def test_zeros_have_the_type_and_shape_asked_for(dtype: DType) -> None:
    found = zeros((2, 3), dtype)
    assert found.element_type() == dtype
    assert found.shape() == [2, 3]
    assert not to_array(found).astype(np.float32).any()
