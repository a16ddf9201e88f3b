"""Write a message anew from the one it was read from: some fields replaced, everything else as it stood.

What the graph does not model (documentation, metadata, unknown fields, known numbers with another wire type) is found
by going over the fields of the original again. A file may give a singular field twice, of which only the last counts;
`copy` leaves out the ones that do not count.
"""

from __future__ import annotations

from sardonyx.io.chunks import Chunks
from sardonyx.wire.pieces import pieces, read_varint
from sardonyx.wire.schema import LENGTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from sardonyx.ir.source import Origin, Source
    from sardonyx.wire.pieces import Piece
    from sardonyx.wire.schema import Field, Message


def known_field(message: type[Message], number: int, wire: int) -> Field | None:
    """Return the field that a key stands for, or None when the number is unknown or the wire type is another one."""
    known = message.by_number.get(number)
    if known is None or wire == known.wire or (wire == LENGTH and known.repeated):
        return known
    return None


def surviving(source: Source, start: int, stop: int, message: type[Message]) -> Iterator[Piece]:
    """Yield the fields of a message that count: of a singular field or a oneof, the last."""
    found = pieces(source.data(), start, stop)
    if not source.repeats:
        yield from found
        return
    counting: list[Piece | None] = []
    last: dict[str, int] = {}
    for piece in found:
        known = known_field(message, piece[0], piece[1])
        if known is not None and not known.repeated:
            group = f"oneof {known.oneof}" if known.oneof else known.name
            if group in last:
                counting[last[group]] = None
            last[group] = len(counting)
        counting.append(piece)
    for kept in counting:
        if kept is not None:
            yield kept


def stretches(source: Source, start: int, stop: int, message: type[Message]) -> Iterator[Piece]:
    """Yield the fields of a message, neighbours with one key as one: a graph has as many fields as nodes."""
    data, pos, last, begin = source.data(), start, -1, start
    while pos < stop:
        at = pos
        head = data[pos]
        if head < 0x80 and head & 7 == LENGTH:
            size = data[pos + 1]
            pos += 2
            if size >= 0x80:
                if data[pos] < 0x80:
                    size = size & 0x7F | data[pos] << 7
                    pos += 1
                else:
                    size, pos = read_varint(data, at + 1, stop)
            pos += size
        else:
            head = read_varint(data, pos, stop)[0]
            pos = next(pieces(data, pos, stop))[4]
        if head != last:
            if begin < at:
                yield last >> 3, last & 7, begin, begin, at
            last, begin = head, at
    if begin < stop:
        yield last >> 3, last & 7, begin, begin, stop


def copy(out: Chunks, number: int, origin: Origin) -> None:
    """Append a field that holds an unchanged message."""
    source = origin.source
    if source.repeats:
        out.message(number, settled(source, origin.start, origin.stop, message_at(origin)))
    else:
        out.span(number, source, origin.start, origin.stop)


def copy_all(out: Chunks, number: int, origins: Sequence[Origin]) -> None:
    """Append a field for each of many unchanged messages."""
    sources = {origin.source for origin in origins}
    if any(source.repeats for source in sources):
        for origin in origins:
            copy(out, number, origin)
    else:
        out.spans(number, origins)


def settled(source: Source, start: int, stop: int, message: type[Message]) -> Chunks:
    """Return a message without what does not count in it, at any depth (the nesting of the file bounds this)."""
    out = Chunks()
    for piece in surviving(source, start, stop, message):
        keep(out, source, piece, message)
    return out


def keep(out: Chunks, source: Source, piece: Piece, message: type[Message]) -> None:
    """Append one field as it stands."""
    number, wire, at, begin, end = piece
    if source.repeats:
        known = known_field(message, number, wire)
        if known is not None and known.kind == "message":
            out.message(number, settled(source, begin, end, known.message))
            return
    out.copy(source, at, end)


def rebuild(origin: Origin | None, fresh: Mapping[int, Chunks], optional: Collection[int] = ()) -> Chunks:
    """Return a message with the fields in `fresh` in place of the original's.

    `fresh` maps a number to all occurrences of the field, keys included. They stand where the first occurrence stood;
    what the original lacks follows in the order of numbers. Those in `optional` hold a default value and are written
    only if the original has them.
    """
    out = Chunks()
    done = set(optional)
    if origin is not None:
        source, message = origin.source, message_at(origin)
        seen: set[int] = set()
        within = surviving if source.repeats else stretches
        for piece in within(source, origin.start, origin.stop, message):
            number, wire = piece[0], piece[1]
            if number in fresh and known_field(message, number, wire) is not None:
                if number not in seen:
                    seen.add(number)
                    out.add(fresh[number])
            else:
                keep(out, source, piece, message)
        done |= seen
    for number in sorted(fresh):
        if number not in done:
            out.add(fresh[number])
    return out


def message_at(origin: Origin) -> type[Message]:
    """Return the class of the message at an origin, which a loaded part's origin knows."""
    return origin.message  # type: ignore[attr-defined, no-any-return]


def numbers_beyond(most: int, origin: Origin) -> list[int]:
    """Return the numbers above `most` of the fields at an origin, each once, in ascending order."""
    data, pos, end = origin.source.data(), origin.start, origin.stop
    while pos < end:  # the short way over short fields of small numbers, which is all that most nodes have
        head = data[pos]
        if head > most << 3 | LENGTH or head & 7 != LENGTH or data[pos + 1] >= 0x80:
            return sorted({piece[0] for piece in pieces(data, pos, end) if piece[0] > most})
        pos += 2 + data[pos + 1]
    return []
