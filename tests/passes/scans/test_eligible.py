"""Every reason for which a Scan is left alone, with a Scan that gives it."""

from __future__ import annotations

import pytest
from onnx import AttributeProto, TensorProto, helper

from sardonyx import inline_single_trip_scan_bodies
from sardonyx.ir.attrs import AttrKind, AttrRef
from sardonyx.passes.scans.eligible import REASONS, Ineligible, plan_for
from tests.passes.scan_models import inline, load, proto, reason, recurrent

SCAN = """g (float[{a}, 2] s, float[{b}, 2] xs, float[{c}, 2] us) => (float[{a}, 2] t, float ys) {{
  t, zs = Scan (s, xs, us) <num_scan_inputs = 2, {attributes}
    body = b (s0, x, v) => (t0, y) {{ y = Mul (x, v) t0 = Add (s0, y) }}>
  ys = ReduceSum <keepdims = 0> (zs)
}}"""


def scan(b: object = 1, c: object = 1, attributes: str = "") -> str:
    """A Scan of two inputs."""
    return SCAN.format(a=1, b=b, c=c, attributes=attributes)


CASES = {
    "no-trips": scan(0, 0),
    "many-trips": scan(2, "n"),
    "extents-differ": scan(1, 3),
    "extent-symbolic": scan("n", "n"),
    "axis-out-of-range": scan(attributes="scan_input_axes = [0, 2],"),
    "axis-needs-rank": scan(attributes="scan_output_axes = [-1],"),
    "malformed": scan(attributes="scan_input_axes = [0],"),
    "no-state": """g (float[1, 2] xs) => (float[1, 2] ys) {
      ys = Scan (xs) <num_scan_inputs = 1, body = b (x) => (y) { y = Neg (x) }>
    }""",
    "control-flow-in-body": """g (bool c, float[2] s, float[1, 2] xs) => (float[2] t) {
      t = Scan (s, xs) <num_scan_inputs = 1, body = b (s0, x) => (t0) {
        t0 = If (c) <then_branch = p () => (a) { a = Add (s0, x) }, else_branch = q () => (d) { d = Neg (x) }>
      }>
    }""",
    "opset-8": """g (float[1, 2] s, float[1, 1, 2] xs) => (float[1, 2] t) {
      t = Scan (, s, xs) <num_scan_inputs = 1, body = b (float[2] s0, float[2] x) => (float[2] t0) {
        t0 = Add (s0, x)
      }>
    }""",
    "omitted-input": """g (float[1, 2] xs) => (float[2] t) {
      t = Scan (, xs) <num_scan_inputs = 1, body = b (s0, x) => (t0) { t0 = Neg (x) }>
    }""",
}

ELSEWHERE = {"in-function", "attribute-reference", "element-type"}
"""Reasons with tests of their own."""


@pytest.mark.parametrize(("expected", "text"), CASES.items(), ids=CASES.keys())
def test_a_scan_is_left_alone_for_a_reason(expected: str, text: str) -> None:
    assert reason(load(text, opset=8 if expected == "opset-8" else 18)) == expected


def test_every_reason_has_a_scan_that_gives_it() -> None:
    assert set(CASES) | ELSEWHERE == set(REASONS)


@pytest.mark.parametrize("extents", [(0, 0), (2, 2), (3, 1), (2, "n"), (0, "n")])
def test_no_word_makes_a_known_extent_other_than_1_a_single_trip(extents: tuple[object, object]) -> None:
    assert reason(load(scan(*extents)), assume_single_trip=True) in ("no-trips", "many-trips", "extents-differ")


def test_a_scan_of_another_domain_is_no_scan() -> None:
    made = proto(recurrent())
    made.graph.node[0].domain = "com.example"
    made.opset_import.append(helper.make_opsetid("com.example", 1))
    model = load(made)
    done = inline_single_trip_scan_bodies(model)
    assert done.model is model
    assert done.skipped == ()


def body_of(made: object) -> object:
    """The body of the first node."""
    return next(one.g for one in made.graph.node[0].attribute if one.name == "body")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "damage", ["no count", "count as float", "count 0", "count 5", "no body", "formals", "axes as int"]
)
def test_a_node_that_does_not_fit_its_body_is_left_alone(damage: str) -> None:
    made = proto(recurrent())
    attributes = {one.name: one for one in made.graph.node[0].attribute}
    if damage == "no count":
        made.graph.node[0].attribute.remove(attributes["num_scan_inputs"])
    elif damage == "count as float":
        attributes["num_scan_inputs"].CopyFrom(helper.make_attribute("num_scan_inputs", 1.0))
    elif damage.startswith("count"):
        attributes["num_scan_inputs"].i = int(damage[-1])
    elif damage == "no body":
        made.graph.node[0].attribute.remove(attributes["body"])
    elif damage == "formals":
        attributes["body"].g.input.append(helper.make_tensor_value_info("more", TensorProto.FLOAT, [2, 4]))
    else:
        made.graph.node[0].attribute.append(helper.make_attribute("scan_input_axes", 0))
    assert reason(load(made)) == "malformed"


def test_more_outputs_than_the_body_has_are_malformed() -> None:
    made = proto(recurrent())
    made.graph.node[0].output.append("third")
    assert reason(load(made)) == "malformed"


def test_an_output_whose_declared_rank_is_not_the_bodys_plus_one_is_left_alone() -> None:
    made = proto(recurrent())
    made.graph.output[1].type.tensor_type.shape.dim.add().dim_value = 1
    assert reason(load(made)) == "malformed"


def test_a_negative_input_axis_needs_a_rank() -> None:
    made = proto(recurrent())
    made.graph.input[1].type.tensor_type.ClearField("shape")
    made.graph.node[0].attribute.append(helper.make_attribute("scan_input_axes", [-3]))
    assert reason(load(made), assume_single_trip=True) == "axis-needs-rank"


def test_an_unknown_rank_is_a_symbolic_extent() -> None:
    made = proto(recurrent())
    made.graph.input[1].type.tensor_type.ClearField("shape")
    assert reason(load(made)) == "extent-symbolic"
    done = inline_single_trip_scan_bodies(load(made), assume_single_trip=True)
    assert [(one.axis, one.dim) for one in done.inlined[0].to_check] == [(0, None)]
    assert done.model.graph.nodes[0].op == "Squeeze"


def test_an_attribute_that_a_function_would_give_is_left_alone() -> None:
    (node,) = load(recurrent()).graph.nodes
    attrs = {**node.attrs, "scan_input_axes": AttrRef("scan_input_axes", AttrKind.INTS, "axes")}
    with pytest.raises(Ineligible, match="attribute-reference"):
        plan_for(node.replace(attrs=attrs), lambda value: None, 18, assume_single_trip=True, require_state=True)


@pytest.mark.parametrize(("opset", "fits"), [(19, False), (20, False), (21, True)])
def test_eight_bit_floats_are_scanned_only_where_squeeze_takes_them(opset: int, fits: bool) -> None:
    made = proto(
        """g (float[2] s, float[1, 2] xs) => (float[2] t) {
          t = Scan (s, xs) <num_scan_inputs = 1, body = b (float[2] s0, float[2] x) => (float[2] t0) {
            y = Cast <to = 1> (x)
            t0 = Add (s0, y)
          }>
        }""",
        opset,
        ir=10,
    )
    made.graph.input[1].type.tensor_type.elem_type = TensorProto.FLOAT8E4M3FN
    body = next(one for one in made.graph.node[0].attribute if one.type == AttributeProto.GRAPH).g
    body.input[1].type.tensor_type.elem_type = TensorProto.FLOAT8E4M3FN
    if fits:
        inline(load(made))
    else:
        assert reason(load(made)) == "element-type"
