"""Exchange models with the onnx package, as its ModelProto."""

from __future__ import annotations

from sardonyx.errors import error
from sardonyx.io.save import to_bytes
from sardonyx.wire.schema import MAX_FILE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import onnx

    from sardonyx.ir.graph import Model

LARGE_HINT = "keep its weights in external data: save it with onnx.save(..., save_as_external_data=True), load the file"


def from_onnx(proto: onnx.ModelProto) -> bytes:
    """Return a ModelProto as bytes that `sardonyx.load` reads; the proto is not changed.

    Raises:
        OnnxError: Unsupported, `file-too-large`, when it takes 2^31 bytes or more.
    """
    size = proto.ByteSize()
    if size > MAX_FILE_BYTES:
        raise too_large(size, "<onnx.ModelProto>", LARGE_HINT)
    data: bytes = proto.SerializeToString()
    return data


def too_large(size: int, source: str, hint: str) -> Exception:
    """Build the error for a model that protobuf cannot express."""
    return error(
        "file-too-large",
        f"the model takes {size} bytes, more than the {MAX_FILE_BYTES} that protobuf can express",
        source=source,
        hint=hint,
    )


def to_onnx(model: Model, *, external: str = "keep") -> onnx.ModelProto:
    """Return a model as a ModelProto of the onnx package.

    References to data files stay as they are; with `external="embed"` their bytes are read in.

    Raises:
        ImportError: when the onnx package is not installed.
        OnnxError: as `to_bytes`.
    """
    try:
        from onnx import ModelProto
    except ImportError as problem:
        raise ImportError(
            "a ModelProto needs the onnx package, which is not installed: pip install 'sardonyx[onnx]'"
        ) from problem
    proto: onnx.ModelProto = ModelProto.FromString(to_bytes(model, external=external))
    return proto
