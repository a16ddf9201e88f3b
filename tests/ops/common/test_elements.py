"""Reading the elements of small constants."""

from __future__ import annotations

import numpy as np

from sardonyx.ir.tensor import tensor_of
from sardonyx.ops.common.elements import KEPT, read_elements


def test_a_very_small_constant_is_read_once():
    small, larger = tensor_of(np.arange(KEPT)), tensor_of(np.arange(KEPT + 1))
    assert read_elements(small) == tuple(range(KEPT))
    assert read_elements(small) is read_elements(small)
    assert read_elements(larger) == tuple(range(KEPT + 1))
    assert read_elements(larger) is not read_elements(larger)


def test_what_is_kept_is_no_part_of_the_tensor():
    small = tensor_of(np.array([1, 2], np.int32), "t")
    read_elements(small)
    assert "elements" not in repr(small)
    assert small.replace(shape=(1,))._elements is None
