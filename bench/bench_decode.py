"""Measure a decode step on the inlined plan beside the untouched one.

    python bench/bench_decode.py [STEPS]

The models: the two hybrid linear-attention models of the corpus, where it is beside the checkout (the weights of the
24-layer one are seeded random numbers, since the corpus has it without), and that of examples/decode.py. Both plans get
the same prompt of 32 tokens and then take turns, step by step, in one process with one thread; the medians of their CPU
and wall times are compared, and every output byte by byte.
"""

from __future__ import annotations

import importlib.util
import math
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from sardonyx.runtime import DecodeSession

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"


def with_weights(path: Path) -> bytes:
    """Read a model, and make up the weights that are not there."""
    model = onnx.load(path, load_external_data=False)
    random = np.random.default_rng(0)
    for tensor in model.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            fan = tensor.dims[-2] if len(tensor.dims) > 1 else math.prod(tensor.dims)
            array = random.normal(size=tuple(tensor.dims)) * min(0.1, fan**-0.5)
            kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
            tensor.CopyFrom(onnx.numpy_helper.from_array(array.astype(kind), tensor.name))
    data: bytes = model.SerializeToString()
    return data


def example() -> bytes:
    """The model of the worked example."""
    spec = importlib.util.spec_from_file_location("decode_example", ROOT / "examples" / "decode.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data: bytes = module.build().SerializeToString()
    return data


def measure(data: bytes, steps: int) -> str:
    """Step both plans in turn; return the columns of a row."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    sessions = [DecodeSession(data, plan=plan, options=options) for plan in ("untouched", "auto")]
    random = np.random.default_rng(0)
    prompt = random.integers(0, 100, (1, 32))
    for session in sessions:
        session.step({"ids": prompt})
    wall: list[list[float]] = [[], []]
    cpu: list[list[float]] = [[], []]
    same = True
    for index in range(steps):
        ids = random.integers(0, 100, (1, 1))
        logits = {}
        for which in (0, 1) if index % 2 else (1, 0):
            start, started = time.perf_counter(), time.process_time()
            logits[which] = sessions[which].step({"ids": ids})["logits"]
            cpu[which].append(time.process_time() - started)
            wall[which].append(time.perf_counter() - start)
        same = same and logits[0].tobytes() == logits[1].tobytes()
    assert sessions[1].plan_used == "inlined", sessions[1].why
    states = [session.states for session in sessions]
    same = same and all(states[0][name].tobytes() == states[1][name].tobytes() for name in states[0])
    slow, quick = (statistics.median(one) * 1e3 for one in cpu)
    slow_wall, quick_wall = (statistics.median(one) * 1e3 for one in wall)
    return (
        f"{slow:.3f} | {quick:.3f} | {slow / quick:.2f} | {slow_wall:.3f} | {quick_wall:.3f} | "
        f"{slow_wall / quick_wall:.2f} | {'yes' if same else 'NO'}"
    )


def main() -> None:
    """Print a table."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("| model | untouched, CPU ms | inlined, CPU ms | ratio | untouched, ms | inlined, ms | ratio | same bytes |")
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    for name in ("hybrid_gdn_prefill_l2", "hybrid_gdn_prefill_l24"):
        path = CORPUS / f"{name}.onnx"
        if path.exists():
            print(f"| {name} | {measure(with_weights(path), steps)} |", flush=True)
    print(f"| examples/decode.py, 24 layers | {measure(example(), steps)} |")


if __name__ == "__main__":
    main()
