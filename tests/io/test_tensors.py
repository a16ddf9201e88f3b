"""Section 3 of the import document, line by line (T01 to T50 of the checklist)."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import SparseTensorProto, TensorProto, numpy_helper

import sardonyx as sx
from sardonyx.io import typed
from sardonyx.io.typed import FIELD_OF, MANY
from sardonyx.ir.types import BITS, DTYPES, DType
from sardonyx.wire import varints
from sardonyx.wire.schema import Runs
from tests.io.tensor_models import EXTERNAL, STRING, load, model_bytes, proto, refused
from tests.wire.bytes_of import number, payload

T = TensorProto
NUMERIC = [dtype for dtype in DTYPES if BITS[dtype]]
WIDTHS = {
    32: (T.FLOAT, T.INT32, T.UINT32),
    8: (T.UINT8, T.INT8, T.BOOL, 17, 18, 19, 20, 24),
    16: (T.UINT16, T.INT16, T.FLOAT16, T.BFLOAT16),
    64: (T.UINT64, T.INT64, T.DOUBLE, T.COMPLEX64),
    128: (T.COMPLEX128,),
    4: (21, 22, 23),
    2: (25, 26),
    6: (27, 28),
}


def invalid(code: str, *tensors: TensorProto | bytes) -> sx.OnnxError:
    error = refused("InvalidModel", code, load, *tensors)
    assert error.place.value == "t"
    return error


# --- what a tensor is


@pytest.mark.parametrize("dtype", NUMERIC, ids=lambda dtype: dtype.name)
def test_t01_every_element_type_loads_from_raw_data_of_the_right_size(dtype: DType) -> None:
    raw = bytes(range(1, 97))[: dtype.nbytes(6)]
    tensor = load(proto(dtype, (2, 3), raw_data=raw))
    assert (tensor.dtype, tensor.shape, tensor.size, bytes(tensor.data)) == (dtype, (2, 3), 6, raw)
    assert tensor.nbytes == len(raw)


def test_t01_a_string_tensor_is_the_one_type_without_raw_data() -> None:
    assert load(proto(STRING, (2,), string_data=[b"a", b""])).strings == (b"a", b"")
    assert len(NUMERIC) + 1 == 28


def test_t02_a_tensor_with_elements_needs_an_element_type() -> None:
    error = invalid("no-element-type", proto(0, (2,), raw_data=b""))
    assert error.message == "the tensor has 2 elements but no element type"
    assert load(proto(0, (0,))).dtype is DType.UNDEFINED


def test_t03_an_element_type_from_the_future_is_unsupported() -> None:
    error = refused("Unsupported", "element-type-unknown", load, proto(29, (1,), raw_data=b"\0"))
    assert error.place.value == "t"
    assert invalid("element-type-unknown", proto(-1, (1,), raw_data=b"\0")).message == "element type -1 is negative"


def test_t04_a_negative_dim_is_refused() -> None:
    assert invalid("negative-dim", proto(T.FLOAT, (2, -1))).message == "dimension -1 of a tensor is negative"


def test_t05_a_tensor_without_dims_is_one_element() -> None:
    tensor = load(proto(T.INT64, (), int64_data=[7]))
    assert (tensor.shape, tensor.size, tensor.numpy().item()) == ((), 1, 7)


def test_t06_a_tensor_without_elements_needs_no_source() -> None:
    tensor = load(proto(T.FLOAT, (3, 0)))
    assert (tensor.size, bytes(tensor.data), tensor.numpy().shape) == (0, b"", (3, 0))
    assert load(proto(STRING, (0,))).strings == ()


def test_t07_more_than_2_to_the_60_elements_are_refused() -> None:
    invalid("too-many-elements", proto(T.UINT2, (2**30, 2**30, 2)))
    invalid("no-data", proto(T.UINT2, (2**30, 2**30)))


def test_t08_the_exact_product_counts_even_if_a_prefix_is_huge() -> None:
    assert load(proto(T.FLOAT, (2**40, 2**40, 0))).size == 0


def test_t09_the_size_limit_is_decided_from_the_dims_before_anything_else() -> None:
    limits = sx.Limits(max_tensor_bytes=2**31 - 1)
    bare = proto(T.FLOAT, (2**29,))
    broken = proto(T.FLOAT, (2**29,), raw_data=b"", external={"location": "/etc/passwd"})
    for tensor in (bare, broken):
        error = refused("Unsupported", "limit-exceeded", load, tensor, limits=limits)
        assert "max_tensor_bytes" in str(error.hint)
        assert error.place.value == "t"
    invalid("no-data", bare)


def test_t10_exactly_the_limit_is_not_refused_for_its_size() -> None:
    limits = sx.Limits(max_tensor_bytes=2**31 - 1)
    refused("InvalidModel", "no-data", load, proto(T.UINT8, (2**31 - 1,)), limits=limits)
    refused("Unsupported", "limit-exceeded", load, proto(T.UINT8, (2**31,)), limits=limits)


def test_t11_element_widths_are_those_of_the_format() -> None:
    assert {width: tuple(map(DType, codes)) for width, codes in WIDTHS.items()} == {
        width: tuple(dtype for code in codes for dtype in [DType(code)] if BITS[dtype] == width)
        for width, codes in WIDTHS.items()
    }
    assert sum(map(len, WIDTHS.values())) == 27


@pytest.mark.parametrize("code", [21, 22, 23, 25, 26, 27, 28])
@pytest.mark.parametrize("count", range(10))
def test_t12_packed_elements_take_their_bits_rounded_up_to_a_byte(code: int, count: int) -> None:
    needed = -(-count * BITS[code] // 8)
    assert len(load(proto(code, (count,), raw_data=bytes(needed))).data) == needed
    invalid("data-length", proto(code, (count,), raw_data=bytes(needed + 1)))


# --- where its values are


def test_t13_each_source_is_read_where_it_is_the_only_one(tmp_path) -> None:
    (tmp_path / "w.bin").write_bytes(struct.pack("<f", 1))
    outside = load(proto(T.FLOAT, (1,), external={"location": "w.bin"}), external_data_dir=tmp_path)
    raw = load(proto(T.FLOAT, (1,), raw_data=struct.pack("<f", 2)))
    listed = load(proto(T.FLOAT, (1,), float_data=[3]))
    assert [one.numpy().item() for one in (outside, raw, listed)] == [1, 2, 3]
    assert [one.is_external for one in (outside, raw, listed)] == [True, False, False]


def test_t14_raw_data_beside_a_typed_field_is_refused() -> None:
    error = invalid("data-sources", proto(T.FLOAT, (1,), raw_data=bytes(4), float_data=[0]))
    assert error.message == "the values are given more than once, in float_data and raw_data"


def test_t15_an_external_reference_beside_other_values_is_refused() -> None:
    invalid("data-sources", proto(T.FLOAT, (1,), raw_data=bytes(4), external={"location": "w.bin"}))
    invalid("data-sources", proto(T.FLOAT, (1,), float_data=[0], external={"location": "w.bin"}))
    invalid("data-sources", proto(T.FLOAT, (1,), raw_data=b"", external={"location": "w.bin"}))


def test_t16_two_typed_fields_are_refused() -> None:
    invalid("data-sources", proto(T.FLOAT, (1,), float_data=[0], int32_data=[0]))
    invalid("data-sources", proto(T.FLOAT, (1,), float_data=[0], string_data=[b""]))


def test_an_empty_packed_run_is_no_source() -> None:
    body = proto(T.FLOAT, (1,), raw_data=bytes(4)).SerializeToString() + payload(5)
    assert load(body).numpy().tolist() == [0.0]


def test_t17_elements_without_values_are_refused() -> None:
    assert invalid("no-data", proto(T.FLOAT, (2, 2))).message == "the tensor has 4 elements and no values"
    invalid("no-data", proto(STRING, (1,)))


def test_t18_raw_data_that_is_there_but_empty_is_a_source() -> None:
    assert bytes(load(proto(T.FLOAT, (0,), raw_data=b"")).data) == b""
    invalid("data-length", proto(T.FLOAT, (1,), raw_data=b""))
    invalid("data-sources", proto(T.FLOAT, (1,), raw_data=b"", float_data=[1]))


def test_t19_a_data_location_of_0_is_the_default() -> None:
    assert load(proto(T.UINT8, (1,), raw_data=b"a", data_location=T.DEFAULT)).numpy().tolist() == [97]
    assert load(proto(T.UINT8, (1,), raw_data=b"a")).numpy().tolist() == [97]


def test_t20_a_data_location_that_means_nothing_is_refused() -> None:
    invalid("data-location", proto(T.UINT8, (1,), raw_data=b"a").SerializeToString() + number(14, 2))


def test_t21_external_entries_without_the_location_flag_are_ignored_with_an_issue() -> None:
    tensor = proto(T.UINT8, (1,), raw_data=b"a")
    tensor.external_data.add(key="location", value="/etc/passwd")
    model = sx.load(model_bytes(tensor))
    assert [(issue.code, issue.severity, issue.place.value) for issue in model.issues] == [
        ("external-unused", "warning", "t")
    ]


# --- raw data


@pytest.mark.parametrize("size", [7, 9])
def test_t22_raw_data_of_another_length_is_refused(size: int) -> None:
    error = invalid("data-length", proto(T.FLOAT, (2,), raw_data=bytes(size)))
    assert error.message == f"raw_data has {size} bytes, but float[2] needs 8"


def test_t23_a_raw_bool_byte_of_2_is_kept_and_counts_as_true() -> None:
    tensor = load(proto(T.BOOL, (3,), raw_data=b"\0\1\2"))
    assert bytes(tensor.data) == b"\0\1\2"
    assert tensor.numpy().view(np.uint8).tolist() == [0, 1, 1]


def test_t24_raw_data_is_a_view_of_the_callers_bytes() -> None:
    data = model_bytes(proto(T.UINT8, (5,), raw_data=b"hello"))
    model = sx.load(data)
    (tensor,) = model.graph.initializers.values()
    base = np.frombuffer(data, np.uint8).__array_interface__["data"][0]
    assert np.frombuffer(tensor.data, np.uint8).__array_interface__["data"][0] == base + data.index(b"hello")
    assert tensor.numpy().__array_interface__["data"][0] == base + data.index(b"hello")


def test_t25_raw_data_is_little_endian_whatever_the_host() -> None:
    assert load(proto(T.INT32, (1,), raw_data=b"\1\2\3\4")).numpy().tolist() == [0x04030201]


# --- typed fields


def raw(code: int, dims: tuple[int, ...], **fields) -> bytes:
    return bytes(load(proto(code, dims, **fields)).data)


def test_t26_float_data_holds_floats() -> None:
    assert raw(T.FLOAT, (2,), float_data=[1.5, -2]) == struct.pack("<2f", 1.5, -2)


def test_t27_float_data_holds_complex64_in_pairs() -> None:
    assert raw(T.COMPLEX64, (2,), float_data=[1, 2, 3, 4]) == struct.pack("<4f", 1, 2, 3, 4)
    error = invalid("data-length", proto(T.COMPLEX64, (2,), float_data=[1, 2, 3]))
    assert error.message == "float_data has 3 entries, but complex64[2] needs 4"


def test_t28_double_data_holds_doubles_and_complex128() -> None:
    assert raw(T.DOUBLE, (1,), double_data=[0.1]) == struct.pack("<d", 0.1)
    assert raw(T.COMPLEX128, (1,), double_data=[0.1, -1]) == struct.pack("<2d", 0.1, -1)


def test_t29_int64_data_holds_int64() -> None:
    assert raw(T.INT64, (3,), int64_data=[-1, 2**63 - 1, -(2**63)]) == struct.pack("<3q", -1, 2**63 - 1, -(2**63))


def test_t30_uint64_data_holds_uint64() -> None:
    assert raw(T.UINT64, (2,), uint64_data=[2**64 - 1, 5]) == struct.pack("<2Q", 2**64 - 1, 5)


def test_t31_uint64_data_holds_uint32_in_the_low_half() -> None:
    assert raw(T.UINT32, (2,), uint64_data=[2**40 + 5, 2**32 - 1]) == struct.pack("<2I", 5, 2**32 - 1)


def test_t32_int32_data_holds_int32() -> None:
    assert raw(T.INT32, (3,), int32_data=[-1, 2**31 - 1, -(2**31)]) == struct.pack("<3i", -1, 2**31 - 1, -(2**31))


@pytest.mark.parametrize("code", [T.UINT16, T.INT16, T.FLOAT16, T.BFLOAT16])
def test_t33_types_of_16_bits_keep_the_low_16(code: int) -> None:
    assert raw(code, (3,), int32_data=[-2, 0x12345, 7]) == struct.pack("<3H", 0xFFFE, 0x2345, 7)


@pytest.mark.parametrize("code", [T.UINT8, T.INT8, 17, 18, 19, 20, 24])
def test_t34_types_of_8_bits_keep_the_low_8(code: int) -> None:
    assert raw(code, (3,), int32_data=[-1, 0x123, 7]) == b"\xff\x23\x07"


def test_t35_any_32_bit_number_but_0_is_true() -> None:
    body = proto(T.BOOL, (5,)).SerializeToString() + b"".join(number(5, n) for n in (0, 1, 256, 2**64 - 1, 2**32))
    assert bytes(load(body).data) == b"\0\1\1\1\0"


@pytest.mark.parametrize(("code", "count", "entries"), [(21, 3, 2), (22, 4, 2), (23, 1, 1)])
def test_t36_an_entry_of_a_4_bit_type_is_a_packed_byte(code: int, count: int, entries: int) -> None:
    values = [0x121, 0x43][:entries]
    assert raw(code, (count,), int32_data=values) == bytes(value & 0xFF for value in values)
    invalid("data-length", proto(code, (count,), int32_data=[0] * (entries + 1)))


@pytest.mark.parametrize(("code", "count", "entries"), [(25, 5, 2), (26, 4, 1)])
def test_t37_an_entry_of_a_2_bit_type_is_a_packed_byte(code: int, count: int, entries: int) -> None:
    values = [0x1E4, 0x02][:entries]
    assert raw(code, (count,), int32_data=values) == bytes(value & 0xFF for value in values)


@pytest.mark.parametrize("code", [27, 28])
def test_t38_entries_of_a_6_bit_type_are_elements_that_get_packed(code: int) -> None:
    assert raw(code, (4,), int32_data=[1, 2, 3, 4]) == (1 | 2 << 6 | 3 << 12 | 4 << 18).to_bytes(3, "little")
    assert raw(code, (5,), int32_data=[63, 0, 63, 0, 33]) == (63 | 63 << 12 | 33 << 24).to_bytes(4, "little")


def test_t39_bits_above_the_6th_of_an_entry_are_dropped() -> None:
    assert raw(27, (2,), int32_data=[0x41, -1]) == (1 | 63 << 6).to_bytes(2, "little")


@pytest.mark.parametrize(
    ("code", "fields", "right"),
    [
        (T.FLOAT16, {"float_data": [1]}, "int32_data"),
        (T.UINT32, {"int32_data": [1]}, "uint64_data"),
        (T.INT64, {"int32_data": [1]}, "int64_data"),
        (T.DOUBLE, {"float_data": [1]}, "double_data"),
        (STRING, {"int32_data": [1]}, "string_data"),
        (T.INT32, {"int64_data": [1]}, "int32_data"),
        (T.FLOAT, {"double_data": [1]}, "float_data"),
        (T.UINT8, {"uint64_data": [1]}, "int32_data"),
    ],
)
def test_t40_a_field_of_another_element_type_is_refused(code: int, fields: dict, right: str) -> None:
    assert right in invalid("wrong-field", proto(code, (1,), **fields)).message


@pytest.mark.parametrize("entries", [[1], [1, 2, 3]])
def test_t41_too_few_and_too_many_entries_are_refused(entries: list[int]) -> None:
    invalid("data-length", proto(T.FLOAT, (2,), float_data=entries))
    invalid("data-length", proto(T.INT64, (2,), int64_data=entries))
    invalid("data-length", proto(T.FLOAT16, (2,), int32_data=entries))


def test_t42_nan_payloads_and_negative_zeros_keep_their_bits() -> None:
    floats = struct.pack("<3I", 0x7FA00001, 0xFFC12345, 0x80000000)
    doubles = struct.pack("<2Q", 0x7FF4000000000001, 1 << 63)
    assert bytes(load(proto(T.FLOAT, (3,)).SerializeToString() + payload(4, floats)).data) == floats
    assert bytes(load(proto(T.DOUBLE, (2,)).SerializeToString() + payload(10, doubles)).data) == doubles


def test_numbers_may_be_packed_single_or_both() -> None:
    body = proto(T.INT64, (4,)).SerializeToString() + payload(7, b"\1\2") + number(7, 2**64 - 3) + payload(7, b"\4")
    assert load(body).numpy().tolist() == [1, 2, -3, 4]


# --- strings, segments, sparse tensors


def test_t43_a_string_tensor_needs_one_entry_per_element() -> None:
    assert load(proto(STRING, (2, 1), string_data=[b"x", b"yz"])).strings == (b"x", b"yz")
    error = invalid("data-length", proto(STRING, (3,), string_data=[b"x"]))
    assert error.message == "string_data has 1 entries, but string[3] needs 3"


def test_t44_strings_cannot_be_raw() -> None:
    invalid("wrong-field", proto(STRING, (1,), raw_data=b"a"))


def test_t45_strings_cannot_be_external() -> None:
    invalid("wrong-field", proto(STRING, (1,), external={"location": "w.bin"}))


def test_t46_string_data_does_not_hold_numbers() -> None:
    invalid("wrong-field", proto(T.UINT8, (1,), string_data=[b"a"]))


def test_t47_entries_of_string_data_are_bytes_not_text() -> None:
    assert load(proto(STRING, (1,), string_data=[b"\xff\xfe\0"])).strings == (b"\xff\xfe\0",)


def test_t48_segments_are_unsupported() -> None:
    body = proto(T.UINT8, (1,), raw_data=b"a").SerializeToString() + payload(3)
    assert refused("Unsupported", "segment", load, body).place.value == "t"


def sparse(**parts: TensorProto) -> sx.SparseTensor:
    message = SparseTensorProto(dims=(1000, 10**12), **parts)
    graph = payload(15, message.SerializeToString())
    model = sx.load(number(1, 10) + payload(8, number(2, 21)) + payload(7, graph))
    (found,) = model.graph.sparse_initializers.values()
    return found


def test_t49_a_sparse_tensor_is_kept_as_written_inconsistent_counts_included() -> None:
    found = sparse(values=proto(T.FLOAT, (2,), float_data=[1, 2]), indices=proto(T.INT64, (3,), int64_data=[5, 1, 9]))
    assert (found.values.numpy().tolist(), found.indices.numpy().tolist()) == ([1, 2], [5, 1, 9])
    assert (found.name, found.dtype, found.shape) == ("t", DType.FLOAT, (1000, 10**12))


def test_t50_a_sparse_tensor_is_never_made_dense() -> None:
    found = sparse(values=proto(T.FLOAT, (1,), float_data=[1]), indices=proto(T.INT64, (1,), int64_data=[5]))
    assert (found.values.size, found.indices.size) == (1, 1)


def test_a_sparse_tensor_needs_values_and_indices_and_dims_that_are_not_negative() -> None:
    graph = payload(15, payload(1, proto(T.FLOAT, (0,)).SerializeToString()) + number(3, 2**64 - 1))
    issues = sx.check(number(1, 10) + payload(8, number(2, 21)) + payload(7, graph))
    assert [issue.code for issue in issues][:2] == ["sparse-incomplete", "negative-dim"]


# --- collecting


def test_check_reports_every_faulty_tensor_and_the_rest_stays_usable() -> None:
    def named(name: str, tensor: TensorProto) -> TensorProto:
        tensor.name = name
        return tensor

    data = model_bytes(
        named("a", proto(T.FLOAT, (2,), raw_data=b"")),
        named("b", proto(29, (1,))),
        named("c", proto(T.FLOAT, (-3,))),
        named("d", proto(T.FLOAT, (1,), external={"location": "../w"})),
        named("e", proto(T.UINT8, (1,), raw_data=b"e")),
    )
    from sardonyx.io.load import load_source

    model = load_source(data, collect=True)
    assert [(issue.place.value, issue.code) for issue in model.issues] == [
        ("a", "data-length"),
        ("b", "element-type-unknown"),
        ("c", "negative-dim"),
        ("d", "external-location"),
    ]
    assert all(issue.place.offset and not issue.place.path for issue in model.issues)
    assert all(issue.place.path for issue in sx.check(data))  # found all at once
    tensors = list(model.graph.initializers.values())
    assert [tensor.shape for tensor in tensors] == [(2,), (1,), (0,), (1,), (1,)]
    assert bytes(tensors[4].data) == b"e"
    for tensor, issue in zip(tensors, model.issues, strict=False):
        assert refused(issue.kind.value, issue.code, lambda tensor=tensor: tensor.data).place.value == tensor.name
        refused(issue.kind.value, issue.code, lambda tensor=tensor: tensor.strings)


# --- against onnx


ARRAYS = st.builds(
    lambda dtype, shape, seed: (dtype, tuple(shape), seed),
    st.sampled_from(NUMERIC),
    st.lists(st.integers(0, 5), max_size=3),
    st.integers(0, 2**32 - 1),
)


def random_tensor(dtype: DType, shape: tuple[int, ...], seed: int) -> TensorProto:
    count = int(np.prod(shape, dtype=int))
    data = np.random.default_rng(seed).integers(0, 256, dtype.nbytes(count), np.uint8)
    if dtype is DType.BOOL:
        data &= 1
    spare = -count * BITS[dtype] % 8
    if spare:
        data[-1] &= 0xFF >> spare
    return proto(dtype, shape, raw_data=data.tobytes())


def as_typed(message: TensorProto) -> TensorProto:
    """Write the raw values of a tensor into its typed field instead."""
    dtype, raw = DType(message.data_type), message.raw_data
    made = proto(dtype, tuple(message.dims))
    bits = BITS[dtype]
    if dtype in (DType.FLOAT, DType.COMPLEX64):
        return TensorProto.FromString(made.SerializeToString() + (payload(4, raw) if raw else b""))
    if dtype in (DType.DOUBLE, DType.COMPLEX128):
        return TensorProto.FromString(made.SerializeToString() + (payload(10, raw) if raw else b""))
    if dtype is DType.INT64:
        made.int64_data.extend(np.frombuffer(raw, "<i8").tolist())
    elif dtype in (DType.UINT64, DType.UINT32):
        made.uint64_data.extend(np.frombuffer(raw, f"<u{bits // 8}").tolist())
    elif bits == 6:
        count = int(np.prod(made.dims, dtype=int))
        stream = int.from_bytes(raw, "little")
        made.int32_data.extend(stream >> 6 * i & 63 for i in range(count))
    else:
        made.int32_data.extend(np.frombuffer(raw, f"<i{max(bits // 8, 1)}").tolist())
    return made


@settings(max_examples=300, deadline=None)
@given(ARRAYS)
def test_raw_tensors_read_as_onnx_reads_them(case: tuple[DType, tuple[int, ...], int]) -> None:
    message = random_tensor(*case)
    ours, theirs = load(message).numpy(), numpy_helper.to_array(message)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    assert ours.tobytes() == theirs.tobytes()


@settings(max_examples=300, deadline=None)
@given(ARRAYS)
def test_typed_tensors_have_the_bytes_of_the_raw_ones(case: tuple[DType, tuple[int, ...], int]) -> None:
    message = random_tensor(*case)
    rewritten = as_typed(message)
    tensor = load(rewritten)
    assert bytes(tensor.data) == message.raw_data
    assert tensor.numpy().tobytes() == numpy_helper.to_array(rewritten).tobytes()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 300)), st.sampled_from(NUMERIC), st.integers(10, 50))
def test_the_vectorised_conversion_gives_what_the_plain_one_gives(values: list[int], dtype: DType, chunk: int) -> None:
    if FIELD_OF[dtype] in ("float_data", "double_data"):
        return
    encoded = b"".join(number(1, value)[1:] for value in values)
    runs = Runs()
    runs.count, runs.spans = len(values), [(0, len(encoded), 2)] if values else []
    assert varints(encoded, runs) == values
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typed, "CHUNK", chunk)
        assert [one for part in typed.decode_many(encoded) for one in part.tolist()] == values
        patch.setattr(typed, "MANY", 0)
        assert typed.convert(encoded, runs, dtype) == typed.narrow(values, dtype)


@pytest.mark.parametrize("many", [0, MANY])
@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 300)), dtype=st.sampled_from(NUMERIC))
def test_without_the_compiled_codec_numbers_are_converted_alike(many: int, values: list[int], dtype: DType) -> None:
    if FIELD_OF[dtype] in ("float_data", "double_data"):
        return
    encoded = b"".join(number(1, value)[1:] for value in values)
    runs = Runs()
    runs.count, runs.spans = len(values), [(0, len(encoded), 2)] if values else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typed.codec, "is_compiled", False)
        patch.setattr(typed, "MANY", many)
        assert typed.convert(encoded, runs, dtype) == typed.narrow(values, dtype)


def test_numbers_that_are_fewer_than_at_load_because_the_file_changed_are_an_error() -> None:
    if not typed.codec.is_compiled:
        pytest.skip("the compiled codec has not been built")
    runs = Runs()
    runs.count, runs.spans = 3, [(0, 3, 2)]
    assert typed.convert(b"\1\2\3", runs, DType.INT8) == b"\1\2\3"
    with pytest.raises(ValueError, match="3 numbers were in the file when it was loaded, 2 are now"):
        typed.convert(b"\1\xff\3", runs, DType.INT8)


def test_long_fields_are_converted_like_short_ones() -> None:
    values = [(-1) ** i * i * i for i in range(MANY + 3)]
    assert load(proto(T.INT64, (MANY + 3,), int64_data=values)).numpy().tolist() == values
    entries = [i % 97 for i in range(MANY + 3)]
    assert raw(27, (MANY + 3,), int32_data=entries) == typed.pack6(bytes(entries))


def test_an_external_tensor_keeps_its_entries_as_written(tmp_path) -> None:
    (tmp_path / "w.bin").write_bytes(b"abcd")
    entries = {"location": "./w.bin", "offset": "01", "length": "2", "checksum": "x"}
    tensor = load(proto(T.UINT8, (2,), external=entries), external_data_dir=tmp_path)
    assert dict(tensor.content.entries) == entries
    assert (tensor.content.location, tensor.content.offset, tensor.content.length) == ("./w.bin", 1, 2)
    assert EXTERNAL == 1
