"""Decode protobuf bytes into messages: one loop for every message, driven by tables.

This is the one module that is compiled where a C compiler is at hand; `codec.pxd` holds its C types. Both builds give
the same results, codes and offsets. Nothing recurses: a message inside a message pushes a frame.
"""

from __future__ import annotations

from struct import Struct

try:
    import cython
except ImportError:
    from sardonyx.wire import _cython as cython

from sardonyx.wire.schema import Runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

is_compiled: bool = cython.compiled

# What to do with a field, by wire type, the most frequent first. Those up to LAST_LENGTH have a length.
TEXTS, TEXT, CHECKED, SHARED, SHAREDS, MESSAGES, MESSAGE = 0, 1, 2, 3, 4, 5, 6
INTS_PACKED, SPAN, SPANS, CHECKED_TEXT, BYTES, FLOATS_PACKED = 7, 8, 9, 10, 11, 12
RUN_VARINTS, RUN_FIXED32S, RUN_FIXED64S, SKIP_LENGTH, LAST_LENGTH = 13, 14, 15, 16, 16
INT, INT32, INTS, RUN_VARINT, SKIP_VARINT, LAST_VARINT = 17, 18, 19, 20, 21, 21
FLOAT, FLOATS, RUN_FIXED32, SKIP_FIXED32, LAST_FIXED32 = 22, 23, 24, 25, 25
RUN_FIXED64, SKIP_FIXED64, LAST_FIXED64 = 26, 27, 27
BAD_FIELD, BAD_WIRE = 28, 29

SHARED_SIZE = 128
CHECKED_SIZE = 4096
CHUNK = 1 << 16

HIGH_BYTES = bytes(range(0x80, 0x100))
ONE_FLOAT = Struct("<f")


class Fault(Exception):
    """What is wrong and where; `reader.decode` makes a sentence of it.

    `size` and `room` are numbers for that sentence. For `cut-short`, `size` says that nothing of the value is there, so
    that its offset is already behind the message.
    """

    def __init__(self, code: str, offset: int, size: int = 0, room: int = 0) -> None:
        super().__init__(code, offset, size, room)
        self.code = code
        self.offset = offset
        self.size = size
        self.room = room


def varint_end(data: Any, pos: int, end: int) -> int:
    """Return where the varint at `pos` ends, once it is known to fit in 64 bits."""
    last = end if end - pos < 10 else pos + 10
    stop = pos
    while stop < last:
        if data[stop] < 0x80:
            if stop - pos == 9 and data[stop] > 1:
                raise Fault("bad-varint", pos)
            return stop + 1
        stop += 1
    if stop - pos == 10:
        raise Fault("bad-varint", pos)
    raise Fault("cut-short", pos, pos == end)


def varint_value(data: Any, pos: int, stop: int) -> int:
    """Return the number that the checked varint in `pos:stop` stands for, unsigned."""
    value = 0
    while stop > pos:
        stop -= 1
        value = value << 7 | (data[stop] & 0x7F)
    return value


def signed64(value: int) -> int:
    """Read an unsigned 64-bit number as two's complement."""
    return value - 0x10000000000000000 if value >> 63 else value


def signed32(value: int) -> int:
    """Keep the low 32 bits as a signed number, as protobuf does for int32 and enum."""
    value &= 0xFFFFFFFF
    return value - 0x100000000 if value >> 31 else value


def text_of(raw: Any, pos: int) -> str:
    """Decode the bytes that stand at `pos` as UTF-8."""
    try:
        return str(raw, "utf-8")
    except UnicodeDecodeError as bad:
        raise Fault("bad-utf8", pos + bad.start) from None


def is_ascii(data: Any, pos: int, end: int) -> bool:
    """Return whether all bytes are below 0x80; compiled, this is a loop over vectors."""
    high = 0
    for index in range(pos, end):
        high |= data[index]
    return high < 0x80


def check_text(data: Any, pos: int, end: int) -> None:
    """Raise unless the bytes are UTF-8."""
    if cython.compiled and is_ascii(data, pos, end):
        return
    text_of(data[pos:end], pos)


def is_plain_entry(data: Any, pos: int, end: int) -> bool:
    """Return whether the payload is a key and a value, each once, in this order, and in ASCII.

    Nearly every entry of every `metadata_props` is. What this says no to is not wrong; it only takes the long way.
    """
    for key in (0x0A, 0x12):
        if end - pos < 2 or data[pos] != key:
            return False
        size = data[pos + 1]
        pos += 2
        if size >= 0x80:
            if pos >= end or data[pos] >= 0x80:
                return False
            size = (size & 0x7F) | data[pos] << 7
            pos += 1
        if size > end - pos or not is_ascii(data, pos, pos + size):
            return False
        pos += size
    return pos == end


def packed_ints(data: Any, pos: int, end: int, into: list[int]) -> None:
    """Append the numbers of a packed run of int64."""
    while pos < end:
        if data[pos] < 0x80:
            into.append(data[pos])
            pos += 1
        else:
            stop = varint_end(data, pos, end)
            into.append(signed64(varint_value(data, pos, stop)))
            pos = stop


def count_varints(data: Any, pos: int, end: int) -> int:
    """Check a packed run of varints and return how many there are."""
    count = 0
    if cython.compiled:
        while pos < end:
            pos = pos + 1 if data[pos] < 0x80 else varint_end(data, pos, end)
            count += 1
        return count

    from re import compile  # typed integer data is rare: raw_data is the rule

    bad = compile(rb"[\x80-\xff]{9}[^\x00\x01]").search(data, pos, end)  # nine more to come, and a tenth too large
    if bad is not None:
        raise Fault("bad-varint", bad.start())
    if pos < end and data[end - 1] >= 0x80:
        last = end - 1
        while last > pos and data[last - 1] >= 0x80:
            last -= 1
        raise Fault("cut-short", last)
    while pos < end:
        stop = min(pos + CHUNK, end)
        count += len(bytes(data[pos:stop]).translate(None, HIGH_BYTES))
        pos = stop
    return count


def narrow_varints(data: Any, pos: int, end: int, into: Any, width: int, truth: bool) -> int:
    """Write each varint in `data[pos:end]` into `into`, its low `width` bytes, little-endian; return the bytes written.

    With `truth`, what is written of each is whether its low 32 bits, an int32, are other than zero. The varints were
    checked when they were counted, but a mapped file may have changed since: nothing is read or written out of bounds.
    """
    if not pos <= end <= len(data):
        raise ValueError(f"no range {pos}:{end} in {len(data)} bytes")
    at, room, low = 0, len(into), 0xFFFFFFFF
    while pos < end and at + width <= room:
        byte = data[pos]
        pos += 1
        value = byte & 0x7F
        shift = 7
        while byte >= 0x80 and pos < end and shift < 64:
            byte = data[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            shift += 7
        if truth:
            value = (value & low) != 0
        stop = at + width
        while at < stop:
            into[at] = value & 0xFF
            value >>= 8
            at += 1
    return at


def parse(
    data: Any, pos: int, end: int, root: Any, table: list[Any], shared: tuple[type, ...], max_nesting: int
) -> bool:
    """Fill `root` from `data[pos:end]`; return whether any singular field or oneof in it was given more than once."""
    replaced = False
    fields = root.__dict__
    stack: list[Any] = []  # what to go on with after the message at hand: (end, table, fields)
    texts: dict[Any, str] = {}
    checked: set[Any] = set()
    memos: dict[type, dict[Any, Any]] = {cls: {} for cls in shared}
    while True:
        while pos < end:
            at = pos
            key = data[pos]
            pos += 1
            if key >= 0x80:
                if pos < end and data[pos] < 0x80:
                    key = (key & 0x7F) | data[pos] << 7
                    pos += 1
                else:
                    pos = varint_end(data, at, end)
                    value = varint_value(data, at, pos)
                    if value >> 32:
                        raise Fault("bad-key", at)
                    key = value
                if key > 255:
                    key = 0xF8 | (key & 7) if key >> 3 else key  # field 31, which no message has
            action, name, child, below, rivals = table[key]

            if action <= LAST_LENGTH:
                if pos >= end:
                    raise Fault("cut-short", pos, 1)
                size = data[pos]
                begin = pos + 1
                if size >= 0x80:
                    if begin < end and data[begin] < 0x80:
                        size = (size & 0x7F) | data[begin] << 7
                        begin += 1
                    else:
                        begin = varint_end(data, pos, end)
                        size = varint_value(data, pos, begin)
                if size > end - begin:
                    raise Fault("length-past-end", pos, size, end - begin)
                pos = begin + size

                if action <= TEXT:
                    raw = data[begin:pos]
                    text = texts.get(raw)
                    if text is None:
                        texts[raw] = text = text_of(raw, begin)
                    if action == TEXTS:
                        if name in fields:
                            fields[name].append(text)
                        else:
                            fields[name] = [text]
                        continue
                    if name in fields:
                        replaced = True
                    if rivals is not None:
                        for rival in rivals:
                            if fields.pop(rival, None) is not None:
                                replaced = True
                    fields[name] = text
                elif action <= MESSAGE:
                    if len(stack) >= max_nesting:
                        raise Fault("nesting-too-deep", at)
                    if action == CHECKED:
                        fields[name] = fields.get(name, 0) + 1
                        if cython.compiled and is_plain_entry(data, begin, pos):
                            continue  # quicker than to hash it
                        if size <= CHECKED_SIZE:
                            raw = data[begin:pos]
                            if raw in checked:
                                continue
                            checked.add(raw)
                        stack.append((end, table, fields))
                        end = pos
                        pos = begin
                        table = below
                        fields = {}
                        continue
                    known = False
                    # A level costs two bytes at least, so that within the guard a copy cannot pass the limit.
                    if action <= SHAREDS and size <= SHARED_SIZE and len(stack) + (size >> 1) < max_nesting:
                        raw = data[begin:pos]
                        memo = memos[child]
                        message = memo.get(raw)
                        if message is None:
                            message = child.__new__(child)
                            memo[raw] = message
                        else:
                            known = True
                    else:
                        message = child.__new__(child)
                    if action in (MESSAGES, SHAREDS):
                        if name in fields:
                            fields[name].append(message)
                        else:
                            fields[name] = [message]
                    else:
                        if name in fields:
                            replaced = True
                        if rivals is not None:
                            for rival in rivals:
                                if fields.pop(rival, None) is not None:
                                    replaced = True
                        fields[name] = message
                    if not known:
                        message.start = begin
                        message.end = pos
                        if size:
                            stack.append((end, table, fields))
                            end = pos
                            pos = begin
                            table = below
                            fields = message.__dict__
                elif action == INTS_PACKED:
                    if name not in fields:
                        fields[name] = []
                    packed_ints(data, begin, pos, fields[name])
                elif action == SPAN:
                    if name in fields:
                        replaced = True
                    fields[name] = (begin, pos)
                elif action == SPANS:
                    if name not in fields:
                        fields[name] = []
                    fields[name].append((begin, pos))
                elif action == CHECKED_TEXT:
                    check_text(data, begin, pos)
                    if name in fields:
                        replaced = True
                    fields[name] = (begin, pos)
                elif action == BYTES:
                    if name not in fields:
                        fields[name] = []
                    fields[name].append(bytes(data[begin:pos]))
                elif action == FLOATS_PACKED:
                    if size & 3:
                        raise Fault("ragged-packed", begin, size, 4)
                    if name not in fields:
                        fields[name] = []
                    for (number,) in ONE_FLOAT.iter_unpack(data[begin:pos]):
                        fields[name].append(number)
                elif action != SKIP_LENGTH:
                    if action == RUN_VARINTS:
                        count = count_varints(data, begin, pos)
                    else:
                        width = 4 if action == RUN_FIXED32S else 8
                        if size % width:
                            raise Fault("ragged-packed", begin, size, width)
                        count = size // width
                    if name not in fields:
                        fields[name] = Runs()
                    fields[name].count += count
                    fields[name].spans.append((begin, pos, 2))
                else:
                    keep_unknown(fields, at, pos)

            elif action <= LAST_VARINT:
                begin = pos
                if pos >= end:
                    raise Fault("cut-short", pos, 1)
                value = data[pos]
                pos += 1
                if value >= 0x80:
                    pos = varint_end(data, begin, end)
                    value = varint_value(data, begin, pos)
                if action <= INT32:
                    if name in fields:
                        replaced = True
                    if rivals is not None:
                        for rival in rivals:
                            if fields.pop(rival, None) is not None:
                                replaced = True
                    fields[name] = signed64(value) if action == INT else signed32(value)
                elif action == INTS:
                    if name not in fields:
                        fields[name] = []
                    fields[name].append(signed64(value))
                elif action == RUN_VARINT:
                    if name not in fields:
                        fields[name] = Runs()
                    fields[name].count += 1
                    fields[name].spans.append((begin, pos, 0))
                else:
                    keep_unknown(fields, at, pos)

            elif action <= LAST_FIXED64:
                begin = pos
                pos += 4 if action <= LAST_FIXED32 else 8
                if pos > end:
                    raise Fault("cut-short", begin, begin == end)
                if action == FLOAT:
                    if name in fields:
                        replaced = True
                    fields[name] = ONE_FLOAT.unpack(data[begin:pos])[0]
                elif action == FLOATS:
                    if name not in fields:
                        fields[name] = []
                    fields[name].append(ONE_FLOAT.unpack(data[begin:pos])[0])
                elif action in (RUN_FIXED32, RUN_FIXED64):
                    if name not in fields:
                        fields[name] = Runs()
                    fields[name].count += 1
                    fields[name].spans.append((begin, pos, 5 if action == RUN_FIXED32 else 1))
                else:
                    keep_unknown(fields, at, pos)

            elif action == BAD_FIELD:
                raise Fault("bad-field-number", at)
            else:
                raise Fault("bad-wire-type", at, key & 7)

        if not stack:
            return replaced
        end, table, fields = stack.pop()


def keep_unknown(fields: dict[str, Any], start: int, end: int) -> None:
    """Note a skipped field; neighbours become one span."""
    spans = fields.setdefault("unknown", [])
    if spans and spans[-1][1] == start:
        start = spans.pop()[0]
    spans.append((start, end))


def run(
    data: Any, start: int, end: int, root: Any, table: list[Any], shared: tuple[type, ...], max_nesting: int
) -> bool:
    """Check the arguments, then `parse`."""
    if not 0 <= start <= end <= len(data):
        raise ValueError(f"no range {start}:{end} in {len(data)} bytes")
    root.start = start
    root.end = end
    if start == end:
        return False
    if cython.compiled:
        return parse(cython.address(data[0]), start, end, root, table, shared, max_nesting)
    return parse(data, start, end, root, table, shared, max_nesting)


def entry_actions(known: Any) -> dict[int, int]:
    """Return what to do with a field, by the wire type it arrives with."""
    kind = known.kind
    if kind == "message":
        if known.held == "checked":
            return {2: CHECKED}
        if known.held == "shared":
            return {2: SHAREDS if known.repeated else SHARED}
        return {2: MESSAGES if known.repeated else MESSAGE}
    if kind == "string":
        if known.held == "checked":
            return {2: CHECKED_TEXT}
        return {2: TEXTS if known.repeated else TEXT}
    if kind == "bytes":
        if known.held == "span":
            return {2: SPANS if known.repeated else SPAN}
        return {2: BYTES}
    if known.held == "runs":
        if kind == "float":
            return {2: RUN_FIXED32S, 5: RUN_FIXED32}
        if kind == "double":
            return {2: RUN_FIXED64S, 1: RUN_FIXED64}
        return {2: RUN_VARINTS, 0: RUN_VARINT}
    if kind == "float":
        return {2: FLOATS_PACKED, 5: FLOATS} if known.repeated else {5: FLOAT}
    if known.repeated:
        return {2: INTS_PACKED, 0: INTS}
    return {0: INT if kind == "int64" else INT32}


SKIPS = {
    0: (SKIP_VARINT, None, None, None, None),
    1: (SKIP_FIXED64, None, None, None, None),
    2: (SKIP_LENGTH, None, None, None, None),
    5: (SKIP_FIXED32, None, None, None, None),
}
BAD_FIELD_ENTRY = (BAD_FIELD, None, None, None, None)
BAD_WIRE_ENTRY = (BAD_WIRE, None, None, None, None)


def table_of(cls: Any, tables: dict[Any, list[Any]]) -> list[Any]:
    """Return the table of a message class, by key value, and add it and those it leads to to `tables`.

    An entry is `(action, name, message class, its table, other members of the oneof)`.
    """
    made: dict[Any, list[Any]] = dict(tables)  # published only when complete: another thread may be decoding
    waiting = [cls]
    while waiting:
        mine = waiting.pop()
        table = made.setdefault(mine, [])
        if table:
            continue
        message, checking = mine if isinstance(mine, tuple) else (mine, False)
        for key in range(256):
            table.append(BAD_FIELD_ENTRY if key < 8 else SKIPS.get(key & 7, BAD_WIRE_ENTRY))
        for known in message.fields:
            rivals = None
            if known.oneof is not None:
                rivals = tuple(
                    other.attribute for other in message.fields if other.oneof == known.oneof and other is not known
                )
            child = below = None
            if known.kind == "message":
                child = known.message
                place = (child, True) if checking or known.held == "checked" else child
                below = made.setdefault(place, [])
                waiting.append(place)
            for wire, action in entry_actions(known).items():
                if checking and action == TEXT:
                    action = CHECKED_TEXT
                table[known.number << 3 | wire] = (action, known.attribute, child, below, rivals)
    tables.update(made)
    return made[cls]
