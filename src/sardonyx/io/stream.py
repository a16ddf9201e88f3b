"""Copy chunks into a file: weights from file to file inside the kernel where it can, in small pieces where not.

Copying through a mapping would make every page of the weights resident; through the descriptor none is.
"""

from __future__ import annotations

import errno
import os

from sardonyx.errors import error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.errors import OnnxError
    from sardonyx.io.chunks import Chunks
    from sardonyx.io.shards import DataFile
    from sardonyx.ir.source import Source

    Progress = Callable[[int], None]
    Way = Callable[[int, int, int, int], int]

SMALL = 1 << 16
"""Ranges below this are gathered, as a system call for each costs more than the copy."""
GATHERED = 1 << 20
PIECE = 1 << 20
"""What is read and written at once where the kernel does not copy."""
STEP = 64 << 20
"""What the kernel copies at once, so that progress is seen."""

UNABLE = (
    errno.EXDEV,
    errno.EINVAL,
    errno.ENOSYS,
    errno.EOPNOTSUPP,
    errno.ENOTSUP,
    errno.EBADF,
    errno.EPERM,
    errno.EACCES,
)
"""What copy_file_range and sendfile say where they cannot copy between two files; plain reads and writes still can."""


class Stream:
    """One file being written. `done` is told how many bytes have come to be written, every now and then."""

    def __init__(self, fd: int, done: Progress) -> None:
        self.fd = fd
        self.done = done
        self.descriptors: dict[Source, int | None] = {}
        self.way: Way | None = next(iter(WAYS), None)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self.descriptors.values():
            if fd is not None:
                os.close(fd)
        self.descriptors.clear()

    def chunks(self, chunks: Chunks) -> None:
        """Write all of `chunks`."""
        waiting: list[bytes | memoryview] = []
        size = 0
        for part in chunks.parts:
            if isinstance(part, bytes):
                waiting.append(part)
                size += len(part)
            else:
                source, start, stop = part
                if stop - start < SMALL:
                    waiting.append(source.view(start, stop))
                    size += stop - start
                else:
                    self.write(b"".join(waiting))
                    waiting, size = [], 0
                    self.copy(source, start, stop)
            if size > GATHERED:
                self.write(b"".join(waiting))
                waiting, size = [], 0
        self.write(b"".join(waiting))

    def data_file(self, file: DataFile) -> None:
        """Write the tensors of a data file at their offsets; the gaps between them are holes."""
        from sardonyx.io.emit_tensors import made_bytes, stored_range

        for offset, tensor in file.tensors:
            os.lseek(self.fd, offset, os.SEEK_SET)
            stored = stored_range(tensor)
            if stored is None:
                self.write(made_bytes(tensor))
            else:
                self.copy(stored.source, stored.offset, stored.offset + stored.length)
        os.ftruncate(self.fd, file.size)

    def write(self, data: bytes | memoryview) -> None:
        """Write all of `data`, however little the system takes at once."""
        view = memoryview(data)
        while view:
            count = os.write(self.fd, view[:STEP])
            self.done(count)
            view = view[count:]

    def copy(self, source: Source, start: int, stop: int) -> None:
        """Write bytes `start` to `stop` of a source.

        Raises:
            OnnxError: Io, `source-closed`, or `source-cut` when the file has become shorter since it was opened.
            OSError: when the system refuses to write.
        """
        source.data()
        if source not in self.descriptors:
            self.descriptors[source] = source.descriptor() if hasattr(os, "pread") else None
        fd = self.descriptors[source]
        if fd is None:
            try:
                for at in range(start, stop, PIECE):
                    self.write(source.view(at, min(at + PIECE, stop)))
            except OSError as problem:
                if problem.errno == errno.EFAULT:  # there is no file behind the mapping any more
                    raise source_cut(source, stop) from problem
                raise
            return
        while start < stop:
            count = self.copy_some(fd, start, min(STEP, stop - start))
            if count == 0:
                raise source_cut(source, stop)
            start += count

    def copy_some(self, fd: int, start: int, count: int) -> int:
        """Copy up to `count` bytes from a descriptor, in the best way that this pair of files allows."""
        while self.way is not None:
            try:
                copied = self.way(self.fd, fd, start, count)
            except OSError as problem:
                if problem.errno not in UNABLE:
                    raise
                later = WAYS[WAYS.index(self.way) + 1 :]
                self.way = later[0] if later else None
                continue
            if copied or os.fstat(fd).st_size <= start:
                self.done(copied)
                return copied
            self.way = None  # nothing was copied though there is something: some file systems do that
        data = os.pread(fd, min(count, PIECE), start)
        self.write(data)
        return len(data)


def source_cut(source: Source, stop: int) -> OnnxError:
    """Build the error for a file that lost its end after it was opened."""
    return error(
        "source-cut",
        f"{source.name} has become shorter than {stop} bytes while the model was in use",
        source=source.name,
        hint="load the model again",
    )


def by_copy_file_range(to: int, fd: int, start: int, count: int) -> int:
    """Let the kernel copy, or let the file system share the blocks."""
    return os.copy_file_range(fd, to, count, offset_src=start)


def by_sendfile(to: int, fd: int, start: int, count: int) -> int:
    """Let the kernel copy through its page cache."""
    return os.sendfile(to, fd, start, count)


WAYS: list[Way] = [
    way
    for way, name in ((by_copy_file_range, "copy_file_range"), (by_sendfile, "sendfile"))
    if hasattr(os, name) and os.name == "posix"
]
"""What this platform has, the best first."""
