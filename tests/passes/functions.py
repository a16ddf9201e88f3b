"""Models with functions, written as text, and what must hold of each after inlining."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.parser
import onnx.reference
import pytest

import sardonyx as sx
from sardonyx.ir.graph import Model
from sardonyx.ir.verify import verify

HEAD = '<ir_version: 10, opset_import: ["": 20, "loc": 1]>'


def proto(graph: str, *functions: str, head: str = HEAD) -> onnx.ModelProto:
    """Parse a graph and functions; a function without a head gets the usual one."""
    texts = [
        one if one.lstrip().startswith("<") else f'<domain: "loc", opset_import: ["": 20, "loc": 1]>\n{one}'
        for one in functions
    ]
    return onnx.parser.parse_model("\n".join([head, graph, *texts]))


def load(model: onnx.ModelProto) -> Model:
    """Load a model without a file."""
    return sx.load(model.SerializeToString())


def inlined(model: onnx.ModelProto, **options: Any) -> onnx.ModelProto:
    """Inline, write, read with onnx, and check everything that must hold of any result."""
    before = load(model)
    dump = sx.dump(before)
    after = sx.inline_functions(before, **options)
    assert sx.dump(before) == dump
    assert [one for one in verify(after) if one.code not in ("name-shadowed", "captured-output")] == []
    made = onnx.load_from_string(sx.to_bytes(after))
    assert_sound(model, made)
    return made


def assert_sound(before: onnx.ModelProto, made: onnx.ModelProto) -> None:
    """Check that no call is left but those of kept functions, no reference, and no name twice or in anybody's way."""
    functions = {(one.domain, one.name, one.overload) for one in before.functions}
    kept = {(one.domain, one.name, one.overload) for one in made.functions}
    for graph in graphs(made.graph):
        for node in graph.node:
            key = (node.domain, node.op_type, node.overload)
            assert key not in functions or key in kept
            assert [one.name for one in node.attribute if one.ref_attr_name] == []
    assert_names(made.graph, set(), {name for graph in graphs(before.graph) for name in defined(graph)})
    named = [node.name for graph in graphs(made.graph) for node in graph.node if node.name.startswith("__fn")]
    assert len(named) == len(set(named))


def assert_names(graph: onnx.GraphProto, outer: set[str], old: set[str]) -> None:
    """Check that names are unique in each scope, and that what was made shadows nothing and returns no capture."""
    own = defined(graph)
    assert len(own) == len(set(own))
    fresh = set(own) - old
    assert not fresh & outer
    visible = outer | set(own)
    for node in graph.node:
        assert set(node.input) - {""} <= visible
        for body in bodies(node):
            assert_names(body, visible, old)
    if fresh:
        assert {one.name for one in graph.output} <= visible
    if outer and graph.name not in ("", None) and fresh == set(own):
        assert {one.name for one in graph.output} <= set(own)


def defined(graph: onnx.GraphProto) -> list[str]:
    """List what a graph defines."""
    inputs = [one.name for one in graph.input]
    constants = [one.name for one in graph.initializer if one.name not in inputs]
    sparse = [one.values.name for one in graph.sparse_initializer]
    return inputs + constants + sparse + [name for node in graph.node for name in node.output if name]


def bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """Yield the bodies of a node."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and every body in it."""
    yield graph
    for node in graph.node:
        for body in bodies(node):
            yield from graphs(body)


def ops(graph: onnx.GraphProto) -> list[str]:
    """List the operators of a graph itself, in order."""
    return [node.op_type for node in graph.node]


def run(model: onnx.ModelProto, feeds: dict[str, Any], engine: str = "ort") -> list[Any]:
    """Run a model."""
    if engine == "reference":
        found: list[Any] = onnx.reference.ReferenceEvaluator(model).run(None, feeds)
        return found
    ort = pytest.importorskip("onnxruntime")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(
        session.run(None, {name: one if isinstance(one, list) else np.asarray(one) for name, one in feeds.items()})
    )


class Died(Exception):
    """onnxruntime ended its process: older versions do on some valid models."""


def run_bytes(data: bytes, feeds: dict[str, Any]) -> list[Any]:
    """Run a model that came as bytes: what a child process is asked to do."""
    return run(onnx.load_from_string(data), feeds)


def run_apart(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    """Run a model under onnxruntime in a child process, which the next call replaces when it ends.

    Raises:
        Died: the child ended.
    """
    pytest.importorskip("onnxruntime")
    if not children:
        children.append(ProcessPoolExecutor(1, get_context("spawn")))
    try:
        return children[0].submit(run_bytes, model.SerializeToString(), feeds).result()
    except BrokenProcessPool:
        children.pop().shutdown(wait=False)
        raise Died from None


children: list[ProcessPoolExecutor] = []
"""The child process, once there is one."""


def assert_same(got: list[Any], wanted: list[Any]) -> None:
    """Compare results exactly."""
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        if isinstance(one, list):
            assert_same(one, other)
        else:
            np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
