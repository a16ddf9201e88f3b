"""Tensors as numpy arrays, and arrays as tensors."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, numpy_helper

from sardonyx.ir import arrays
from sardonyx.ir.arrays import EXTENDED, STANDARD, from_numpy, pack, unpack
from sardonyx.ir.tensor import Tensor
from sardonyx.ir.types import BITS, DTYPES, DType
from tests.io.tensor_models import STRING, load, proto

NUMERIC = [dtype for dtype in DTYPES if BITS[dtype]]


def tensor(dtype: DType, shape: tuple[int, ...], seed: int = 0) -> Tensor:
    count = int(np.prod(shape, dtype=int))
    data = np.random.default_rng(seed).integers(0, 2 if dtype is DType.BOOL else 256, dtype.nbytes(count), np.uint8)
    return load(proto(dtype, shape, raw_data=data.tobytes()))


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_every_element_type_has_a_dtype() -> None:
    assert {**STANDARD, **EXTENDED}.keys() == set(NUMERIC)
    assert {dtype: arrays.dtype_of(dtype).itemsize for dtype in NUMERIC} == {
        dtype: max(BITS[dtype] // 8, 1) for dtype in NUMERIC
    }


@pytest.mark.parametrize("dtype", [dtype for dtype in NUMERIC if BITS[dtype] >= 8], ids=lambda dtype: dtype.name)
def test_arrays_of_whole_byte_types_are_views(dtype: DType) -> None:
    one = tensor(dtype, (2, 3))
    array = one.numpy()
    assert address(array) == address(np.frombuffer(one.data, np.uint8))
    assert (array.shape, array.nbytes, array.flags.writeable) == ((2, 3), one.nbytes, False)


@pytest.mark.parametrize(
    ("dtype", "raw", "values"),
    [
        (DType.UINT4, b"\x21\xf3", [1, 2, 3]),
        (DType.INT4, b"\x8f\x07", [-1, -8, 7]),
        (DType.FLOAT4E2M1, b"\xf2\x0a", [1, -6, -1]),
        (DType.UINT2, b"\xe4\x02", [0, 1, 2, 3, 2]),
        (DType.INT2, b"\xe4\x02", [0, 1, -2, -1, -2]),
        (DType.FLOAT6E2M3, (8 | 40 << 6 | 31 << 12 | 1 << 18).to_bytes(3, "little"), [1, -1, 7.5, 0.125]),
        (DType.FLOAT6E3M2, (12 | 44 << 6 | 31 << 12 | 0 << 18 | 1 << 24).to_bytes(4, "little"), [1, -1, 28, 0, 0.0625]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_packed_elements_come_out_one_by_one_the_first_from_the_lowest_bits(
    dtype: DType, raw: bytes, values: list[float]
) -> None:
    array = load(proto(dtype, (len(values),), raw_data=raw)).numpy()
    assert array.astype(np.float64).tolist() == values
    assert array.dtype.name == EXTENDED[dtype][0]
    assert not array.flags.writeable


def test_strings_come_as_an_object_array_of_bytes() -> None:
    array = load(proto(STRING, (1, 2), string_data=[b"a", b"\xff"])).numpy()
    assert (array.dtype, array.tolist(), array.shape) == (np.dtype(object), [[b"a", b"\xff"]], (1, 2))
    assert load(proto(STRING, (), string_data=[b"ab"])).numpy().item() == b"ab"


def test_an_old_ml_dtypes_is_named_in_the_error(monkeypatch) -> None:
    one = tensor(DType.INT2, (3,))
    monkeypatch.delattr(ml_dtypes, "int2")
    monkeypatch.setattr(ml_dtypes, "__version__", "0.4.1")
    with pytest.raises(ImportError, match=r"arrays of int2 need ml_dtypes 0\.5 or newer; 0\.4\.1 is installed"):
        one.numpy()
    assert len(one.data) == 1


def test_a_tensor_without_an_element_type_has_no_array() -> None:
    with pytest.raises(TypeError, match="without an element type"):
        load(proto(0, (0,))).numpy()


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([2, 4, 6]), st.lists(st.integers(0, 255), max_size=40))
def test_pack_undoes_unpack_and_drops_upper_bits(bits: int, values: list[int]) -> None:
    elements = np.array(values, np.uint8)
    packed = pack(elements, bits)
    assert len(packed) == -(-len(values) * bits // 8)
    stream = sum((value & (1 << bits) - 1) << bits * i for i, value in enumerate(values))
    assert packed.tobytes() == stream.to_bytes(len(packed), "little")
    assert unpack(packed, bits, len(values)).tolist() == [value & (1 << bits) - 1 for value in values]


# --- numpy.asarray


def test_asarray_views_and_copies_as_numpy_2_asks() -> None:
    one = tensor(DType.FLOAT, (4,))
    assert address(np.asarray(one)) == address(one.numpy())
    assert address(arrays.as_array(one, copy=False)) == address(one.numpy())
    assert address(arrays.as_array(one, np.dtype("<f4"), False)) == address(one.numpy())
    copy = arrays.as_array(one, copy=True)
    assert address(copy) != address(one.numpy())
    assert copy.flags.writeable
    assert np.asarray(one, dtype=np.float64).dtype == np.float64


def test_asarray_refuses_no_copy_where_one_is_needed() -> None:
    for one, dtype in ((tensor(DType.FLOAT, (2,)), np.float64), (tensor(DType.INT4, (2,)), None)):
        with pytest.raises(ValueError, match="cannot be made without a copy"):
            arrays.as_array(one, dtype, False)
    with pytest.raises(ValueError, match="cannot be made without a copy"):
        arrays.as_array(load(proto(STRING, (1,), string_data=[b"a"])), copy=False)


# --- DLPack


needs_read_only_export = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="numpy exports no read-only array before 2.1"
)


def doubles(tmp_path: Path) -> tuple[Tensor, Tensor]:
    """Return two tensors, one of them aligned in memory and one not."""
    (tmp_path / "w").write_bytes(bytes(range(64)))
    found = [
        load(proto(TensorProto.DOUBLE, (2,), external={"location": "w", "offset": str(i)}), external_data_dir=tmp_path)
        for i in range(8)
    ]
    aligned = [one for one in found if address(np.frombuffer(one.data, np.uint8)) % 8 == 0]
    return aligned[0], next(one for one in found if one is not aligned[0])


@needs_read_only_export
def test_dlpack_gives_a_read_only_view_to_consumers_that_know_of_it(tmp_path: Path) -> None:
    one, _ = doubles(tmp_path)
    array = np.from_dlpack(one)
    assert (address(array), array.flags.writeable) == (address(one.numpy()), False)


@needs_read_only_export
def test_dlpack_copies_elements_that_are_not_aligned_unless_that_is_forbidden(tmp_path: Path) -> None:
    _, one = doubles(tmp_path)
    array = np.from_dlpack(one)
    assert (array.tobytes(), array.flags.aligned, array.flags.writeable) == (bytes(one.data), True, False)
    with pytest.raises(BufferError, match="not aligned"):
        one.__dlpack__(max_version=(1, 0), copy=False)


def test_dlpack_to_an_older_consumer_needs_a_copy() -> None:
    one = load(proto(TensorProto.FLOAT, (1,), float_data=[1]))
    for options in ({}, {"max_version": (0, 8)}):
        with pytest.raises(BufferError, match=r"use tensor\.numpy\(\)\.copy\(\)"):
            one.__dlpack__(**options)
    assert "dltensor" in repr(one.__dlpack__(copy=True))
    assert one.__dlpack_device__() == (1, 0)


def test_dlpack_refuses_other_types_and_devices() -> None:
    for dtype in (DType.BFLOAT16, DType.INT4):
        with pytest.raises(BufferError, match=r"use tensor\.numpy\(\)"):
            tensor(dtype, (2,)).__dlpack__(max_version=(1, 0))
    with pytest.raises(BufferError, match="not on device"):
        tensor(DType.FLOAT, (2,)).__dlpack__(max_version=(1, 0), dl_device=(2, 0))


# --- arrays to tensors


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(NUMERIC), st.lists(st.integers(0, 4), max_size=3), st.integers(0, 2**32 - 1))
def test_arrays_become_the_tensors_that_onnx_makes_of_them(dtype: DType, dims: list[int], seed: int) -> None:
    array = tensor(dtype, tuple(dims), seed).numpy()
    ours, theirs = from_numpy(array, "w"), numpy_helper.from_array(array)
    assert (ours.dtype, ours.shape, ours.name) == (theirs.data_type, tuple(theirs.dims), "w")
    assert bytes(ours.data) == theirs.raw_data
    assert ours.numpy().tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", NUMERIC, ids=lambda dtype: dtype.name)
def test_strided_arrays_are_written_in_row_major_order(dtype: DType) -> None:
    array = tensor(dtype, (4, 5)).numpy()
    for view in (array.T, array[::-1, ::2], np.asfortranarray(array)):
        assert from_numpy(view).numpy().tobytes() == view.tobytes()


def test_big_endian_arrays_are_turned_around() -> None:
    for text in (">i4", ">f8", ">u2", ">c8"):
        array = np.array([1, 2, 300], text)
        made = from_numpy(array)
        assert np.array_equal(made.numpy(), array)
        assert bytes(made.data) == array.astype(array.dtype.newbyteorder("<")).tobytes()


def test_text_and_bytes_become_strings() -> None:
    assert from_numpy(np.array([["a", "ü"]])).strings == (b"a", "ü".encode())
    assert from_numpy(np.array([b"a\0b"], object)).strings == (b"a\0b",)
    assert from_numpy(np.array([b"ab"])).dtype is DType.STRING
    with pytest.raises(TypeError, match="must be str or bytes, not int"):
        from_numpy(np.array([1], object))


def test_scalars_and_empty_arrays_keep_their_shape() -> None:
    assert (from_numpy(np.float32(1)).shape, from_numpy(np.zeros((0, 3), ml_dtypes.int4)).shape) == ((), (0, 3))
    assert from_numpy(np.array(3, ml_dtypes.int4)).numpy().item() == 3


@pytest.mark.parametrize("dtype", [np.dtype("M8[s]"), np.dtype(np.longdouble), np.dtype(ml_dtypes.float8_e4m3)])
def test_a_dtype_that_onnx_lacks_is_a_type_error(dtype: np.dtype) -> None:
    with pytest.raises(TypeError, match="ONNX has no element type"):
        from_numpy(np.zeros(1, dtype))
