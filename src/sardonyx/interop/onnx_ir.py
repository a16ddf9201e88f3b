"""Take models from the onnx-ir package; their external tensors stay in their files."""

from __future__ import annotations

import os

from sardonyx.interop.onnx_proto import too_large
from sardonyx.wire.schema import MAX_FILE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    import onnx
    import onnx_ir

    Key = tuple[str, str, int]

EXTERNAL = 1
"""TensorProto.EXTERNAL."""


def from_onnx_ir(model: onnx_ir.Model) -> tuple[bytes, str | None]:
    """Return a model as bytes, and the folder its data files are in (None when it has none); the model is not changed.

    External tensors are not read. Where they lie in several folders, the locations are written relative to the folder
    that holds all of these.

    Raises:
        ImportError: when the packages onnx-ir needs are not installed.
        OnnxError: Unsupported, `file-too-large`, when what is in memory takes 2^31 bytes or more.
        ValueError: for data files on several drives, or two tensors that only their folder tells apart.
    """
    try:
        from onnx_ir.serde import serialize_model
    except ImportError as problem:
        raise ImportError(
            "reading an onnx_ir.Model needs the onnx-ir package: pip install 'sardonyx[onnx-ir]'"
        ) from problem
    try:
        proto = serialize_model(model)
    except ValueError as problem:
        if "2GB" not in str(problem) and "exceed" not in str(problem):
            raise
        raise too_large(MAX_FILE_BYTES + 1, "<onnx_ir.Model>", HINT) from problem
    folders = folders_of(model)
    folder = None
    if folders:
        places = sorted({os.path.abspath(one) for one in folders.values()})
        folder = places[0] if len(places) == 1 else os.path.commonpath(places)
        if len(places) > 1:
            relocate(proto, folders, folder)
    size = proto.ByteSize()
    if size > MAX_FILE_BYTES:
        raise too_large(size, "<onnx_ir.Model>", HINT)
    return proto.SerializeToString(), folder


HINT = "write its weights to a file with onnx_ir.save(..., external_data=...), and load that"


def folders_of(model: onnx_ir.Model) -> dict[Key, str]:
    """Map every external tensor, as far as its message tells, to its folder.

    Raises:
        ValueError: two tensors would have the same message, though they lie in different folders.
    """
    found: dict[Key, str] = {}
    for tensor in tensors_of(model):
        base = getattr(tensor, "base_dir", None)
        location = getattr(tensor, "location", None)
        if base is None or location is None:
            continue
        key = (tensor.name or "", os.fspath(location), tensor.offset or 0)
        folder = os.path.abspath(os.fspath(base) or os.curdir)
        if found.setdefault(key, folder) != folder:
            raise ValueError(
                f"two tensors named {key[0]!r} lie at {key[1]!r}, one in {found[key]!r}, one in {folder!r}"
            )
    return found


def tensors_of(model: onnx_ir.Model) -> Iterator[Any]:
    """Yield every tensor of a model: initializers and attributes, in graphs, bodies and functions."""
    graphs: list[Any] = [model.graph, *model.functions.values()]
    while graphs:
        graph = graphs.pop()
        for value in getattr(graph, "initializers", {}).values():
            if value.const_value is not None:
                yield value.const_value
        for node in graph:
            for attribute in node.attributes.values():
                if attribute.is_ref():
                    continue
                kind, value = attribute.type.name, attribute.value
                if kind == "TENSOR":
                    yield value
                elif kind == "TENSORS":
                    yield from value
                elif kind == "GRAPH":
                    graphs.append(value)
                elif kind == "GRAPHS":
                    graphs.extend(value)


def relocate(proto: onnx.ModelProto, folders: dict[Key, str], folder: str) -> None:
    """Write the locations of external tensors relative to `folder`."""
    for tensor in tensor_messages(proto):
        if tensor.data_location != EXTERNAL:
            continue
        entries = {entry.key: entry for entry in tensor.external_data}
        offset = int(entries["offset"].value) if "offset" in entries else 0
        location = entries["location"]
        path = os.path.join(folders[(tensor.name, location.value, offset)], location.value)
        location.value = os.path.relpath(path, folder).replace(os.sep, "/")


def tensor_messages(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield every dense TensorProto of a model."""
    graphs: list[Any] = [proto.graph]
    nodes: list[Iterable[Any]] = [function.node for function in proto.functions]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            yield from graph.initializer
            nodes.append(graph.node)
            continue
        for node in nodes.pop():
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    yield attribute.t
                yield from attribute.tensors
                if attribute.HasField("g"):
                    graphs.append(attribute.g)
                graphs.extend(attribute.graphs)
