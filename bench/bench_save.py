"""Measure encoding and saving beside onnx and onnx_ir, for models as they were read and for rewritten ones.

    python bench/bench_save.py [NAME=MODEL.onnx ...]

Without arguments, models of 100,000 nodes are made: a plain one, and one whose nodes come from functions. Each model is
written as it was loaded, then after a transform: functions inlined where there are any, else Identity and dead nodes
removed. The peers write the same file, read by them, after their own inliner (onnx-ir's is quadratic and left out) or,
for lack of such passes in onnx, the file that sardonyx made. Times are CPU time, the best of several runs, so that a
busy machine matters less; `save` includes the file system.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import onnx
import onnx.inliner
import onnx_ir
from bench_inline import model_of
from onnx import TensorProto, helper

import sardonyx as sx
from sardonyx.passes import run

NODES = 100_000


def chain(nodes: int) -> onnx.ModelProto:
    """Make a model of nodes in a row, every fifth of them an Identity."""
    ops = ("Relu", "Neg", "Abs", "Tanh", "Identity")
    made = [helper.make_node(ops[i % 5], [f"v{i}"], [f"v{i + 1}"], name=f"node_{i}") for i in range(nodes)]
    value = helper.make_tensor_value_info
    ends = value("v0", TensorProto.FLOAT, ["b", 16]), value(f"v{nodes}", TensorProto.FLOAT, ["b", 16])
    graph = helper.make_graph(made, "chain", [ends[0]], [ends[1]])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def best(action: Callable[[], Any]) -> float:
    """Return the least CPU time of five runs, in milliseconds."""
    times = []
    for _ in range(5):
        gc.collect()
        start = time.process_time()
        kept = action()
        times.append(time.process_time() - start)
        del kept
    return min(times) * 1e3


def row(name: str, model: sx.Model, proto: onnx.ModelProto, folder: str) -> str:
    """Measure one model, given as each tool has it."""
    third = onnx_ir.from_proto(proto)
    path = os.path.join(folder, "out.onnx")
    nodes = len(model.graph.nodes)
    changed = sum(node.origin is None or not node.origin.exact for node in model.graph.nodes)
    encoding = best(lambda: sx.to_bytes(model))
    times = [
        encoding,
        best(proto.SerializeToString),
        best(lambda: onnx_ir.to_proto(third).SerializeToString()),
        best(lambda: sx.save(model, path, external="keep")),
        best(lambda: onnx.save(proto, path)),
        best(lambda: onnx_ir.save(third, path)),
    ]
    shown = " | ".join(f"{one:.1f}" for one in times)
    return f"| {name} | {nodes:,} | {changed:,} | {encoding * 1e3 / nodes:.2f} | {shown} |"


def main() -> None:
    """Print a table."""
    models: dict[str, bytes] = {}
    for one in sys.argv[1:]:
        name, _, path = one.rpartition("=")
        with open(path, "rb") as file:
            models[name or os.path.basename(path)] = file.read()
    models = models or {
        "chain": chain(NODES).SerializeToString(),
        "functions": model_of(NODES).SerializeToString(),
    }
    print(
        "| model | nodes | rewritten | us a node | to_bytes, ms | onnx | onnx-ir | save, ms | onnx | onnx-ir |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, data in models.items():
            model = sx.load(data, external_data="lazy")
            proto = onnx.ModelProto.FromString(data)
            print(row(name, model, proto, folder), flush=True)
            if model.functions:
                inlined = onnx.inliner.inline_local_functions(proto)
                print(row(f"{name}, inlined", sx.inline_functions(model), inlined, folder), flush=True)
            else:
                cleaned = run(model, "identity, dead_code")
                again = onnx.ModelProto.FromString(sx.to_bytes(cleaned))
                print(row(f"{name}, cleaned", cleaned, again, folder), flush=True)


if __name__ == "__main__":
    main()
