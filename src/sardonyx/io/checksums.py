"""Compare the checksum that external_data gives with the file's own."""

from __future__ import annotations

from sardonyx.errors import Issue, OnnxError, Place
from sardonyx.ir.tensor import External

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.tensor import Tensor


def verify_checksum(tensor: Tensor) -> Issue | None:
    """Return what is wrong with a tensor's checksum, or None; a tensor without one is fine.

    `checksum` is the SHA-1 of the whole file, in hex (onnx.proto, TensorProto.external_data). The file is read once,
    however many tensors lie in it. A file that cannot be read is returned as an issue, too.
    """
    content = tensor.content
    if not isinstance(content, External) or content.digest is None:
        return None
    given = dict(content.entries).get("checksum")
    if given is None:
        return None
    try:
        found = content.digest()
    except OnnxError as problem:
        return problem.issue
    if given.lower() == found:
        return None
    return Issue(
        "external-checksum",
        f"the checksum of {content.location!r} is given as {given!r}, but the file's SHA-1 is {found!r}",
        Place(value=tensor.name),
        hint="the data file was changed or damaged after the model was written",
    )
