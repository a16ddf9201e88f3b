"""The node tests of ONNX that are more than one node, run by onnxruntime: every value on the way is compared."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import onnx

import sardonyx as sx
from sardonyx.ir.types import TensorType
from tests.infer.node_tests import RUNS, Verdict, collect, judge
from tests.ops.runtime import real_type, runtime


def exposed(data: bytes) -> tuple[bytes, list[str]]:
    """Return a model with every tensor of its main graph as an output, and their names."""
    model = onnx.load_model_from_string(data)
    names = [name for node in model.graph.node for name in node.output if name]
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in dict.fromkeys(names))
    return model.SerializeToString(), list(dict.fromkeys(names))


@pytest.mark.slow
def test_every_value_on_the_way_is_what_was_inferred() -> None:
    wrong, counts = [], Counter()
    for case in collect():
        if not case.operator.endswith("(expanded)"):
            continue  # its outputs are all there is, and test_node_tests.py compares them
        if case.feeds is None:
            counts["not of plain tensors"] += 1
            continue
        model, names = exposed(case.models["given"])
        told = runtime().ask((model, names, case.feeds, {}))
        if isinstance(told, str):
            counts["refused by the runtime"] += 1
            continue
        counts["ran"] += 1
        real = dict(zip(names, told, strict=True))
        for run in RUNS:
            graph = sx.infer_shapes(sx.load(case.models[run])).model.graph
            for node in graph.nodes:
                for value in node.outputs:
                    kind = None if value is None else graph.types.get(value)
                    if not isinstance(kind, TensorType) or real[value.name][0] != "tensor":
                        continue
                    verdict = Verdict()
                    judge(kind, real_type(real[value.name]), case.sizes[run], value.name, verdict)
                    counts["values"] += 1
                    wrong += (f"{case.name} [{run}] {line}" for line in verdict.wrong)
    print(dict(counts))
    assert wrong == []
    assert counts["ran"] > 300
    assert counts["values"] > 20_000
