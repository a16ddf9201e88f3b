"""Damaged input: any bytes decode or are refused, and both builds give the same answer."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sardonyx.errors import CODES, OnnxError
from sardonyx.wire import codec, encode, varint
from sardonyx.wire.messages import ModelProto, NodeProto, TensorProto, TypeProto
from tests.wire.bytes_of import attribute, fixed32, fixed64, graph, number, payload, tensor
from tests.wire.conftest import decoder, load_uncompiled

SMALL = ("proto_corners", "functions_nested", "sequence_ops", "skl_tfidf_text")


def outcome(decode, data, cls=ModelProto):
    """What a decoder makes of some bytes, as text that can be compared."""
    try:
        decoded = decode(data, cls)
    except OnnxError as error:
        return error.code, error.offset, str(error)
    return decoded.replaced, spelled(decoded.message)


def spelled(message) -> str:
    """Everything that a message holds, spans included."""
    text = [f"{type(message).__name__}@{message.start}:{message.end}"]
    for name, value in message.__dict__.items():
        values = value if isinstance(value, list) else [value]
        text.append(name + "=" + ",".join(spelled(one) if hasattr(one, "has") else repr(one) for one in values))
    return f"({' '.join(text)})"


def damaged(data: bytes, dice: random.Random) -> bytes:
    """A copy of the bytes with one kind of damage."""
    kind = dice.randrange(5)
    at = dice.randrange(len(data))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]
    if kind == 2:
        return data[:at] + dice.randbytes(dice.randrange(1, 12)) + data[at + dice.randrange(12) :]
    if kind == 3:
        other = dice.randrange(len(data))
        return data[:at] + data[other : other + dice.randrange(200)] + data[at:]
    return data[:at] + bytes([dice.choice(b"\x00\x01\x7f\x80\xff")]) * dice.randrange(1, 11) + data[at + 1 :]


def test_both_builds_agree_on_every_sample(interpreted, compiled, shared):
    for path in sorted((shared / "corpus").glob("*.onnx")):
        if path.stat().st_size < 500_000:
            data = path.read_bytes()
            assert outcome(interpreted, data) == outcome(compiled, data), path.name


@pytest.mark.parametrize("name", SMALL)
def test_both_builds_agree_on_damaged_models(interpreted, compiled, shared, name):
    data = (shared / "corpus" / f"{name}.onnx").read_bytes()
    dice = random.Random(name)
    seen = set()
    for _ in range(1500):
        broken = damaged(data, dice)
        expected = outcome(interpreted, broken)
        assert outcome(compiled, broken) == expected
        seen.add(expected[0])
    assert seen >= {"length-past-end", False}


NARROW = [load_uncompiled().narrow_varints] + ([codec.narrow_varints] if codec.is_compiled else [])


@pytest.mark.parametrize("narrow", NARROW)
def test_the_low_bytes_of_varints_are_written_little_endian(narrow):
    run = varint(1) + varint(300) + varint(-2)
    for width in (1, 2, 4, 8):
        into = bytearray(3 * width)
        assert narrow(b"x" + run + b"x", 1, 1 + len(run), into, width, False) == len(into)
        numbers = [1, 300, 2**64 - 2]
        assert bytes(into) == b"".join([(one % 256**width).to_bytes(width, "little") for one in numbers])


@pytest.mark.parametrize("narrow", NARROW)
def test_the_truth_of_a_varint_is_that_of_its_low_32_bits(narrow):
    run = b"".join([varint(one) for one in (0, 1, 256, 2**31, 2**32, -1)])
    into = bytearray(6)
    assert narrow(run, 0, len(run), into, 1, True) == 6
    assert bytes(into) == b"\0\1\1\1\0\1"


@pytest.mark.parametrize("narrow", NARROW)
def test_varints_that_changed_since_they_were_counted_are_converted_within_bounds(narrow):
    into = bytearray(4)
    assert narrow(b"\1\2\3\4\5\6", 0, 6, into, 2, False) == 4
    assert bytes(into) == b"\1\0\2\0"
    assert narrow(b"\1\xff\xff\1", 0, 3, into, 2, False) == 4
    assert bytes(into) == b"\1\0\xff\x3f"
    with pytest.raises(ValueError, match="no range 0:5 in 4 bytes"):
        narrow(b"\1\2\3\4", 0, 5, into, 2, False)


@given(st.binary(max_size=40), st.sampled_from([1, 2, 4, 8]), st.booleans(), st.integers(0, 12))
def test_both_builds_convert_any_bytes_alike(data, width, truth, count):
    found = []
    for narrow in NARROW:
        into = bytearray(count * width)
        found.append((narrow(data, 0, len(data), into, width, truth), bytes(into)))
    assert all(one == found[0] for one in found)


SHORT = st.binary(max_size=12)
FIELDS = st.integers(1, 27) | st.sampled_from([99, 2**29 - 1])
PIECES = st.one_of(
    st.builds(number, FIELDS, st.integers(-(2**63), 2**64 - 1)),
    st.builds(payload, FIELDS, SHORT),
    st.builds(fixed32, FIELDS, st.binary(max_size=4)),
    st.builds(fixed64, FIELDS, st.binary(max_size=8)),
    SHORT,
)
BODIES = st.recursive(
    st.lists(PIECES, max_size=5).map(b"".join),
    lambda inner: st.lists(st.builds(payload, FIELDS, inner) | PIECES, max_size=5).map(b"".join),
    max_leaves=12,
)
WRAPPED = st.builds(lambda wrap, body: wrap(body), st.sampled_from([bytes, graph, tensor, attribute]), BODIES)
BUILDS = [decoder(load_uncompiled())] + ([decoder(codec)] if codec.is_compiled else [])


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WRAPPED, st.sampled_from([ModelProto, NodeProto, TensorProto, TypeProto]))
def test_r07_any_bytes_decode_or_are_refused_and_what_decodes_can_be_written_and_read_again(data, cls):
    found = [outcome(decode, data, cls) for decode in BUILDS]
    assert all(one == found[0] for one in found)
    if found[0][0] in CODES:
        assert 0 <= found[0][1] <= len(data)
        return
    once = encode(BUILDS[0](data, cls).message, data)
    again = BUILDS[0](once, cls)
    assert not again.replaced or found[0][0]
    assert encode(again.message, once) == once
