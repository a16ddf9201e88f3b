"""Tensors as values: what they say of themselves and how they are copied (M04, M07 of the checklist)."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto

import sardonyx as sx
from sardonyx.ir.source import Source
from sardonyx.ir.tensor import Stored, Tensor, element_count, tensor_of
from sardonyx.ir.types import DType
from tests.io.tensor_models import STRING, first, load, model_bytes, proto, refused


def test_a_tensor_knows_its_size_without_its_bytes() -> None:
    tensor = load(
        proto(TensorProto.FLOAT6E2M3 if hasattr(TensorProto, "FLOAT6E2M3") else 27, (3, 3), raw_data=bytes(7))
    )
    assert (tensor.size, tensor.nbytes, tensor.is_external) == (9, 7, False)


def test_m04_typed_values_are_converted_once_on_first_use() -> None:
    tensor = load(proto(TensorProto.INT64, (2,), int64_data=[1, -1]))
    assert tensor.content.made is None
    once, twice = tensor.data, tensor.data
    assert once.obj is twice.obj
    assert tensor.content.length == len(once) == 16


@pytest.mark.parametrize(
    "message",
    [
        proto(TensorProto.FLOAT, (2,), raw_data=bytes(range(8))),
        proto(TensorProto.FLOAT16, (2,), int32_data=[1, 2]),
        proto(TensorProto.INT4, (3,), raw_data=b"\x21\x03"),
    ],
)
def test_m07_a_copy_survives_close(message: TensorProto) -> None:
    with sx.load(model_bytes(message)) as model:
        tensor = first(model)
        before, copy = bytes(tensor.data), tensor.copy()
    assert bytes(copy.data) == before
    assert (copy.name, copy.dtype, copy.shape, copy.origin) == ("t", tensor.dtype, tensor.shape, None)


def test_m07_a_copy_of_strings_survives_close() -> None:
    with sx.load(model_bytes(proto(STRING, (2,), string_data=[b"a", b"\xff"]))) as model:
        copy = first(model).copy()
    assert copy.strings == (b"a", b"\xff")


def test_strings_and_numbers_are_asked_for_by_different_names() -> None:
    with pytest.raises(TypeError, match=r"tensor 't' holds strings.*use tensor\.strings"):
        load(proto(STRING, (1,), string_data=[b"a"])).data  # noqa: B018
    with pytest.raises(TypeError, match=r"tensor 't' holds uint8, not strings; use tensor\.data"):
        load(proto(TensorProto.UINT8, (), raw_data=b"a")).strings  # noqa: B018


def test_element_count_refuses_what_is_no_shape() -> None:
    assert element_count((), "t") == 1
    assert element_count((2**60,), "t") == 2**60
    refused("InvalidModel", "too-many-elements", element_count, (2**60 + 1,), "t")
    refused("InvalidModel", "negative-dim", element_count, (0, -1), "t")


def test_a_tensor_can_be_made_by_hand_and_from_an_array() -> None:
    made = Tensor(DType.INT16, (2,), Stored(Source(b"\1\0\2\0", "x"), 0, 4))
    assert made.numpy().tolist() == [1, 2]
    assert np.array_equal(tensor_of([[1.5]], "w").numpy(), [[1.5]])
    assert tensor_of([1], "w").name == "w"
