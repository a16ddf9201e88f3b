"""Join the packages into the functions that people call: load, check, to_bytes, save, dump, diff."""

from __future__ import annotations

from sardonyx.errors import OnnxError
from sardonyx.io.load import load_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any, BinaryIO, TypeAlias

    import onnx
    import onnx_ir

    from sardonyx.errors import Issue
    from sardonyx.ir.graph import Model
    from sardonyx.limits import Limits

    Readable: TypeAlias = (
        str | PathLike[str] | bytes | bytearray | memoryview | BinaryIO | onnx.ModelProto | onnx_ir.Model
    )


def load(
    source: Readable,
    *,
    external_data: str = "strict",
    external_data_dir: str | PathLike[str] | None = None,
    links: str = "inside",
    max_nesting: int = 128,
    limits: Limits | None = None,
) -> Model:
    """Read a model and resolve it to a graph, without touching its weights.

    Args:
        source: a path, bytes (or another buffer, which is viewed, not copied), a binary file, an `onnx.ModelProto`, or
            an `onnx_ir.Model`.
        external_data: `"strict"` checks every data file at load; `"lazy"` checks the text of locations at load and the
            files on first access, so that a model can be worked on without its data files.
        external_data_dir: where external data lies, for sources that have no folder of their own.
        links: `"inside"` follows symbolic links that stay in the model's folder; `"never"` refuses every link and
            every file with more than one hard link.
        max_nesting: how deep messages may nest, 8 to 250.
        limits: upper bounds on what one model may cost.

    Returns:
        The model. Files up to 1 MiB are read, larger ones mapped; `model.close()` or a `with` block lets go of them.

    Raises:
        OnnxError: with its kind: Malformed, InvalidModel, Unsupported, ExternalData or Io.
        TypeError, ValueError: for arguments that mean nothing.
    """
    where, name, folder = readable(source, external_data_dir)
    return load_source(
        where,
        name=name,
        external_data=external_data,
        external_data_dir=folder,
        links=links,
        max_nesting=max_nesting,
        limits=limits,
    )


def readable(
    source: Any, external_data_dir: str | PathLike[str] | None
) -> tuple[str | PathLike[str] | bytes | memoryview, str | None, str | PathLike[str] | None]:
    """Turn any source into a path or bytes, with a name for errors and the folder of its external data."""
    if isinstance(source, (str, bytes)) or hasattr(source, "__fspath__"):
        return source, None, external_data_dir
    if isinstance(source, (bytearray, memoryview)):
        return memoryview(source), None, external_data_dir
    module = type(source).__module__.partition(".")[0]
    if module == "onnx_ir":
        from sardonyx.interop.onnx_ir import from_onnx_ir

        data, folder = from_onnx_ir(source)
        return data, "<onnx_ir.Model>", external_data_dir if external_data_dir is not None else folder
    if hasattr(source, "SerializeToString"):
        from sardonyx.interop.onnx_proto import from_onnx

        return from_onnx(source), "<onnx.ModelProto>", external_data_dir
    view = view_of(source)
    if view is not None:
        return view, None, external_data_dir
    if hasattr(source, "read"):
        data = source.read()
        if not isinstance(data, bytes):
            raise TypeError(f"the file gives {type(data).__name__}, not bytes; open it with mode 'rb'")
        shown = getattr(source, "name", None)
        return data, shown if isinstance(shown, str) else "<stream>", external_data_dir
    raise TypeError(
        f"cannot load a model from {type(source).__name__}; give a path, bytes, a binary file, "
        "an onnx.ModelProto or an onnx_ir.Model"
    )


def view_of(source: Any) -> memoryview | None:
    """Return a view of whatever shows its bytes: a map of a file, an array; None for anything else."""
    try:
        return memoryview(source)
    except (TypeError, ValueError):
        return None


def check(
    source: Readable | Model,
    *,
    deep: bool = False,
    external_data: str = "strict",
    external_data_dir: str | PathLike[str] | None = None,
    links: str = "inside",
    max_nesting: int = 128,
    limits: Limits | None = None,
) -> list[Issue]:
    """Find every issue of a model at once; an empty list is a clean model.

    Faults in three places give three issues; only malformed bytes end the search. A model that was loaded is checked
    as it stands now. With `deep`, checksums of external data are verified too, which reads all of it.

    Raises:
        OnnxError: Io, when there is nothing to read.
        TypeError, ValueError: for arguments that mean nothing.
    """
    from sardonyx.errors import ErrorKind
    from sardonyx.findings import check_model
    from sardonyx.ir.graph import Model

    if isinstance(source, Model):
        return check_model(source, deep)
    where, name, folder = readable(source, external_data_dir)
    try:
        model = load_source(
            where,
            name=name,
            external_data=external_data,
            external_data_dir=folder,
            links=links,
            max_nesting=max_nesting,
            limits=limits,
            collect=True,
        )
    except OnnxError as problem:
        if problem.kind is ErrorKind.Io:
            raise
        return [problem.issue]
    with model:
        return check_model(model, deep)
