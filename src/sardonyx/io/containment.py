"""Open a data file that a model names, and no file outside the folders where it may lie.

The location is joined to the folder of the model's path as given, every link on the way is resolved, and the result
must lie inside the resolved folder (import document, section 5, 2). The file is then opened one segment at a time
below that folder without following links, so that a link that is put there after the check opens nothing. A file that
is put in the place of a checked one is not defended against.
"""

from __future__ import annotations

import errno
import os
import stat

from sardonyx.errors import OnnxError, error
from sardonyx.io.files import FLAGS, kind_name
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WALKS = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether the platform can open a file relative to an opened folder."""

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


@record
class Folder:
    """Where the data files of one model may lie."""

    given: str
    """Folder of the model's path as given; locations are joined to it."""
    roots: tuple[str, ...]
    """The resolved folders that a resolved file must lie in."""
    links: str
    """`inside`, or `never` to refuse every link and every file with more than one hard link."""


@record
class Opened:
    """A data file that passed every check; whoever has it closes `fd`."""

    fd: int
    path: str
    """Its path without links."""
    status: os.stat_result


def folder_of(given: str, model_path: str | None, links: str) -> Folder:
    """Resolve the folder of a model; a model in a hub cache may also use the blobs that belong to it."""
    root = os.path.realpath(given)
    blobs = None if model_path is None else blobs_of(root, model_path)
    return Folder(given, (root,) if blobs is None else (root, blobs), links)


def blobs_of(root: str, model_path: str) -> str | None:
    """Return the resolved `blobs` folder of a hub cache, when the model is one of its blobs.

    A hub cache keeps `<repository>/snapshots/<revision>/...` as links into `<repository>/blobs`, so that no data file
    lies beside its model. The path must lie in such a folder, `root`, and lead into the blobs beside that `snapshots`.
    """
    model = None
    head, name = os.path.split(root)
    while name:
        above, over = os.path.split(head)
        if over == "snapshots":  # `name` is the revision
            blobs = os.path.realpath(os.path.join(above, "blobs"))
            model = model or os.path.realpath(model_path)
            if is_inside(model, blobs):
                return blobs
        head, name = above, over
    return None


def is_inside(path: str, folder: str) -> bool:
    """Return whether a resolved path lies below a resolved folder; `m2` is not inside `m`."""
    folder = os.path.normcase(folder)
    return os.path.normcase(path).startswith(folder if folder.endswith(os.sep) else folder + os.sep)


def open_inside(folder: Folder, parts: Sequence[str], location: str) -> Opened:
    """Open the file that the segments `parts` name; `location` is how errors call it.

    Raises:
        OnnxError: ExternalData, with code `external-missing`, `external-link` or `external-not-a-file`; Io, with code
            `permission` or `not-readable`.
    """
    try:
        path = os.path.realpath(os.path.join(folder.given, *parts), strict=True)
        root = next((root for root in folder.roots if is_inside(path, root)), None)
        if root is None:
            raise error(
                "external-link",
                f"the external data {location!r} leads out of the model's folder, to {path!r}",
                hint="put the data file itself into the folder",
            )
        if folder.links == "never" and os.path.normcase(path) != os.path.normcase(os.path.join(root, *parts)):
            raise error(
                "external-link",
                f"the external data {location!r} is reached through a link, to {path!r}",
                hint="load with links='inside' to follow links that stay in the model's folder",
            )
        fd = open_below(root, os.path.relpath(path, root).split(os.sep), location)
        try:
            status = os.fstat(fd)
            check_file(status, location)
            if folder.links == "never" and status.st_nlink > 1:
                raise error(
                    "external-link",
                    f"the external data {location!r} is a file with {status.st_nlink} names (hard links)",
                    hint="load with links='inside', or make the data file a copy of its own",
                )
        except BaseException:
            os.close(fd)
            raise
        return Opened(fd, path, status)
    except OSError as problem:
        raise open_error(problem, location, folder) from problem
    except ValueError as problem:  # a name that the file system cannot spell
        raise error("external-missing", f"the location {location!r} cannot name a file here: {problem}") from problem


def open_below(root: str, parts: Sequence[str], location: str) -> int:
    """Open a file below a resolved folder without following any link.

    The kind of the file is looked at before it is opened, since opening a device can have effects of its own.
    """
    if not WALKS:
        path = os.path.join(root, *parts)
        before = os.lstat(path)
        check_file(before, location)
        return same_file(os.open(path, FLAGS | NO_FOLLOW), before, location)
    folder = os.open(root, FOLDER_FLAGS)
    try:
        for part in parts[:-1]:
            below = os.open(part, FOLDER_FLAGS | NO_FOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        before = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        check_file(before, location)
        return same_file(os.open(parts[-1], FLAGS | NO_FOLLOW, dir_fd=folder), before, location)
    finally:
        os.close(folder)


def same_file(fd: int, before: os.stat_result, location: str) -> int:
    """Return the descriptor, once it is known to be open on the file that was looked at."""
    if os.path.samestat(os.fstat(fd), before):
        return fd
    os.close(fd)
    raise error("external-link", f"the external data {location!r} was replaced while it was being opened")


def check_file(status: os.stat_result, location: str) -> None:
    """Refuse what is not a regular file."""
    if not stat.S_ISREG(status.st_mode):
        raise error("external-not-a-file", f"the external data {location!r} is {kind_name(status.st_mode)}, not a file")


def open_error(problem: OSError, location: str, folder: Folder) -> OnnxError:
    """Turn the operating system's refusal into an error: a missing file is the model's fault, the rest is Io."""
    number = problem.errno
    if number in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL):
        return error(
            "external-missing",
            f"the external data {location!r} is not in {folder.given!r}",
            hint="put the data file beside the model, or load with external_data='lazy' to work without the weights",
        )
    if number == errno.ELOOP:
        return error("external-link", f"the external data {location!r} is a link that leads back to itself")
    if number in (errno.EACCES, errno.EPERM):
        return error(
            "permission", f"you may not read the external data {location!r}", hint="check the file's permissions"
        )
    return error("not-readable", f"the external data {location!r} cannot be read: {problem.strerror or problem}")
