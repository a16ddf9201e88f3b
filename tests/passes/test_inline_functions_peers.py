"""The inliners of the onnx and onnx-ir packages, compared: equal where they are right, and a test where they are not."""

# ruff: noqa: E501 - a model is easier to read on one line

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.inliner
import pytest

import sardonyx as sx
from tests.passes.evaluate import Evaluator
from tests.passes.functions import assert_same, inlined, load, ops, proto, run
from tests.passes.generated_functions import Maker

X = np.array([-1.5, 0.5, 2.0], np.float32)
FEEDS = {"x": X}
GRAPH = "g (float[3] x) => (float[3] y) { y = loc.F(x) }"


def by_onnx(model: onnx.ModelProto) -> onnx.ModelProto:
    """Inline with onnx."""
    return onnx.inliner.inline_local_functions(model)


def by_onnx_ir(model: onnx.ModelProto) -> onnx.ModelProto:
    """Inline with onnx-ir."""
    onnx_ir = pytest.importorskip("onnx_ir")
    from onnx_ir.passes.common import InlinePass

    result = InlinePass()(onnx_ir.from_proto(model))
    return onnx_ir.to_proto(result.model)


PLAIN = [
    (GRAPH, ["F (X) => (Y) { a = Relu(X)  Y = Neg(a) }"]),
    (
        "g (float[3] x) => (float[3] y) { a = loc.F(x)  y = loc.F(a) }",
        ["F (X) => (Y) { a = loc.G(X)  Y = Neg(a) }", "G (X) => (Y) { a = Abs(X)  Y = Exp(a) }"],
    ),
    (
        "g (float[3] x) => (float[3] y) { y = loc.F <v = 2.0> (x) }",
        ["F <v> (X) => (Y) { c = Constant <value_float: float = @v> ()  Y = Mul(X, c) }"],
    ),
]


@pytest.mark.parametrize("peer", [by_onnx, by_onnx_ir])
@pytest.mark.parametrize(("graph", "functions"), PLAIN)
def test_plain_calls_become_the_same_operators(graph: str, functions: list[str], peer: object) -> None:
    model = proto(graph, *functions)
    theirs, ours = peer(model), inlined(model)
    assert ops(ours.graph) == ops(theirs.graph)
    assert_same(run(ours, FEEDS), run(theirs, FEEDS))


def test_where_onnx_gives_a_right_model_for_a_generated_one_ours_has_the_same_results() -> None:
    agreed = wrong = 0
    for seed in range(60):
        model = Maker(seed).model()
        names = [one.name for one in model.graph.input]
        feeds = dict(zip(names, [X, X[::-1].copy()], strict=False)) | {"flag": np.array(True)}
        wanted = Evaluator(model).run(feeds)
        assert_same(Evaluator(inlined(model)).run(feeds), wanted)
        try:
            assert_same(Evaluator(by_onnx(model)).run(feeds), wanted)
            agreed += 1
        except Exception:  # see below for what goes wrong
            wrong += 1
    assert agreed >= 1
    assert wrong >= 1


# --- where onnx is wrong


def test_onnx_leaves_out_defaults() -> None:
    model = proto(GRAPH, "F <v: float = 3.0> (X) => (Y) { c = Constant <value_float: float = @v> ()  Y = Mul(X, c) }")
    assert [len(node.attribute) for node in by_onnx(model).graph.node if node.op_type == "Constant"] == [0]
    assert_same(run(inlined(model), FEEDS), [X * 3])


def test_onnx_leaves_a_returned_input_without_a_definition() -> None:
    model = proto("g (float[3] x) => (float[3] y, float[3] z) { y, z = loc.F(x) }", "F (X) => (Y, X) { Y = Neg(X) }")
    assert "z" not in {name for node in by_onnx(model).graph.node for name in node.output}
    assert_same(run(inlined(model), FEEDS), [-X, X])


def test_onnx_leaves_calls_in_place_when_a_function_has_another_opset() -> None:
    model = proto(GRAPH, '<domain: "loc", opset_import: ["": 14]>\nF (X) => (Y) { Y = Neg(X) }')
    assert ops(by_onnx(model).graph) == ["F"]
    assert ops(inlined(model).graph) == ["Neg"]


# --- where onnx-ir is wrong


def test_onnx_ir_makes_a_returned_input_an_output_of_the_graph_itself() -> None:
    model = proto(GRAPH, "F (X) => (X) { }")
    theirs = by_onnx_ir(model)
    assert [one.name for one in theirs.graph.output] != ["y"] or ops(theirs.graph) != ["Identity"]
    assert_same(run(inlined(model), FEEDS), [X])


def test_onnx_ir_refuses_an_older_opset_that_changes_nothing() -> None:
    model = proto(GRAPH, '<domain: "loc", opset_import: ["": 14]>\nF (X) => (Y) { Y = Neg(X) }')
    with pytest.raises(Exception, match="pset"):
        by_onnx_ir(model)
    assert_same(run(inlined(model), FEEDS), [-X])


def test_onnx_ir_refuses_a_call_that_leaves_out_the_last_output() -> None:
    model = proto(GRAPH, "F (X) => (Y, Z) { Y = Neg(X)  Z = Abs(X) }")
    with pytest.raises(Exception, match=r".*"):
        by_onnx_ir(model)
    assert_same(run(inlined(model), FEEDS), [-X])


# --- the same bytes every time

SCRIPT = """
import hashlib, sys
sys.path[:0] = sys.argv[2:]
import sardonyx as sx
from sardonyx.passes.inline_functions import InlineReport
report = InlineReport()
model = sx.inline_functions(sx.load(sys.argv[1]), report=report)
print(hashlib.sha256(sx.to_bytes(model)).hexdigest(), hashlib.sha256(str(report).encode()).hexdigest())
"""


def test_twenty_runs_under_different_hash_seeds_give_the_same_bytes(tmp_path: Path) -> None:
    model = Maker(7).model()
    for function in model.functions:
        function.value_info.extend(onnx.helper.make_tensor_value_info(name, 1, ["n"]) for name in function.output)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    source = str(Path(sx.__file__).resolve().parent.parent)
    shown = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(path), source],
            env={"PYTHONHASHSEED": str(seed), "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(20)
    }
    assert len(shown) == 1
    assert len(load(model).functions) > 3
