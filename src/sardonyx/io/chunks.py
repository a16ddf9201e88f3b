"""Hold a message that is being written as literal bytes and ranges of sources, so that no weight is read.

Lengths are known bottom-up: a part is complete, and its size known, before the part around it writes its header.
"""

from __future__ import annotations

from sardonyx.wire.writer import header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sardonyx.ir.source import Buffer, Origin, Source

    Range = tuple[Source, int, int]


class Chunks:
    """Bytes in order: literal ones, and ranges of sources. Neighbouring ranges of one source become one."""

    __slots__ = ("parts", "size")

    def __init__(self) -> None:
        self.parts: list[bytes | Range] = []
        self.size = 0
        """Length in bytes."""

    def put(self, data: bytes) -> None:
        """Append literal bytes."""
        self.parts.append(data)
        self.size += len(data)

    def copy(self, source: Source, start: int, stop: int) -> None:
        """Append bytes `start` to `stop` of a source."""
        parts = self.parts
        self.size += stop - start
        if parts:
            last = parts[-1]
            if type(last) is tuple and last[0] is source and last[2] == start:
                parts[-1] = (source, last[1], stop)
                return
        if start < stop:
            parts.append((source, start, stop))

    def add(self, other: Chunks) -> None:
        """Append what another holds."""
        if other.parts:
            first = other.parts[0]
            if type(first) is tuple:
                self.copy(*first)
                self.parts += other.parts[1:]
                self.size += other.size - (first[2] - first[1])
            else:
                self.parts += other.parts
                self.size += other.size

    def message(self, number: int, other: Chunks) -> None:
        """Append a field that holds what another has."""
        self.put(header(number, other.size))
        self.add(other)

    def span(self, number: int, source: Source, start: int, stop: int) -> None:
        """Append a field that holds bytes of a source.

        Where the same header stands before those bytes in the source, it is copied with them: so a run of unchanged
        nodes becomes one range.
        """
        head = header(number, stop - start)
        begin = start - len(head)
        if begin >= 0 and source.data()[begin:start] == head:
            self.copy(source, begin, stop)
        else:
            self.put(head)
            self.copy(source, start, stop)

    def spans(self, number: int, origins: Iterable[Origin]) -> None:
        """Append a field for each origin: what `span` does, for the many that stand behind one another."""
        source: Source | None = None  # the range at hand, of this source, from begin to end
        data: Buffer = b""
        begin = end = 0
        heads: dict[int, bytes] = {}
        for origin in origins:
            start, stop = origin.start, origin.stop
            size = stop - start
            head = heads.get(size)
            if head is None:
                head = heads[size] = header(number, size)
            at = start - len(head)
            if at != end or origin.source is not source or data[at:start] != head:
                if source is not None:
                    self.copy(source, begin, end)
                source = origin.source
                data = source.data()
                if at >= 0 and data[at:start] == head:
                    begin = at
                else:
                    self.put(head)
                    begin = start
            end = stop
        if source is not None:
            self.copy(source, begin, end)

    def text(self, number: int, text: str) -> None:
        """Append a string field."""
        self.blob(number, text.encode())

    def blob(self, number: int, data: bytes) -> None:
        """Append a bytes field, or a message that is already encoded."""
        self.put(header(number, len(data)) + data)

    def join(self) -> bytes:
        """Return everything as one byte string.

        Raises:
            OnnxError: Io, code `source-closed`, when the model was closed meanwhile.
        """
        return b"".join([part if isinstance(part, bytes) else part[0].view(part[1], part[2]) for part in self.parts])
