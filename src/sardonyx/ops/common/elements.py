"""Read the elements of a small constant, exactly and without numpy."""

from __future__ import annotations

from struct import unpack, unpack_from

from sardonyx.ir.tensor import Stored
from sardonyx.ir.types import DType
from sardonyx.ops.call import MOST_ELEMENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.tensor import Tensor
    from sardonyx.ops.call import Content

KEPT = 16
"""Elements of a tensor that are kept with it: one inference of a model follows another."""
FORMATS = {
    DType.INT64: "q",
    DType.INT32: "i",
    DType.INT16: "h",
    DType.INT8: "b",
    DType.UINT64: "Q",
    DType.UINT32: "I",
    DType.UINT16: "H",
    DType.UINT8: "B",
    DType.FLOAT: "f",
    DType.DOUBLE: "d",
    DType.FLOAT16: "e",
    DType.BOOL: "?",
}
"""How struct reads one element; bfloat16 is the upper half of a float."""


def read_elements(tensor: Tensor) -> Content | None:
    """Return the elements of a constant of at most 1,024 elements, or None when it is larger or of another type.

    Raises:
        OnnxError: ExternalData or Io, when the bytes lie in a file that cannot be read.
    """
    found: Content | None = tensor._elements
    if found is not None:
        return found
    shape = tensor.shape
    count = tensor.size if len(shape) > 1 else shape[0] if shape else 1
    if count > MOST_ELEMENTS:
        return None
    letter = FORMATS.get(tensor.dtype)
    if letter is not None:
        content = tensor.content
        layout = "<" + letter if count == 1 else f"<{count}{letter}"
        if type(content) is Stored:  # most constants: no view is made
            found = unpack_from(layout, content.source.data(tensor.name), content.offset)
            if count <= KEPT:
                tensor._elements = found  # type: ignore[misc]  # a cache
            return found
        return unpack(layout, tensor.data)
    if tensor.dtype is DType.STRING:
        return tensor.strings
    if tensor.dtype is DType.BFLOAT16:
        halves = unpack(f"<{count}H", tensor.data)
        return unpack(f"<{count}f", b"".join((half << 16).to_bytes(4, "little") for half in halves))
    if tensor.dtype in (DType.INT4, DType.UINT4, DType.INT2, DType.UINT2):
        return packed(bytes(tensor.data), count, tensor.dtype.bits, tensor.dtype in (DType.INT4, DType.INT2))
    return None


def packed(data: bytes, count: int, bits: int, signed: bool) -> tuple[int, ...]:
    """Unpack 4-bit or 2-bit integers, the first in the lowest bits of a byte."""
    per_byte, mask, sign = 8 // bits, (1 << bits) - 1, 1 << (bits - 1)
    found = []
    for at in range(count):
        value = data[at // per_byte] >> (at % per_byte * bits) & mask
        found.append((value ^ sign) - sign if signed else value)
    return tuple(found)
