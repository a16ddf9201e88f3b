"""Compare what is inferred of random shape arithmetic with onnxruntime, every value and every element of it.

A program takes sizes out of shapes, calculates with them as exporters do (integers, comparisons, detours through
floats, lists), and makes tensors of the results. It runs with sizes that include 0 and 1.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

import sardonyx as sx
from sardonyx.infer.engine import Engine
from sardonyx.limits import DEFAULT
from tests.ops.cases import Unknown, holds, number, number_element

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

SIZES = (
    {"a": 2, "b": 3, "c": 4, "d": 5},
    {"a": 1, "b": 1, "c": 1, "d": 1},
    {"a": 3, "b": 2, "c": 7, "d": 4},
    {"a": 2, "b": 0, "c": 3, "d": 1},
    {"a": 0, "b": 2, "c": 5, "d": 0},
)


class Program:
    """Nodes that read `x` [a,b,c], `y` [a,d] and the number `n`; grown at random."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.nodes = []
        self.constants = []
        shapes = [self.node("Shape", "x"), self.node("Shape", "y")]
        self.lists = list(shapes)
        self.bools = []
        self.numbers = [self.node("Gather", shapes[0], self.constant(axis)) for axis in range(3)]
        self.numbers += [self.node("Gather", shapes[1], self.constant(axis)) for axis in range(2)]
        if self.chance.random() < 0.5:
            self.numbers.append("n")
        steps = (self.arithmetic, self.arithmetic, self.choice, self.detour, self.join, self.part)
        for _ in range(self.chance.randint(4, 14)):
            self.chance.choice(steps)()
        for _ in range(self.chance.randint(1, 4)):
            self.use()

    def node(self, op_type, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(op_type, list(inputs), [name], **attributes))
        return name

    def constant(self, value, dtype=np.int64):
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def number(self):
        if self.chance.random() < 0.7:
            return self.chance.choice(self.numbers)
        return self.constant(self.chance.choice((-1, 0, 1, 2, 3, 4, 8)))

    def one(self, value):
        return self.node("Unsqueeze", value, self.constant([0]))

    def small(self):
        return self.one(self.node("Min", self.node("Max", self.number(), self.constant(0)), self.constant(40)))

    def arithmetic(self):
        op_type = self.chance.choice(("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Neg", "Abs"))
        if op_type in ("Neg", "Abs"):
            self.numbers.append(self.node(op_type, self.number()))
            return
        other = self.number()
        if op_type in ("Div", "Mod"):
            other = self.constant(self.chance.choice((1, 2, 3, 4, 8, -2)))
            if self.chance.random() < 0.3:
                other = self.node("Max", self.number(), self.constant(1))
        attributes = {"fmod": self.chance.randint(0, 1)} if op_type == "Mod" else {}
        self.numbers.append(self.node(op_type, self.number(), other, **attributes))

    def choice(self):
        op_type = self.chance.choice(("Less", "Equal", "Greater", "GreaterOrEqual", "LessOrEqual"))
        found = self.node(op_type, self.number(), self.number())
        if self.bools and self.chance.random() < 0.4:
            found = self.node(self.chance.choice(("And", "Or", "Xor")), found, self.chance.choice(self.bools))
        if self.chance.random() < 0.3:
            found = self.node("Not", found)
        self.bools.append(found)
        self.numbers.append(self.node("Where", found, self.number(), self.number()))
        self.numbers.append(self.node("Cast", found, to=7))

    def detour(self):
        code, dtype = self.chance.choice(((1, np.float32), (11, np.float64)))
        value = self.node("Cast", self.number(), to=code)
        for _ in range(self.chance.randint(0, 2)):
            factor = self.constant(self.chance.choice((0.5, 2.0, 4.0, 3.0, 0.7, 1.5, -1.0)), dtype)
            value = self.node(self.chance.choice(("Mul", "Div", "Add", "Sub")), value, factor)
        if self.chance.random() < 0.7:
            value = self.node(self.chance.choice(("Floor", "Ceil")), value)
        self.numbers.append(self.node("Cast", value, to=7))

    def join(self):
        parts = [self.one(self.number()) for _ in range(self.chance.randint(1, 4))]
        self.lists.append(self.node("Concat", *parts, axis=0))

    def part(self):
        values = self.chance.choice(self.lists)
        op_type = self.chance.choice(("Slice", "CumSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceSum"))
        if op_type == "Slice":
            start, end = self.chance.choice((0, 1, -1)), self.chance.choice((1, 2, 100, -1))
            self.lists.append(self.node("Slice", values, self.constant([start]), self.constant([end])))
        elif op_type == "CumSum":
            self.lists.append(self.node("CumSum", values, self.constant(0)))
        else:
            self.numbers.append(self.node(op_type, values, keepdims=0))

    def use(self):
        kind = self.chance.randint(0, 6)
        if kind == 0:
            self.node("ConstantOfShape", self.node("Concat", self.small(), self.small(), axis=0))
        elif kind == 1:
            limit = self.node("Min", self.number(), self.constant(60))
            self.node("Range", self.number(), limit, self.constant(self.chance.choice((1, 2, -1))))
        elif kind in (2, 3):
            axis, step = self.chance.choice((0, 1, 2)), self.chance.choice((1, 1, 2, -1, -2))
            bounds = (self.one(self.number()), self.one(self.number()))
            self.node("Slice", "x", *bounds, self.constant([axis]), self.constant([step]))
        elif kind == 4:
            first = self.constant([self.chance.choice((0, -1))])
            self.node("Reshape", "x", self.node("Concat", first, self.one(self.number()), axis=0))
        elif kind == 5:
            row = self.node("ReduceSum", "x", self.constant([0]))
            shape = self.node("Concat", self.small(), self.constant([1]), self.constant([1]), axis=0)
            self.node("Expand", row, shape)
        else:
            zero = self.constant([0])
            pads = self.node("Concat", zero, self.one(self.number()), zero, self.one(self.number()), axis=0)
            self.node("Pad", "y", pads)

    def model(self, outputs):
        helper, kinds = onnx.helper, onnx.TensorProto
        inputs = [
            helper.make_tensor_value_info("x", kinds.FLOAT, ["a", "b", "c"]),
            helper.make_tensor_value_info("y", kinds.FLOAT, ["a", "d"]),
            helper.make_tensor_value_info("n", kinds.INT64, []),
        ]
        infos = [onnx.ValueInfoProto(name=name) for name in outputs]
        graph = helper.make_graph(self.nodes, "program", inputs, infos, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def session(model):
    """Return an onnxruntime session that changes nothing about the model, or None when it will not take it."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:
        return None


@pytest.mark.parametrize("seed", range(60))
def test_shape_programs_are_inferred_as_they_run(seed):
    program = Program(seed)
    names = [node.output[0] for node in program.nodes]
    run = session(program.model(names))
    if run is None:
        pytest.skip("onnxruntime takes no such program")
    model = sx.load(program.model(names[-1:]).SerializeToString())
    engine = Engine(model, strict=False, open_defaults=False, limits=DEFAULT)
    activation = engine.run_main({value: model.graph.types[value] for value in model.graph.inputs})
    values = {node.outputs[0].name: node.outputs[0] for node in model.graph.nodes}
    for sizes in SIZES:
        feeds = {
            "x": np.zeros((sizes["a"], sizes["b"], sizes["c"]), np.float32),
            "y": np.zeros((sizes["a"], sizes["d"]), np.float32),
            "n": np.array(3, np.int64),
        }
        try:
            results = run.run(None, {one.name: feeds[one.name] for one in run.get_inputs()})
        except Exception:  # it does not run with these sizes
            continue
        assert [issue.message for issue in engine.issues if issue.severity == "error"] == []
        symbols = {model.scope.find(name): size for name, size in sizes.items()}
        if not holds(engine.assumptions, symbols):
            continue
        for name, result in zip(names, results, strict=True):
            kind, content = activation.types[values[name]], activation.contents.get(values[name])
            compare(name, kind.shape, result.shape, symbols, number)
            compare(name, content, result.ravel().tolist(), symbols, number_element)


def compare(name, inferred, real, symbols, evaluated):
    """Check dims or elements, those that depend on nothing but the sizes."""
    if inferred is None:
        return
    assert len(inferred) == len(real), name
    for one, found in zip(inferred, real, strict=True):
        try:
            value = evaluated(one, symbols)
        except Unknown:
            continue
        assert value == found, f"{name}: {one} is {value}, not {found}, with {sorted(symbols.values())}"


def test_the_comparison_sees_a_wrong_element():
    scope = sx.Scope()
    size = scope.symbol("a")
    with pytest.raises(AssertionError, match="v1"):
        compare("v1", (size + 1,), [2], {size: 2}, number)
