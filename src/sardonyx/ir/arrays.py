"""Turn tensors into numpy arrays and back, without copying where the layouts agree.

numpy and ml_dtypes are imported on first use. Element types of a byte or more are views of the tensor's own bytes, and
read-only like these. Types below a byte are packed in a tensor and have a byte each in an array, so they are unpacked.
"""

from __future__ import annotations

import sys

from sardonyx.errors import error
from sardonyx.ir.source import Source
from sardonyx.ir.tensor import Stored, Strings, Tensor
from sardonyx.ir.types import BITS, DType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]

STANDARD: dict[DType, str] = {
    DType.FLOAT: "<f4",
    DType.UINT8: "|u1",
    DType.INT8: "|i1",
    DType.UINT16: "<u2",
    DType.INT16: "<i2",
    DType.INT32: "<i4",
    DType.INT64: "<i8",
    DType.BOOL: "|b1",
    DType.FLOAT16: "<f2",
    DType.DOUBLE: "<f8",
    DType.UINT32: "<u4",
    DType.UINT64: "<u8",
    DType.COMPLEX64: "<c8",
    DType.COMPLEX128: "<c16",
}
"""The element types that numpy has, as it spells them."""

EXTENDED: dict[DType, tuple[str, str]] = {
    DType.BFLOAT16: ("bfloat16", "0.1"),
    DType.FLOAT8E4M3FN: ("float8_e4m3fn", "0.1"),
    DType.FLOAT8E4M3FNUZ: ("float8_e4m3fnuz", "0.2"),
    DType.FLOAT8E5M2: ("float8_e5m2", "0.1"),
    DType.FLOAT8E5M2FNUZ: ("float8_e5m2fnuz", "0.2"),
    DType.UINT4: ("uint4", "0.2"),
    DType.INT4: ("int4", "0.2"),
    DType.FLOAT4E2M1: ("float4_e2m1fn", "0.5"),
    DType.FLOAT8E8M0: ("float8_e8m0fnu", "0.5"),
    DType.UINT2: ("uint2", "0.5"),
    DType.INT2: ("int2", "0.5"),
    DType.FLOAT6E2M3: ("float6_e2m3fn", "0.5"),
    DType.FLOAT6E3M2: ("float6_e3m2fn", "0.5"),
}
"""The element types that ml_dtypes adds: the name there, and the first version that has it."""


def dtype_of(dtype: DType) -> np.dtype[Any]:
    """Return the numpy dtype of an element type, little-endian like the tensor's bytes.

    Raises:
        ImportError: when ml_dtypes is not there or too old; the text names the version that is needed.
        TypeError: for UNDEFINED, of which there are no elements.
    """
    import numpy as np

    if dtype in STANDARD:
        return np.dtype(STANDARD[dtype])
    if dtype is DType.STRING:
        return np.dtype(object)
    if dtype not in EXTENDED:
        raise TypeError("a tensor without an element type has no numpy dtype")
    name, version = EXTENDED[dtype]
    import ml_dtypes

    if not hasattr(ml_dtypes, name):
        raise ImportError(
            f"arrays of {dtype.text} need ml_dtypes {version} or newer; {ml_dtypes.__version__} is installed"
        )
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return found


def to_numpy(tensor: Tensor) -> Array:
    """Return the elements as a read-only array of the tensor's shape; see `Tensor.numpy`."""
    import numpy as np

    found: Array
    if tensor.dtype is DType.STRING:
        found = np.empty(tensor.size, dtype=object)
        found[:] = tensor.strings
        found = shaped(found, tensor)
    else:
        dtype, view, bits = dtype_of(tensor.dtype), tensor.data, BITS[tensor.dtype]
        if bits < 8:
            found = unpack(np.frombuffer(view, np.uint8), bits, tensor.size)
            found = shaped(found.view(dtype), tensor)
        else:
            # frombuffer holds on to the view, np.ndarray only to what is below it: a map could go from under an array
            found = shaped(np.frombuffer(view, dtype) if len(view) else np.empty(0, dtype), tensor)
            if tensor.dtype is DType.BOOL and (found.view(np.uint8) > 1).any():
                # numpy takes a bool of 2 for neither True nor False; asarray, since comparing a scalar gives no array
                found = np.asarray(found.view(np.uint8) != 0)
            elif sys.byteorder == "big" and tensor.dtype in EXTENDED and bits > 8:
                found = found.view(np.uint16).byteswap().view(dtype)  # ml_dtypes has the native order only
    found.flags.writeable = False
    return found


def shaped(elements: Array, tensor: Tensor) -> Array:
    """Give elements the tensor's shape.

    Raises:
        OnnxError: Unsupported `array-shape`, for more dims than numpy takes, or huge ones beside a 0.
    """
    try:
        return elements.reshape(tensor.shape)
    except ValueError:
        raise error(
            "array-shape",
            f"numpy cannot hold an array of {len(tensor.shape)} dims, the largest {max(tensor.shape)}",
            value=tensor.name,
            hint="the bytes are in tensor.data",
        ) from None


def unpack(packed: Array, bits: int, count: int) -> Array:
    """Give each of `count` elements of 2, 4 or 6 bits a byte of its own; the first is in the lowest bits.

    The upper bits of a byte are 0, for signed integers too: that is how ml_dtypes holds them.
    """
    import numpy as np

    if bits == 6:
        groups = np.zeros((len(packed) + 2) // 3 * 3, np.uint8)
        groups[: len(packed)] = packed
        a, b, c = groups.reshape(-1, 3).T
        split = np.stack([a & 63, a >> 6 | (b & 15) << 2, b >> 4 | (c & 3) << 4, c >> 2], axis=1)
    else:  # what each of the 256 bytes holds, looked up as one number of so many bytes
        table = np.arange(256, dtype=np.uint8)[:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & ((1 << bits) - 1)
        split = table.astype(np.uint8).view(f"u{8 // bits}").reshape(-1)[packed].view(np.uint8)
    found: Array = split.reshape(-1)[:count]
    return found


def pack(elements: Array, bits: int) -> Array:
    """Undo `unpack`: keep the low 2, 4 or 6 bits of each byte and pack them; unused bits are 0."""
    import numpy as np

    each = 4 if bits == 6 else 8 // bits
    padded = np.zeros((len(elements) + each - 1) // each * each, np.uint8)
    padded[: len(elements)] = elements & ((1 << bits) - 1)
    groups = padded.reshape(-1, each)
    packed: Array
    if bits == 6:
        a, b, c, d = groups.T
        packed = np.stack([a | b << 6, b >> 2 | c << 4, c >> 4 | d << 2], axis=1).reshape(-1)
    else:
        packed = np.bitwise_or.reduce(groups << np.arange(0, 8, bits, dtype=np.uint8), axis=1)
    return packed[: (len(elements) * bits + 7) // 8]


def owned(tensor: Tensor) -> Tensor:
    """Return a tensor with bytes of its own; see `Tensor.copy`."""
    if tensor.dtype is DType.STRING:
        strings = tensor.strings
        return Tensor(tensor.dtype, tensor.shape, Strings(lambda: strings), tensor.name)
    return Tensor(tensor.dtype, tensor.shape, held(bytes(tensor.data)), tensor.name)


def held(data: bytes) -> Stored:
    """Return content that belongs to no file."""
    return Stored(Source(data, "<memory>"), 0, len(data))


def as_array(tensor: Tensor, dtype: Any = None, copy: bool | None = None) -> Array:
    """Serve `numpy.asarray(tensor)` with the meaning of `copy` that numpy 2 gave it; numpy 1 does not pass it.

    Raises:
        ValueError: with `copy=False`, where the array cannot be a view of the tensor's bytes.
    """
    import numpy as np

    array = to_numpy(tensor)
    converts = dtype is not None and np.dtype(dtype) != array.dtype
    if copy is False and (converts or tensor.dtype is DType.STRING or BITS[tensor.dtype] < 8):
        raise ValueError(f"an array of {tensor.dtype.text} as {dtype or array.dtype} cannot be made without a copy")
    if converts:
        return array.astype(dtype)
    return array.copy() if copy else array


def to_dlpack(
    tensor: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Export the elements as a DLPack capsule, through numpy.

    The bytes are read-only, which a consumer learns from version 1 of the protocol on; an older one, which does not
    give `max_version`, gets a copy if it asks for one, else nothing. Elements that are not aligned in their file are
    copied, unless `copy` is False.

    Raises:
        BufferError: where the tensor cannot be exported; the text names what to use instead.
    """
    if tensor.dtype not in STANDARD:
        raise BufferError(f"DLPack has no type for {tensor.dtype.text} that numpy exports; use tensor.numpy()")
    if dl_device is not None and tuple(dl_device) != (1, 0):
        raise BufferError(f"the tensor is in memory, not on device {tuple(dl_device)}; use tensor.numpy().copy()")
    array = to_numpy(tensor)
    if copy:
        return array.copy().__dlpack__()
    if max_version is None or max_version[0] < 1:
        raise BufferError(
            "the tensor is read-only, which this consumer cannot know (DLPack before 1.0); use tensor.numpy().copy()"
        )
    if not array.flags.aligned:  # DLPack cannot say so, and a consumer may use instructions that fail
        if copy is False:
            raise BufferError("the tensor's bytes are not aligned in their file; use tensor.numpy().copy()")
        array = array.copy()
        array.flags.writeable = False
    try:
        return array.__dlpack__(stream=stream, max_version=max_version)  # type: ignore[call-arg, unused-ignore]
    except TypeError:  # numpy before 2.1 exports no read-only array
        raise BufferError("this version of numpy exports no read-only array; use tensor.numpy().copy()") from None


def from_numpy(array: Any, name: str = "") -> Tensor:
    """Make a tensor from an array (or anything `numpy.asarray` takes), copying its elements.

    Any memory order, byte order and number of dims will do; arrays of `str`, `bytes` or objects that are all one of
    the two become STRING tensors, text as UTF-8.

    Raises:
        TypeError: for a dtype that ONNX does not have.
    """
    import numpy as np

    array = np.asarray(array)
    shape = tuple(int(dim) for dim in array.shape)
    if array.dtype.kind in "OSU":
        strings = tuple(map(string_bytes, array.reshape(-1).tolist()))
        return Tensor(DType.STRING, shape, Strings(lambda: strings), name)
    dtype = element_type(array.dtype)
    bits = BITS[dtype]
    if bits < 8:
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        data = pack(flat, bits).tobytes()
    elif dtype in STANDARD:
        data = array.astype(STANDARD[dtype], copy=False).tobytes()
    else:
        raw = np.ascontiguousarray(array).reshape(-1).view(f"u{bits // 8}")
        data = raw.astype(f"<u{bits // 8}", copy=False).tobytes()
    return Tensor(dtype, shape, held(data), name)


def element_type(dtype: np.dtype[Any]) -> DType:
    """Return the ONNX element type of a numpy dtype, whatever its byte order."""
    if dtype.kind in "biufc":
        text = dtype.newbyteorder("<").str
        for known, spelled in STANDARD.items():
            if spelled == text:
                return known
    for known, (word, _) in EXTENDED.items():
        if word == dtype.name:
            return known
    raise TypeError(f"ONNX has no element type for numpy's {dtype}")


def string_bytes(entry: object) -> bytes:
    """Return one entry of a string array as bytes."""
    if isinstance(entry, bytes):
        return entry
    if isinstance(entry, str):
        return entry.encode()
    raise TypeError(f"an entry of a string tensor must be str or bytes, not {type(entry).__name__}")
