"""Fuzz the tensor reader: any TensorProto gives exactly the bytes its dims call for, or is refused with OnnxError."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["sardonyx"]):
    import sardonyx as sx

    EMPTY = sx.load(b"\x08\x08\x3a\x00")  # used here once, since modules are imported when they are first needed
    sx.dump(EMPTY), sx.to_bytes(EMPTY)
    import sardonyx.ir.arrays

from mutate import mutate, packed

LIMITS = sx.Limits(max_tensor_bytes=1 << 20)


def block(field: int, payload: bytes) -> bytes:
    return packed(field << 3 | 2) + packed(len(payload)) + payload


def in_a_model(tensor: bytes) -> bytes:
    """Return a model whose only initializer is this TensorProto, under the name it brings or `t`."""
    return b"\x08\x08" + block(7, block(5, block(8, b"t") + tensor))


def one_input(data: bytes) -> None:
    model_bytes = in_a_model(data)
    try:
        model = sx.load(model_bytes, external_data="lazy", limits=LIMITS)
    except sx.OnnxError as problem:
        if not 0 <= (problem.offset or 0) <= len(model_bytes):
            raise AssertionError(f"offset {problem.offset} is outside the input") from problem
        return
    (tensor,) = model.graph.initializers.values()
    if tensor.is_external:
        try:
            size = len(tensor.data)
        except sx.OnnxError:
            return
        raise AssertionError(f"bytes have no folder, yet {size} bytes of an external tensor were read")
    if tensor.dtype is sx.DType.STRING:
        if len(tensor.strings) != tensor.size:
            raise AssertionError(f"{len(tensor.strings)} strings for {tensor.size} elements")
    elif len(tensor.data) != tensor.nbytes:
        raise AssertionError(f"{len(tensor.data)} bytes where dims and type call for {tensor.nbytes}")
    if tensor.dtype:  # one without elements may lack it, and then has no array
        compare_array(tensor)
    again = sx.load(sx.to_bytes(model))
    if sx.dump(again) != sx.dump(model):
        raise AssertionError("the tensor changed over save and load")


def compare_array(tensor: sx.Tensor) -> None:
    """Take the array, if numpy can hold its shape, and look at its shape and elements."""
    try:
        array = tensor.numpy()
    except sx.OnnxError as problem:
        if problem.code != "array-shape":
            raise
        return
    if array.shape != tensor.shape or array.size != tensor.size:
        raise AssertionError(f"the array has shape {array.shape}, the tensor {tensor.shape}")
    whole_bytes = tensor.dtype.bits >= 8 and tensor.dtype is not sx.DType.BOOL
    if whole_bytes and array.tobytes() != bytes(tensor.data):
        raise AssertionError("the array has other bytes than the tensor")


def change(data: bytes, max_size: int, seed: int) -> bytes:
    return mutate(data, max_size, seed, lambda part, limit: atheris.Mutate(part, limit))


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input, custom_mutator=change)
    atheris.Fuzz()
