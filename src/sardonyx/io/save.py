"""Write a model: to bytes, or to a file and its data files so that they appear whole or not at all."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress

from sardonyx.errors import error
from sardonyx.io.emit import emit
from sardonyx.io.publish import CannotName, NewFile, mode_of, sync_folder, write_failed
from sardonyx.io.shards import External, every_tensor, is_data_file, is_same_name, lay_out
from sardonyx.io.stream import Stream
from sardonyx.ir.tensor import External as Elsewhere
from sardonyx.records import record
from sardonyx.wire.schema import MAX_FILE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.errors import Issue, OnnxError
    from sardonyx.io.chunks import Chunks
    from sardonyx.io.shards import Layout
    from sardonyx.ir.graph import Model

WINDOWS = os.name == "nt"
ATTEMPTS = 20
"""How often a save is tried while other processes take the names that it chose for its data files."""


@record
class Saved:
    """What `save` wrote."""

    path: str
    """The model file, as given."""
    data_files: tuple[str, ...]
    """New data files beside it, by name."""
    nbytes: int
    """Bytes written in all."""
    issues: tuple[Issue, ...]
    """What was lost (unknown fields of rewritten nodes) or may not be found (references to absent data files)."""


def to_bytes(model: Model, *, external: str = "keep") -> bytes:
    """Return a model as the bytes of a ModelProto. References to data files stay as they are; `"embed"` reads them in.

    Raises:
        OnnxError: Unsupported, `file-too-large`, for 2^31 bytes and more; Io, `source-closed`, after `model.close()`;
            InvalidModel, `value-twice` or `value-undefined`, when a transform left names that say something else.
    """
    if external not in ("keep", "embed"):
        raise ValueError(f"external is {external!r}; it must be 'keep' or 'embed'")
    chunks, _ = emit(model, {} if external == "keep" else lay_out(model, "", "", external).placement)
    if chunks.size > MAX_FILE_BYTES:
        raise too_large(chunks.size, model, "save it to a file, with external=sx.External()")
    return chunks.join()


def save(
    model: Model,
    path: str | os.PathLike[str],
    *,
    external: External | str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Saved:
    """Write a model to a file; nothing half-written is ever seen, and an older file stays until the new one is ready.

    Args:
        model: what to write; fields that the graph does not model are written back as they were read.
        path: where to. The model's own file is fine: it is replaced, not overwritten. A link is replaced, not followed.
        external: an `External` moves weights to new data files beside the model. None keeps every tensor where it is,
            except that data files which would not be the same from there are copied into a new one, and that weights
            move when the model file would pass 2^31-1 bytes. `"embed"` writes one file with everything inside, `"keep"`
            leaves references to data files as text. Data files that cannot be read stay references, with an issue.
        progress: called with the bytes written and the bytes in all, now and then.

    Raises:
        OnnxError: Io when the file cannot be written (`write-failed`, `not-a-file`, `file-in-use`), when it would take
            the place of a data file (`data-file-exists`), or when the model was closed (`source-closed`); Unsupported,
            `file-too-large`; InvalidModel as for `to_bytes`.
        ValueError: for options that mean nothing, such as a data file with the name of the model file.
    """
    if isinstance(external, External):
        external.check()
    elif external not in (None, "embed", "keep"):
        raise ValueError(f"external is {external!r}; it must be an External, 'embed', 'keep' or None")
    target = os.fsdecode(path)
    folder = os.path.dirname(target)
    mode = mode_of(target)
    refuse_mapped(model, target)
    for _ in range(ATTEMPTS):
        layout, chunks, issues = prepare(model, folder, target, external)
        total = chunks.size + sum(file.size for file in layout.files)
        refuse_existing(layout, folder, target)
        refuse_data_file(model, layout, folder, target)
        try:
            try:
                write(layout, chunks, folder, target, mode, Tally(total, progress), nameless=True)
            except CannotName:
                write(layout, chunks, folder, target, mode, Tally(total, progress), nameless=False)
        except FileExistsError as problem:  # a data file's name was taken meanwhile: another one, and all over again
            taken = problem
        except OSError as problem:
            raise write_failed(problem, target) from problem
        else:
            return Saved(target, tuple(file.name for file in layout.files), total, layout.issues + issues)
    raise write_failed(taken, target) from taken


def prepare(
    model: Model, folder: str, target: str, external: External | str | None
) -> tuple[Layout, Chunks, tuple[Issue, ...]]:
    """Lay the model out; move weights, then tensors of attributes too, while the model file is too large."""
    stem = os.path.splitext(os.path.basename(target))[0]
    layout = lay_out(model, folder, stem, external)
    chunks, issues = emit(model, layout.placement)
    if chunks.size <= MAX_FILE_BYTES:
        return layout, chunks, issues
    if external in (None, "keep"):
        external = External()
        layout = lay_out(model, folder, stem, external)
        chunks, issues = emit(model, layout.placement)
    if chunks.size > MAX_FILE_BYTES and isinstance(external, External):
        layout = lay_out(model, folder, stem, external, attributes=True)
        chunks, issues = emit(model, layout.placement)
    if chunks.size > MAX_FILE_BYTES:
        raise too_large(chunks.size, model, "move weights to data files, with external=sx.External()")
    return layout, chunks, issues


def write(
    layout: Layout, chunks: Chunks, folder: str, target: str, mode: int | None, tally: Tally, nameless: bool
) -> None:
    """Write all files, then give them their names: data files first, the model last."""
    with ExitStack() as stack:
        data: list[NewFile] = []
        whole: NewFile | None = None
        try:
            for file in layout.files:
                new = stack.enter_context(NewFile(os.path.join(folder, file.name), mode, nameless))
                data.append(new)
                with Stream(new.fd, tally.add) as stream:
                    stream.data_file(file)
                new.sync()
            whole = stack.enter_context(NewFile(target, mode, nameless))
            with Stream(whole.fd, tally.add) as stream:
                stream.chunks(chunks)
            whole.sync()
            for new in data:
                new.publish(replace=False)
            if data:
                sync_folder(folder)
            whole.publish(replace=True)
        except BaseException:
            if whole is None or not whole.is_published():
                for new in data:
                    if new.is_published():
                        os.unlink(new.path)
            raise
    sync_folder(folder)


class Tally:
    """Counts what is written, for whoever shows progress."""

    def __init__(self, total: int, progress: Callable[[int, int], None] | None) -> None:
        self.total = total
        self.progress = progress
        self.written = 0

    def add(self, count: int) -> None:
        """Note that `count` more bytes are written."""
        self.written += count
        if self.progress is not None and count:
            self.progress(self.written, self.total)


def refuse_existing(layout: Layout, folder: str, target: str) -> None:
    """Refuse to write over a data file: another model may live on it, and it cannot be the model file itself.

    Some file systems take names for the same that differ in case only.
    """
    for file in layout.files:
        if file.name.casefold() == os.path.basename(target).casefold():
            raise ValueError(f"location is {file.name!r}, which is the name of the model file itself")
        if os.path.lexists(os.path.join(folder, file.name)):
            raise error(
                "data-file-exists",
                f"there is a file named {file.name!r} already, and a model may refer to it",
                source=os.path.join(folder, file.name),
                hint="leave `location` out to get an unused name, or delete the file",
            )


def refuse_data_file(model: Model, layout: Layout, folder: str, target: str) -> None:
    """Refuse to put the model file in the place of a file that weights lie in, or that the new model would refer to."""
    if not os.path.lexists(target):
        return
    seen: set[tuple[str, bool]] = set()
    for tensor, _ in every_tensor(model):
        content = tensor.content
        if not isinstance(content, Elsewhere) or (key := (content.location, tensor in layout.placement)) in seen:
            continue
        seen.add(key)
        if is_data_file(target, tensor) or (not key[1] and is_same_name(target, os.path.join(folder, key[0]))):
            raise error(
                "data-file-exists",
                f"this is the data file {content.location!r} that weights of the model lie in",
                source=target,
                hint="save the model under another name",
            )


def refuse_mapped(model: Model, target: str) -> None:
    """Refuse, where files in use cannot be replaced (Windows), to save over a file that the model is mapped from."""
    if not WINDOWS or model.lifetime is None:
        return
    with suppress(OSError):
        there = os.stat(target)
        if any(
            one.file == (there.st_dev, there.st_ino) and not isinstance(one.buffer, bytes)
            for one in model.lifetime.sources
        ):
            raise error(
                "file-in-use",
                "the model is mapped from this file, which Windows does not let anybody replace meanwhile",
                source=target,
                hint="save under another name, or close the model and rename afterwards",
            )


def too_large(size: int, model: Model, hint: str) -> OnnxError:
    """Build the error for a message that protobuf cannot express."""
    return error(
        "file-too-large",
        f"the model would take {size} bytes, more than the {MAX_FILE_BYTES} that protobuf can express",
        source=model.source,
        hint=hint,
    )
