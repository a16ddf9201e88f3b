"""Decide where the bytes of each tensor go: the model file, a data file as referred to now, or a new data file."""

from __future__ import annotations

import os

from sardonyx.errors import ErrorKind, Issue, OnnxError, Place
from sardonyx.io.containment import is_inside
from sardonyx.io.emit_tensors import INSIDE, Outside, stored_range
from sardonyx.ir.tensor import External as Elsewhere
from sardonyx.ir.tensor import SparseTensor, Strings, Unreadable
from sardonyx.ir.walk import bodies_within
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sardonyx.io.emit_tensors import Inside
    from sardonyx.ir.attrs import Attr, AttrRef
    from sardonyx.ir.graph import Model
    from sardonyx.ir.tensor import Tensor


LONGEST_STEM = 200
"""Bytes of the model's name that go into the names of its data files; file systems take 255 for a whole name."""


@record
class External:
    """How to lay out weights in data files of their own.

    Dense initializers of graphs and bodies move; strings, attributes and functions' tensors stay where they are, except
    that a tensor which is in a data file already moves to the new one. What is identical in the source is written once.
    """

    threshold: int = 1024
    """Bytes; smaller tensors are kept in the model file."""
    location: str | None = None
    """Name of the data file, beside the model; by default the model's name and a short hash. Never an existing file."""
    shard_size: int | None = None
    """Bytes; a data file does not grow over this unless one tensor alone is larger. None is one file for all."""
    align: int = 4096
    """Bytes; every tensor starts at a multiple of this, so that a runtime can map it. A page, by default."""

    def check(self) -> None:
        """Refuse numbers and names that mean nothing.

        Raises:
            ValueError: for a location that is not the plain name of a file, or a size that makes no sense.
        """
        name = self.location
        if name is not None and (not name or name in (".", "..") or any(mark in name for mark in "/\\:\0")):
            raise ValueError(f"location is {name!r}; it must be the plain name of a file beside the model")
        if self.threshold < 0 or self.align < 1 or (self.shard_size is not None and self.shard_size < 1):
            raise ValueError("threshold must be at least 0, align and shard_size at least 1")


@record
class DataFile:
    """A data file to be written: the tensors in it, with their offsets, ascending."""

    name: str
    tensors: tuple[tuple[int, Tensor], ...]
    size: int


@record
class Layout:
    """Where everything goes."""

    placement: dict[Tensor, Outside | Inside]
    """The tensors whose bytes move; all others stay where they are."""
    files: tuple[DataFile, ...]
    issues: tuple[Issue, ...]


def lay_out(model: Model, folder: str, stem: str, external: External | str | None, attributes: bool = False) -> Layout:
    """Decide for a model that is to be written into `folder`.

    With an `External`, initializers of at least its threshold go to new data files, smaller ones into the model. With
    None, only tensors whose data file would not be the same file beside the new model move to a new one. `"embed"`
    moves everything into the model, `"keep"` leaves every reference as it is. Data that is not there stays a reference.
    `attributes` moves tensors of attributes, too.
    """
    placement: dict[Tensor, Outside | Inside] = {}
    moving: list[Tensor] = []
    kept: dict[str, tuple[int, str]] = {}
    same: dict[str, bool] = {}
    wanted = external if isinstance(external, External) else None
    for tensor, is_initializer in every_tensor(model):
        content = tensor.content
        if isinstance(content, (Strings, Unreadable)):
            continue
        if not isinstance(content, Elsewhere):
            if wanted is not None and (is_initializer or attributes) and tensor.nbytes >= wanted.threshold:
                moving.append(tensor)
            continue
        problem = None if external == "keep" else missing(tensor)
        stays = external == "keep" or problem is not None
        if (stays or external is None) and content.location not in same:
            same[content.location] = is_same_file(tensor, folder)
        if stays:
            if not same[content.location]:
                why = "as asked" if problem is None else f"since it cannot be read here: {problem.message}"
                count, why = kept.get(content.location, (0, why))
                kept[content.location] = (count + 1, why)
        elif external is None:
            if not same[content.location]:
                moving.append(tensor)
        elif wanted is not None and tensor.nbytes >= wanted.threshold:
            moving.append(tensor)
        else:
            placement[tensor] = INSIDE
    files = pack(moving, wanted or External(), folder, stem, placement)
    return Layout(placement, files, tuple(reference_kept(model, where, *found) for where, found in kept.items()))


def reference_kept(model: Model, location: str, count: int, why: str) -> Issue:
    """Build the issue for references to a data file that may not be found from the new model."""
    tensors = "1 tensor refers" if count == 1 else f"{count} tensors refer"
    return Issue(
        "reference-kept",
        f"{tensors} to the data file {location!r}, perhaps not found beside the new model; the text is kept {why}",
        Place(source=model.source),
        "put the data file there, or save once the data can be read",
        "warning",
    )


def every_tensor(model: Model) -> Iterator[tuple[Tensor, bool]]:
    """Yield each dense tensor of a model once, parts of sparse ones included, and whether it is an initializer."""
    seen: set[Tensor] = set()
    for tensor, is_initializer in tensors_of(model):
        if tensor not in seen:
            seen.add(tensor)
            yield tensor, is_initializer


def tensors_of(model: Model) -> Iterator[tuple[Tensor, bool]]:
    """Yield the tensors in graph order: initializers first, bodies last, then functions."""
    graph = model.graph
    bodies = bodies_within(graph.nodes)
    for one in (graph, *reversed(bodies)):
        for tensor in one.initializers.values():
            yield tensor, True
        for sparse in one.sparse_initializers.values():
            yield sparse.values, False
            yield sparse.indices, False
    for one in (graph, *reversed(bodies)):
        for node in one.nodes:
            if node.attrs:
                yield from attribute_tensors(node.attrs.values())
    for function in model.functions.values():
        yield from attribute_tensors(function.defaults.values())
        inner = bodies_within(function.nodes)
        for nodes in (function.nodes, *[body.nodes for body in inner]):
            for node in nodes:
                yield from attribute_tensors(node.attrs.values())
        for body in inner:
            for tensor in body.initializers.values():
                yield tensor, False


def attribute_tensors(attrs: Iterable[Attr | AttrRef]) -> Iterator[tuple[Tensor, bool]]:
    """Yield the dense tensors of attributes."""
    from sardonyx.io.emit_attributes import TENSORS

    for attr in attrs:
        if attr.kind in TENSORS and attr.value is not None:
            for one in attr.value if isinstance(attr.value, tuple) else (attr.value,):
                if isinstance(one, SparseTensor):
                    yield one.values, False
                    yield one.indices, False
                else:
                    yield one, False


def missing(tensor: Tensor) -> OnnxError | None:
    """Open the data file of a tensor; return what is wrong with it.

    Raises:
        OnnxError: Io, `source-closed`: then nothing can be written at all.
    """
    try:
        stored_range(tensor)
    except OnnxError as problem:
        if problem.kind is ErrorKind.Io and problem.code == "source-closed":
            raise
        return problem
    return None


def is_same_file(tensor: Tensor, folder: str) -> bool:
    """Whether the location of a tensor, looked up in `folder`, is the file that its bytes are in.

    A file that a link out of the folder leads to does not count: who loads the new model refuses such a link.
    """
    content = tensor.content
    assert isinstance(content, Elsewhere)
    try:
        there = os.path.realpath(os.path.join(folder, content.location))
        return is_inside(there, os.path.realpath(folder)) and is_data_file(there, tensor)
    except (OSError, ValueError):
        return False


def is_data_file(path: str, tensor: Tensor) -> bool:
    """Whether a path, its last link not followed, is the file that the bytes of a tensor are in."""
    try:
        there = os.lstat(path)
        stored = stored_range(tensor)
    except (OSError, ValueError, OnnxError):
        return False
    return stored is not None and stored.source.file == (there.st_dev, there.st_ino)


def is_same_name(one: str, other: str) -> bool:
    """Whether two paths name one entry of one folder, whatever it is."""
    return all(
        os.path.normcase(a) == os.path.normcase(b)
        for a, b in zip(
            (os.path.realpath(os.path.dirname(one)), os.path.basename(one)),
            (os.path.realpath(os.path.dirname(other)), os.path.basename(other)),
            strict=True,
        )
    )


def pack(
    tensors: list[Tensor], external: External, folder: str, stem: str, placement: dict[Tensor, Outside | Inside]
) -> tuple[DataFile, ...]:
    """Fill data files with tensors in order, and enter the places; bytes that the source has once are written once."""
    shards: list[list[tuple[int, Tensor]]] = []
    sizes: list[int] = []
    places: list[tuple[Tensor, int, int]] = []
    known: dict[object, tuple[int, int]] = {}
    for tensor in tensors:
        stored = stored_range(tensor)
        same = tensor if stored is None else (stored.source, stored.offset, stored.length)
        length = tensor.nbytes if stored is None else stored.length
        if same not in known:
            offset = -(-sizes[-1] // external.align) * external.align if sizes else 0
            if not sizes or (external.shard_size is not None and offset and offset + length > external.shard_size):
                shards.append([])
                sizes.append(0)
                offset = 0
            shards[-1].append((offset, tensor))
            sizes[-1] = offset + length
            known[same] = (len(shards) - 1, offset)
        places.append((tensor, *known[same]))
    if not shards:
        return ()
    names = name_files(shards, sizes, external, folder, stem)
    for tensor, shard, offset in places:
        placement[tensor] = Outside(names[shard], offset, tensor.nbytes)
    return tuple(DataFile(name, tuple(shard), size) for name, shard, size in zip(names, shards, sizes, strict=True))


def name_files(
    shards: list[list[tuple[int, Tensor]]], sizes: list[int], external: External, folder: str, stem: str
) -> list[str]:
    """Name data files so that none of them exists yet: stem and short hash of the layout, and a number when taken."""
    if external.location is not None:
        return numbered(*os.path.splitext(external.location), len(shards))
    from hashlib import sha256

    digest = sha256()
    for shard, size in zip(shards, sizes, strict=True):
        digest.update(b"%d\n" % size)
        for offset, tensor in shard:
            line = f"{offset} {tensor.name} {int(tensor.dtype)} {tensor.shape}\n"
            digest.update(line.encode())
    for mark in "/\\:":  # what a location may not have, though a file name on some systems may
        stem = stem.replace(mark, "_")
    stem = stem.encode("utf-8", "replace")[:LONGEST_STEM].decode("utf-8", "ignore")
    base = f"{stem}-{digest.hexdigest()[:8]}"
    attempt = 1
    while True:
        names = numbered(base if attempt == 1 else f"{base}-{attempt}", ".data", len(shards))
        if not any(os.path.lexists(os.path.join(folder, name)) for name in names):
            return names
        attempt += 1


def numbered(stem: str, suffix: str, count: int) -> list[str]:
    """Return names for `count` files: as they are for one, else `stem-00001-of-00003` and so on."""
    if count == 1:
        return [stem + suffix]
    return [f"{stem}-{at + 1:05}-of-{count:05}{suffix}" for at in range(count)]
