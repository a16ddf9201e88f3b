"""Mutate protobuf as protobuf: change one field and mend the lengths around it.

Bytes that are flipped at random seldom get past the first length; a field that is deleted, doubled, moved or changed in
a message that is otherwise whole reaches the rules behind the wire format.
"""

from __future__ import annotations

import random
from collections.abc import Callable

Field = list  # [field number, wire type, payload: int, bytes or list of fields]
Bytewise = Callable[[bytes, int], bytes]

DEPTH = 12
EDGES = (0, 1, 2, 3, 5, 8, 11, 16, 27, 28, 29, 127, 128, 2**31 - 1, 2**31, 2**32, 2**60, 2**63 - 1, 2**63, 2**64 - 1)


def mutate(data: bytes, max_size: int, seed: int, bytewise: Bytewise) -> bytes:
    """Return `data` with one to three changes; what does not read as protobuf is changed byte by byte."""
    chance = random.Random(seed)
    fields = read(data, DEPTH)
    if not fields or chance.random() < 0.2:
        return bytewise(data, max_size)
    for _ in range(chance.randint(1, 3)):
        change(fields, chance, bytewise)
    out = write(fields)
    return out if len(out) <= max_size else bytewise(data, max_size)


def change(fields: list[Field], chance: random.Random, bytewise: Bytewise) -> None:
    """Change one field, of this message or of one inside it."""
    groups = [fields]
    for group in groups:  # grows as it is read
        groups += [field[2] for field in group if isinstance(field[2], list)]
    group = chance.choice(groups)
    if not group:
        return
    at = chance.randrange(len(group))
    field = group[at]
    what = chance.randrange(8)
    if what == 0:
        del group[at]
    elif what == 1:
        group.insert(chance.randrange(len(group) + 1), copy(field))
    elif what == 2:
        group.append(group.pop(at))
    elif what == 3:
        field[0] = chance.randint(1, 26)
    elif what == 4:
        other = chance.choice(chance.choice(groups) or group)
        group[at] = [field[0], other[1], copy(other)[2]]
    elif what == 5:
        group.insert(at, copy(chance.choice(chance.choice(groups) or group)))
    elif isinstance(field[2], int):
        field[2] = chance.choice(EDGES) if chance.random() < 0.6 else field[2] ^ 1 << chance.randrange(64)
    elif isinstance(field[2], bytes):
        field[2] = bytewise(field[2], len(field[2]) + 16)
    else:
        field[2] = bytewise(write(field[2]), 256)


def copy(field: Field) -> Field:
    """Return a field that shares nothing with this one."""
    number, wire, payload = field
    return [number, wire, [copy(one) for one in payload] if isinstance(payload, list) else payload]


def read(data: bytes, depth: int) -> list[Field] | None:
    """Read a message as a list of fields, payloads that read as messages taken apart too; None when it is not one."""
    fields: list[Field] = []
    pos = 0
    while pos < len(data):
        key, pos = varint(data, pos)
        if key is None or key >> 3 == 0 or key >> 3 > 64:
            return None
        wire = key & 7
        if wire == 0:
            value, pos = varint(data, pos)
            if value is None:
                return None
            fields.append([key >> 3, wire, value])
            continue
        if wire == 2:
            size, pos = varint(data, pos)
        else:
            size = {1: 8, 5: 4}.get(wire)
        if size is None or pos + size > len(data):
            return None
        payload = data[pos : pos + size]
        pos += size
        inner = read(payload, depth - 1) if wire == 2 and depth and payload else None
        fields.append([key >> 3, wire, inner or payload])
    return fields


def varint(data: bytes, pos: int) -> tuple[int | None, int]:
    """Read a varint; None when it is cut short or too long."""
    value = 0
    for shift in range(0, 70, 7):
        if pos >= len(data):
            break
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
    return None, pos


def write(fields: list[Field]) -> bytes:
    """Write fields, lengths as they come out."""
    out = bytearray()
    for number, wire, payload in fields:
        if isinstance(payload, list):
            payload = write(payload)
        if isinstance(payload, int):
            out += packed(number << 3) + packed(payload)
        elif wire in (1, 5) and len(payload) == (8 if wire == 1 else 4):
            out += packed(number << 3 | wire) + payload
        else:
            out += packed(number << 3 | 2) + packed(len(payload)) + payload
    return bytes(out)


def packed(value: int) -> bytes:
    """Write a varint."""
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
