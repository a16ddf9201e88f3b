"""Scanning a message again, for what the decoder did not build."""

from __future__ import annotations

import struct

import pytest

from sardonyx.wire import decode, entries, fixed, fixed32_bits, pieces, varints
from sardonyx.wire.messages import AttributeProto, NodeProto, StringStringEntryProto, TensorProto
from tests.wire.bytes_of import fixed32, fixed64, number, payload


def test_pieces_gives_every_field_with_its_key_payload_and_end():
    data = number(20, 300) + payload(1, b"abc") + fixed32(2, b"1234") + fixed64(99, b"12345678")
    assert list(pieces(data, 0, len(data))) == [
        (20, 0, 0, 2, 4),
        (1, 2, 4, 6, 9),
        (2, 5, 9, 10, 14),
        (99, 1, 14, 16, 24),
    ]
    assert list(pieces(data, 4, 9)) == [(1, 2, 4, 6, 9)]


def test_pieces_of_what_is_not_a_message_is_the_callers_mistake():
    with pytest.raises(ValueError, match="damaged length at 0"):
        list(pieces(b"\x0a\x05abc", 0, 5))


def test_entries_decodes_metadata_on_demand():
    entry = payload(9, payload(1, b"k") + payload(2, b"v"))
    data = entry + number(9, 4) + payload(3, b"name") + payload(9, payload(2, b"w"))
    node = decode(data, NodeProto).message
    found = entries(data, node.start, node.end, 9, StringStringEntryProto)
    assert [(one.key, one.value) for one in found] == [("k", "v"), ("", "w")]


def test_varints_and_fixed_convert_runs():
    data = payload(7, b"\x01\xac\x02") + number(7, -1)
    assert varints(data, decode(data, TensorProto).message.int64_data) == [1, 300, 2**64 - 1]
    data = payload(10, struct.pack("<2d", 1, 2)) + fixed64(10, struct.pack("<d", 3))
    assert fixed(data, decode(data, TensorProto).message.double_data) == struct.pack("<3d", 1, 2, 3)


def test_fixed32_bits_gives_floats_as_bit_patterns():
    data = (
        fixed32(7, struct.pack("<I", 0x7F812345)) + payload(7, struct.pack("<2I", 1, 0x80000000)) + payload(2, b"1234")
    )
    message = decode(data, AttributeProto).message
    assert fixed32_bits(data, message, AttributeProto.by_number[7]) == (0x7F812345, 1, 0x80000000)
    assert fixed32_bits(data, message, AttributeProto.by_number[2]) == ()
