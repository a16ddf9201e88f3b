"""Move arrays in and out of the runtime's values, for element types that numpy lacks too."""

from __future__ import annotations

from sardonyx.ir.arrays import dtype_of, element_type
from sardonyx.ir.types import DType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy
    from numpy.typing import NDArray

    Array = NDArray[Any]


def runtime() -> Any:
    """Return the onnxruntime module.

    Raises:
        ImportError: it is not installed; the message says how to get it.
    """
    try:
        import onnxruntime
    except ImportError as problem:
        raise ImportError("running a model needs onnxruntime: pip install sardonyx[run]") from problem
    return onnxruntime


def to_value(array: Any) -> Any:
    """Return an OrtValue over the memory of an array; an OrtValue as it is."""
    import numpy

    held = runtime().OrtValue
    if isinstance(array, held):
        return array
    array = numpy.ascontiguousarray(array).reshape(numpy.shape(array))  # which makes a vector of a scalar
    if is_plain(array.dtype):
        return held.ortvalue_from_numpy(array)
    return held.ortvalue_from_numpy_with_onnx_type(bits_of(array), int(element_type(array.dtype)))


def to_array(value: Any) -> Array:
    """Return an OrtValue's elements: its own memory where that is possible, else a copy."""
    import ctypes

    import numpy

    dtype = dtype_of(DType(value.element_type()))
    if is_plain(dtype):
        found: Array = value.numpy()
        return found
    size = value.tensor_size_in_bytes()
    raw = ctypes.string_at(value.data_ptr(), size) if size else b""
    made: Array = numpy.frombuffer(raw, dtype).reshape(value.shape()).copy()
    return made


def zeros(shape: Sequence[int], dtype: DType) -> Any:
    """Return a new OrtValue full of zeros, in memory of its own."""
    import numpy

    return to_value(numpy.zeros(tuple(shape), dtype_of(dtype)))


def copied(array: Any) -> Any:
    """Return an OrtValue with the same elements, in memory of its own."""
    if isinstance(array, runtime().OrtValue):
        array = to_array(array)
    import numpy

    return to_value(numpy.array(array, copy=True, order="C"))


def is_plain(dtype: numpy.dtype[Any]) -> bool:
    """Return whether an element type is numpy's own."""
    return dtype.kind != "V" and dtype.isbuiltin == 1


def bits_of(array: Array) -> Array:
    """Return an array of an element type from ml_dtypes as unsigned numbers of the same width."""
    return array.view(f"u{array.dtype.itemsize}")
