"""Give tensors the bytes that lie in files of their own, each file checked and mapped once.

Strict loading opens, checks and closes every file at load and maps it on first access; lazy loading does all of it on
first access. Both go through `ExternalFiles.open`.
"""

from __future__ import annotations

import os
from _thread import allocate_lock

from sardonyx.errors import OnnxError, Place, error
from sardonyx.io.containment import folder_of, open_inside
from sardonyx.io.files import READ_AT_MOST, map_file, read_range
from sardonyx.io.locations import read_location
from sardonyx.ir.source import Source, closed_error
from sardonyx.ir.tensor import External, Stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from sardonyx.io.containment import Folder, Opened
    from sardonyx.io.context import Context
    from sardonyx.io.locations import Location
    from sardonyx.ir.source import Lifetime
    from sardonyx.wire.messages import TensorProto

    Parts = tuple[str, ...]

PIECE = 1 << 20


class ExternalFiles:
    """The data files of one load."""

    def __init__(
        self,
        directory: str | PathLike[str] | None,
        model_path: str | PathLike[str] | None,
        links: str,
        mode: str,
        lifetime: Lifetime,
    ) -> None:
        """Take the folder from `directory`, else from `model_path`; with neither, every reference is a fault."""
        self.model_path = None if model_path is None else absolute(model_path)
        self.given = None if directory is None else absolute(directory)
        if self.given is None and self.model_path is not None:
            self.given = os.path.dirname(self.model_path)
        self.links = links
        self.mode = mode
        self.lifetime = lifetime
        self.folder: Folder | None = None
        """Resolved when the first file is needed."""
        self.seen: dict[Parts, int | None] = {}
        """Sizes of the files that load looked at; None for one that is not right, which was reported then."""
        self.sources: dict[Parts, Source] = {}
        """Files that are open, by location."""
        self.by_path: dict[str, Source] = {}
        """The same by resolved path: one map per file, however it is spelled."""
        self.digests: dict[str, str] = {}
        """SHA-1 of whole files, by resolved path."""
        self.lock = allocate_lock()

    def content(self, message: TensorProto, length: int, context: Context) -> External:
        """Check a reference to a file as far as the mode says; `length` is what the tensor's dims call for.

        Raises:
            OnnxError: ExternalData or Io; see io/locations.py and io/containment.py for the codes.
        """
        entries = message.external_data
        where = read_location(entries)
        for key in where.unknown:
            place = place_of(message, context)
            context.warn("external-key-unknown", f"external_data has the key {key!r}, which means nothing", place)
        if where.length is not None and where.length != length:
            raise error(
                "external-length",
                f"external_data gives a length of {where.length} bytes, but the tensor's shape needs {length}",
            )
        if self.mode == "strict":
            self.check(where, length)
        else:
            self.look(where, message, context)
        shown, start, name = context.source.name, message.start, message.name
        return External(
            tuple([(entry.key, entry.value) for entry in entries]),
            length,
            lambda: self.locate(where, length, Place(shown, start, value=name)),
            where.path,
            where.offset,
            lambda: self.digest(where, Place(shown, start, value=name)),
        )

    def check(self, where: Location, length: int) -> None:
        """Open the file of a tensor, unless another one's check did, and see that the range lies in it."""
        if where.parts not in self.seen:
            self.seen[where.parts] = None
            opened = self.open(where)
            os.close(opened.fd)
            self.seen[where.parts] = opened.status.st_size
        size = self.seen[where.parts]
        if size is not None:
            check_range(where, length, size)

    def look(self, where: Location, message: TensorProto, context: Context) -> None:
        """Tell once of each file that is not there now; it may be there on first access."""
        if where.parts in self.seen:
            return
        self.seen[where.parts] = None
        if self.given is None:
            problem = no_folder(where)
        elif not os.path.exists(os.path.join(self.given, *where.parts)):
            problem = error("external-missing", f"the external data {where.path!r} is not in {self.given!r}")
        else:
            return
        context.warn(problem.code, problem.message, place_of(message, context), problem.hint)

    def open(self, where: Location) -> Opened:
        """Open the file that a location names, after every check there is; the one way to a data file."""
        if self.given is None:
            raise no_folder(where)
        if self.folder is None:
            self.folder = folder_of(self.given, self.model_path, self.links)
        return open_inside(self.folder, where.parts, where.path)

    def locate(self, where: Location, length: int, place: Place) -> Stored:
        """Find the bytes of a tensor, on first access."""
        try:
            with self.lock:
                return self.stored(where, length)
        except OnnxError as problem:
            raise OnnxError(problem.issue.within(place)) from problem.__cause__

    def stored(self, where: Location, length: int) -> Stored:
        """Return the range of a tensor in its file, which is mapped if it is not yet."""
        if self.lifetime.closed:
            raise closed_error(where.path)
        source = self.sources.get(where.parts)
        if source is None:
            opened = self.open(where)
            try:
                check_range(where, length, opened.status.st_size)
                source = self.by_path.get(opened.path) or self.map(opened, where)
                if source is None:  # only the range is read
                    data = read_range(opened.fd, where.offset, where.offset + length)
                    check_range(where, length, where.offset + len(data))
                    return Stored(self.lifetime.add(Source(data, where.path)), 0, length)
            finally:
                os.close(opened.fd)
            source.file = (opened.status.st_dev, opened.status.st_ino)
            self.sources[where.parts] = self.by_path[opened.path] = source
        check_range(where, length, source.size)
        return Stored(source, where.offset, length)

    def map(self, opened: Opened, where: Location) -> Source | None:
        """Read a small file, map a larger one; None where mapping is not possible."""
        size = opened.status.st_size
        if size <= READ_AT_MOST:
            return self.lifetime.add(Source(read_range(opened.fd, 0, size), where.path))
        mapped = map_file(opened.fd, size)
        if mapped is None:
            return None
        return self.lifetime.add(Source(mapped, where.path, reopen=self.reopener(where, opened.status)))

    def reopener(self, where: Location, before: os.stat_result) -> Callable[[], int | None]:
        """Return a function that opens a mapped file once more: models may have more data files than descriptors."""

        def reopen() -> int | None:
            try:
                opened = self.open(where)
            except OnnxError:
                return None
            if os.path.samestat(opened.status, before) and opened.status.st_mtime_ns == before.st_mtime_ns:
                return opened.fd
            os.close(opened.fd)
            return None

        return reopen

    def digest(self, where: Location, place: Place) -> str:
        """Return the SHA-1 of a whole file, computed once per file and read in pieces."""
        try:
            if self.lifetime.closed:
                raise closed_error(where.path)
            opened = self.open(where)
            try:
                if opened.path not in self.digests:
                    self.digests[opened.path] = sha1_of(opened.fd)
            finally:
                os.close(opened.fd)
            return self.digests[opened.path]
        except OnnxError as problem:
            raise OnnxError(problem.issue.within(place)) from problem.__cause__


def absolute(path: str | PathLike[str]) -> str:
    """Make a path independent of the working directory, without resolving links or `..` in it."""
    return os.path.join(os.getcwd(), os.fspath(path))


def no_folder(where: Location) -> OnnxError:
    """Build the error for a reference from a model that has no folder."""
    return error(
        "external-no-folder",
        f"the model refers to the data file {where.path!r}, but was not loaded from a path",
        hint="say where its data files lie with external_data_dir=...",
    )


def place_of(message: TensorProto, context: Context) -> Place:
    """Say which tensor of which input an issue is about."""
    return Place(context.source.name, message.start, value=message.name)


def check_range(where: Location, length: int, size: int) -> None:
    """Refuse a range that does not lie in a file of `size` bytes."""
    if where.offset + length > size:
        raise error(
            "external-range",
            f"the tensor needs bytes {where.offset} to {where.offset + length} of {where.path!r}, which has {size}",
            hint="the data file looks cut short, or belongs to another model",
        )


def sha1_of(fd: int) -> str:
    """Hash a whole file without holding it."""
    from hashlib import sha1

    digest = sha1(usedforsecurity=False)
    while piece := os.read(fd, PIECE):
        digest.update(piece)
    return digest.hexdigest()
