"""Convert the typed fields of TensorProto to the raw layout, when somebody asks for the bytes.

What each entry of `int32_data` means depends on the element type (onnx.proto, TensorProto.int32_data): one element for
types of a byte or more, one packed byte for 4-bit and 2-bit types, one element in the low 6 bits for 6-bit floats.
"""

from __future__ import annotations

import sys
from array import array

from sardonyx.ir.types import BITS, DType
from sardonyx.wire import codec
from sardonyx.wire.pieces import fixed, varints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sardonyx.ir.source import Buffer
    from sardonyx.wire.schema import Runs

FLOATS, DOUBLES, INT32S, INT64S, UINT64S = "float_data", "double_data", "int32_data", "int64_data", "uint64_data"

FIELD_OF: dict[DType, str] = {
    DType.FLOAT: FLOATS,
    DType.COMPLEX64: FLOATS,
    DType.DOUBLE: DOUBLES,
    DType.COMPLEX128: DOUBLES,
    DType.INT64: INT64S,
    DType.UINT64: UINT64S,
    DType.UINT32: UINT64S,
    DType.STRING: "string_data",
    **{dtype: INT32S for dtype in DType if 0 < BITS[dtype] <= 16 or dtype is DType.INT32},
}
"""The one typed field that each element type may use."""

CHUNK = 1 << 16
"""Bytes that are decoded at once."""

MANY = 4096
"""From this many entries on numpy decodes them, which is quicker by far but takes long to import."""


def entry_count(dtype: DType, count: int) -> int:
    """Return how many entries the typed field needs for `count` elements."""
    if dtype is DType.COMPLEX64 or dtype is DType.COMPLEX128:
        return 2 * count
    return dtype.nbytes(count) if BITS[dtype] in (2, 4) else count


def convert(data: Buffer, runs: Runs, dtype: DType) -> bytes:
    """Return the entries of the field that belongs to `dtype` as little-endian bytes in the raw layout.

    Floats are taken bit for bit, so that the payload of a NaN survives.
    """
    if FIELD_OF[dtype] in (FLOATS, DOUBLES):
        return fixed(data, runs)
    if codec.is_compiled:
        return narrow_compiled(data, runs, dtype)
    if runs.count < MANY:
        return narrow(varints(data, runs), dtype)
    raw = b"".join([narrow_many(values, dtype) for values in decode_many(fixed(data, runs))])
    return pack6_many(raw) if BITS[dtype] == 6 else raw


def narrow_compiled(data: Buffer, runs: Runs, dtype: DType) -> bytes:
    """Do what `narrow` does with the compiled codec, straight from the file for an entry that is one packed run."""
    width = max(BITS[dtype] // 8, 1)
    into = bytearray(runs.count * width)
    start, end = runs.spans[0][:2] if runs.spans else (0, 0)
    if len(runs.spans) > 1:
        data = fixed(data, runs)
        start, end = 0, len(data)
    made = codec.narrow_varints(data, start, end, into, width, dtype is DType.BOOL)
    if made != len(into):
        raise ValueError(f"{len(into) // width} numbers were in the file when it was loaded, {made // width} are now")
    if BITS[dtype] == 6:
        return pack6_many(into) if runs.count >= MANY else pack6(into)
    return bytes(into)


def pack6_many(entries: Buffer | bytearray) -> bytes:
    """Do what `pack6` does with numpy."""
    import numpy as np

    from sardonyx.ir.arrays import pack

    return pack(np.frombuffer(entries, np.uint8), 6).tobytes()


def narrow(values: list[int], dtype: DType) -> bytes:
    """Keep the low bits of unsigned 64-bit numbers that an element has, in the raw layout."""
    wide = array("Q", values)
    if sys.byteorder == "big":
        wide.byteswap()
    raw = wide.tobytes()
    if dtype is DType.BOOL:  # an int32 first: 2^32 is 0, and any other number but 0 is true
        return bytes(map(bool, array("I", raw)[::2]))
    bits = BITS[dtype]
    if bits == 64:
        return raw
    if bits == 32:
        return array("I", raw)[::2].tobytes()
    if bits == 16:
        return array("H", raw)[::4].tobytes()
    return pack6(raw[::8]) if bits == 6 else raw[::8]


def pack6(entries: bytes | bytearray) -> bytes:
    """Pack the low 6 bits of every byte, four to three bytes, the first in the lowest bits."""
    count = len(entries)
    entries = entries + bytes(-count % 4)
    packed = bytearray()
    for i in range(0, len(entries), 4):
        a, b, c, d = entries[i : i + 4]
        group = a & 63 | (b & 63) << 6 | (c & 63) << 12 | (d & 63) << 18
        packed += group.to_bytes(3, "little")
    return bytes(packed[: (count * 6 + 7) // 8])


def decode_many(data: bytes) -> Iterator[Any]:
    """Yield the varints that `data` consists of as numpy arrays of uint64, a chunk at a time to keep them small.

    A varint ends at the first byte below 0x80; each byte counts its low 7 bits, shifted by its place in the varint.
    """
    import numpy as np

    run, pos = np.frombuffer(data, np.uint8), 0
    while pos < len(run):
        stop = min(pos + CHUNK, len(run))
        while run[stop - 1] >= 0x80:
            stop -= 1
        chunk, pos = run[pos:stop], stop
        ends = np.flatnonzero(chunk < 0x80)
        starts = np.concatenate(([0], ends[:-1] + 1))
        lengths = ends - starts + 1
        values = (chunk[starts] & 0x7F).astype(np.uint64)
        for place in range(1, int(lengths.max())):
            longer = np.flatnonzero(lengths > place)
            values[longer] |= (chunk[starts[longer] + place] & 0x7F).astype(np.uint64) << np.uint64(7 * place)
        yield values


def narrow_many(wide: Any, dtype: DType) -> bytes:
    """Do what `narrow` does with a numpy array; 6-bit elements are left in a byte each."""
    import numpy as np

    if dtype is DType.BOOL:
        wide = wide.astype(np.uint32) != 0
    found: bytes = wide.astype(f"<u{max(BITS[dtype] // 8, 1)}").tobytes()
    return found
