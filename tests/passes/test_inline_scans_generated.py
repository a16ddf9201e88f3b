"""Generated Scans, run as they are and inlined: the bits must agree, and what is no single trip must stay."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import sardonyx as sx
from tests.passes.scan_models import assert_same, check_sound, erased, feeds_of, load, ops, outcome, reference

pytest.importorskip("onnxruntime")

SEEDS = 1000
PER_MODEL = 25
"""Scans in one model: a session costs more than what it runs."""

BINARY = ("Add", "Sub", "Mul", "Max", "Min")
UNARY = ("Neg", "Abs", "Tanh", "Identity")


class Maker:
    """Writes one random Scan; several share a graph, and the names in all bodies are the same few."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.prefix = f"n{seed}_"
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.nodes: list[onnx.NodeProto] = []
        rank = self.random.randint(0, 3)
        self.shape = [self.random.choice((1, 2, 3)) for _ in range(rank)]

    def info(self, name: str, shape: list[Any]) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    def scan(self, trips: int | str = 1) -> None:
        """Add a Scan whose values all have one shape, so that any of them can go anywhere."""
        pick, rank = self.random, len(self.shape)
        states, scans, stacks = pick.randint(1, 3), pick.randint(1, 3), pick.randint(0, 3)
        captures = [f"{self.prefix}w{i}" for i in range(pick.randint(0, 2))]
        for name in captures:
            self.inputs.append(self.info(name, self.shape))
        actual = []
        for i in range(states):
            actual.append(f"{self.prefix}s{i}")
            self.inputs.append(self.info(actual[-1], self.shape))
        in_axes = [pick.randint(-rank - 1, rank) for _ in range(scans)]
        for i, axis in enumerate(in_axes):
            actual.append(f"{self.prefix}x{i}")
            at = axis % (rank + 1)
            self.inputs.append(self.info(actual[-1], [*self.shape[:at], trips, *self.shape[at:]]))
        out_axes = [pick.randint(-rank - 1, rank) for _ in range(stacks)]
        results = [f"{self.prefix}t{i}" for i in range(states)] + [f"{self.prefix}y{i}" for i in range(stacks)]
        for name in results[:states]:
            self.outputs.append(self.info(name, self.shape))
        for name, axis in zip(results[states:], out_axes, strict=True):
            at = axis % (rank + 1)
            self.outputs.append(self.info(name, [*self.shape[:at], trips, *self.shape[at:]]))
        attributes: dict[str, Any] = {"num_scan_inputs": scans, "body": self.body(states, scans, stacks, captures)}
        if any(in_axes) or pick.random() < 0.3:
            attributes["scan_input_axes"] = in_axes
        if stacks and (any(out_axes) or pick.random() < 0.3):
            attributes["scan_output_axes"] = out_axes
        if pick.random() < 0.3:
            attributes["scan_input_directions"] = [pick.randint(0, 1) for _ in range(scans)]
        if stacks and pick.random() < 0.3:
            attributes["scan_output_directions"] = [pick.randint(0, 1) for _ in range(stacks)]
        name = pick.choice(("", f"{self.prefix}scan"))
        self.nodes.append(helper.make_node("Scan", actual, results, name=name, **attributes))

    def body(self, states: int, scans: int, stacks: int, captures: list[str]) -> onnx.GraphProto:
        """Write a body: names that every body has, local constants, outputs of any kind."""
        pick = self.random
        formals = [f"s{i}" for i in range(states)] + [f"x{i}" for i in range(scans)]
        constants = []
        for i in range(pick.randint(0, 2)):
            values = np.random.default_rng(pick.randrange(2**32)).normal(size=self.shape).astype(np.float32)
            constants.append(
                onnx.numpy_helper.from_array(np.asarray(values, np.float32), pick.choice(("k", "bias")) + str(i))
            )
        known = [*formals, *captures, *(one.name for one in constants)]
        nodes = []
        for i in range(pick.randint(0, 6)):
            op = pick.choice(BINARY + UNARY)
            read = [pick.choice(known) for _ in range(2 if op in BINARY else 1)]
            nodes.append(helper.make_node(op, read, [f"t{i}"], name=pick.choice(("", f"node{i}"))))
            known.append(f"t{i}")
        inside = [name for name in known if name not in captures]  # a body cannot output a captured value in a runtime
        outputs = [pick.choice(inside[-5:] if pick.random() < 0.7 else inside) for _ in range(states + stacks)]
        return helper.make_graph(
            nodes,
            "body",
            [self.info(name, self.shape) for name in formals],
            [self.info(name, self.shape) for name in outputs],
            constants,
        )


def generated(seeds: range, trips: int | str = 1) -> tuple[onnx.ModelProto, list[Maker]]:
    """Put one Scan for each seed into one model; the opset goes with the first seed."""
    opset = (9, 11, 12, 13, 16, 18, 21)[seeds.start // PER_MODEL % 7]
    makers = [Maker(seed) for seed in seeds]
    for one in makers:
        one.scan(trips)
    graph = helper.make_graph(
        [node for one in makers for node in one.nodes],
        "generated",
        [info for one in makers for info in one.inputs],
        [info for one in makers for info in one.outputs],
    )
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10 if opset > 18 else 8), makers


@pytest.mark.parametrize("start", range(0, SEEDS, PER_MODEL))
def test_a_generated_scan_and_its_inlined_body_give_the_same_bits(start: int) -> None:
    proto, makers = generated(range(start, start + PER_MODEL))
    onnx.checker.check_model(proto)
    model = load(proto)
    done = sx.inline_single_trip_scan_bodies(model)
    assert len(done.inlined) == len(makers)
    check_sound(done.model)
    assert "Scan" not in ops(done.model.graph)
    feeds = feeds_of(model, start)
    assert_same(reference(model, feeds), outcome(done.model, feeds))


@pytest.mark.parametrize("trips", [0, 2, 5, "n"])
def test_generated_scans_of_other_trips_stay_the_same_object(trips: int | str) -> None:
    for start in range(0, 200, PER_MODEL):
        proto, makers = generated(range(start, start + PER_MODEL), trips)
        model = load(proto)
        done = sx.inline_single_trip_scan_bodies(model)
        assert done.model is model
        assert len(done.skipped) == len(makers)


def test_types_of_generated_scans_come_back_when_erased() -> None:
    for start in range(0, 200, PER_MODEL):
        model = load(generated(range(start, start + PER_MODEL))[0])
        result = sx.inline_single_trip_scan_bodies(model).model
        graph = sx.infer_shapes(erased(result)).model.graph
        assert all(graph.type(value) is not None for value in graph.values)
        for value in graph.outputs:
            assert str(graph.type(value)) == str(model.graph.type(value))


def test_generated_scans_of_a_symbolic_extent_compute_the_same_when_it_is_1_and_get_their_types_back() -> None:
    for start in range(0, 200, PER_MODEL):
        model = load(generated(range(start, start + PER_MODEL), "n")[0])
        done = sx.inline_single_trip_scan_bodies(model, assume_single_trip=True)
        assert len(done.inlined) == PER_MODEL
        assert {str(extent.dim) for one in done.inlined for extent in one.to_check} == {"n"}
        check_sound(done.model)
        feeds = feeds_of(model, start, {"n": 1})
        assert_same(reference(model, feeds), outcome(done.model, feeds))
        graph = sx.infer_shapes(erased(done.model), bind={"n": 1}).model.graph
        fixed = load(generated(range(start, start + PER_MODEL), 1)[0]).graph
        assert [str(graph.type(value)) for value in graph.outputs] == [str(fixed.type(one)) for one in fixed.outputs]
        assert all(isinstance(dim, int) for kind in graph.types.values() for dim in getattr(kind, "shape", ()) or ())
