"""Run models for runtime.py: read (model, output names, feeds) from stdin, answer with types, shapes and elements."""

from __future__ import annotations

import pickle
import struct
import sys

import numpy as np
import onnxruntime as ort

ort.set_default_logger_severity(4)
NUMPY = {
    1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.bool_,
    10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64,
}  # fmt: skip
CODES = {
    "float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9,
    "float16": 10, "double": 11, "uint32": 12, "uint64": 13, "bfloat16": 16, "float8e4m3fn": 17, "int4": 22,
    "uint4": 21,
}  # fmt: skip


def value_of(code, shape, elements):
    """Make the value to feed; without elements, a sparse one that is empty."""
    if elements is None:
        none = np.array([], NUMPY[code]), np.zeros((0, 2), np.int64)
        return ort.OrtValue.ort_value_from_sparse_tensor(
            ort.SparseTensor.sparse_coo_from_numpy(np.array(shape, np.int64), *none, ort.OrtDevice.make("cpu", 0))
        )
    if code == 16:
        words = (np.array(elements, np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.ascontiguousarray(words).reshape(shape), 16)
    return ort.OrtValue.ortvalue_from_numpy(np.array(elements).astype(NUMPY[code]).reshape(shape))


def plain_of(code, shape, elements):
    """Make the array to feed where strings or maps are about."""
    return np.array(elements, dtype=object if code == 8 else NUMPY[code]).reshape(shape)


def answer(request):
    """Run one model."""
    model, names, feeds, same = request
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    if same:
        return bound(session, names, {name: value_of(*value) for name, value in feeds.items()}, same)
    if all(type(value) is tuple and value[0] != 8 for value in feeds.values()) and all(
        output.type.startswith("tensor") for output in session.get_outputs()
    ):
        found = session.run_with_ort_values(names, {name: value_of(*value) for name, value in feeds.items()})
        return [told(one) for one in found]
    plain = {name: plain_of(*value) if type(value) is tuple else value for name, value in feeds.items()}
    return [
        ("seq", len(one)) if isinstance(one, list) else ("tensor", code_of(one), one.shape, None)
        for one in session.run(names, plain)
    ]


def bound(session, names, feeds, same):
    """Run with outputs in the memory of inputs."""
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_ortvalue_input(name, value)
    for name in names:
        if name in same:
            binding.bind_ortvalue_output(name, feeds[same[name]])
        else:
            binding.bind_output(name, "cpu")
    session.run_with_iobinding(binding)
    return [told(one) for one in binding.get_outputs()]


def code_of(array):
    """Return the element type of an array."""
    return next((code for code, kind in NUMPY.items() if array.dtype == kind), 8)


def told(value):
    """Describe an output."""
    code = CODES[value.data_type()[7:-1]]
    shape = tuple(value.shape())
    elements = value.numpy().ravel().tolist() if code in NUMPY and 0 < np.prod(shape) <= 1024 else None
    return ("tensor", code, shape, elements)


def main():
    """Answer until the other side hangs up."""
    while len(head := sys.stdin.buffer.read(8)) == 8:
        request = pickle.loads(sys.stdin.buffer.read(struct.unpack("<q", head)[0]))
        try:
            reply = answer(request)
        except Exception as problem:  # whatever it is, the other side wants to know
            reply = f"{type(problem).__name__}: {problem}"
        data = pickle.dumps(reply)
        sys.stdout.buffer.write(struct.pack("<q", len(data)) + data)
        sys.stdout.buffer.flush()


main()
