"""Single-trip Scans become one iteration of their body: structure, types, and what may not go wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import sardonyx as sx
from sardonyx.ir.names import Names
from sardonyx.ir.walk import bodies_within
from sardonyx.passes.inline_scans import ScanInlining, inline_scans
from sardonyx.passes.scans import splice
from sardonyx.records import replace
from tests.conftest import ROOT
from tests.passes.scan_models import (
    assert_same,
    check_sound,
    erased,
    feeds_of,
    inline,
    load,
    named,
    ops,
    outcome,
    proto,
    reason,
    recurrent,
    reference,
)

# What the source document asks for: five checks of the structure, one of the types.


def check_straight_line() -> None:
    model = load(recurrent())
    graph = inline(model).graph
    assert ops(graph) == ["Squeeze", "MatMul", "Add", "Add", "Add", "Unsqueeze"]
    assert graph.outputs == model.graph.outputs
    assert graph.inputs == model.graph.inputs
    present, ys = graph.outputs
    assert graph.producer(present).op == "Add"  # type: ignore[union-attr]
    assert graph.producer(ys).op == "Unsqueeze"  # type: ignore[union-attr]
    (product,) = [node for node in graph.nodes if node.op == "MatMul"]
    assert product.inputs[1] is named(model.graph, "w")
    bias = named(graph, "bias_1")
    assert graph.initializers[bias].numpy().tolist() == [0.5, 1, 2, 4]
    assert graph.producer(present).inputs[1] is bias  # type: ignore[union-attr]
    assert str(graph.type(present)) == "tensor(float)[2, 4]"
    assert str(graph.type(ys)) == "tensor(float)[1, 2, 4]"
    assert str(graph.type(graph.nodes[0].outputs[0])) == "tensor(float)[2, 4]"  # type: ignore[arg-type]


def check_fresh() -> None:
    model = load(recurrent())
    (body,) = bodies_within(model.graph.nodes)
    graph = inline(model).graph
    old = set(body.values)
    assert old.isdisjoint(graph.values)
    known = {value.name for value in (*model.graph.values, *body.values)}
    made = set(graph.values) - set(model.graph.values)
    assert len(made) == 6  # x, axis, bias, t0, t1, y
    assert known.isdisjoint(value.name for value in made)


def check_types(extent: int | str = 1) -> None:
    model = load(recurrent(extent))
    result = erased(inline(model, assume_single_trip=extent != 1))
    bind = None if extent == 1 else {extent: 1}
    inference = sx.infer_shapes(result, bind=bind)  # type: ignore[arg-type]
    assert inference.issues == ()
    graph = inference.model.graph
    shown = {re.sub(r"_\d+$", "", value.name): str(graph.type(value)) for value in graph.values}
    assert shown == {
        "state": "tensor(float)[2, 4]",
        "xs": "tensor(float)[1, 2, 4]",
        "w": "tensor(float)[4, 4]",
        "axis": "tensor(int64)[1]",
        "bias": "tensor(float)[4]",
        "x": "tensor(float)[2, 4]",
        "t0": "tensor(float)[2, 4]",
        "t1": "tensor(float)[2, 4]",
        "present_state": "tensor(float)[2, 4]",
        "y": "tensor(float)[2, 4]",
        "ys": "tensor(float)[1, 2, 4]",
    }


def test_a_single_trip_scan_becomes_straight_line_code() -> None:
    check_straight_line()


def test_a_scan_of_three_trips_stays_the_same_object() -> None:
    assert reason(load(recurrent(3))) == "many-trips"


def test_a_scan_without_state_stays_the_same_object() -> None:
    assert reason(load(STATELESS)) == "no-state"


def test_a_model_without_scans_stays_the_same_object() -> None:
    model = load("g (float[2] x) => (float[2] y) { y = Neg (x) }")
    done = sx.inline_single_trip_scan_bodies(model)
    assert done.model is model
    assert done.inlined == done.skipped == ()


def test_every_value_of_the_body_is_fresh() -> None:
    check_fresh()


def test_types_come_back_when_all_inner_ones_are_erased() -> None:
    check_types()


def test_types_come_back_for_a_symbolic_extent_that_is_vouched_for() -> None:
    check_types("seq")


def test_interior_types_of_a_symbolic_extent_come_back_without_its_number() -> None:
    graph = sx.infer_shapes(erased(inline(load(recurrent("seq")), assume_single_trip=True))).model.graph
    assert str(graph.type(graph.outputs[0])) == "tensor(float)[2, 4]"
    assert str(graph.type(graph.outputs[1])) == "tensor(float)[1, 2, 4]"


STATELESS = """g (float[1, 2] xs) => (float[1, 2] ys) {
  ys = Scan (xs) <num_scan_inputs = 1, body = b (float[2] x) => (float[2] y) { y = Neg (x) }>
}"""


# The reviewer's mutations: each makes a check above fail.


def identity_for_unsqueeze(self: splice.Splicer, op_type: str, *arguments: object) -> None:
    value, axis, target, scan = arguments
    if op_type == "Unsqueeze":
        self.write("Identity", (value,), target, scan)  # type: ignore[arg-type]
    else:
        SHIFT(self, op_type, value, axis, target, scan)  # type: ignore[arg-type]


def body_value_reused(self: splice.Splicer, node: sx.Node, moved: dict[sx.Value, sx.Value]) -> None:
    moved.update({value: value for value in node.outputs if value is not None and value not in moved})
    COPY(self, node, moved)


def state_bound_to_scan_input(self: splice.Splicer, plan: object) -> None:
    inputs = plan.node.inputs  # type: ignore[attr-defined]
    twisted = replace(plan, node=plan.node.replace(inputs=(inputs[-1], *inputs[1:])))  # type: ignore[attr-defined]
    SPLICE(self, twisted)


SHIFT, COPY, SPLICE = splice.Splicer.shift, splice.Splicer.copy, splice.Splicer.splice


@pytest.mark.parametrize(
    ("method", "mutation", "check"),
    [
        ("shift", identity_for_unsqueeze, check_straight_line),
        ("shift", identity_for_unsqueeze, check_types),
        ("copy", body_value_reused, check_fresh),
        ("splice", state_bound_to_scan_input, check_types),
    ],
)
def test_a_mutation_is_noticed(
    method: str, mutation: object, check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    check()
    monkeypatch.setattr(splice.Splicer, method, mutation)
    with pytest.raises((AssertionError, onnx.checker.ValidationError, onnx.shape_inference.InferenceError)):
        check()


# Hazards that were found in the original (rust-reference 5.6).


@pytest.mark.parametrize("assume", [False, True])
def test_an_extent_of_zero_is_no_single_trip(assume: bool) -> None:
    assert reason(load(recurrent(0)), assume_single_trip=assume) == "no-trips"


def test_a_negative_output_axis_without_any_rank_is_not_guessed() -> None:
    model = load(
        """g (float[2] s, float[1, 2] xs) => (float[2] t, float ys) {
          t, zs = Scan (s, xs) <num_scan_inputs = 1, scan_output_axes = [-1],
            body = b (float[2] s0, float[2] x) => (float[2] t0, y) {
              t0 = Add (s0, x)
              y = Neg (x)
            }>
          ys = ReduceSum <keepdims = 0> (zs)
        }"""
    )
    assert reason(model) == "axis-needs-rank"
    graph = sx.inline_single_trip_scan_bodies(sx.infer_shapes(model).model).model.graph
    (unsqueeze,) = [node for node in graph.nodes if node.op == "Unsqueeze"]
    axis = unsqueeze.inputs[1]
    assert axis is not None
    assert graph.initializers[axis].numpy().tolist() == [1]  # -1 of rank 2, which inference knows


def test_a_dim_name_of_the_body_does_not_become_one_of_the_model() -> None:
    text = """g (float[n, 4] s, float[1, n, 4] xs) => (float[n, 4] t, float[1, n, 4] ys) {
      t, ys = Scan (s, xs) <num_scan_inputs = 1,
        body = b (float[n, m] s0, float[n, m] x) => (float[n, m] t0, float[n, m] y)
          <float[n, m] inner> {
            inner = Add (s0, x)
            t0 = Neg (inner)
            y = Identity (inner)
          }>
    }"""
    graph = inline(load(text)).graph
    names = {str(dim) for kind in graph.types.values() for dim in kind.shape or ()}  # type: ignore[union-attr]
    assert "m" not in names
    typed = sx.infer_shapes(inline(load(text))).model.graph
    assert {str(typed.type(value)) for value in typed.values if "inner" in value.name} == {"tensor(float)[n, 4]"}


def test_an_unknown_interior_value_stays_unknown() -> None:
    model = load(
        """g (float[2] s, float[1, 2] xs) => (float[2] t) {
          t = Scan (s, xs) <num_scan_inputs = 1, body = b (s0, x) => (t0) {
            inner = Neg (s0)
            t0 = Add (inner, x)
          }>
        }"""
    )
    result = inline(model)
    assert result.graph.type(named(result.graph, "inner_1")) is None
    assert [one.name for one in onnx.load_from_string(sx.to_bytes(result)).graph.value_info] == ["x_1"]


TWINS = """g (float[2] s, float[1, 2] xs) => (float[2] u, float[1, 2] ys, float[1, 2] zs) {
  t, ys = Scan (s, xs) <num_scan_inputs = 1,
    body = b (float[2] s0, float[2] x) => (float[2] t0, float[2] y) <float[2] k = {1, 2}> {
      y = Mul (x, k)
      t0 = Add (s0, y)
    }>
  u, zs = Scan (t, xs) <num_scan_inputs = 1,
    body = b (float[2] s0, float[2] x) => (float[2] t0, float[2] y) <float[2] k = {10, 20}> {
      y = Mul (x, k)
      t0 = Sub (s0, y)
    }>
}"""


def test_two_scans_with_locals_of_the_same_names_do_not_see_each_others() -> None:
    model = load(TWINS)
    result = inline(model)
    held = [
        tensor.numpy().tolist() for value, tensor in result.graph.initializers.items() if value.name.startswith("k")
    ]
    assert held == [[1, 2], [10, 20]]
    feeds = feeds_of(model)
    assert_same(outcome(model, feeds), outcome(result, feeds))


def test_a_promoted_initializer_does_not_answer_to_a_later_capture() -> None:
    faulty = TWINS.replace(" <float[2] k = {10, 20}>", "")
    with pytest.raises(sx.OnnxError) as caught:
        load(faulty)
    assert caught.value.code == "value-undefined"


def test_the_result_is_the_same_for_every_hash_seed() -> None:
    code = (
        "import hashlib, sardonyx as sx\n"
        "from tests.passes.scan_models import load\n"
        "from tests.passes.test_inline_scans import NESTED, TWINS\n"
        "for text in (TWINS, NESTED):\n"
        "    done = sx.inline_single_trip_scan_bodies(load(text))\n"
        "    print(hashlib.sha256(sx.to_bytes(done.model)).hexdigest(), done.to_json())"
    )
    shown = set()
    for seed in ("0", "1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        shown.add(
            subprocess.run(
                [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True
            ).stdout
        )
    assert len(shown) == 1
    assert shown != {b""}


def test_the_result_is_written_in_topological_order_with_names_and_no_node_versions() -> None:
    data = sx.to_bytes(inline(load(TWINS)))
    model = onnx.load_from_string(data)
    defined = {one.name for one in (*model.graph.input, *model.graph.initializer)}
    for node in model.graph.node:
        assert set(node.input) <= defined
        defined.update(node.output)
        assert "" not in node.output
    assert not sx.load(data).graph.nodes_were_reordered


@pytest.mark.parametrize(
    ("body", "code"),
    [("t0 = Add (s0, nowhere)", "value-undefined"), ("a = Add (s0, c) c = Neg (a) t0 = Add (a, x)", "cycle")],
)
def test_a_body_that_is_no_graph_is_an_error_of_loading(body: str, code: str) -> None:
    with pytest.raises(sx.OnnxError) as caught:
        load(
            f"""g (float[2] s, float[1, 2] xs) => (float[2] t) {{
              t = Scan (s, xs) <num_scan_inputs = 1, body = b (float[2] s0, float[2] x) => (float[2] t0) {{ {body} }}>
            }}"""
        )
    assert caught.value.code == code


# Forms of Squeeze, Unsqueeze and constants.


@pytest.mark.parametrize("opset", [9, 10, 11, 12, 13, 18, 21])
def test_squeeze_and_unsqueeze_have_the_form_of_the_opset(opset: int) -> None:
    model = load(recurrent(), opset)
    result = inline(model)
    for node in result.graph.nodes:
        if node.op in ("Squeeze", "Unsqueeze"):
            assert (len(node.inputs), set(node.attrs)) == ((1, {"axes"}) if opset < 13 else (2, set()))
    feeds = feeds_of(model)
    assert_same(outcome(model, feeds), outcome(result, feeds))


def test_below_ir_version_4_constants_are_nodes() -> None:
    made = proto(recurrent(), opset=13, ir=3)
    body = body_of(made)
    assert [one.name for one in body.initializer] == ["bias"]  # though the format wants inputs for it up to there
    model = load(made)
    result = inline(model)
    assert not result.graph.initializers
    assert ops(result.graph).count("Constant") == 2  # the axis, and what the body held
    before = proto(recurrent(), opset=13, ir=4)  # which runtimes take as it is
    feeds = feeds_of(model)
    assert_same(outcome(before, feeds), outcome(result, feeds))


def test_below_ir_version_4_a_sparse_constant_is_a_node_too() -> None:
    made = proto(recurrent(), opset=13, ir=3)
    sparse_bias(body_of(made))
    result = sx.inline_single_trip_scan_bodies(load(made)).model
    assert not result.graph.sparse_initializers
    constants = [name for node in result.graph.nodes if node.op == "Constant" for name in node.attrs]
    assert sorted(constants) == ["sparse_value", "value"]


def body_of(made: onnx.ModelProto) -> onnx.GraphProto:
    """The body of the first node."""
    return next(one.g for one in made.graph.node[0].attribute if one.name == "body")


def sparse_bias(body: onnx.GraphProto) -> None:
    """Make the bias of the fixture a sparse one."""
    del body.initializer[:]
    values = helper.make_tensor("bias", TensorProto.FLOAT, [1], [7.0])
    indices = helper.make_tensor("at", TensorProto.INT64, [1], [2])
    body.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))


def test_one_axis_constant_serves_a_graph() -> None:
    graph = inline(load(TWINS)).graph
    assert len([value for value in graph.initializers if value.name.startswith("axis")]) == 1


def test_nodes_are_in_the_domain_as_the_scan_spells_it() -> None:
    made = proto(recurrent())
    made.graph.node[0].domain = "ai.onnx"  # which the checker refuses, and runtimes accept
    graph = sx.inline_single_trip_scan_bodies(load(made)).model.graph
    assert [node.domain for node in graph.nodes if node.op in ("Squeeze", "Unsqueeze")] == ["ai.onnx", "ai.onnx"]


# What states, outputs and captures may be.


CASES = {
    "a pass-through state and a swapped pair": """g (float[2] a, float[2] c, float[1, 2] xs)
      => (float[2] a1, float[2] c1, float[1, 2] ys) {
      a1, c1, ys = Scan (a, c, xs) <num_scan_inputs = 1,
        body = b (float[2] p, float[2] q, float[2] x) => (q, p, x) {}>
    }""",
    "a repeated state output": """g (float[2] a, float[2] c, float[1, 2] xs) => (float[2] a1, float[2] c1) {
      a1, c1 = Scan (a, c, xs) <num_scan_inputs = 1,
        body = b (float[2] p, float[2] q, float[2] x) => (float[2] r, float[2] r) { r = Add (p, x) }>
    }""",
    "a value that is both state and scan output": """g (float[2] a, float[1, 2] xs)
      => (float[2] a1, float[1, 2] ys, float[1, 2] zs) {
      a1, ys, zs = Scan (a, xs) <num_scan_inputs = 1,
        body = b (float[2] p, float[2] x) => (float[2] r, float[2] r, float[2] r) { r = Add (p, x) }>
    }""",
    "outputs that are initializers and captures": """g (float[2] a, float[1, 2] xs, float[2] w)
      => (float[2] a1, float[1, 2] ys, float[1, 2] zs) {
      a1, ys, zs = Scan (a, xs) <num_scan_inputs = 1,
        body = b (float[2] p, float[2] x) => (float[2] k, float[2] k, float[2] v) <float[2] k = {3, 4}> {
          v = Identity (w)
        }>
    }""",
    "outputs that nobody wants": """g (float[2] a, float[1, 2] xs) => (float[1, 2] zs) {
      , , zs = Scan (a, xs) <num_scan_inputs = 1,
        body = b (float[2] p, float[2] x) => (float[2] r, float[2] y, float[2] z) {
          r = Add (p, x)
          y = Neg (r)
          z = Abs (y)
        }>
    }""",
    "several scan inputs on different axes, negative ones too": """
      g (float[2, 3] a, float[2, 1, 3] xs, float[2, 3, 1] us)
      => (float[2, 3] a1, float[2, 1, 3] ys, float[2, 3, 1] zs) {
      a1, ys, zs = Scan (a, xs, us) <num_scan_inputs = 2, scan_input_axes = [1, -1], scan_output_axes = [-2, 2],
        body = b (float[2, 3] p, float[2, 3] x, float[2, 3] v) => (float[2, 3] r, float[2, 3] y, float[2, 3] z) {
          r = Add (p, x)
          y = Mul (r, v)
          z = Sub (y, x)
        }>
    }""",
    "scalars": """g (float a, float[1] xs) => (float a1, float[1] ys) {
      a1, ys = Scan (a, xs) <num_scan_inputs = 1,
        body = b (float p, float x) => (float r, float y) { r = Add (p, x) y = Mul (r, x) }>
    }""",
    "directions": """g (float[2] a, float[1, 2] xs) => (float[2] a1, float[1, 2] ys) {
      a1, ys = Scan (a, xs) <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
        body = b (float[2] p, float[2] x) => (float[2] r, float[2] y) { r = Add (p, x) y = Mul (r, x) }>
    }""",
    "names that are taken already": """g (float[2] a, float[1, 2] x_1) => (float[2] r, float[1, 2] y) {
      x = Neg (a)
      k = Abs (x)
      r, y = Scan (k, x_1) <num_scan_inputs = 1,
        body = b (float[2] p, float[2] x) => (float[2] r0, float[2] y0) <float[2] axis_0 = {5, 6}> {
          q = Add (p, x)
          r0 = Add (q, axis_0)
          y0 = Mul (r0, x)
        }>
    }""",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_what_is_inlined_computes_the_same(text: str) -> None:
    model = load(text)
    result = inline(model)
    assert "Scan" not in ops(result.graph)
    for seed in range(3):
        feeds = feeds_of(model, seed)
        assert_same(REFERENCE.get(text, reference)(model, feeds), outcome(result, feeds))


def wanted_in_full(model: sx.Model, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """What the Scan with two outputs left out gives; onnxruntime wants all outputs of a Scan to have names."""
    return [np.abs(-(feeds["a"] + feeds["xs"]))]


REFERENCE = {CASES["outputs that nobody wants"]: wanted_in_full}


def test_a_state_is_written_by_its_producer_and_an_identity_only_where_there_is_none() -> None:
    counts = {name: ops(inline(load(text)).graph).count("Identity") for name, text in CASES.items()}
    assert counts == {
        "a pass-through state and a swapped pair": 2,
        "a repeated state output": 1,
        "a value that is both state and scan output": 0,
        "outputs that are initializers and captures": 2,  # one is the body's own
        "outputs that nobody wants": 0,
        "several scan inputs on different axes, negative ones too": 0,
        "scalars": 0,
        "directions": 0,
        "names that are taken already": 0,
    }


def test_a_body_output_that_is_a_captured_value_is_read_from_outside() -> None:
    made = proto(CASES["outputs that are initializers and captures"])
    body = body_of(made)
    del body.node[0]
    body.output[2].name = "w"  # which the format can say, though runtimes refuse it
    model = load(made)
    graph = inline(model).graph
    assert graph.producer(graph.outputs[2]).inputs[0] is named(model.graph, "w")  # type: ignore[union-attr]


def test_a_default_of_a_body_input_is_not_used() -> None:
    made = proto(recurrent())
    body = body_of(made)
    body.initializer.append(helper.make_tensor("s", TensorProto.FLOAT, [2, 4], [9.0] * 8))
    graph = inline(load(made)).graph
    assert ops(graph) == ["Squeeze", "MatMul", "Add", "Add", "Add", "Unsqueeze"]
    assert all(tensor.shape != (2, 4) for tensor in graph.initializers.values())


def test_a_sparse_initializer_is_promoted_under_a_fresh_name() -> None:
    made = proto(recurrent())
    sparse_bias(body_of(made))
    done = sx.inline_single_trip_scan_bodies(load(made))
    ((value, tensor),) = done.model.graph.sparse_initializers.items()
    assert value.name == tensor.values.name == "bias_1"
    again = onnx.load_from_string(sx.to_bytes(done.model))
    assert again.graph.sparse_initializer[0].values.name == "bias_1"


def test_documentation_and_metadata_of_body_nodes_stay_and_the_graphs_too() -> None:
    made = proto(recurrent(), ir=10)
    made.graph.doc_string = "about"
    body = body_of(made)
    body.node[0].doc_string = "the product"
    body.node[0].name = "product"
    body.node[0].metadata_props.add(key="layer", value="3")
    graph = inline(load(made)).graph
    (product,) = [node for node in graph.nodes if node.op == "MatMul"]
    assert (product.details.doc_string, dict(product.metadata)) == ("the product", {"layer": "3"})
    assert product.name == "product_1"
    assert graph.doc_string == "about"


def test_no_type_is_left_of_a_value_that_is_gone() -> None:
    model = sx.infer_shapes(load(recurrent())).model
    (body,) = bodies_within(model.graph.nodes)
    assert any(value in model.graph.types for value in body.values)
    graph = inline(model).graph
    assert set(graph.types) <= set(graph.values)


def test_a_name_of_which_only_a_value_info_is_left_is_not_given_out_again() -> None:
    made = proto(recurrent())
    made.graph.value_info.append(helper.make_tensor_value_info("x_1", TensorProto.INT64, [9]))
    graph = sx.inline_single_trip_scan_bodies(load(made)).model.graph
    assert "x_1" not in {value.name for value in graph.values}


# Extents.


def test_one_known_extent_of_1_proves_one_trip_for_all_scan_inputs() -> None:
    text = TWO_INPUTS.format(a=1, b="n")
    done = sx.inline_single_trip_scan_bodies(load(text))
    assert done.inlined[0].to_check == ()
    check_sound(done.model)


TWO_INPUTS = """g (float[2] s, float[{a}, 2] xs, float[{b}, 2] us) => (float[2] t) {{
  t = Scan (s, xs, us) <num_scan_inputs = 2,
    body = b (float[2] s0, float[2] x, float[2] v) => (float[2] t0) {{ y = Mul (x, v) t0 = Add (s0, y) }}>
}}"""


def test_a_symbolic_extent_needs_a_word_and_is_reported() -> None:
    model = load(TWO_INPUTS.format(a="n", b="k"))
    assert reason(model) == "extent-symbolic"
    done = sx.inline_single_trip_scan_bodies(model, assume_single_trip=True)
    ((one,),) = [[scan] for scan in done.inlined]
    assert [(extent.value.name, extent.axis, str(extent.dim)) for extent in one.to_check] == [
        ("xs", 0, "n"),
        ("us", 0, "k"),
    ]
    assert done.to_json() == {
        "inlined": [
            {
                "node": "node 0 (Scan)",
                "where": "",
                "to_check": [{"value": "xs", "axis": 0, "dim": "n"}, {"value": "us", "axis": 0, "dim": "k"}],
            }
        ],
        "skipped": [],
    }


def test_a_vouched_extent_that_is_not_1_fails_at_run_time_instead_of_computing_something_else() -> None:
    model = load(recurrent("seq"))
    result = inline(model, assume_single_trip=True)
    feeds = feeds_of(model, sizes={"seq": 1})
    assert_same(outcome(model, feeds), outcome(result, feeds))
    with pytest.raises(Exception, match=r"(?i)squeeze"):
        outcome(result, feeds_of(model, sizes={"seq": 2}))


def test_an_extent_that_only_inference_knows_needs_inferred_types() -> None:
    model = load(
        recurrent()
        .replace("float[1, 2, 4] xs, float[4, 4] w)", "float[2, 4] flat, float[4, 4] w)")
        .replace(
            "present_state, ys = Scan",
            "one = Constant <value = int64[1] {0}> () xs = Unsqueeze (flat, one) present_state, ys = Scan",
        )
    )
    assert reason(model) == "extent-symbolic"
    assert len(sx.inline_single_trip_scan_bodies(sx.infer_shapes(model).model).inlined) == 1


def test_a_scan_without_state_is_inlined_when_asked_for() -> None:
    model = load(STATELESS)
    assert ops(inline(model, require_state=False).graph) == ["Squeeze", "Neg", "Unsqueeze"]


# Scans inside bodies, and bodies inside Scans.


IN_A_BRANCH = """g (bool c, float[2] s, float[1, 2] xs, float[2] w) => (float[2] r, float[1, 2] q) {
  r, q = If (c) <
    then_branch = yes () => (float[2] t, float[1, 2] ys) {
      t, ys = Scan (s, xs) <num_scan_inputs = 1,
        body = b (float[2] s0, float[2] x) => (float[2] t0, float[2] y) <float[2] k = {1, 2}> {
          y = Mul (x, w)
          z = Add (y, k)
          t0 = Add (s0, z)
        }>
    },
    else_branch = no () => (float[2] u, float[1, 2] v) { u = Neg (s) v = Neg (xs) }>
}"""


def test_a_scan_in_a_branch_is_inlined_there() -> None:
    model = load(IN_A_BRANCH)
    done = sx.inline_single_trip_scan_bodies(model)
    assert done.inlined[0].where == "node 0 (If).then_branch"
    check_sound(done.model)
    (node,) = done.model.graph.nodes
    assert ops(node.bodies["then_branch"]) == ["Squeeze", "Mul", "Add", "Add", "Unsqueeze"]  # type: ignore[arg-type]
    assert node.bodies["else_branch"] is model.graph.nodes[0].bodies["else_branch"]
    for flag in (True, False):
        feeds = {"c": np.array(flag), "s": np.float32([1, 2]), "xs": np.float32([[3, 4]]), "w": np.float32([5, 6])}
        assert_same(outcome(model, feeds), outcome(done.model, feeds))


NESTED = """g (float[2] s, float[1, 1, 2] xs, float[2] w) => (float[2] t, float[1, 1, 2] ys) {
  t, ys = Scan (s, xs) <num_scan_inputs = 1,
    body = outer (float[2] s0, float[1, 2] x0) => (float[2] t0, float[1, 2] y0) {
      t0, y0 = Scan (s0, x0) <num_scan_inputs = 1,
        body = inner (float[2] s1, float[2] x1) => (float[2] t1, float[2] y1) <float[2] k = {1, 2}> {
          a = Mul (x1, w)
          y1 = Add (a, k)
          t1 = Sub (s1, y1)
        }>
    }>
}"""


def test_a_scan_inside_a_scan_goes_first_and_the_outer_one_follows() -> None:
    model = load(NESTED)
    done = sx.inline_single_trip_scan_bodies(model)
    assert len(done.inlined) == 2
    check_sound(done.model)
    assert ops(done.model.graph) == ["Squeeze", "Squeeze", "Mul", "Add", "Sub", "Unsqueeze", "Unsqueeze"]
    feeds = feeds_of(model)
    assert_same(outcome(model, feeds), outcome(done.model, feeds))


def test_a_scan_around_one_of_many_trips_stays() -> None:
    model = load(
        NESTED.replace("[1, 1, 2]", "[1, 3, 2]")
        .replace("float[1, 2] x0", "float[3, 2] x0")
        .replace("float[1, 2] y0", "float[3, 2] y0")
    )
    done = sx.inline_single_trip_scan_bodies(model)
    assert done.model is model
    assert [one.reason for one in done.skipped] == ["many-trips", "control-flow-in-body"]
    assert done.skipped[0].where == "node 0 (Scan).body"
    assert done.skipped[1].where == ""


def test_a_scan_in_a_function_is_left_alone_with_a_reason() -> None:
    model = sx.load(
        onnx.parser.parse_model(
            """<ir_version: 9, opset_import: ["": 18, "d": 1]>
            g (float[2] s, float[1, 2] xs) => (float[2] t) { t = d.F (s, xs) }
            <domain: "d", opset_import: ["": 18]>
            F (s, xs) => (t) {
              t = Scan (s, xs) <num_scan_inputs = 1,
                body = b (float[2] s0, float[2] x) => (float[2] t0) { t0 = Add (s0, x) }>
            }"""
        ).SerializeToString()
    )
    assert reason(model) == "in-function"
    flat = sx.inline_functions(model)
    assert ops(inline(flat).graph) == ["Squeeze", "Add"]


def test_a_second_run_finds_nothing_to_do() -> None:
    result = inline(load(TWINS))
    assert sx.inline_single_trip_scan_bodies(result).model is result


def test_the_input_stays_as_it_was() -> None:
    for text in (recurrent(), TWINS, IN_A_BRANCH, NESTED):
        model = load(text)
        before = sx.dump(model)
        assert sx.inline_single_trip_scan_bodies(model).model is not model
        assert sx.dump(model) == before


def test_names_are_collected_once_however_many_scans_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Names] = []
    start = Names.__init__
    monkeypatch.setattr(Names, "__init__", lambda self, whole: (made.append(self), start(self, whole))[1])
    inline(load(NESTED))
    assert len(made) == 1


def test_as_a_step_of_a_pipeline_it_gives_the_model() -> None:
    model = load(TWINS)
    assert sx.dump(inline_scans(model)) == sx.dump(inline(model))
    assert isinstance(sx.inline_single_trip_scan_bodies(model), ScanInlining)
