"""Scan the fields of one message again, without decoding them.

Where the decoder kept a span or a count, this is how its content is had: metadata on demand, typed numbers, bytes that
are copied as they stand. `scan` also goes over damaged bytes, up to the damage and no further.
"""

from __future__ import annotations

from struct import unpack

from sardonyx.wire.schema import FIXED32, FIXED64, LENGTH, VARINT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap
    from typing import TypeVar

    from sardonyx.wire.schema import Field, Message, Runs

    Buffer = bytes | mmap | memoryview
    Piece = tuple[int, int, int, int, int]
    M = TypeVar("M", bound=Message)

WIDTHS = {FIXED32: 4, FIXED64: 8}


def read_varint(data: Buffer, pos: int, end: int) -> tuple[int, int]:
    """Return the varint at `pos` and where it ends; the end is -1 when the varint is damaged."""
    value = shift = 0
    while pos < end and shift < 70:
        byte = data[pos]
        value |= (byte & 0x7F) << shift
        pos += 1
        if byte < 0x80:
            return value, pos if value >> 64 == 0 else -1
        shift += 7
    return value, -1


def scan(data: Buffer, start: int, end: int) -> Iterator[tuple[int, int, int, int, int, str]]:
    """Yield `(number, wire, start of the key, start of the payload, end, damage)` for each field.

    `damage` is empty but for the last one of a damaged message, which reaches to the message's end: `key`, `length` or
    `value` names the part that cannot be read.
    """
    pos = start
    while pos < end:
        at = pos
        key, pos = read_varint(data, at, end)
        if pos < 0 or key >> 32 or key < 8:
            yield 0, 0, at, end, end, "key"
            return
        number, wire, begin, damage = key >> 3, key & 7, pos, ""
        if wire == VARINT:
            _, pos = read_varint(data, begin, end)
            damage = "value" if pos < 0 else ""
        elif wire == LENGTH:
            size, begin = read_varint(data, begin, end)
            if begin < 0 or size > end - begin:
                damage = "length"
                begin = end if begin < 0 else begin
            pos = begin + size
        elif wire in WIDTHS:
            pos = begin + WIDTHS[wire]
            damage = "value" if pos > end else ""
        else:
            damage = "key"
        if damage:
            yield number, wire, at, begin, end, damage
            return
        yield number, wire, at, begin, pos, ""


def pieces(data: Buffer, start: int, end: int) -> Iterator[Piece]:
    """Yield `(number, wire, start of the key, start of the payload, end)` for each field of a decoded message."""
    for number, wire, at, begin, stop, damage in scan(data, start, end):
        if damage:
            raise ValueError(f"{start}:{end} is not the span of a decoded message: damaged {damage} at {at}")
        yield number, wire, at, begin, stop


def entries(data: Buffer, start: int, end: int, number: int, message_class: type[M]) -> list[M]:
    """Decode the repeated message field `number` of the decoded message in `start:end`."""
    from sardonyx.wire.reader import MOST_NESTING, decode

    return [
        decode(data, message_class, begin, stop, max_nesting=MOST_NESTING).message
        for found, wire, _, begin, stop in pieces(data, start, end)
        if found == number and wire == LENGTH
    ]


def varints(data: Buffer, runs: Runs) -> list[int]:
    """Return the numbers of a checked varint field, as unsigned 64-bit values."""
    values = []
    for start, end, _ in runs.spans:
        run = bytes(data[start:end])
        pos, size = 0, len(run)
        while pos < size:
            byte = run[pos]
            pos += 1
            if byte >= 0x80:
                value, shift = byte & 0x7F, 7
                while byte >= 0x80:
                    byte = run[pos]
                    value |= (byte & 0x7F) << shift
                    shift += 7
                    pos += 1
                byte = value
            values.append(byte)
    return values


def fixed(data: Buffer, runs: Runs) -> bytes:
    """Return the little-endian bytes of a checked float or double field."""
    return b"".join([data[start:end] for start, end, _ in runs.spans])


def fixed32_bits(data: Buffer, message: Message, known: Field) -> tuple[int, ...]:
    """Return the bit patterns of a float field (`f`, `floats`) of a decoded message.

    A Python float need not keep the payload of a NaN; the bits do.
    """
    wires = (FIXED32, LENGTH) if known.repeated else (FIXED32,)
    run = b"".join(
        [
            data[begin:stop]
            for found, wire, _, begin, stop in pieces(data, message.start, message.end)
            if found == known.number and wire in wires
        ]
    )
    bits = unpack(f"<{len(run) // 4}I", run)
    return bits if known.repeated else bits[-1:]
