"""Models with Scans, in ONNX text, and what the tests ask of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.helper
import onnx.parser

import sardonyx as sx
from sardonyx.ir.graph import Graph
from sardonyx.ir.verify import verify
from sardonyx.ir.walk import bodies_within
from sardonyx.records import replace


def proto(graph: str, opset: int = 18, ir: int = 9) -> onnx.ModelProto:
    """Read a model from the text of its graph."""
    return onnx.parser.parse_model(f'<ir_version: {ir}, opset_import: ["": {opset}]> {graph}')


def load(graph: str | onnx.ModelProto, opset: int = 18, ir: int = 9) -> sx.Model:
    """Load a model from the text of its graph."""
    return sx.load((proto(graph, opset, ir) if isinstance(graph, str) else graph).SerializeToString())


def recurrent(extent: int | str = 1) -> str:
    """The fixture of the source document: `t1 = x @ w + state; present = t1 + bias; y = t1 + x`."""
    return f"""g (float[2, 4] state, float[{extent}, 2, 4] xs, float[4, 4] w)
      => (float[2, 4] present_state, float[{extent}, 2, 4] ys) {{
      present_state, ys = Scan (state, xs) <num_scan_inputs = 1,
        body = b (float[2, 4] s, float[2, 4] x) => (float[2, 4] present, float[2, 4] y)
          <float[4] bias = {{0.5, 1, 2, 4}}> {{
            t0 = MatMul (x, w)
            t1 = Add (t0, s)
            present = Add (t1, bias)
            y = Add (t1, x)
          }}>
    }}"""


def inline(model: sx.Model, **options: bool) -> sx.Model:
    """Inline the Scans of a model, all of which must be eligible, and check what holds of every result."""
    done = sx.inline_single_trip_scan_bodies(model, **options)
    assert done.skipped == ()
    check_sound(done.model)
    return done.model


def check_sound(model: sx.Model) -> None:
    """Check structure, the uniqueness of all names, and what the official checker says of the saved model."""
    assert verify(model) == []
    names: list[str] = []
    for graph in (model.graph, *bodies_within(model.graph.nodes)):
        names += [value.name for value in graph.values]
    assert len(set(names)) == len(names)
    assert "" not in names
    again = onnx.load_from_string(sx.to_bytes(model))
    onnx.checker.check_model(again, full_check=True)
    assert said(sx.load(again.SerializeToString())) == said(model)


def said(model: sx.Model) -> list[str]:
    """The dump without claims: what is inferred takes their place when a model is saved."""
    return [line for line in sx.dump(model).splitlines() if not line.lstrip().startswith("claim ")]


def reason(model: sx.Model, **options: bool) -> str:
    """Return why the only Scan of a model was left alone; the model must come back as it was."""
    done = sx.inline_single_trip_scan_bodies(model, **options)
    assert done.model is model
    assert done.inlined == ()
    (one,) = done.skipped
    assert one.explanation
    return one.reason


def ops(graph: Graph) -> list[str]:
    """The operators of a graph in order."""
    return [node.op for node in graph.nodes]


def named(graph: Graph, name: str) -> sx.Value:
    """The value of a name."""
    (found,) = [value for value in graph.values if value.name == name]
    return found


def erased(model: sx.Model) -> sx.Model:
    """A model that says nothing of any value but its inputs and constants."""
    graph = model.graph
    known = {value: kind for value, kind in graph.types.items() if value in graph.inputs or value in graph.initializers}
    declared = tuple(one for one in graph.declared if one.role == "input")
    bare: sx.Model = replace(model, graph=replace(graph, types=known, declared=declared))
    return bare


def outcome(model: onnx.ModelProto | sx.Model, feeds: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    """Run a model under onnxruntime, nothing optimised, so that both forms compute with the same kernels."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    data = sx.to_bytes(model) if isinstance(model, sx.Model) else model.SerializeToString()
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    found: list[np.ndarray[Any, Any]] = session.run(None, feeds)
    return found


def reference(model: sx.Model, feeds: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    """Run a model with Scans under onnxruntime, each output of a Scan's body behind an Identity of its own.

    onnxruntime 1.32 leaves a final state unwritten when the body's output for it is listed twice, or is an initializer.
    """
    made = onnx.load_from_string(sx.to_bytes(model))
    waiting = [made.graph]
    while waiting:
        graph = waiting.pop()
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    waiting.append(attribute.g)
                    if node.op_type == "Scan":
                        for index, output in enumerate(attribute.g.output):
                            name = f"{attribute.g.name}_{output.name}_out_{index}"
                            attribute.g.node.append(onnx.helper.make_node("Identity", [output.name], [name]))
                            output.name = name
    return outcome(made, feeds)


def assert_same(left: list[np.ndarray[Any, Any]], right: list[np.ndarray[Any, Any]]) -> None:
    """Check that two runs gave the same bits."""
    for one, other in zip(left, right, strict=True):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


def feeds_of(model: sx.Model, seed: int = 0, sizes: dict[str, int] | None = None) -> dict[str, Any]:
    """Random inputs for the float inputs of a model."""
    random = np.random.default_rng(seed)
    found = {}
    for value in model.graph.inputs:
        kind = model.graph.type(value)
        assert isinstance(kind, sx.TensorType)
        assert kind.shape is not None
        shape = [dim if isinstance(dim, int) else (sizes or {})[str(dim)] for dim in kind.shape]
        found[value.name] = random.normal(size=shape).astype(np.float32)
    return found
