"""Open a file so that nothing odd can happen: no blocking, no device, small files read, large ones mapped."""

from __future__ import annotations

import errno
import os
import stat

from sardonyx.errors import OnnxError, error
from sardonyx.ir.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from mmap import mmap
    from os import PathLike

READ_AT_MOST = 1 << 20
"""Files up to this size are read, larger ones mapped; to cut a mapped file short is to crash whoever reads it."""

FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer would make open wait for ever
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
)
"""How every file is opened; flags that a platform lacks are 0."""


def open_source(
    path: str | PathLike[str], *, name: str | None = None, check: Callable[[int, str], None] | None = None
) -> Source:
    """Open a file that the caller named; links are followed.

    `check(size, name)` may raise before anything is read. `name` is what errors call the file, by default its path.

    Raises:
        OnnxError: Io, with code `not-found`, `is-a-folder`, `not-a-file`, `permission` or `not-readable`.
    """
    shown = os.fspath(path) if name is None else name
    try:
        if not stat.S_ISREG(mode := os.stat(path).st_mode):
            raise not_a_file(mode, shown)  # without opening it: opening a device can have effects of its own
        fd = os.open(path, FLAGS)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise not_a_file(status.st_mode, shown)
            if check is not None:
                check(status.st_size, shown)
            mapped = None if status.st_size <= READ_AT_MOST else map_file(fd, status.st_size)
            if mapped is None:
                source = Source(read_range(fd, 0, status.st_size), shown)
            else:
                source = Source(mapped, shown, fd)
                fd = -1
            source.file = (status.st_dev, status.st_ino)
            return source
        finally:
            if fd >= 0:
                os.close(fd)
    except OSError as problem:
        raise io_error(problem, shown) from problem
    except ValueError as problem:  # a NUL in the path
        raise error("not-found", f"the path {shown!r} cannot name a file: {problem}", source=shown) from problem


def read_range(fd: int, start: int, stop: int) -> bytes:
    """Read bytes `start` to `stop` of a file, fewer when it ends before."""
    os.lseek(fd, start, os.SEEK_SET)
    pieces = []
    while start < stop:
        piece = os.read(fd, min(stop - start, 1 << 30))  # Linux reads at most 2^31 - 4096 bytes at once
        if not piece:
            break
        pieces.append(piece)
        start += len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def map_file(fd: int, size: int) -> mmap | None:
    """Map a file read-only; None where that is not possible, so that the caller reads instead."""
    try:
        from mmap import ACCESS_READ, mmap
    except ImportError:  # a platform without mapping
        return None
    try:
        return mmap(fd, size, access=ACCESS_READ)
    except (OSError, ValueError, OverflowError):  # a file system without mapping, a file cut short, no address space
        return None


KIND_NAMES = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link"),
)


def kind_name(mode: int) -> str:
    """Say what a file is that is not a regular one."""
    return next((name for is_kind, name in KIND_NAMES if is_kind(mode)), "something else")


def not_a_file(mode: int, shown: str) -> OnnxError:
    """Build the error for a path that is no regular file."""
    if stat.S_ISDIR(mode):
        return error("is-a-folder", "this is a folder, not a model file", source=shown, hint="name the file inside it")
    return error(
        "not-a-file",
        f"this is {kind_name(mode)}, not a regular file",
        source=shown,
        hint="read it yourself and load the bytes",
    )


def io_error(problem: OSError, shown: str) -> OnnxError:
    """Turn the operating system's refusal into an error of kind Io."""
    number = problem.errno
    if number in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
        return error("not-found", "there is no such file", source=shown, hint="check the spelling of the path")
    if number in (errno.EACCES, errno.EPERM):
        return error("permission", "you may not read this file", source=shown, hint="check its permissions")
    return error("not-readable", f"the file cannot be read: {problem.strerror or problem}", source=shown)
