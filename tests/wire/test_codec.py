"""The wire format, rule by rule: each test has the number of its line in the import checklist."""

from __future__ import annotations

import gc
import mmap
import struct
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from sardonyx.errors import OnnxError
from sardonyx.wire import decode as decode_default
from sardonyx.wire import encode, key, varint, varints
from sardonyx.wire.messages import (
    AttributeProto,
    Dimension,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    StringStringEntryProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
)
from sardonyx.wire.schema import MAX_FILE_BYTES, MESSAGES
from tests.wire.bytes_of import attribute, fault, fixed32, fixed64, graph, number, payload, tensor
from tests.wire.conftest import decoder, load_uncompiled

MALFORMED = "Malformed"
SIX = number(1, 6)
"""A model with nothing but ir_version 6."""


def test_w01_key_of_32_bits_is_read(decode):
    assert decode(key(2**29 - 1, 0) + b"\0" + SIX).message.ir_version == 6
    assert fault(decode, varint(2**32 - 1)) == (MALFORMED, "bad-wire-type", 0, "ModelProto.<field 536870911>")


def test_w02_key_over_32_bits_is_refused(decode):
    assert fault(decode, SIX + varint(2**32) + b"\0") == (MALFORMED, "bad-key", 2, "ModelProto")
    assert fault(decode, SIX + varint(2**63)) == (MALFORMED, "bad-key", 2, "ModelProto")


@pytest.mark.parametrize("wire", range(8))
def test_w03_field_number_zero_is_refused_with_any_wire_type(decode, wire):
    assert fault(decode, SIX + bytes([wire]) + b"\0" * 8) == (MALFORMED, "bad-field-number", 2, "ModelProto")
    assert fault(decode, SIX + bytes([0x80 | wire, 0])) == (MALFORMED, "bad-field-number", 2, "ModelProto")


def test_w04_balanced_group_is_refused(decode):
    data = SIX + key(99, 3) + key(99, 4)
    assert fault(decode, data) == (MALFORMED, "bad-wire-type", 2, "ModelProto.<field 99>")


def test_w05_group_end_is_refused(decode):
    assert fault(decode, key(99, 4)) == (MALFORMED, "bad-wire-type", 0, "ModelProto.<field 99>")


def test_w06_wire_type_6_is_refused(decode):
    assert fault(decode, graph(key(1, 6))) == (MALFORMED, "bad-wire-type", 2, "ModelProto.graph.node[0]")


def test_w07_wire_type_7_is_refused(decode):
    assert fault(decode, key(1, 7)) == (MALFORMED, "bad-wire-type", 0, "ModelProto.ir_version")


@pytest.mark.parametrize("field", [31, 32, 99, 2**29 - 1])
def test_w08_unknown_fields_of_each_wire_type_are_skipped_with_their_width(decode, field):
    data = (
        number(field, 2**64 - 1)
        + fixed64(field, b"\x08" * 8)
        + payload(field, b"\x08\x63")
        + fixed32(field, b"\xff" * 4)
    )
    message = decode(data + SIX).message
    assert message.__dict__ == {"ir_version": 6, "unknown": [(0, len(data))]}


def test_w09_fixed_width_field_cut_short_is_refused(decode):
    assert fault(decode, fixed32(99, b"\0" * 3)) == (MALFORMED, "cut-short", 2, "ModelProto.<field 99>")
    assert fault(decode, fixed64(99, b"\0" * 7)) == (MALFORMED, "cut-short", 2, "ModelProto.<field 99>")
    path = "ModelProto.graph.node[0].attribute[0].f"
    assert fault(decode, attribute(fixed32(2, b"")) + SIX) == (MALFORMED, "cut-short", 7, path)


def test_w10_varint_of_ten_bytes_is_minus_one(decode):
    assert decode(b"\x08" + b"\xff" * 9 + b"\x01").message.ir_version == -1


def test_w11_tenth_byte_zero_is_read(decode):
    assert decode(b"\x08" + b"\xff" * 9 + b"\x00").message.ir_version == 2**63 - 1


def test_w12_tenth_byte_two_is_refused(decode):
    assert fault(decode, b"\x08" + b"\xff" * 9 + b"\x02") == (MALFORMED, "bad-varint", 1, "ModelProto.ir_version")


def test_w13_eleventh_byte_is_refused(decode):
    assert fault(decode, b"\x08" + b"\x80" * 10 + b"\x00") == (MALFORMED, "bad-varint", 1, "ModelProto.ir_version")


def test_w14_varint_cut_by_the_end_of_the_data_is_refused(decode):
    assert fault(decode, b"\x08\x80") == (MALFORMED, "cut-short", 1, "ModelProto.ir_version")
    assert fault(decode, b"\x08") == (MALFORMED, "cut-short", 1, "ModelProto.ir_version")
    assert fault(decode, SIX + b"\x80") == (MALFORMED, "cut-short", 2, "ModelProto")
    assert fault(decode, SIX + b"\x3a") == (MALFORMED, "cut-short", 3, "ModelProto.graph")


def test_w15_varint_cut_by_the_end_of_its_message_is_refused(decode):
    path = "ModelProto.opset_import[0].version"
    assert fault(decode, payload(8, b"\x10\x80") + SIX) == (MALFORMED, "cut-short", 3, path)
    assert fault(decode, payload(8, b"\x10") + SIX) == (MALFORMED, "cut-short", 3, path)


def test_w16_overlong_varint_is_read(decode):
    assert decode(b"\x08\x81\x80\x00").message.ir_version == 1
    assert decode(b"\x3a\x80\x80\x00").message.has("graph")


def test_w17_overlong_key_is_read_up_to_ten_bytes(decode):
    for padding in range(1, 9):
        assert decode(b"\x88" + b"\x80" * padding + b"\x00" + b"\x07").message.__dict__ == {"ir_version": 7}
    assert fault(decode, b"\x88" + b"\x80" * 9 + b"\x00" + b"\x07") == (MALFORMED, "bad-varint", 0, "ModelProto")


def test_w18_length_one_past_the_end_is_refused(decode):
    with pytest.raises(OnnxError) as caught:
        decode(SIX + b"\x12\x04abc", source="cut.onnx")
    assert str(caught.value) == (
        "cut.onnx: byte 3, ModelProto.producer_name:\n"
        "    length 4 runs 1 byte past the end of ModelProto  [malformed: length-past-end]\n"
        "    hint: the file looks cut short; compare its size with the original"
    )


@pytest.mark.parametrize("length", [2**31, 2**63 - 1, 2**63, 2**64 - 1])
def test_w19_absurd_length_is_refused_without_allocating(decode, length):
    for prefix in (SIX + b"\x12", SIX + b"\x3a", SIX + key(99, 2)):
        data = prefix + varint(length) + b"abc"
        tracemalloc.start()
        try:
            found = fault(decode, data)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert found[:3] == (MALFORMED, "length-past-end", len(prefix))
        assert peak < 1 << 20


def test_w20_length_past_the_parent_but_inside_the_file_is_refused(decode):
    data = graph(b"\x12\x05abc") + payload(2, b"plenty of bytes follow")
    assert fault(decode, data) == (MALFORMED, "length-past-end", 3, "ModelProto.graph.name")


def test_w21_length_zero_is_read(decode):
    assert decode(payload(2)).message.__dict__ == {"producer_name": ""}
    assert decode(payload(4), AttributeProto).message.__dict__ == {"s": (2, 2)}
    assert decode(payload(9), AttributeProto).message.__dict__ == {"strings": [b""]}
    assert decode(payload(8), AttributeProto).message.__dict__ == {"ints": []}
    assert decode(payload(7), AttributeProto).message.__dict__ == {"floats": []}
    runs = decode(payload(7), TensorProto).message.int64_data
    assert (runs.count, runs.spans) == (0, [(2, 2, 2)])
    model = decode(payload(7)).message
    assert model.graph.__dict__ == {}
    assert (model.graph.start, model.graph.end) == (2, 2)


def test_w22_int32_keeps_the_low_32_bits(decode):
    assert decode(number(2, 2**32 + 7), TensorProto).message.data_type == 7


def test_w23_negative_int32_is_read(decode):
    assert decode(number(2, -3), TensorProto).message.data_type == -3
    assert decode(number(2, 0xFFFFFFFD), TensorProto).message.data_type == -3


def test_w24_enum_keeps_the_low_32_bits(decode):
    assert decode(number(20, 2**40 + 2), AttributeProto).message.type == 2


@pytest.mark.parametrize("value", [0, 1, 127, 128, 2**31, 2**32, 2**63 - 1, -(2**63), -1])
def test_w25_int64_keeps_all_bits(decode, value):
    assert decode(number(3, value), AttributeProto).message.i == value
    assert decode(number(8, value), AttributeProto).message.ints == [value]
    assert decode(payload(8, varint(value)), AttributeProto).message.ints == [value]
    data = number(11, value)
    assert varints(data, decode(data, TensorProto).message.uint64_data) == [value % 2**64]


BAD_TEXT = [
    pytest.param(b"ab\xffcd", 2, id="no start byte"),
    pytest.param(b"ab\xc3", 2, id="cut"),
    pytest.param(b"\xc0\x80", 0, id="overlong"),
    pytest.param(b"\xe0\x80\xaf", 0, id="overlong in three bytes"),
    pytest.param(b"a\xed\xa0\x80", 1, id="surrogate"),
    pytest.param(b"a\xf4\x90\x80\x80", 1, id="past U+10FFFF"),
]


@pytest.mark.parametrize(("text", "at"), BAD_TEXT)
def test_w26_w27_text_that_is_not_utf8_is_refused_at_the_first_bad_byte(decode, text, at):
    assert fault(decode, payload(2, text)) == (MALFORMED, "bad-utf8", 2 + at, "ModelProto.producer_name")
    assert fault(decode, payload(6, text)) == (MALFORMED, "bad-utf8", 2 + at, "ModelProto.doc_string")
    node = graph(payload(1, payload(1, b"fine") + payload(1, text)))
    assert fault(decode, node) == (MALFORMED, "bad-utf8", 12 + at, "ModelProto.graph.node[0].input[1]")
    entry = payload(1, b"key") + payload(2, text)
    assert fault(decode, payload(14, entry)) == (MALFORMED, "bad-utf8", 9 + at, "ModelProto.metadata_props[0].value")


@pytest.mark.parametrize("text", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\x00"])
def test_w28_bytes_fields_take_any_bytes(decode, text):
    assert decode(payload(9, text), AttributeProto).message.strings == [text]
    data = payload(4, text)
    assert data[slice(*decode(data, AttributeProto).message.s)] == text
    data = payload(6, text) + payload(9, text)
    found = decode(data, TensorProto).message
    assert [data[slice(*span)] for span in found.string_data] == [text]
    assert data[slice(*found.raw_data)] == text


def test_w29_nul_in_a_name_is_read(decode):
    assert decode(payload(3, b"a\0b"), NodeProto).message.name == "a\0b"


def test_w30_packed_numbers_are_read(decode):
    assert decode(payload(1, varint(3) + varint(-1) + varint(300)), TensorProto).message.dims == [3, -1, 300]
    assert decode(payload(7, struct.pack("<2f", 1.5, -0.0)), AttributeProto).message.floats == [1.5, -0.0]


def test_w31_unpacked_numbers_are_read(decode):
    assert decode(number(1, 3) + number(1, -1) + number(1, 300), TensorProto).message.dims == [3, -1, 300]
    assert decode(fixed32(7, struct.pack("<f", 1.5)), AttributeProto).message.floats == [1.5]
    data = number(5, 3) + number(5, -1)
    assert varints(data, decode(data, TensorProto).message.int32_data) == [3, 2**64 - 1]


def test_w32_packed_and_unpacked_numbers_keep_their_order(decode):
    data = number(1, 1) + payload(1, b"\x02\x03") + number(1, 4)
    assert decode(data, TensorProto).message.dims == [1, 2, 3, 4]
    data = number(7, 1) + payload(7, b"\x02\x03") + number(7, 4)
    runs = decode(data, TensorProto).message.int64_data
    assert (runs.count, varints(data, runs)) == (4, [1, 2, 3, 4])


def test_w33_packed_runs_concatenate(decode):
    data = payload(4, struct.pack("<2f", 1, 2)) + payload(4) + payload(4, struct.pack("<f", 3))
    runs = decode(data, TensorProto).message.float_data
    assert (runs.count, runs.spans) == (3, [(2, 10, 2), (12, 12, 2), (14, 18, 2)])


@pytest.mark.parametrize(("field", "width", "name"), [(4, 4, "float_data"), (10, 8, "double_data")])
def test_w34_ragged_packed_run_is_refused(decode, field, width, name):
    data = tensor(payload(field, b"\0" * (2 * width + 1)))
    assert fault(decode, data) == (MALFORMED, "ragged-packed", 6, f"ModelProto.graph.initializer[0].{name}[0]")
    path = "ModelProto.graph.node[0].attribute[0].floats[0]"
    assert fault(decode, attribute(payload(7, b"\0" * 5))) == (MALFORMED, "ragged-packed", 8, path)


@pytest.mark.parametrize("field", [5, 7, 11])
def test_w35_packed_varint_cut_at_the_end_of_its_run_is_refused(decode, field):
    name = {5: "int32_data", 7: "int64_data", 11: "uint64_data"}[field]
    path = f"ModelProto.graph.initializer[0].{name}"
    data = tensor(payload(field, b"\x01\x02\x83\x80") + payload(8, b"name"))
    assert fault(decode, data) == (MALFORMED, "cut-short", 8, f"{path}[2]")
    data = tensor(payload(field, b"\x01" + b"\x80" * 9 + b"\x02\x03"))
    assert fault(decode, data) == (MALFORMED, "bad-varint", 7, f"{path}[1]")
    data = tensor(payload(field, b"\x01" + b"\x80" * 12))
    assert fault(decode, data) == (MALFORMED, "bad-varint", 7, f"{path}[1]")
    path = "ModelProto.graph.initializer[0].dims[1]"
    assert fault(decode, tensor(payload(1, b"\x01\x80"))) == (MALFORMED, "cut-short", 7, path)


def test_w35_long_runs_are_counted_without_being_converted(decode):
    numbers = [0, 127, 128, 2**63 - 1, -1] * 30_000
    data = payload(7, b"".join(map(varint, numbers)))
    runs = decode(data, TensorProto).message.int64_data
    assert runs.count == len(numbers)
    assert varints(data, runs) == [value % 2**64 for value in numbers]


def test_w36_repeated_number_with_a_third_wire_type_is_skipped(decode):
    data = fixed32(1, b"\0" * 4) + fixed64(1, b"\0" * 8) + number(1, 5)
    assert decode(data, TensorProto).message.__dict__ == {"dims": [5], "unknown": [(0, 14)]}
    assert decode(number(4, 5), TensorProto).message.__dict__ == {"unknown": [(0, 2)]}


@pytest.mark.parametrize("cls", MESSAGES.values(), ids=MESSAGES)
def test_w37_unknown_fields_are_skipped_in_every_message(decode, cls):
    data = number(1000, 5) + payload(1000, b"\xff\xff") + fixed32(1000, b"\xff" * 4) + fixed64(1000, b"\xff" * 8)
    decoded = decode(data, cls)
    assert decoded.message.__dict__ == {"unknown": [(0, len(data))]}
    assert not decoded.replaced
    assert encode(decoded.message, data) == data


def test_w38_known_field_with_another_wire_type_is_not_present(decode):
    model = decode(number(7, 5) + payload(1, b"\x08\x01") + SIX).message
    assert not model.has("graph")
    assert model.__dict__ == {"ir_version": 6, "unknown": [(0, 6)]}


def test_w39_last_scalar_wins(decode):
    decoded = decode(number(1, 5) + SIX)
    assert (decoded.message.ir_version, decoded.replaced) == (6, True)
    decoded = decode(fixed32(2, b"\0" * 4) + fixed32(2, struct.pack("<f", 2)), AttributeProto)
    assert (decoded.message.f, decoded.replaced) == (2.0, True)


def test_w40_last_text_or_bytes_wins_even_when_empty(decode):
    decoded = decode(payload(2, b"one") + payload(2))
    assert (decoded.message.__dict__, decoded.replaced) == ({"producer_name": ""}, True)
    decoded = decode(payload(4, b"one") + payload(4), AttributeProto)
    assert (decoded.message.s, decoded.replaced) == ((7, 7), True)
    decoded = decode(payload(6, b"one") + payload(6))
    assert (decoded.message.doc_string, decoded.replaced) == ((7, 7), True)


def test_w40_a_repeated_key_inside_metadata_counts_as_replaced(decode):
    assert decode(payload(14, payload(1, b"a") + payload(1, b"b"))).replaced
    assert not decode(payload(14, payload(1, b"a") + payload(2, b"b")) * 2).replaced


def test_w41_last_message_replaces_and_does_not_merge(decode):
    decoded = decode(graph(payload(2, b"first")) + graph(payload(1)))
    assert decoded.replaced
    assert list(decoded.message.graph.__dict__) == ["node"]


def test_w42_last_member_of_a_oneof_wins(decode):
    decoded = decode(number(1, 5) + payload(2, b"n"), Dimension)
    assert (decoded.message.__dict__, decoded.replaced) == ({"dim_param": "n"}, True)
    decoded = decode(payload(2, b"n") + number(1, 0), Dimension)
    assert (decoded.message.__dict__, decoded.replaced) == ({"dim_value": 0}, True)
    decoded = decode(payload(1) + payload(4) + payload(6, b"note"), TypeProto)
    assert (list(decoded.message.__dict__), decoded.replaced) == (["sequence_type", "denotation"], True)
    assert not decode(payload(6, b"note") + payload(1), TypeProto).replaced


def test_w43_replaced_content_is_still_checked(decode):
    assert fault(decode, graph(payload(2, b"\xff")) + graph(b"")) == (MALFORMED, "bad-utf8", 4, "ModelProto.graph.name")


def nested_graphs(count: int, innermost: bytes = b"") -> bytes:
    """A model whose graph holds `count` more, each in the attribute of a node of the one before."""
    body = innermost
    for _ in range(count):
        body = payload(1, payload(5, payload(6, body)))
    return graph(body)


def nested_types(count: int) -> bytes:
    """A TypeProto of sequences: two levels for each."""
    body = b""
    for _ in range(count):
        body = payload(4, payload(1, body))
    return body


@pytest.mark.parametrize("limit", [8, 11, 128, 250])
def test_w44_nesting_at_the_limit_is_read_and_one_more_refused(decode, limit):
    type_proto = nested_types(limit // 2 + 1)
    with pytest.raises(OnnxError) as caught:
        decode(type_proto, TypeProto, max_nesting=limit)
    error = caught.value
    assert (error.kind.value, error.code) == ("Unsupported", "nesting-too-deep")
    assert "max_nesting" in error.hint
    assert error.path.count("elem_type") == (limit + 1) // 2
    assert decode(nested_types(limit // 2), TypeProto, max_nesting=limit).message.sequence_type is not None


@pytest.mark.parametrize("limit", [-1, 0, 7, 251, 10**9])
def test_w45_limit_outside_8_to_250_is_the_callers_mistake(limit):
    with pytest.raises(ValueError, match=f"max_nesting is {limit}"):
        decode_default(SIX, ModelProto, max_nesting=limit)


def test_w46_a_graph_in_a_graph_costs_three_levels(decode):
    bare = payload(1) + payload(12)  # a node without attributes, an output without a type
    decode(nested_graphs(42, bare))
    assert fault(decode, nested_graphs(43, bare))[:2] == ("Unsupported", "nesting-too-deep")
    typed = payload(12, payload(2, payload(1, payload(2, payload(1)))))
    decode(nested_graphs(40, typed))
    assert fault(decode, nested_graphs(41, typed))[:2] == ("Unsupported", "nesting-too-deep")


def test_w47_unknown_payload_is_not_descended_into(decode):
    deep = nested_types(5000)
    assert decode(payload(99, deep)).message.unknown == [(0, len(payload(99, deep)))]


def test_w48_the_limit_holds_in_types_and_functions(decode):
    body = payload(1, payload(5, payload(6)))
    for _ in range(3):
        body = payload(1, payload(5, payload(6, body)))
    function = payload(25, payload(7, payload(5, payload(6, body))))
    decode(function, max_nesting=16)
    assert fault(decode, function, max_nesting=15)[:2] == ("Unsupported", "nesting-too-deep")


def test_w48_a_short_type_seen_before_does_not_pass_the_limit(decode):
    info = payload(11, payload(2, nested_types(5)))  # the type alone reaches level 13
    assert decode(graph(info * 2), max_nesting=13).message.graph.input[1].type is not None
    inner = payload(1, payload(5, payload(6, info)))
    path = "ModelProto.graph.node[0].attribute[0].g.input[0].type" + ".sequence_type.elem_type" * 4
    assert fault(decode, graph(info + inner), max_nesting=13)[3].startswith(path)


def test_w49_depth_250_needs_no_stack(decode):
    limit = sys.getrecursionlimit()
    frames = 0
    frame = sys._getframe()
    while frame is not None:
        frame, frames = frame.f_back, frames + 1
    sys.setrecursionlimit(frames + 40)
    try:
        data = nested_types(125)
        assert encode(decode(data, TypeProto, max_nesting=250).message) == data
    finally:
        sys.setrecursionlimit(limit)


def test_w50_an_empty_file_is_a_message_without_fields(decode):
    decoded = decode(b"")
    assert (decoded.message.__dict__, decoded.message.ir_version, decoded.replaced) == ({}, 0, False)
    assert (decoded.message.start, decoded.message.end) == (0, 0)


def test_w51_the_largest_file_is_that_of_protobuf():
    assert MAX_FILE_BYTES == 2147483647


def test_w52_trailing_garbage_is_refused(decode):
    assert fault(decode, SIX + graph(b"") + b"\xff") == (MALFORMED, "cut-short", 4, "ModelProto")
    assert fault(decode, SIX + graph(b"") + b"\0") == (MALFORMED, "bad-field-number", 4, "ModelProto")


def test_w53_every_prefix_of_a_model_decodes_or_is_refused(decode, shared):
    data = (shared / "corpus" / "functions_nested.onnx").read_bytes()

    def outcome(data, **options):
        try:
            return decode(data, **options).message.__dict__.keys()
        except OnnxError as error:
            return error.code, error.offset, error.path

    refused = 0
    for length in range(len(data)):
        alone = outcome(data[:length])
        assert outcome(data, end=length) == alone  # what stands after the range makes no difference
        if isinstance(alone, tuple):
            refused += 1
            assert alone[1] <= length
    assert refused > len(data) // 2


def test_a_range_inside_the_data_is_decoded_with_offsets_from_its_start(decode):
    data = b"\xff" * 10 + SIX + payload(2, b"\xff")
    assert decode(data, start=10, end=12).message.ir_version == 6
    assert fault(decode, data, start=10) == (MALFORMED, "bad-utf8", 14, "ModelProto.producer_name")
    with pytest.raises(ValueError, match="no range"):
        decode(data, start=4, end=99)


def test_a_map_and_a_view_read_like_bytes_and_are_let_go(decode, tmp_path):
    data = SIX + payload(2, b"pytorch") + graph(payload(1, payload(4, b"Relu") + payload(5, payload(9, b"x"))))
    data += payload(14, payload(1, b"k")) * 2 + graph(payload(5, payload(7, b"\x01\x80\x01")))
    (tmp_path / "model.onnx").write_bytes(data)
    with open(tmp_path / "model.onnx", "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    expected = repr(decode(data).message)
    assert repr(decode(mapped).message) == expected
    for view in (memoryview(data), memoryview(bytearray(data)), memoryview(b"?" + data)[1:], memoryview(mapped)):
        assert repr(decode(view).message) == expected
        view.release()
    mapped.close()  # a BufferError if the decoder still held a view


def test_threads_that_decode_at_once_do_not_see_half_a_table():
    build = load_uncompiled()
    data = graph(payload(1, payload(5, payload(6, payload(1)))))
    expected = repr(decode_default(data, ModelProto).message)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            shared_decode = decoder(build)  # with no tables yet
            with ThreadPoolExecutor(4) as pool:
                found = list(pool.map(lambda _: repr(shared_decode(data).message), range(8)))  # noqa: B023
            assert found == [expected] * 8
    finally:
        sys.setswitchinterval(interval)


def test_equal_names_and_equal_short_attributes_are_one_object(decode):
    node = payload(1, payload(1, b"weights") + payload(5, payload(1, b"axis") + number(3, 1)))
    first, second = decode(graph(node + node)).message.graph.node
    assert first.input[0] is second.input[0]
    assert first.attribute[0] is second.attribute[0]
    assert first is not second


def test_metadata_is_counted_and_not_built(decode):
    entry = payload(9, payload(1, b"k") + payload(2, b"v"))
    node = decode(entry * 3 + payload(9), NodeProto).message
    assert node.metadata_props == 4


@pytest.mark.parametrize(
    ("body", "code", "offset", "field"),
    [
        (payload(1, b"k") + b"\x12\x05v", "length-past-end", 6, ".value"),
        (payload(1, b"k") + b"\x12", "cut-short", 6, ".value"),
        (payload(1, b"k") + b"\x00", "bad-field-number", 5, ""),
        (b"\x0b", "bad-wire-type", 2, ".key"),
        (b"\x0a" + b"\x80" * 10, "bad-varint", 3, ".key"),
    ],
)
def test_damage_inside_metadata_is_found(decode, body, code, offset, field):
    data = payload(9, body)
    found = fault(decode, data + data, NodeProto)
    assert found == (MALFORMED, code, offset, f"NodeProto.metadata_props[0]{field}")


def test_odd_but_valid_metadata_is_read(decode):
    entries = [
        payload(2, b"v") + payload(1, b"k"),
        payload(1, b"k"),
        payload(1, "schlüssel".encode()) + payload(2, b"\xf0\x9f\x90\x8d"),
        payload(1, b"k") + payload(2, b"x" * 200),
        payload(1, b"k") + payload(2, b"x" * 20_000),
        payload(1, b"k") + payload(2, b"v") + number(3, 1),
        b"\x0a\x81\x80\x00k",
    ]
    assert decode(b"".join(payload(9, entry) for entry in entries), NodeProto).message.metadata_props == 7


def test_collection_is_back_on_after_decoding_and_after_an_error(decode):
    assert gc.isenabled()
    decode(SIX)
    assert gc.isenabled()
    fault(decode, b"\x08")
    assert gc.isenabled()
    gc.disable()
    try:
        decode(SIX)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_absent_fields_read_as_their_defaults(decode):
    node = decode(b"", NodeProto).message
    assert (node.input, node.name, node.doc_string, node.metadata_props, node.attribute) == ((), "", None, 0, ())
    found = decode(b"", AttributeProto).message
    assert (found.f, found.i, found.s, found.t, found.strings, found.type) == (0.0, 0, None, None, (), 0)
    found = decode(b"", TensorProto).message
    assert (found.dims, found.int64_data, found.raw_data, found.string_data) == ((), None, None, ())
    assert decode(b"", ValueInfoProto).message.type is None
    assert decode(b"", GraphProto).message.node == ()
    assert decode(b"", OperatorSetIdProto).message.version == 0
    assert decode(b"", StringStringEntryProto).message.value == ""
