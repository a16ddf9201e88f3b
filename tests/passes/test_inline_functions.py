"""What inlining makes of one function at a time: values, attributes, names, bodies, opsets, errors."""

# ruff: noqa: E501 - a model is easier to read on one line

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import onnx
import onnx.checker
import pytest
from onnx import TensorProto, helper

import sardonyx as sx
from sardonyx.errors import ErrorKind
from sardonyx.passes.inline_functions import InlineReport
from tests.passes.functions import HEAD, assert_same, bodies, graphs, inlined, load, ops, proto, run

X = np.array([-1.5, 0.5, 2.0], np.float32)
Z = np.array([3.0, -4.0, 5.0], np.float32)


def refusal(model: onnx.ModelProto, **options: object) -> sx.OnnxError:
    """Inline what cannot be inlined; return the error."""
    before = load(model)
    with pytest.raises(sx.OnnxError) as caught:
        sx.inline_functions(before, **options)
    return caught.value


# --- what stays


def test_a_model_without_functions_comes_back_as_the_same_object() -> None:
    model = load(proto("g (float[N] x) => (float[N] y) { y = Relu(x) }"))
    assert sx.inline_functions(model) is model


def test_a_model_whose_calls_are_all_kept_comes_back_as_the_same_object() -> None:
    model = load(proto("g (float[N] x) => (float[N] y) { y = loc.F(x) }", "F (X) => (Y) { Y = Relu(X) }"))
    assert sx.inline_functions(model, keep=lambda node, function: True) is model


def test_inlining_twice_is_inlining_once() -> None:
    once = sx.inline_functions(
        load(proto("g (float[N] x) => (float[N] y) { y = loc.F(x) }", "F (X) => (Y) { Y = Relu(X) }"))
    )
    assert sx.inline_functions(once) is once


def test_nodes_that_are_no_calls_stay_the_same_objects_in_order() -> None:
    model = load(
        proto(
            "g (float[N] x) => (float[N] y) { a = Relu(x)  b = loc.F(a)  y = Neg(b) }",
            "F (X) => (Y) { t = Abs(X)  Y = Sqrt(t) }",
        )
    )
    made = sx.inline_functions(model)
    assert [node.op_type for node in made.graph.nodes] == ["Relu", "Abs", "Sqrt", "Neg"]
    assert made.graph.nodes[0] is model.graph.nodes[0]
    assert made.graph.nodes[3] is model.graph.nodes[2]
    assert made.graph.inputs is model.graph.inputs


# --- values


def test_two_calls_share_no_value_and_no_node_name() -> None:
    model = proto(
        "g (float[2,2] x, float[2,2] w, float[2] b) => (float[2,2] y) { t = loc.MyLinear(x, w, b)  y = loc.MyLinear(t, w, b) }",
        "MyLinear (X, W, B) => (Y) { [mul] M = MatMul(X, W)  [add] Y = Add(M, B) }",
    )
    made = inlined(model)
    assert ops(made.graph) == ["MatMul", "Add", "MatMul", "Add"]
    assert [list(node.output) for node in made.graph.node] == [["__fn0_M"], ["t"], ["__fn1_M"], ["y"]]
    assert [node.name for node in made.graph.node] == ["__fn0_mul", "__fn0_add", "__fn1_mul", "__fn1_add"]
    assert list(made.functions) == []
    x, w, b = (
        np.array([[1, 2], [3, 4]], np.float32),
        np.array([[0, 1], [1, 1]], np.float32),
        np.array([5, 6], np.float32),
    )
    assert_same(run(made, {"x": x, "w": w, "b": b}), [(x @ w + b) @ w + b])


def test_an_omitted_output_that_the_body_reads_keeps_its_wire() -> None:
    model = proto("g (float[N] x) => (float[N] b) { , b = loc.F(x) }", "F (X) => (A, B) { A = Relu(X)  B = Neg(A) }")
    made = inlined(model)
    assert list(made.graph.node[0].output) == ["__fn0_A"]
    assert list(made.graph.node[1].input) == ["__fn0_A"]
    onnx.checker.check_model(made)
    assert_same(run(made, {"x": X}), [-np.maximum(X, 0)])


def test_an_omitted_output_that_nobody_reads_is_still_named_since_operators_require_it() -> None:
    made = inlined(
        proto("g (float[N] x) => (float[N] a) { a = loc.F(x) }", "F (X) => (A, B) { A = Relu(X)  B = Neg(X) }")
    )
    onnx.checker.check_model(made)
    assert [list(node.output) for node in made.graph.node] == [["a"], ["__fn0_B"]]


def test_an_output_that_a_function_lists_twice_is_copied() -> None:
    made = inlined(
        proto("g (float[N] x) => (float[N] p, float[N] q) { p, q = loc.F(x) }", "F (X) => (Y, Y) { Y = Neg(X) }")
    )
    assert ops(made.graph) == ["Neg", "Identity"]
    assert_same(run(made, {"x": X}), [-X, -X])


def test_an_output_listed_twice_of_which_the_call_takes_the_second_needs_no_copy() -> None:
    made = inlined(proto("g (float[N] x) => (float[N] q) { , q = loc.F(x) }", "F (X) => (Y, Y) { Y = Neg(X) }"))
    assert [(node.op_type, list(node.output)) for node in made.graph.node] == [("Neg", ["q"])]


def test_an_input_that_a_function_returns_is_copied() -> None:
    made = inlined(
        proto(
            "g (float[N] x, float[N] w) => (float[N] p, float[N] q) { p, q = loc.F(x, w) }",
            "F (X, W) => (Y, X) { Y = Mul(X, W) }",
        )
    )
    assert [(node.op_type, list(node.input)) for node in made.graph.node] == [("Mul", ["x", "w"]), ("Identity", ["x"])]
    assert_same(run(made, {"x": X, "w": Z}), [X * Z, X])


def test_a_copy_brings_the_default_domain_when_nothing_imports_it() -> None:
    head = '<ir_version: 10, opset_import: ["loc": 1]>'
    function = '<domain: "loc", opset_import: ["loc": 1]>\nF (X) => (X) { }'
    made = inlined(proto("g (float[N] x) => (float[N] y) { y = loc.F(x) }", function, head=head))
    assert [(one.domain, one.version) for one in made.opset_import] == [("loc", 1), ("", 17)]
    onnx.checker.check_model(made)
    assert_same(run(made, {"x": X}), [X])


def test_the_models_spelling_of_the_default_domain_stays() -> None:
    head = '<ir_version: 10, opset_import: ["ai.onnx": 17, "loc": 1]>'
    function = '<domain: "loc", opset_import: ["": 17, "loc": 1]>\nF (X) => (X) { }'
    made = inlined(proto("g (float[N] x) => (float[N] y) { y = loc.F(x) }", function, head=head))
    assert [(one.domain, one.version) for one in made.opset_import] == [("ai.onnx", 17), ("loc", 1)]
    onnx.checker.check_model(made)


@pytest.mark.parametrize("call", ["loc.F(x, lo)", "loc.F(x, lo, )"])
def test_an_input_left_out_at_the_end_or_by_an_empty_name_is_absent_in_the_body(call: str) -> None:
    made = inlined(
        proto(
            f"g (float[N] x, float lo) => (float[N] y) {{ y = {call} }}",
            "F (X, LO, HI) => (Y) { c = Clip(X, LO, HI)  Y = Neg(c) }",
        )
    )
    assert [name for name in made.graph.node[0].input if name] == ["x", "lo"]
    assert_same(run(made, {"x": X, "lo": np.float32(0)}), [-np.maximum(X, 0)])


def test_an_absent_input_that_the_function_returns_is_an_error_naming_call_and_formal() -> None:
    problem = refusal(
        proto(
            "g (float[N] x) => (float[N] p, float[N] q) { [here] p, q = loc.F(x) }", "F (X, W) => (Y, W) { Y = Neg(X) }"
        )
    )
    assert problem.code == "absent-returned"
    assert problem.kind is ErrorKind.InvalidModel
    assert "'W'" in problem.message
    assert problem.place.node == "node 'here' (F)"


def test_an_absent_input_that_a_body_returns_is_an_error() -> None:
    branch = "{ Y = If(C) <then_branch = t () => (X) { }, else_branch = e () => (n) { n = Neg(C2) }> }"
    problem = refusal(
        proto("g (bool c, float[N] d) => (float[N] y) { y = loc.F(c, d) }", f"F (C, C2, X) => (Y) {branch}")
    )
    assert problem.code == "absent-returned"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("y = loc.F(x, x)", "2 inputs, function loc::F has 1 formal input"),
        ("y, z = loc.F(x)", "2 outputs, function loc::F has 1 formal"),
    ],
)
def test_more_actuals_than_formals_are_an_error(call: str, said: str) -> None:
    problem = refusal(proto(f"g (float[N] x) => (float[N] y) {{ [here] {call} }}", "F (X) => (Y) { Y = Neg(X) }"))
    assert problem.code == "too-many-actuals"
    assert said in problem.message
    assert problem.place.node == "node 'here' (F)"


def test_more_actuals_than_formals_inside_a_function_name_that_function() -> None:
    problem = refusal(
        proto(
            "g (float[N] x) => (float[N] y) { y = loc.G(x) }",
            "G (X) => (Y) { [in] Y = loc.F(X, X) }",
            "F (X) => (Y) { Y = Neg(X) }",
        )
    )
    assert (problem.code, problem.place.graph, problem.place.node) == (
        "too-many-actuals",
        "function loc::G",
        "node 'in' (F)",
    )


@pytest.mark.parametrize("body", ["{ Y = Neg(Q) }", "{ Z = Neg(X) }"])
def test_what_nothing_defines_in_a_function_is_an_error_naming_call_and_function(body: str) -> None:
    problem = refusal(proto("g (float[N] Q) => (float[N] y) { [here] y = loc.F(Q) }", f"F (X) => (Y) {body}"))
    assert problem.code == "value-undefined"
    assert problem.kind is ErrorKind.InvalidModel
    assert "node 'here' (F)" in problem.message
    assert problem.place.graph == "function loc::F"


def test_a_body_in_a_function_never_reads_a_value_of_the_caller_by_its_name() -> None:
    branches = "<then_branch = t () => (a) { a = Neg(secret) }, else_branch = e () => (b) { b = Abs(X) }>"
    problem = refusal(
        proto(
            "g (float[N] secret, bool c) => (float[N] y) { y = loc.F(c, secret) }",
            f"F (C, X) => (Y) {{ Y = If(C) {branches} }}",
        )
    )
    assert problem.code == "value-undefined"
    assert problem.place.value == "secret"


# --- names


def test_fresh_names_avoid_every_name_of_the_model() -> None:
    model = proto(
        """g (float[N] x, bool c) => (float[N] y) <float[3] __fn0_b = {1, 2, 3}> {
          __fn0_a = Relu(x)
          [__fn0_first] d = If(c) <then_branch = t () => (__fn0_c) { __fn0_c = Neg(x) }, else_branch = e () => (k) { k = Abs(x) }>
          y = loc.F(d)
        }""",
        "F (X) => (Y) { [first] a = Relu(X)  b = Neg(a)  c = Abs(b)  d = Exp(c)  Y = Sqrt(d) }",
        "Unused (X) => (Y) { __fn0_d = Relu(X)  Y = Neg(__fn0_d) }",
    )
    made = inlined(model)
    assert [node.output[0] for node in made.graph.node[2:]] == ["__fn0_a_1", "__fn0_b_1", "__fn0_c_1", "__fn0_d_1", "y"]
    assert made.graph.node[2].name == "__fn0_first_1"


def test_the_callers_names_may_be_the_formal_names_in_another_order() -> None:
    made = inlined(
        proto("g (float[N] A, float[N] B) => (float[N] y) { y = loc.F(B, A) }", "F (A, B) => (Y) { Y = Sub(A, B) }")
    )
    assert_same(run(made, {"A": X, "B": Z}), [Z - X])


def test_a_very_long_name_is_not_multiplied() -> None:
    name = "n" * 100_000
    made = inlined(
        proto(
            "g (float[N] x) => (float[N] y) { t = loc.F(x)  y = loc.F(t) }",
            f"F (X) => (Y) {{ {name} = Relu(X)  Y = Neg({name}) }}",
        )
    )
    assert max(len(one) for graph in graphs(made.graph) for node in graph.node for one in node.output) < 300


# --- attributes

SCALE = "F <alpha: float = 2.0> (X) => (Y) { c = Constant <value_float: float = @alpha> ()  Y = Mul(X, c) }"


def test_the_value_of_the_call_wins_over_the_default() -> None:
    made = inlined(
        proto("g (float[N] x) => (float[N] y, float[N] z) { y = loc.F(x)  z = loc.F <alpha = 3.0> (x) }", SCALE)
    )
    assert_same(run(made, {"x": X}), [X * 2, X * 3])


def test_a_missing_required_attribute_is_an_error_naming_function_node_and_attribute() -> None:
    function = SCALE.replace("<alpha: float = 2.0>", "<alpha>")
    model = proto("g (float[N] x) => (float[N] y) { [here] y = loc.F(x) }", function)
    problem = refusal(model)
    assert (problem.code, problem.place.node, problem.place.attribute) == (
        "attribute-not-given",
        "node 'here' (F)",
        "alpha",
    )
    assert "loc::F" in problem.message
    made = onnx.load_from_string(sx.to_bytes(sx.inline_functions(load(model), missing_attributes="omit")))
    assert list(made.graph.node[0].attribute) == []


def test_a_value_of_another_kind_than_the_reference_declares_is_an_error() -> None:
    model = proto("g (float[N] x) => (float[N] y) { [here] y = loc.F <alpha: int = 3> (x) }", SCALE)
    problem = refusal(model)
    assert (problem.code, problem.place.node, problem.place.attribute) == (
        "attribute-kind",
        "node 'here' (F)",
        "alpha",
    )
    assert "given as INT" in problem.message
    assert "is FLOAT" in problem.message


def test_a_required_attribute_that_nothing_refers_to_need_not_be_given() -> None:
    made = inlined(proto("g (float[N] x) => (float[N] y) { y = loc.F(x) }", "F <alpha> (X) => (Y) { Y = Neg(X) }"))
    assert ops(made.graph) == ["Neg"]


def test_a_reference_to_an_attribute_that_the_function_does_not_declare_disappears() -> None:
    model = proto(
        "g (float[N,M] x) => (float[N,M] y) { y = loc.F(x) }",
        "F <axis> (X) => (Y) { Y = Softmax <axis: int = @axis> (X) }",
    )
    del model.functions[0].attribute[:]
    assert list(inlined(model).graph.node[0].attribute) == []


def test_references_are_bound_through_two_functions_and_two_bodies() -> None:
    model = proto(
        "g (float[N] x, bool c) => (float[N] y, float[N] z) { y = loc.Outer <k = 5.0> (c, x)  z = loc.Outer (c, x) }",
        "Outer <k: float = 7.0> (C, X) => (Y) { Y = loc.Inner <alpha: float = @k> (C, X) }",
        """Inner <alpha: float = 1.0> (C, X) => (Y) {
          Y = If(C) <then_branch = t () => (a) {
              a = If(C) <then_branch = tt () => (b) { v = Constant <value_float: float = @alpha> ()  b = Mul(X, v) },
                         else_branch = te () => (d) { d = Neg(X) }> },
            else_branch = e () => (f) { f = Abs(X) }>
        }""",
    )
    made = inlined(model)
    feeds = {"x": X, "c": np.array(True)}
    assert_same(run(made, feeds), [X * 5, X * 7])


def test_an_outer_reference_without_a_value_leaves_the_inner_default_in_force() -> None:
    model = proto(
        "g (float[N] x) => (float[N] y) { y = loc.Outer (x) }",
        "Outer <k> (X) => (Y) { Y = loc.F <alpha: float = @k> (X) }",
        SCALE,
    )
    assert refusal(model).code == "attribute-not-given"
    del model.functions[0].attribute[:]
    assert_same(run(inlined(model), {"x": X}), [X * 2])


def test_an_explicitly_empty_list_is_a_value() -> None:
    def call(output: str, **attributes: object) -> onnx.NodeProto:
        node = helper.make_node("F", ["x"], [output], domain="loc")
        node.attribute.extend(
            helper.make_attribute(k, v, attr_type=onnx.AttributeProto.INTS) for k, v in attributes.items()
        )
        return node

    model = proto(
        "g (float[N] x) => (int64[M] y, int64[K] z) { y = loc.F(x)  z = loc.F(x) }",
        "F <v: ints = [4, 5]> (X) => (Y) { Y = Constant <value_ints: ints = @v> () }",
    )
    del model.graph.node[:]
    model.graph.node.extend([call("y"), call("z", v=[])])
    assert_same(run(inlined(model), {"x": X}), [np.array([4, 5]), np.array([], np.int64)])


def kinds() -> list[onnx.AttributeProto]:
    """Return one attribute of every kind."""
    tensor = helper.make_tensor("t", TensorProto.FLOAT, [2], [1.0, 2.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [3])
    sparse = helper.make_sparse_tensor(helper.make_tensor("s", TensorProto.FLOAT, [1], [9.0]), indices, [5])
    graph = helper.make_graph(
        [helper.make_node("Constant", [], ["k"], value_float=1.0)],
        "body",
        [],
        [helper.make_tensor_value_info("k", 1, [])],
    )
    kind = helper.make_tensor_type_proto(1, [2, "n"])
    a = onnx.AttributeProto
    return [
        helper.make_attribute("float", 1.5),
        helper.make_attribute("int", 7),
        helper.make_attribute("string", b"\xff\x00raw"),
        helper.make_attribute("tensor", tensor),
        helper.make_attribute("graph", graph),
        helper.make_attribute("sparse_tensor", sparse),
        helper.make_attribute("type_proto", kind),
        helper.make_attribute("floats", [1.0, 2.0]),
        helper.make_attribute("ints", [1, 2]),
        helper.make_attribute("strings", [b"a", b""]),
        helper.make_attribute("tensors", [tensor, tensor]),
        helper.make_attribute("graphs", [graph, graph]),
        helper.make_attribute("sparse_tensors", [sparse]),
        helper.make_attribute("type_protos", [kind, kind]),
        helper.make_attribute("no_ints", [], attr_type=a.INTS),
        helper.make_attribute("no_graphs", [], attr_type=a.GRAPHS),
    ]


@pytest.mark.parametrize("given", kinds(), ids=lambda one: one.name)
@pytest.mark.parametrize("how", ["call", "default", "literal"])
def test_attributes_of_every_kind_are_bound(given: onnx.AttributeProto, how: str) -> None:
    model = proto("g (float[N] x) => (float[N] y) { y = loc.F(x) }", "F (X) => (Y) { Y = custom.Op(X) }")
    model.opset_import.add(domain="custom", version=1)
    model.functions[0].opset_import.add(domain="custom", version=1)
    attribute = model.functions[0].node[0].attribute.add()
    if how == "literal":
        attribute.CopyFrom(given)
    else:
        attribute.name, attribute.type, attribute.ref_attr_name = "other", given.type, given.name
        if how == "default":
            model.functions[0].attribute_proto.append(given)
        else:
            model.functions[0].attribute.append(given.name)
            model.graph.node[0].attribute.append(given)
    made = inlined(model).graph.node[0].attribute[0]
    wanted = onnx.AttributeProto()
    wanted.CopyFrom(given)
    wanted.name = made.name
    assert made.name == (given.name if how == "literal" else "other")
    for graph in [made.g] if made.HasField("g") else made.graphs:
        graph.node[0].output[0] = graph.output[0].name = "k"
        del graph.node[0].metadata_props[:]
    assert made == wanted


def test_a_graph_that_the_call_passes_keeps_the_scope_of_the_caller() -> None:
    """Its capture has the name of a formal, its locals those of the function; it is used twice, in a body."""
    model = proto(
        "g (float[N] X, float[N] other, bool c) => (float[N] y) { y = loc.F <then: graph = t () => (a) { a = Neg(X) }> (c, other) }",
        """F <then> (C, X) => (Y) {
          a = Abs(X)
          p = If <then_branch: graph = @then, else_branch = e () => (q) { q = Identity(X) }> (C)
          r = If(C) <then_branch = u () => (s) { s = If <then_branch: graph = @then, else_branch = v () => (w) { w = Identity(X) }> (C) },
                     else_branch = m () => (n) { n = Identity(X) }>
          t = Add(p, r)
          Y = Sub(t, a)
        }""",
    )
    made = inlined(model)
    feeds = {"X": X, "other": Z, "c": np.array(True)}
    assert_same(run(made, feeds), [-X - X - np.abs(Z)])
    assert_same(run(made, {**feeds, "c": np.array(False)}), [Z + Z - np.abs(Z)])


def test_a_graph_that_is_passed_on_may_hold_calls_and_references_of_where_it_was_written() -> None:
    model = proto(
        "g (float[N] x, bool c) => (float[N] y) { y = loc.Outer <k = 4.0> (c, x) }",
        "Outer <k> (C, X) => (Y) { Y = loc.Mid <g: graph = b () => (o) { o = loc.F <alpha: float = @k> (X) }, alpha = 100.0> (C, X) }",
        "Mid <g, alpha> (C, Q) => (Y) { Y = loc.Low <h: graph = @g> (C, Q) }",
        "Low <h, alpha: float = 50.0> (C, Q) => (Y) { Y = If <then_branch: graph = @h, else_branch = e () => (n) { n = Neg(Q) }> (C) }",
        SCALE,
    )
    made = inlined(model)
    assert_same(run(made, {"x": X, "c": np.array(True)}), [X * 4])


def test_types_of_a_graph_that_is_passed_follow_the_copy() -> None:
    model = proto(
        "g (float[3] x, bool c) => (float[3] y) { y = loc.F <then: graph = t () => (float[3] a) { a = Neg(x) }> (c, x) }",
        "F <then> (C, X) => (Y) { Y = If <then_branch: graph = @then, else_branch = e () => (q) { q = Identity(X) }> (C) }",
    )
    made = sx.inline_functions(load(model))
    body = made.graph.nodes[0].bodies["then_branch"]
    assert str(made.graph.type(body.outputs[0])) == "tensor(float)[3]"
    assert {value.name for value in made.graph.types} == {"x", "c", "y", "__fn0_a"}


def test_a_reference_in_the_main_graph_is_an_error_where_a_call_needs_it() -> None:
    model = proto("g (float[N] x) => (float[N] y) { y = loc.F <alpha: float = @k> (x) }", SCALE)
    assert refusal(model).code == "reference-outside-function"


# --- bodies and scopes


@pytest.mark.parametrize(
    ("branch", "wanted"),
    [
        ("{ a = Relu(Z)  tb = Add(a, X) }", lambda a, z: np.maximum(z, 0) + a),
        ("{ a = Relu(X)  tb = Add(a, X) }", lambda a, z: np.maximum(a, 0) + a),
        ("<float[3] a = {1, 2, 3}> { tb = Add(a, X) }", lambda a, z: np.array([1, 2, 3], np.float32) + a),
    ],
)
def test_an_actual_named_like_a_local_of_a_body_is_not_captured_by_it(branch: str, wanted: object) -> None:
    model = proto(
        "g (float[3] x, bool c, float[3] z) => (float[3] y) { a = Neg(x)  y = loc.F(c, a, z) }",
        f"F (c, X, Z) => (out) {{ out = If(c) <then_branch = t () => (tb) {branch}, else_branch = e () => (eb) {{ eb = Identity(X) }}> }}",
    )
    made = inlined(model)
    assert_same(run(made, {"x": X, "z": Z, "c": np.array(True)}), [wanted(-X, Z)])


def test_an_actual_named_like_an_input_of_a_loop_body_is_not_captured_by_it() -> None:
    model = proto(
        "g (float[3] x, int64 n) => (float[3] y) { s = Neg(x)  y = loc.F(n, s) }",
        """F (n, X) => (out) {
          out = Loop(n, , X) <body = b (int64 i, bool cond, float[3] s) => (bool cond_out, float[3] t) { cond_out = Identity(cond)  t = Add(s, X) }>
        }""",
    )
    made = inlined(model)
    assert_same(run(made, {"x": X, "n": np.int64(2)}), [-X * 3])


def test_calls_in_bodies_at_any_depth_are_inlined_and_the_rest_of_the_body_stays() -> None:
    model = proto(
        """g (float[3] x, bool c) => (float[3] y) {
          y = If(c) <then_branch = t () => (float[3] a) {
              k = Abs(x)
              a = If(c) <then_branch = tt () => (float[3] b) { b = loc.F(k) }, else_branch = te () => (float[3] d) { d = Neg(k) }> },
            else_branch = e () => (float[3] f) { f = loc.F(x) }>
        }""",
        "F (X) => (Y) { t = Exp(X)  Y = Neg(t) }",
    )
    made = inlined(model)
    assert [ops(graph) for graph in graphs(made.graph)] == [
        ["If"],
        ["Abs", "If"],
        ["Exp", "Neg"],
        ["Neg"],
        ["Exp", "Neg"],
    ]
    assert_same(run(made, {"x": X, "c": np.array(True)}), run(model, {"x": X, "c": np.array(True)}))
    assert_same(run(made, {"x": X, "c": np.array(False)}), run(model, {"x": X, "c": np.array(False)}))


@pytest.mark.parametrize("trips", [0, 1, 4])
def test_calls_in_loop_and_scan_bodies_and_loops_in_functions_give_the_same_results(trips: int) -> None:
    model = proto(
        """g (float[3] x, int64 n, float[4, 3] seq) => (float[3] y, float[3] s, float[4, 3] all) {
          y = Loop(n, , x) <body = b (int64 i, bool c, float[3] v) => (bool co, float[3] w) { co = Identity(c)  w = loc.F(v) }>
          s, all = loc.G(x, seq)
        }""",
        "F (X) => (Y) { t = Neg(X)  Y = Add(t, X) }",
        """G (X, S) => (Last, All) {
          Last, All = Scan(X, S) <num_scan_inputs = 1, body = b (float[3] s, float[3] e) => (float[3] so, float[3] o) { so = Add(s, e)  o = loc.F(so) }>
        }""",
    )
    feeds = {"x": X, "n": np.int64(trips), "seq": np.arange(12, dtype=np.float32).reshape(4, 3)}
    assert_same(run(inlined(model), feeds), run(model, feeds))


def test_a_call_in_the_body_of_a_sequence_map_is_inlined() -> None:
    model = proto(
        """g (float[3] x, float[3] z) => (float[6] y) {
          s = SequenceConstruct(x, z)
          t = SequenceMap(s) <body = b (float[3] e) => (float[3] o) { o = loc.F(e) }>
          y = ConcatFromSequence <axis = 0> (t)
        }""",
        "F (X) => (Y) { Y = Neg(X) }",
    )
    made = inlined(model)
    assert [ops(graph) for graph in graphs(made.graph)] == [
        ["SequenceConstruct", "SequenceMap", "ConcatFromSequence"],
        ["Neg"],
    ]
    assert_same(run(made, {"x": X, "z": Z}), [np.concatenate([-X, -Z])])


def test_a_body_output_that_would_be_a_capture_gets_a_copy_of_its_own() -> None:
    model = proto(
        "g (float[3] x, bool c) => (float[3] y) { y = loc.F(c, x) }",
        "F (C, X) => (Y) { a = Neg(X)  Y = If(C) <then_branch = t () => (a) { }, else_branch = e () => (X) { }> }",
    )
    made = inlined(model)
    assert [ops(graph) for graph in graphs(made.graph)] == [["Neg", "If"], ["Identity"], ["Identity"]]
    onnx.checker.check_model(made)
    assert_same(run(made, {"x": X, "c": np.array(True)}), [-X])
    assert_same(run(made, {"x": X, "c": np.array(False)}), [X])


def test_a_call_whose_output_is_the_output_of_its_body_may_be_a_pass_through() -> None:
    model = proto(
        """g (float[3] x, bool c) => (float[3] y) {
          y = If(c) <then_branch = t () => (float[3] a) { a = loc.F(x) }, else_branch = e () => (float[3] b) { b = Neg(x) }>
        }""",
        "F (X) => (X) { }",
    )
    made = inlined(model)
    onnx.checker.check_model(made)
    assert_same(run(made, {"x": X, "c": np.array(True)}), [X])


def test_initializers_dense_and_sparse_of_a_body_in_a_function_come_along() -> None:
    model = proto(
        "g (float[3] x, bool c) => (float[3] y, float[3] z) { y = loc.F(c, x)  z = loc.F(c, y) }",
        "F (C, X) => (Y) { Y = If(C) <then_branch = t () => (a) <float[3] k = {1, 2, 3}> { b = Add(X, k)  a = Add(b, s) }, else_branch = e () => (b) { b = Neg(X) }> }",
    )
    body = next(bodies(model.functions[0].node[0]))
    values = helper.make_tensor("s", TensorProto.FLOAT, [1], [10.0])
    body.sparse_initializer.append(
        helper.make_sparse_tensor(values, helper.make_tensor("si", TensorProto.INT64, [1], [1]), [3])
    )
    made = inlined(model)
    sparse = [one.values.name for graph in graphs(made.graph) for one in graph.sparse_initializer]
    assert sparse == ["__fn0_s", "__fn1_s"]
    step = np.array([1, 12, 3], np.float32)
    assert_same(run(made, {"x": X, "c": np.array(True)}), [X + step, X + step + step])


# --- which function is called


def test_overloads_are_told_apart_and_may_call_each_other() -> None:
    model = proto(
        "g (float[N] x) => (float[N] y, float[N] z) { y = loc.F(x)  z = loc.F(x) }",
        "F (X) => (Y) { Y = Neg(X) }",
        "F (X) => (Y) { t = loc.F(X)  Y = Exp(t) }",
    )
    model.functions[1].overload = model.graph.node[1].overload = "exp"
    made = inlined(model)
    assert ops(made.graph) == ["Neg", "Neg", "Exp"]
    assert_same(run(made, {"x": X}), [-X, np.exp(-X)])


def test_a_call_with_an_overload_that_no_function_has_is_no_call() -> None:
    model = proto("g (float[N] x) => (float[N] y) { y = loc.F(x) }", "F (X) => (Y) { Y = Neg(X) }")
    model.graph.node[0].overload = "other"
    made = sx.inline_functions(load(model))
    assert [node.op_type for node in made.graph.nodes] == ["F"]
    assert [issue.code for issue in made.issues] == ["function-unused"]


@pytest.mark.parametrize(("ours", "theirs"), [("", "ai.onnx"), ("ai.onnx", "")])
def test_both_spellings_of_the_default_domain_find_a_function_in_it(ours: str, theirs: str) -> None:
    model = proto("g (float[N] x) => (float[N] y) { y = Twice(x) }", "Twice (X) => (Y) { Y = Add(X, X) }")
    model.graph.node[0].domain, model.functions[0].domain = ours, theirs
    assert ops(inlined(model).graph) == ["Add"]


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
def test_a_function_with_the_name_of_an_operator_wins_and_that_is_told(domain: str) -> None:
    model = proto("g (float[N] x) => (float[N] y) { y = Relu(x) }", "Relu (X) => (Y) { Y = Neg(X) }")
    model.functions[0].domain = domain
    before = load(model)
    made = sx.inline_functions(before)
    assert [node.op_type for node in made.graph.nodes] == ["Neg"]
    assert [issue.code for issue in made.issues] == ["function-over-operator"]
    assert sx.inline_functions(before, keep=lambda node, function: True) is before


def test_a_function_for_an_operator_that_the_models_opset_lacks_is_nothing_odd() -> None:
    text = '<domain: "", opset_import: ["": 13]> Gelu (X) => (Y) { Y = Neg(X) }'
    model = proto(
        "g (float[N] x) => (float[N] y) { y = Gelu(x) }", text, head='<ir_version: 8, opset_import: ["": 13]>'
    )
    assert sx.inline_functions(load(model)).issues == ()


def test_a_node_of_a_body_is_written_in_the_spelling_that_always_works() -> None:
    model = proto("g (float[N] x) => (float[N] y) { y = loc.F(x) }", "F (X) => (Y) { Y = Neg(X) }")
    model.functions[0].node[0].domain = "ai.onnx"
    model.functions[0].opset_import[0].domain = "ai.onnx"
    made = inlined(model)
    assert made.graph.node[0].domain == ""
    onnx.checker.check_model(made)


# --- recursion and budget


@pytest.mark.parametrize(
    ("functions", "chain"),
    [
        (["F (X) => (Y) { Y = loc.F(X) }"], "loc::F -> loc::F"),
        (["F (X) => (Y) { Y = loc.G(X) }", "G (X) => (Y) { t = Neg(X)  Y = loc.F(t) }"], "loc::F -> loc::G -> loc::F"),
        (
            [
                "F (C) => (Y) { Y = If(C) <then_branch = t () => (a) { a = loc.F(C) }, else_branch = e () => (b) { b = Not(C) }> }"
            ],
            "loc::F -> loc::F",
        ),
    ],
)
def test_recursion_is_refused_with_the_chain(functions: list[str], chain: str) -> None:
    problem = refusal(proto("g (bool x) => (bool y) { y = loc.F(x) }", *functions))
    assert problem.code == "function-recursive"
    assert problem.kind is ErrorKind.InvalidModel
    assert chain in problem.message


def test_a_recursive_function_that_nothing_calls_is_dropped() -> None:
    made = inlined(proto("g (float[N] x) => (float[N] y) { y = Neg(x) }", "F (X) => (Y) { Y = loc.F(X) }"))
    assert list(made.functions) == []


def test_a_long_circle_is_abbreviated() -> None:
    functions = [f"F{i} (X) => (Y) {{ Y = loc.F{(i + 1) % 50}(X) }}" for i in range(50)]
    problem = refusal(proto("g (float[N] x) => (float[N] y) { y = loc.F0(x) }", *functions))
    assert "loc::F0 -> loc::F1 -> loc::F2 -> 46 more -> loc::F49 -> loc::F0" in problem.message


@pytest.mark.parametrize("last", ["{ Y = Neg(X) }", "{ }"], ids=["a node", "nothing at all"])
def test_doubling_functions_are_refused_before_anything_is_made(last: str) -> None:
    doubling = [f"F{i} (X) => (Y) {{ t = loc.F{i + 1}(X)  Y = loc.F{i + 1}(t) }}" for i in range(30)]
    formals = "(X) => (Y)" if "Neg" in last else "(X) => (X)"
    start = time.monotonic()
    problem = refusal(proto("g (float[N] x) => (float[N] y) { y = loc.F0(x) }", *doubling, f"F30 {formals} {last}"))
    assert time.monotonic() - start < 30  # building a billion nodes takes a thousand times longer
    assert problem.code == "limit-exceeded"
    assert problem.kind is ErrorKind.Unsupported
    assert "max_inlined_nodes" in str(problem.hint)


def test_ten_thousand_doubling_functions_are_refused_with_a_message_of_sane_length() -> None:
    functions = [helper.make_function("loc", f"F{i}", ["X"], ["Y"], [helper.make_node(f"F{i + 1}", ["X"], ["t"], domain="loc"), helper.make_node(f"F{i + 1}", ["t"], ["Y"], domain="loc")], [helper.make_opsetid("loc", 1)]) for i in range(10_000)]  # fmt: skip
    functions.append(
        helper.make_function(
            "loc", "F10000", ["X"], ["Y"], [helper.make_node("Neg", ["X"], ["Y"])], [helper.make_opsetid("", 20)]
        )
    )
    model = proto("g (float[N] x) => (float[N] y) { y = loc.F0(x) }")
    model.functions.extend(functions)
    problem = refusal(model)
    assert "10^18 or more nodes" in problem.message


def test_counting_what_passed_graphs_would_make_never_fills_the_memory_with_the_count() -> None:
    # each function uses its graph as often as the next one, squared: the number would have 2^26 bits
    count = 26
    functions = [
        f"""F{i} <g> (C) => (Y) {{
          Y = loc.F{i + 1} <g: graph = b () => (t) {{ t = loc.F{i + 1} <g: graph = @g> (C) }}> (C)
        }}"""
        for i in range(count)
    ]
    functions.append(f"F{count} <g> (C) => (Y) {{ Y = If <then_branch: graph = @g, else_branch: graph = @g> (C) }}")
    before = load(
        proto(
            "g (float[3] x, bool c) => (float[3] y) { y = loc.F0 <g: graph = b () => (t) { t = Neg(x) }> (c) }",
            *functions,
        )
    )
    tracemalloc.start()
    try:
        with pytest.raises(sx.OnnxError) as caught:
            sx.inline_functions(before)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()
    assert caught.value.code == "limit-exceeded"


def test_a_chain_of_ten_thousand_functions_is_inlined() -> None:
    ids = [helper.make_opsetid("", 20), helper.make_opsetid("loc", 1)]
    model = proto("g (float[N] x) => (float[N] y) { y = loc.F0(x) }")
    for i in range(10_000):
        inner = (
            [helper.make_node(f"F{i + 1}", ["X"], ["t"], domain="loc")]
            if i < 9_999
            else [helper.make_node("Abs", ["X"], ["t"])]
        )
        model.functions.append(
            helper.make_function("loc", f"F{i}", ["X"], ["Y"], [*inner, helper.make_node("Neg", ["t"], ["Y"])], ids)
        )
    made = sx.inline_functions(load(model))
    assert len(made.graph.nodes) == 10_001
    assert max(len(node.metadata["sardonyx.inlined_from"]) for node in made.graph.nodes) < 400


def test_the_budget_counts_nodes_in_bodies_and_graphs_that_are_passed() -> None:
    model = proto(
        "g (float[3] x, bool c) => (float[3] y) { y = loc.F <g: graph = t () => (a) { a1 = Neg(x)  a2 = Abs(a1)  a = Exp(a2) }> (c, x) }",
        """F <g> (C, X) => (Y) {
          p = If <then_branch: graph = @g, else_branch = e () => (q) { q = Identity(X) }> (C)
          r = If <then_branch: graph = @g, else_branch = e () => (s) { s = Identity(X) }> (C)
          Y = Add(p, r)
        }""",
    )
    report = InlineReport()
    inlined(model, limits=sx.Limits(max_inlined_nodes=11), report=report)
    assert report.nodes_made == 11
    assert refusal(model, limits=sx.Limits(max_inlined_nodes=10)).code == "limit-exceeded"


def test_bodies_that_would_nest_deeper_than_a_file_can_say_are_refused() -> None:
    def functions(count: int) -> list[str]:
        made = [
            f"F{i} (C) => (Y) {{ Y = If(C) <then_branch = t () => (a) {{ a = loc.F{i + 1}(C) }}, else_branch = e () => (b) {{ b = Not(C) }}> }}"
            for i in range(count)
        ]
        return [*made, f"F{count} (C) => (Y) {{ Y = Not(C) }}"]

    graph = "g (bool x) => (bool y) { y = loc.F0(x) }"
    assert len(list(graphs(inlined(proto(graph, *functions(30))).graph))) == 61
    problem = refusal(proto(graph, *functions(90)))
    assert (problem.code, problem.kind) == ("nesting-too-deep", ErrorKind.Unsupported)


# --- opsets


def versions(model: onnx.ModelProto) -> dict[str, int]:
    """Return the imports."""
    return {one.domain: one.version for one in model.opset_import}


def with_opset(version: int, function: str, domain: str = "") -> str:
    """Give a function imports of its own."""
    return f'<domain: "loc", opset_import: ["{domain}": {version}, "loc": 1]>\n{function}'


def test_an_older_import_whose_operators_did_not_change_is_merged() -> None:
    made = inlined(
        proto(
            "g (float[N] x) => (float[N] y) { y = loc.F(x) }",
            with_opset(14, "F (X) => (Y) { t = Sqrt(X)  Y = Mul(t, t) }"),
        )
    )
    assert versions(made) == {"": 20, "loc": 1}
    assert ops(made.graph) == ["Sqrt", "Mul"]


def test_a_newer_import_raises_the_models() -> None:
    report = InlineReport()
    made = inlined(
        proto(
            "g (float[N] x) => (float[N] y) { t = Neg(x)  y = loc.F(t) }",
            with_opset(21, "F (X) => (Y) { Y = Gelu(X) }"),
        ),
        report=report,
    )
    assert versions(made) == {"": 21, "loc": 1}
    assert report.opsets == {"": (20, 21)}


def test_a_domain_that_the_model_lacks_is_added() -> None:
    made = inlined(
        proto("g (float[N] x) => (float[N] y) { y = loc.F(x) }", with_opset(3, "F (X) => (Y) { Y = new.Op(X) }", "new"))
    )
    assert versions(made) == {"": 20, "loc": 1, "new": 3}


SQUEEZE = "g (float[1,N] x, int64[1] axes) => (float[N] y) { t = Squeeze <axes = [0]> (x)  y = loc.F(x, axes) }"


def test_an_operator_of_the_main_graph_that_would_change_is_refused() -> None:
    head = HEAD.replace('"": 20', '"": 12')
    model = proto(SQUEEZE, with_opset(13, "F (X, A) => (Y) { Y = Squeeze(X, A) }"), head=head)
    problem = refusal(model)
    assert (problem.code, problem.kind) == ("opset-changes-operator", ErrorKind.Unsupported)
    for said in ("Squeeze", "ai.onnx", "12", "13", "loc::F"):
        assert said in problem.message
    made = onnx.load_from_string(sx.to_bytes(sx.inline_functions(load(model), opset_conflict="highest")))
    assert versions(made) == {"": 13, "loc": 1}


def test_an_operator_of_a_function_that_would_change_is_refused() -> None:
    problem = refusal(
        proto(
            "g (float[1,N] x) => (float[N] y) { y = loc.F(x) }",
            with_opset(12, "F (X) => (Y) { Y = Squeeze <axes = [0]> (X) }"),
        )
    )
    assert (problem.code, problem.place.graph) == ("opset-changes-operator", "function loc::F")
    assert "12" in problem.message
    assert "20" in problem.message


def test_an_operator_in_a_body_of_the_main_graph_that_would_change_is_refused() -> None:
    head = HEAD.replace('"": 20', '"": 12')
    graph = """g (float[1,N] x, bool c) => (float[N] y) {
      y = If(c) <then_branch = t () => (a) { a = Squeeze <axes = [0]> (x) }, else_branch = e () => (b) { b = loc.F(x) }> }"""
    assert (
        refusal(proto(graph, with_opset(13, "F (X) => (Y) { Y = Flatten(X) }"), head=head)).code
        == "opset-changes-operator"
    )


def test_whether_a_change_concerns_a_node_is_decided_for_each_copy() -> None:
    """Split 18 needs num_outputs where the input split is missing; so it depends on what the call gives."""
    graph = "g (float[4] x, int64[2] s) => (float[2] y, float[2] z) { y, z = loc.F(x%s) }"
    function = with_opset(13, "F (X, S) => (A, B) { A, B = Split(X, S) }")
    assert ops(inlined(proto(graph % ", s", function)).graph) == ["Split"]
    problem = refusal(proto(graph % "", function))
    assert problem.code == "opset-changes-operator"
    assert "num_outputs" in problem.message


def test_only_functions_that_are_called_count() -> None:
    made = inlined(
        proto("g (float[N] x) => (float[N] y) { y = Neg(x) }", with_opset(25, "F (X) => (Y) { Y = Neg(X) }"))
    )
    assert versions(made) == {"": 20, "loc": 1}


def test_a_function_takes_from_the_model_what_it_does_not_import() -> None:
    head = HEAD.replace('"": 20', '"": 12')
    functions = [
        '<domain: "loc", opset_import: ["loc": 1]>\nF (X) => (Y) { Y = Squeeze <axes = [0]> (X) }',
        with_opset(13, "G (X) => (Y) { Y = Neg(X) }"),
    ]
    graph = "g (float[1,N] x) => (float[N] y) { t = loc.G(x)  y = loc.F(t) }"
    assert refusal(proto(graph, *functions, head=head)).place.graph == "function loc::F"
    kept = refusal(proto(graph, *functions, head=head), keep=lambda node, function: function.name == "F")
    assert kept.place.graph == "function loc::F"


# --- keeping


def test_kept_calls_stay_with_their_functions_and_what_those_call() -> None:
    model = proto(
        "g (float[N] x) => (float[N] y) { a = loc.A(x)  b = loc.B(a)  y = loc.C(b) }",
        "A (X) => (Y) { Y = loc.C(X) }",
        "B (X) => (Y) { Y = loc.C(X) }",
        "C (X) => (Y) { t = Exp(X)  Y = Neg(t) }",
        "D (X) => (Y) { Y = Neg(X) }",
    )
    report = InlineReport()
    made = inlined(model, keep=lambda node, function: function.name == "B", report=report)
    assert ops(made.graph) == ["Exp", "Neg", "B", "Exp", "Neg"]
    assert [one.name for one in made.functions] == ["B", "C"]
    assert made.functions[0] == model.functions[1]
    onnx.checker.check_model(made)
    assert_same(run(made, {"x": X}), run(model, {"x": X}))
    assert report.inlined == {"loc::C": 2, "loc::A": 1}
    assert [(one.call, one.function) for one in report.kept_calls] == [("node 1 (B)", "loc::B")]
    assert report.kept_functions == {
        "loc::B": "the call by node 1 (B) was kept",
        "loc::C": "function loc::B, which was kept, calls it",
    }
    assert report.dropped == ["loc::D"]
    assert str(report).splitlines()[-1] == "3 calls became 4 nodes"


def test_functions_that_training_information_calls_stay_since_it_is_carried_along_as_it_was_read() -> None:
    model = proto(
        "g (float[N] x) => (float[N] y) { y = loc.F(x) }",
        "F (X) => (Y) { Y = Neg(X) }",
        "G (X) => (Y) { Y = loc.H(X) }",
        "H (X) => (Y) { Y = Abs(X) }",
        "U (X) => (Y) { Y = Abs(X) }",
    )
    inner = helper.make_graph([helper.make_node("G", ["x"], ["t"], domain="loc")], "inner", [], [])
    model.training_info.add().algorithm.node.append(helper.make_node("If", ["c"], ["t"], then_branch=inner))
    made = sx.inline_functions(load(model))
    assert [node.op_type for node in made.graph.nodes] == ["Neg"]
    assert [one.name for one in onnx.load_from_string(sx.to_bytes(made)).functions] == ["G", "H"]
    assert sx.inline_functions(made) is made


def test_keep_may_keep_a_call_inside_a_function_whose_attributes_and_bodies_are_bound() -> None:
    model = proto(
        "g (float[3] x, bool c) => (float[3] y) { y = loc.A <k = 3.0> (c, x) }",
        "A <k> (C, X) => (Y) { Y = loc.B <alpha: float = @k, g: graph = b () => (n) { n = loc.N(X) }> (C, X) }",
        "B <alpha, g> (C, X) => (Y) { v = Constant <value_float: float = @alpha> ()  t = If <then_branch: graph = @g, else_branch: graph = @g> (C)  Y = Mul(t, v) }",
        "N (X) => (Y) { Y = Neg(X) }",
    )
    made = inlined(model, keep=lambda node, function: function.name == "B")
    (call,) = made.graph.node
    assert (call.op_type, call.attribute[0].f) == ("B", 3.0)
    assert ops(call.attribute[1].g) == ["Neg"]
    assert [one.name for one in made.functions] == ["B"]


def test_keep_is_asked_once_for_each_call_that_is_written() -> None:
    asked: list[str] = []
    model = proto(
        "g (float[N] x) => (float[N] y) { a = loc.A(x)  y = loc.A(a) }",
        "A (X) => (Y) { t = loc.B(X)  Y = loc.B(t) }",
        "B (X) => (Y) { Y = Neg(X) }",
    )
    sx.inline_functions(load(model), keep=lambda node, function: asked.append(function.label) is not None)
    assert asked == ["loc::A", "loc::A", "loc::B", "loc::B"]


def test_a_kept_function_named_identity_cannot_stand_beside_a_copy() -> None:
    model = proto(
        "g (float[N] x) => (float[N] y, float[N] z) { y = Identity(x)  z = loc.F(x) }",
        "Identity (X) => (Y) { Y = Neg(X) }",
        "F (X) => (X) { }",
    )
    model.functions[0].domain = ""
    with pytest.raises(ValueError, match="Identity"):
        sx.inline_functions(load(model), keep=lambda node, function: function.name == "Identity")


def test_functions_that_nothing_calls_are_dropped_with_an_issue() -> None:
    made = sx.inline_functions(
        load(
            proto(
                "g (float[N] x) => (float[N] y) { y = Neg(x) }",
                "F (X) => (Y) { Y = loc.G(X) }",
                "G (X) => (Y) { Y = Neg(X) }",
            )
        )
    )
    assert dict(made.functions) == {}
    assert [(one.code, one.severity, one.place.graph) for one in made.issues] == [
        ("function-unused", "warning", "function loc::F"),
        ("function-unused", "warning", "function loc::G"),
    ]


# --- provenance, details, types


def test_a_node_says_which_calls_it_came_from() -> None:
    model = proto(
        "g (float[N] x) => (float[N] y) { [top] a = loc.A(x)  y = loc.B(a) }",
        "A (X) => (Y) { [mid] t = loc.B(X)  Y = Neg(t) }",
        "B (X) => (Y) { Y = Exp(X) }",
    )
    made = sx.inline_functions(load(model))
    assert [node.metadata["sardonyx.inlined_from"] for node in made.graph.nodes] == [
        "top (loc::A) > mid (loc::B)",
        "top (loc::A)",
        "node 1 (loc::B)",
    ]


def test_documentation_and_metadata_of_a_node_survive() -> None:
    model = proto("g (float[N] x) => (float[N] y) { [call] y = loc.F(x) }", "F (X) => (Y) { Y = Neg(X) }")
    node = model.functions[0].node[0]
    node.doc_string = "turns it round"
    node.metadata_props.add(key="who", value="me")
    node.metadata_props.add(key="sardonyx.inlined_from", value="older (loc::E)")
    (made,) = inlined(model).graph.node
    assert made.doc_string == "turns it round"
    assert {one.key: one.value for one in made.metadata_props} == {
        "who": "me",
        "sardonyx.inlined_from": "call (loc::F) > older (loc::E)",
    }


def test_fields_that_copies_lack_are_told_once_for_each_node() -> None:
    model = proto("g (float[N] x) => (float[N] y) { t = loc.F(x)  y = loc.F(t) }", "F (X) => (Y) { [neg] Y = Neg(X) }")
    model.functions[0].node[0].device_configurations.add(configuration_id="c")
    data = model.SerializeToString()
    made = sx.inline_functions(sx.load(data))
    assert [(one.code, one.place.graph, one.place.node) for one in made.issues] == [
        ("fields-dropped", "function loc::F", "node 'neg' (Neg)")
    ]
    assert "device_configurations" in made.issues[0].message


def test_fields_that_go_with_functions_calls_and_passed_graphs_are_told() -> None:
    model = proto(
        """g (float[3] x, bool c) => (float[3] y) {
          [outer] y = loc.F <g: graph = t () => (a) {
            [inner] a = loc.F <g: graph = u () => (b) { [neg] b = Neg(x) }> (c)
          }> (c)
        }""",
        """F <g, h: graph = d () => (e) { [zero] e = Constant <value_float = 0.0> () }> (C) => (Y) {
          Y = If <then_branch: graph = @g, else_branch: graph = @h> (C)
        }""",
    )
    outer = model.graph.node[0]
    inner = outer.attribute[0].g.node[0]
    inner.attribute[0].g.quantization_annotation.add(tensor_name="b")
    for node in (outer, inner, inner.attribute[0].g.node[0], model.functions[0].attribute_proto[0].g.node[0]):
        node.device_configurations.add(configuration_id="c")
    unknown = b"\xfa\x3f\x02hi"  # field 1023
    model.functions[0].MergeFromString(unknown)
    before = load(model)
    assert sorted((str(one.place.graph), str(one.place.node)) for one in sx.inline_functions(before).issues) == [
        ("None", "node 'inner' (F)"),
        ("None", "node 'neg' (Neg)"),
        ("None", "node 'outer' (F)"),
        ("body 'u'", "None"),
        ("function loc::F", "None"),
        ("function loc::F", "node 'zero' (Constant)"),
    ]
    kept = sx.inline_functions(before, keep=lambda node, function: node.name == "inner")
    assert not [one for one in kept.issues if one.place.graph == "function loc::F" and one.place.node is None]


def test_value_info_of_a_function_becomes_types_with_symbols_of_each_call_its_own() -> None:
    model = proto(
        "g (float[batch] x, float[M] z) => (float[batch] y, float[M] w) { y = loc.F(x)  w = loc.F(z) }",
        "F (X) => (Y) { t = Exp(X)  u = Neg(t)  v = Abs(u)  Y = Sqrt(v) }",
    )
    infos = {"t": ["k"], "u": ["batch"], "v": [4]}
    model.functions[0].value_info.extend(helper.make_tensor_value_info(name, 1, shape) for name, shape in infos.items())
    made = sx.inline_functions(load(model))
    types = {value.name: kind for value, kind in made.graph.types.items()}
    assert types["__fn0_u"] == types["__fn1_u"] == types["x"]
    assert types["__fn0_v"].shape == (4,)
    assert types["__fn0_t"].shape[0].anonymous
    assert types["__fn0_t"].shape != types["__fn1_t"].shape
    assert types["y"] == types["x"]
    onnx.checker.check_model(onnx.load_from_string(sx.to_bytes(made)))


def test_what_the_caller_says_of_a_value_stays() -> None:
    model = proto("g (float[3] x) => (float[3] y) { y = loc.F(x) }", "F (X) => (Y) { Y = Exp(X) }")
    model.functions[0].value_info.append(helper.make_tensor_value_info("Y", 1, [7]))
    made = sx.inline_functions(load(model))
    assert made.graph.type(made.graph.outputs[0]).shape == (3,)


# --- options and lifetime


@pytest.mark.parametrize("options", [{"opset_conflict": "lowest"}, {"missing_attributes": "guess"}])
def test_options_that_mean_nothing_are_the_callers_mistake(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must be"):
        sx.inline_functions(load(proto("g (float[N] x) => (float[N] y) { y = Neg(x) }")), **options)


def test_a_model_can_be_inlined_after_it_was_closed() -> None:
    model = load(proto("g (float[N] x) => (float[N] y) { y = loc.F(x) }", "F (X) => (Y) { Y = Neg(X) }"))
    model.close()
    assert [node.op_type for node in sx.inline_functions(model).graph.nodes] == ["Neg"]


def test_a_report_is_filled_anew() -> None:
    report = InlineReport()
    report.inlined = {"old": 1}
    sx.inline_functions(load(proto("g (float[N] x) => (float[N] y) { y = Neg(x) }")), report=report)
    assert report.to_json() == {
        "inlined": {},
        "kept_calls": [],
        "kept_functions": {},
        "dropped": [],
        "opsets": {},
        "nodes_made": 0,
    }


def test_functions_whose_labels_are_one_are_counted_together() -> None:
    model = proto("g (float[N] x) => (float[N] y) { t = loc.F(x)  y = loc.G(t) }", "F (X) => (Y) { Y = Neg(X) }", "G (X) => (Y) { Y = Abs(X) }")  # fmt: skip
    for holders in (model.graph.node, model.functions):
        holders[0].domain, holders[1].domain = "a", "a::b"
    model.functions[0].name = model.graph.node[0].op_type = "b::c"
    model.functions[1].name = model.graph.node[1].op_type = "c"
    model.opset_import.extend([helper.make_opsetid("a", 1), helper.make_opsetid("a::b", 1)])
    report = InlineReport()
    inlined(model, report=report)
    assert report.inlined == {"a::b::c": 2}


def test_a_reference_of_a_wrong_kind_that_finds_a_graph_is_an_error() -> None:
    model = proto(
        "g (float[3] x, bool c) => (float[3] y) { y = loc.F <then: graph = t () => (a) { a = Neg(x) }> (c, x) }",
        "F <then> (C, X) => (Y) { Y = If <then_branch: graph = @then, else_branch = e () => (q) { q = Identity(X) }> (C) }",
    )
    model.functions[0].node[0].attribute[0].type = onnx.AttributeProto.INT
    problem = refusal(model)
    assert (problem.code, problem.place.attribute) == ("attribute-kind", "then")
