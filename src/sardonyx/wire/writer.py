"""Encode messages as protobuf's own serializer would: fields in the order of their numbers, nothing that is absent."""

from __future__ import annotations

from struct import pack

from sardonyx.wire.pieces import fixed32_bits, pieces
from sardonyx.wire.schema import LENGTH, Message, Runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from mmap import mmap
    from typing import Any

    from sardonyx.wire.schema import Field

    Buffer = bytes | mmap | memoryview

SMALL = [bytes([number]) for number in range(0x80)]
FORMATS = {"float": "f", "double": "d"}


def varint(number: int) -> bytes:
    """Return a number as a varint; negative ones as 64-bit two's complement, in ten bytes."""
    if 0 <= number < 0x80:
        return SMALL[number]
    if not -(1 << 63) <= number < 1 << 64:
        raise ValueError(f"{number} does not fit in 64 bits")
    number &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def sized(data: bytes) -> bytes:
    """Return a payload with its length before it."""
    size = len(data)
    return (SMALL[size] if size < 0x80 else varint(size)) + data


def key(number: int, wire: int) -> bytes:
    """Return the key of a field."""
    return varint(number << 3 | wire)


def header(number: int, length: int) -> bytes:
    """Return the key and length that stand before a payload."""
    return varint(number << 3 | LENGTH) + varint(length)


def encode(message: Message, data: Buffer | None = None) -> bytes:
    """Return the message's bytes.

    A field is written iff it is in `__dict__` (an empty list writes nothing). `data` is what the message was decoded
    from: spans, counts, runs and the bits of NaNs are taken from there. Built by hand, a span field may hold bytes or
    text, a runs field a list of numbers, a checked field a list of messages. Raises ValueError for a span without
    `data`, and for a number out of range.
    """
    parts: list[bytes] = []
    todo = steps(message, data)
    stack = []  # what to go on with after the message at hand
    while True:
        for step in todo:
            if isinstance(step, bytes):
                parts.append(step)
            else:
                number, child = step
                stack.append((number, parts, todo))
                parts, todo = [], steps(child, data)
                break
        else:
            body = b"".join(parts)
            if not stack:
                return body
            number, parts, todo = stack.pop()
            parts.append(header(number, len(body)))
            parts.append(body)


def steps(message: Message, data: Buffer | None) -> Iterator[bytes | tuple[int, Message]]:
    """Yield the message's fields in order: bytes as they are, nested messages as `(number, message)`."""
    values = message.__dict__
    for known in message.fields:
        if known.attribute not in values:
            continue
        value, number = values[known.attribute], known.number
        if known.kind == "message":
            if isinstance(value, int):
                yield verbatim(message, number, data)
            elif known.repeated:
                for child in value:
                    yield number, child
            else:
                yield number, value
        elif known.wire == LENGTH:
            for item in value if known.repeated else (value,):
                payload = payload_of(item, data)
                yield header(number, len(payload)) + payload
        elif isinstance(value, Runs):
            if value.count:
                payload = b"".join([span_of(run[:2], data) for run in value.spans])
                yield header(number, len(payload)) + payload
        else:
            yield numbers(message, known, value if known.repeated else (value,), data)
    for span in message.unknown:
        yield span_of(span, data)


def payload_of(value: Any, data: Buffer | None) -> bytes:
    """Return the payload of a text or bytes field."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, tuple):
        return span_of(value, data)
    return bytes(value)


def span_of(span: Sequence[int], data: Buffer | None) -> bytes:
    """Return the bytes of a span."""
    if data is None:
        raise ValueError("a decoded message has spans: its bytes are needed to encode it")
    return bytes(data[span[0] : span[1]])


def verbatim(message: Message, number: int, data: Buffer | None) -> bytes:
    """Return the entries of a field that was checked but not decoded, as they stand in the input."""
    if data is None:
        raise ValueError("a decoded message has entries that were not decoded: its bytes are needed to encode it")
    return b"".join(
        [
            bytes(data[at:stop])
            for found, wire, at, _, stop in pieces(data, message.start, message.end)
            if found == number and wire == LENGTH
        ]
    )


def numbers(message: Message, known: Field, values: Sequence[Any], data: Buffer | None) -> bytes:
    """Return the numbers of a field with their keys, packed where onnx.proto says so."""
    if known.kind in FORMATS:
        if data is not None and message.start >= 0 and any(value != value for value in values):
            bits = fixed32_bits(data, message, known)
            payloads = [pack("<I", pattern) for pattern in bits]
        else:
            payloads = [pack("<" + FORMATS[known.kind], value) for value in values]
    else:
        payloads = [varint(value) for value in values]
    if known.packed:
        body = b"".join(payloads)
        return header(known.number, len(body)) + body if body else b""
    head = key(known.number, known.wire)
    return b"".join([head + payload for payload in payloads])
