"""Open a model file and decode it."""

from __future__ import annotations

import gc

from sardonyx.dims import Scope
from sardonyx.errors import error
from sardonyx.io.context import Context
from sardonyx.io.external import ExternalFiles
from sardonyx.io.files import open_source
from sardonyx.io.model import build_model
from sardonyx.ir.source import Lifetime, Source
from sardonyx.limits import DEFAULT
from sardonyx.wire.messages import ModelProto
from sardonyx.wire.reader import check_max_nesting, decode
from sardonyx.wire.schema import MAX_FILE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

    from sardonyx.ir.graph import Model
    from sardonyx.limits import Limits


def load_source(
    where: str | PathLike[str] | bytes | memoryview,
    *,
    name: str | None = None,
    external_data: str = "strict",
    external_data_dir: str | PathLike[str] | None = None,
    links: str = "inside",
    max_nesting: int = 128,
    limits: Limits | None = None,
    collect: bool = False,
) -> Model:
    """Load a model from a path or from bytes; see `sardonyx.load`. With `collect`, only malformed bytes raise.

    Whatever goes wrong, every file that was opened is closed again.
    """
    check_options(external_data, links, max_nesting)
    limits = limits or DEFAULT
    lifetime = Lifetime()
    try:
        source, path = open_input(where, name, limits)
        lifetime.add(source)
        files = ExternalFiles(external_data_dir, path, links, external_data, lifetime)
        context = Context(source, limits, Scope(), files, lifetime, collect)
        collecting = gc.isenabled()
        gc.disable()  # thousands of containers and no cycles: collections would cost as much as the work
        try:
            decoded = decode(source.data(), ModelProto, max_nesting=max_nesting, source=source.name)
            source.repeats = decoded.replaced
            return build_model(decoded.message, context)
        finally:
            if collecting:
                gc.enable()
    except BaseException:
        lifetime.close()
        raise


def check_options(external_data: str, links: str, max_nesting: int) -> None:
    """Refuse options that mean nothing: the caller's mistake."""
    if external_data not in ("strict", "lazy"):
        raise ValueError(f"external_data is {external_data!r}; it must be 'strict' or 'lazy'")
    if links not in ("inside", "never"):
        raise ValueError(f"links is {links!r}; it must be 'inside' or 'never'")
    check_max_nesting(max_nesting)


def open_input(
    where: str | PathLike[str] | bytes | memoryview, name: str | None, limits: Limits
) -> tuple[Source, str | PathLike[str] | None]:
    """Open a path, or wrap the caller's buffer; return it with the path, if there is one."""
    if isinstance(where, (bytes, memoryview)):
        view = memoryview(where).toreadonly().cast("B") if not isinstance(where, bytes) else where
        source = Source(view, name or "<bytes>")
        check_size(source.size, source.name, limits)
        return source, None
    return open_source(where, name=name, check=lambda size, shown: check_size(size, shown, limits)), where


def check_size(size: int, name: str, limits: Limits) -> None:
    """Refuse an input that is too large before it is looked at."""
    limits.check("max_file_bytes", size, "the size of the input in bytes", source=name)
    if size > MAX_FILE_BYTES:
        raise error(
            "file-too-large",
            f"{size} bytes are more than the {MAX_FILE_BYTES} that protobuf can express",
            source=name,
            hint="a model this large must keep its weights in external data",
        )
