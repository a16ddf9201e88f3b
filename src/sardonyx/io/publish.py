"""Write a file that appears whole or not at all.

Where the system has it (Linux), the file has no name until it is complete, so that not even a power failure or a killed
process leaves something behind; elsewhere it has an unpredictable name beside its place.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from sardonyx.errors import OnnxError, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

CREATE = (
    os.O_RDWR
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
)
NAMELESS = getattr(os, "O_TMPFILE", 0)


class CannotName(Exception):
    """A nameless file cannot be given a name (no /proc, or a sandbox that forbids it): write one with a name."""


class NewFile:
    """A file on its way to `path`. Leaving the `with` block without `publish` leaves nothing behind."""

    def __init__(self, path: str, mode: int | None = None, nameless: bool = True) -> None:
        """Create it beside its place; `mode` is the permission bits, by default what the umask allows."""
        self.path = path
        self.folder = os.path.dirname(path) or os.curdir
        self.name: str | None = None
        self.fd = -1
        if NAMELESS and nameless:
            with suppress(OSError):  # a file system without nameless files
                self.fd = os.open(self.folder, os.O_RDWR | NAMELESS | os.O_CLOEXEC, 0o666)
        if self.fd < 0:
            self.name = self.unused()
            self.fd = os.open(self.name, CREATE, 0o666)
        status = os.fstat(self.fd)
        self.identity = (status.st_dev, status.st_ino)
        if mode is not None and hasattr(os, "fchmod"):
            with suppress(OSError):  # somebody else's file: ours has our own permissions
                os.fchmod(self.fd, mode)

    def unused(self) -> str:
        """Return a name nobody can foresee, and short enough for every file system."""
        return os.path.join(self.folder, f".sardonyx-{os.urandom(12).hex()}.tmp")

    def __enter__(self) -> NewFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if self.name is not None:
            with suppress(OSError):
                os.unlink(self.name)

    def close(self) -> None:
        """Close the descriptor."""
        if self.fd >= 0:
            fd, self.fd = self.fd, -1
            os.close(fd)

    def sync(self) -> None:
        """Wait until the bytes are on the disk."""
        os.fsync(self.fd)

    def is_published(self) -> bool:
        """Whether the file has its name: true even where an interrupt came before `publish` could return."""
        try:
            found = os.lstat(self.path)
        except OSError:
            return False
        return self.identity == (found.st_dev, found.st_ino)

    def publish(self, replace: bool) -> None:
        """Give the file its name, in one step. With `replace`, whatever has that name is replaced.

        Raises:
            FileExistsError: without `replace`, when something has that name.
            CannotName: a nameless file cannot be given a name here after all.
            OSError: when the system refuses.
        """
        if self.name is None:
            if not replace:
                self.link(self.path)
                return
            self.name = self.unused()
            self.link(self.name)
        if os.name == "nt":
            self.close()  # an open file cannot be renamed there
        if replace:
            os.replace(self.name, self.path)
        elif os.name == "nt":
            os.rename(self.name, self.path)  # refuses an existing name there
        else:
            try:
                os.link(self.name, self.path)  # renaming would replace what has that name
            except FileExistsError:
                raise
            except OSError:  # a file system without hard links
                if os.path.lexists(self.path):
                    raise FileExistsError(f"{self.path} exists") from None
                os.rename(self.name, self.path)
            else:
                os.unlink(self.name)
        self.name = None

    def link(self, path: str) -> None:
        """Give a nameless file a name."""
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:  # with a folder given, Python asks for links to be followed, which is what a nameless file needs
            os.link(f"/proc/self/fd/{self.fd}", os.path.basename(path), src_dir_fd=folder, dst_dir_fd=folder)
        except FileExistsError:
            raise
        except OSError as problem:
            raise CannotName(str(problem)) from problem
        finally:
            os.close(folder)


def sync_folder(folder: str) -> None:
    """Wait until the names in a folder are on the disk, where that can be asked for."""
    if os.name == "nt":
        return
    with suppress(OSError):
        fd = os.open(folder or os.curdir, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def mode_of(path: str) -> int | None:
    """Return the permission bits of the file that is to be replaced, None when there is none.

    Raises:
        OnnxError: Io, `not-a-file`, for something that no file can take the place of.
    """
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:  # a link that leads nowhere, or in a circle: it is the link that is replaced
        return None
    if not stat.S_ISREG(found.st_mode):
        raise error(
            "not-a-file",
            "there is something of this name that is not a regular file",
            source=path,
            hint="give a path for the new file; sx.to_bytes gives the bytes for anything else",
        )
    return stat.S_IMODE(found.st_mode)


def write_failed(problem: OSError, path: str) -> OnnxError:
    """Turn the operating system's refusal into an error of kind Io."""
    import errno

    hints = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the quota is used up",
        errno.ENOENT: "make the folder first",
        errno.EACCES: "check the permissions of the folder",
        errno.EFBIG: "the file system or a limit of the process does not allow files of this size",
    }
    reason = problem.strerror or str(problem)
    return error(
        "write-failed",
        f"the model cannot be written, and nothing was left behind: {reason}",
        source=path,
        hint=hints.get(problem.errno or 0),
    )
