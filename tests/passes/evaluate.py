"""Run a small ONNX model by what the specification says of functions, for comparison: slow, plain, and independent.

onnxruntime refuses functions that return an input or leave one unread, and onnx.reference ignores overloads; so models
that are generated to be nasty need an evaluator of their own. It knows the operators that generated models use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPERATORS: dict[str, Any] = {
    "Neg": np.negative,
    "Abs": np.abs,
    "Identity": lambda x: x,
    "Add": np.add,
    "Sub": np.subtract,
    "Max": np.maximum,
    "Greater": np.greater,
    "ReduceSum": lambda x: x.sum(dtype=x.dtype),
    "Clip": lambda x, low=None: x if low is None else np.maximum(x, low),
}


class Scope:
    """Names in one graph, and in those around it."""

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.values: dict[str, Any] = {}

    def find(self, name: str) -> Any:
        """Return the value of a name, None for an omitted one."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        if name:
            raise KeyError(name)
        return None


class Evaluator:
    """Runs one model."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.graph = model.graph
        self.functions = {(one.domain, one.name, one.overload): one for one in model.functions}

    def run(self, feeds: Mapping[str, Any]) -> list[Any]:
        """Return the outputs of the model."""
        scope = Scope()
        scope.values.update(feeds)
        return self.body(self.graph, scope, {})

    def body(self, graph: onnx.GraphProto, scope: Scope, attributes: Mapping[str, Any]) -> list[Any]:
        """Run a graph in a scope that holds its inputs."""
        scope.values.update({one.name: numpy_helper.to_array(one) for one in graph.initializer})
        self.nodes(graph.node, scope, attributes)
        return [scope.find(one.name) for one in graph.output]

    def nodes(self, nodes: Iterable[onnx.NodeProto], scope: Scope, attributes: Mapping[str, Any]) -> None:
        """Run nodes in order."""
        for node in nodes:
            inputs = [scope.find(name) for name in node.input]
            given = {}
            for one in node.attribute:
                if not one.ref_attr_name:
                    given[one.name] = one.g if one.HasField("g") else helper.get_attribute_value(one)
                elif one.ref_attr_name in attributes:
                    given[one.name] = attributes[one.ref_attr_name]
            results = self.node(node, inputs, given, scope, attributes)
            for name, result in zip(node.output, results, strict=False):
                if name:
                    scope.values[name] = result

    def node(
        self, node: onnx.NodeProto, inputs: list[Any], given: dict[str, Any], scope: Scope, around: Mapping[str, Any]
    ) -> list[Any]:
        """Run one node; `around` are the attributes of the function that its bodies are written in."""
        function = self.functions.get((node.domain, node.op_type, node.overload))
        if function is not None:
            inner = Scope()
            inner.values.update(dict.fromkeys(function.input))
            inner.values.update(zip(function.input, inputs, strict=False))
            defaults = {one.name: helper.get_attribute_value(one) for one in function.attribute_proto}
            self.nodes(function.node, inner, {**defaults, **given})
            return [inner.find(name) for name in function.output]
        if node.op_type == "Constant":
            if "value_float" in given:
                return [np.float32(given["value_float"])]
            return [numpy_helper.to_array(given["value"])]
        if node.op_type == "If":
            body = given["then_branch" if inputs[0] else "else_branch"]
            return self.body(body, Scope(scope), around)
        if node.op_type == "Loop":
            state = inputs[2]
            for trip in range(int(inputs[0])):
                inner = Scope(scope)
                names = [one.name for one in given["body"].input]
                inner.values.update(zip(names, (np.int64(trip), np.bool_(True), state), strict=True))
                _, state = self.body(given["body"], inner, around)
            return [state]
        return [OPERATORS[node.op_type](*inputs)]
