"""Measure inlining beside onnx.inliner and the onnx-ir inliner, per resulting node.

    python bench/bench_inline.py [NODES ...] [--onnx-ir]

The model: calls of a function that becomes 20 nodes through three levels of functions. Each tool starts from what it
works on (a loaded model here, a ModelProto, an onnx_ir.Model) and its best of several runs counts, in CPU time, so that
a busy machine matters less. The onnx-ir inliner is quadratic: it is asked only with --onnx-ir, and not beyond 10,000.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import onnx
import onnx.inliner
from onnx import TensorProto, helper

import sardonyx as sx

DOMAIN = "bench"
IMPORTS = [helper.make_opsetid("", 20), helper.make_opsetid(DOMAIN, 1)]


def function(name: str, *nodes: tuple[str, list[str], str]) -> onnx.FunctionProto:
    """Write a function of (operator or function, inputs, output)."""
    calls = {"Leaf", "Mid"}
    made = [helper.make_node(op, ins, [out], domain=DOMAIN if op in calls else "") for op, ins, out in nodes]
    return helper.make_function(DOMAIN, name, ["x", "w"], ["y"], made, IMPORTS)


def model_of(nodes: int) -> onnx.ModelProto:
    """Make a model that becomes about this many nodes."""
    functions = [
        function(
            "Leaf", ("Mul", ["x", "w"], "a"), ("Relu", ["a"], "b"), ("Add", ["b", "x"], "c"), ("Tanh", ["c"], "y")
        ),
        function("Mid", ("Leaf", ["x", "w"], "a"), ("Sigmoid", ["a"], "b"), ("Leaf", ["b", "w"], "y")),
        function(
            "Top", ("Mid", ["x", "w"], "a"), ("Neg", ["a"], "b"), ("Mid", ["b", "w"], "c"), ("Add", ["c", "x"], "y")
        ),
    ]
    count = max(1, nodes // 20)
    calls = [
        helper.make_node("Top", [f"v{i}", "w"], [f"v{i + 1}"], name=f"call{i}", domain=DOMAIN) for i in range(count)
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        calls,
        "calls",
        [value("v0", TensorProto.FLOAT, ["b", 16]), value("w", TensorProto.FLOAT, [16])],
        [value(f"v{count}", TensorProto.FLOAT, ["b", 16])],
    )
    return helper.make_model(graph, functions=functions, opset_imports=IMPORTS, ir_version=10)


def best(action: Callable[[], Any], repeats: int) -> float:
    """Return the least CPU time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        kept = action()
        times.append(time.process_time() - start)
        del kept
    return min(times)


def main() -> None:
    """Print a table."""
    sizes = [int(one) for one in sys.argv[1:] if one.isdigit()] or [1_000, 10_000, 100_000, 1_000_000]
    print("| nodes | sardonyx, us a node | onnx.inliner, us a node | ratio | onnx-ir, us a node |")
    print("|---:|---:|---:|---:|---:|")
    for size in sizes:
        proto = model_of(size)
        repeats = 7 if size <= 100_000 else 3
        model = sx.load(proto.SerializeToString())
        nodes = len(sx.inline_functions(model).graph.nodes)
        ours = best(lambda: sx.inline_functions(model), repeats)  # noqa: B023
        theirs = best(lambda: onnx.inliner.inline_local_functions(proto), repeats)  # noqa: B023
        third = "-"
        if "--onnx-ir" in sys.argv and size <= 10_000:
            import onnx_ir
            from onnx_ir.passes.common import InlinePass

            start = time.process_time()
            InlinePass()(onnx_ir.from_proto(proto))
            third = f"{(time.process_time() - start) / nodes * 1e6:.1f}"
        each = 1e6 / nodes
        print(f"| {nodes:,} | {ours * each:.2f} | {theirs * each:.2f} | {ours / theirs:.2f} | {third} |")


if __name__ == "__main__":
    main()
