"""Own the bytes of one opened file or buffer, and their lifetime.

Everything that a model shows of its payloads is a view into a source. Every model derived from a load shares its
sources through one `Lifetime`; closing it refuses further views but never pulls memory from under a view that somebody
still holds: the mapping goes when the last view does. Cutting a mapped file short while it is in use ends the process
(SIGBUS); that is the operating system's rule and is not defended against.
"""

from __future__ import annotations

import os

from sardonyx.errors import OnnxError, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from mmap import mmap

    from sardonyx.errors import Issue

    Buffer = bytes | memoryview | mmap


def closed_error(name: str, what: str | None = None) -> OnnxError:
    """Build the error for bytes that were asked for too late; `what` names the tensor."""
    return error(
        "source-closed",
        "the model was closed, its bytes are gone",
        source=name,
        value=what,
        hint="read the data before the `with` block ends or `model.close()` is called, or keep `tensor.copy()`",
    )


class Source:
    """One contiguous, read-only range of bytes with a name."""

    __slots__ = ("__weakref__", "buffer", "closed", "fd", "file", "name", "reopen", "repeats", "size")

    def __init__(
        self, buffer: Buffer, name: str, fd: int | None = None, reopen: Callable[[], int | None] | None = None
    ) -> None:
        self.fd = fd
        """An open descriptor of the mapped file, kept so that the file may be replaced meanwhile; None for memory."""
        self.buffer: Buffer | None = buffer.toreadonly().cast("B") if isinstance(buffer, memoryview) else buffer
        """The bytes themselves; None once closed."""
        self.name = name
        """What errors call this input."""
        self.size = len(self.buffer)
        self.reopen = reopen
        """Opens the file anew where keeping a descriptor would be one too many; None when it is another file now."""
        self.closed = False
        self.file: tuple[int, int] | None = None
        """Device and inode of the file, which tell it from any other; None for bytes that were never a file."""
        self.repeats = False
        """Whether a model in it gives some singular field twice, so that its bytes say more than its messages do."""

    def data(self, what: str | None = None) -> Buffer:
        """Return the whole buffer.

        Raises:
            OnnxError: kind Io, code `source-closed`; `what` names the tensor that was asked for.
        """
        if self.buffer is None:
            raise closed_error(self.name, what)
        return self.buffer

    def view(self, start: int, stop: int, what: str | None = None) -> memoryview:
        """Return bytes `start` to `stop` as a read-only view without copying them."""
        return memoryview(self.data(what)).toreadonly()[start:stop]

    def read(self, start: int, stop: int, what: str | None = None) -> bytes:
        """Return a copy of bytes `start` to `stop`."""
        return bytes(self.data(what)[start:stop])

    def descriptor(self) -> int | None:
        """Return a descriptor of the file for copies from file to file; the caller closes it.

        None when the bytes are in memory, or the file is not the one that was mapped any more: copy from `view` then.
        """
        if self.closed:
            return None
        if self.fd is not None:
            return os.dup(self.fd)
        return None if self.reopen is None else self.reopen()

    def close(self, strict: bool = False) -> None:
        """Refuse further views. With `strict`, raise BufferError when a view is still held."""
        buffer, self.buffer, self.closed = self.buffer, None, True
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None
        close = getattr(buffer, "close", None)
        if close is not None:
            try:
                close()
            except BufferError:
                if strict:
                    raise BufferError(f"{self.name}: a view of the mapped file is still held") from None

    def __del__(self) -> None:
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None


class Lifetime:
    """The sources that a load opened, shared by every model derived from it."""

    __slots__ = ("closed", "sources")

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self.closed = False

    def add(self, source: Source) -> Source:
        """Take a source in; it closes with the others.

        Raises:
            OnnxError: Io, code `source-closed`, when they were closed already; the source is closed, too.
        """
        if self.closed:
            source.close()
            raise closed_error(source.name)
        self.sources.append(source)
        return source

    def close(self, strict: bool = False) -> None:
        """Close every source; a second call does nothing."""
        held: BufferError | None = None
        self.closed = True
        for source in self.sources:
            try:
                source.close(strict)
            except BufferError as problem:
                held = held or problem
        self.sources.clear()
        if held is not None:
            raise held


class Origin:
    """Where a part of a model was read from: the payload of its message, tag and length left out.

    `exact` says that the part is unchanged since, so that a writer may copy the bytes as they stand.
    """

    __slots__ = ("exact", "source", "start", "stop")

    def __init__(self, source: Source, start: int, stop: int, exact: bool = True) -> None:
        self.source = source
        self.start = start
        self.stop = stop
        self.exact = exact

    def locate(self, issue: Issue) -> Issue:
        """Return an issue of this part with what its byte offset tells of its place."""
        return issue

    def changed(self) -> Origin:
        """Return the origin of a part that was rewritten since."""
        return type(self)(self.source, self.start, self.stop, False) if self.exact else self
