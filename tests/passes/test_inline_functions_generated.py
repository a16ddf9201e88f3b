"""Inlining of two thousand random models with functions gives the same numbers and models that everybody accepts."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import onnx
import onnx.checker
import pytest

from tests.passes.evaluate import Evaluator
from tests.passes.functions import Died, assert_same, graphs, inlined, run_apart
from tests.passes.generated_functions import Maker

SEEDS = 2000
CHUNK = 100


def accepted(model: onnx.ModelProto) -> bool:
    """Ask the checker of the onnx package."""
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError:
        return False
    return True


def depth(model: onnx.ModelProto) -> int:
    """Return how many calls deep the deepest inlined node was."""
    found = [one.value for graph in graphs(model.graph) for node in graph.node for one in node.metadata_props]
    return max(text.count(" > ") + 1 for text in found)


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_generated_models_give_the_same_results(first: int) -> None:
    ran_everywhere = 0
    for seed in range(first, first + CHUNK):
        maker = Maker(seed)
        model = maker.model()
        made = inlined(model, missing_attributes="omit")
        assert depth(made) >= 4, seed
        names = [one.name for one in model.graph.input]
        feeds = dict(zip(names, [np.array([1, -2, 3], np.float32), np.array([0.5, 4, -1], np.float32)], strict=False))
        feeds["flag"] = np.array(seed % 2 == 0)
        wanted = Evaluator(model).run(feeds)
        assert_same(Evaluator(made).run(feeds), wanted)
        if accepted(model):
            onnx.checker.check_model(made)
        if not maker.shadow:
            onnx.checker.check_model(made)  # also where the input lists a formal output twice, which it refuses
            if seed % 4 == 0:
                with suppress(Died):
                    assert_same(run_apart(made, feeds), wanted)
                    ran_everywhere += 1
    assert ran_everywhere >= CHUNK // 8


def test_the_evaluator_agrees_with_onnxruntime_on_models_that_it_can_run() -> None:
    agreed = 0
    for seed in range(120):
        maker = Maker(seed)
        model = maker.model()
        if any(one.overload for one in model.functions):  # which onnxruntime takes for each other
            continue
        names = [one.name for one in model.graph.input]
        feeds = dict(zip(names, [np.array([1, -2, 3], np.float32), np.array([0.5, 4, -1], np.float32)], strict=False))
        feeds["flag"] = np.array(seed % 2 == 0)
        try:
            wanted = run_apart(model, feeds)
        except Exception:  # functions that return an input, or leave one unread
            continue
        assert_same(Evaluator(model).run(feeds), wanted)
        agreed += 1
    assert agreed >= 3


def test_the_generator_makes_what_it_promises() -> None:
    """Shadowing names, outputs left out, passed through and listed twice, absent inputs, references, overloads."""
    seen = set()
    for seed in range(150):
        maker = Maker(seed)
        model = maker.model()
        seen |= {"shadow"} if maker.shadow else set()
        for function in model.functions:
            seen |= {"passed through"} if set(function.output) & set(function.input) else set()
            seen |= {"twice"} if len(set(function.output)) < len(function.output) else set()
            seen |= {"overload"} if function.overload else set()
            seen |= {"default"} if function.attribute_proto else set()
            for node in function.node:
                seen |= {"absent"} if node.domain and "" in node.input else set()
                seen |= {"left out"} if node.domain and "" in node.output else set()
                seen |= (
                    {"reference of a call"}
                    if node.domain and any(one.ref_attr_name for one in node.attribute)
                    else set()
                )
                seen |= {node.op_type} & {"If", "Loop", "Clip"}
    assert seen >= {
        "shadow",
        "passed through",
        "twice",
        "overload",
        "default",
        "absent",
        "left out",
        "If",
        "Loop",
        "Clip",
        "reference of a call",
    }
