"""What `sx.check` says of operators: one small model a case, the whole finding."""

from __future__ import annotations

import onnx
import onnx.helper
import onnx.parser
import pytest

import sardonyx as sx

TOP = '<ir_version: 10, opset_import: ["": {opset}{more}]>'


def findings(text: str, opset: int = 20, more: str = "", change=None) -> list[str]:
    """Check the model of an ONNX text; return the findings as `code severity: message`."""
    model = onnx.parser.parse_model(TOP.format(opset=opset, more=more) + text)
    if change is not None:
        change(model)
    return [f"{one.code} {one.severity}: {one.message}" for one in sx.check(model.SerializeToString())]


def graph(nodes: str, inputs: str = "float[2] x", outputs: str = "y") -> str:
    return f"g ({inputs}) => ({outputs}) {{ {nodes} }}"


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("y = Relu (x)", []),
        ("y = Reluu (x)", ["operator-unknown error: there is no operator Reluu in opset 20"]),
        ("y = Swish (x)", ["operator-too-new error: Swish came with opset 24, but opset 20 is imported"]),
        ("y = Relu (x, x)", ["too-many-inputs error: Relu takes at most 1 input, but is given 2"]),
        ("y, z = Relu (x)", ["too-many-outputs error: Relu has at most 1 output, but 2 are listed"]),
        ("y = Add (x)", ["missing-input error: Add needs input 1 (B), but it is not given"]),
        ('y = Add ("", x)', ["missing-input error: Add needs input 0 (A), but it is not given"]),
        ("y = Concat <axis = 0> ()", ["missing-input error: Concat needs input 0 (inputs), but it is not given"]),
        ("y = Relu <alpha = 1.0> (x)", ["attribute-unknown error: Relu has no attribute 'alpha'"]),
        ("y = Softmax <axis = 0.0> (x)", ["attribute-kind error: it is FLOAT, but Softmax takes INT"]),
        ("y = Concat (x, x)", ["missing-attribute error: Concat needs attribute 'axis', but it is not given"]),
        ("y = Clip (x)", []),
        ('y = Clip (x, "", x0)', []),
        ("y = Not (x)", ["bad-element-type error: input 0 (X) of Not is tensor(float), it takes tensor(bool)"]),
        ("y = SequenceAt (x, x0)", ["wrong-kind error: input 0 (input_sequence) of SequenceAt is tensor(float), "
                                    "it takes a seq",
                                    "bad-element-type error: input 1 (position) of SequenceAt is tensor(float), "
                                    "it takes tensor(int32), tensor(int64)"]),
        ("y = Add (x, i)", ["types-differ error: inputs 0 and 1 (B) of Add must be of one type, "
                            "but are tensor(float) and tensor(int64)"]),
        ("y = Gather (x, i)", []),
    ],
)  # fmt: skip
def test_a_node_is_compared_with_the_signature_of_its_operator(nodes: str, expected: list[str]) -> None:
    assert findings(graph(nodes, "float[2] x, int64[2] i, float x0")) == expected


def test_an_operator_that_was_withdrawn_is_reported_from_that_opset_on() -> None:
    nodes = "y = Scatter (x, i, x)"
    assert findings(graph(nodes, "float[2] x, int64[2] i"), opset=10) == []
    assert findings(graph(nodes, "float[2] x, int64[2] i"), opset=11) == [
        "operator-deprecated error: Scatter is withdrawn from opset 11 on, and opset 11 is imported"
    ]


def test_an_opset_that_is_not_known_yet_is_a_warning_and_its_new_operators_are_not_judged() -> None:
    (found,) = findings(graph("y = OperatorOfTomorrow (x)"), opset=1000)
    assert found.startswith("opset-newer warning: opset 1000 of ai.onnx is newer than")


def test_a_domain_that_is_not_known_is_left_to_its_owner() -> None:
    assert findings(graph("y = my.domain.Anything <a = 1> (x, x)"), more=', "my.domain": 7') == []


def test_what_others_add_to_a_domain_of_theirs_is_only_odd() -> None:
    found = findings(graph("y = com.microsoft.NoSuchThing (x)"), more=', "com.microsoft": 1')
    assert found == ["operator-unknown warning: there is no operator com.microsoft::NoSuchThing in opset 1"]


def test_an_output_that_is_left_out_though_it_is_not_optional_is_odd() -> None:
    assert findings(graph('"", y = TopK (x, k)', "float[2] x, int64[1] k")) == [
        "missing-output warning: output 0 (Values) of TopK is left out, though it is not optional"
    ]


def test_an_input_that_runtimes_can_do_without_is_odd_and_any_other_is_an_error() -> None:
    resize = 'y = Resize (x, "", s)'
    assert findings(graph(resize, "float[2] x, float[1] s"), opset=11) == [
        "missing-input warning: Resize needs input 1 (roi), but it is not given"
    ]
    assert [one for one in findings(graph('y = Add (x, "")')) if "missing-input error" in one]


def test_a_list_of_outputs_that_is_too_short_is_reported() -> None:
    assert findings(graph("y = TopK (x, k)", "float[2] x, int64[1] k")) == [
        "missing-output error: TopK has output 1 (Indices), but it is not listed"
    ]


def test_bodies_and_functions_are_checked_under_the_opsets_that_hold_there() -> None:
    text = """
    g (float[2] x, bool c) => (y) {
      z = local.twice (x)
      y = If (c) <then_branch = t () => (p) { p = Gelu (z) }, else_branch = e () => (q) { q = Nothing (z) }>
    }
    <domain: "local", opset_import: ["": 20]> twice (a) => (b) { b = Gelu (a, a) }
    """
    found = findings(text, opset=19, more=', "local": 1')
    assert found == [
        "operator-too-new error: Gelu came with opset 20, but opset 19 is imported",
        "operator-unknown error: there is no operator Nothing in opset 19",
        "too-many-inputs error: Gelu takes at most 1 input, but is given 2",
    ]


def test_a_fault_in_a_body_has_the_way_there_as_its_place() -> None:
    branches = "then_branch = t () => (p) { p = No (x) }, else_branch = e () => (q) { q = Abs (x) }"
    text = f"g (float[2] x, bool c) => (y) {{ y = If (c) <{branches}> }}"
    model = onnx.parser.parse_model(TOP.format(opset=20, more="") + text)
    (issue,) = sx.check(model.SerializeToString())
    assert (issue.place.graph, issue.place.node) == ("node 0 (If).then_branch", "node 0 (No)")


def test_a_call_is_compared_with_its_function() -> None:
    text = """
    g (float[2] x) => (y) { y = local.f (x, x) }
    <domain: "local", opset_import: ["": 20]> f <k> (a) => (b) { b = Gather <axis: int = @k> (a, a) }
    """
    found = findings(text, more=', "local": 1')
    assert "too-many-actuals error: the call has 2 inputs, but local::f has 1" in found
    assert "attribute-not-given error: local::f needs attribute 'k', which has no default" in found


def test_a_contradiction_that_inference_finds_is_an_issue() -> None:
    assert findings(graph("y = MatMul (x, w)", "float[2, 3] x, float[4, 5] w"))[0].startswith("dim-mismatch error")


def test_a_node_with_a_fault_of_its_own_is_reported_once() -> None:
    assert len(findings(graph("y = Reshape (x)"))) == 1


def test_three_faults_in_three_places_are_three_issues_in_one_run() -> None:
    nodes = "a = Reluu (x) b = Add (x) c = Transpose <perm = [0, 0]> (w) y = Sum (a, b, c)"
    codes = [one.partition(" ")[0] for one in findings(graph(nodes, "float[2] x, float[2, 3] w"))]
    assert sorted(codes) == ["bad-permutation", "missing-input", "operator-unknown"]


def test_the_types_of_sparse_constants_count_as_those_of_their_dense_form() -> None:
    def add(model: onnx.ModelProto) -> None:
        values = onnx.helper.make_tensor("w", 1, [2], [1.0, 2.0])
        indices = onnx.helper.make_tensor("", 7, [2], [0, 3])
        model.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, indices, [2, 2]))

    assert findings(graph("y = MatMul (x, w)", "float[3, 2] x"), change=add) == []


@pytest.mark.parametrize(
    ("code", "opset", "nodes"),
    [
        ("operator-unknown", 20, "y = Reluu (x)"),
        ("operator-too-new", 20, "y = Swish (x)"),
        ("operator-deprecated", 11, "y = Scatter (x, i, x)"),
        ("opset-newer", 1000, "y = Relu (x)"),
        ("too-many-inputs", 20, "y = Relu (x, x)"),
        ("too-many-outputs", 20, "y, z = Relu (x)"),
        ("missing-input", 20, "y = Add (x)"),
        ("missing-output", 20, "y = TopK (x, i)"),
        ("attribute-unknown", 20, "y = Relu <alpha = 1.0> (x)"),
        ("attribute-kind", 20, "y = Softmax <axis = 0.0> (x)"),
        ("missing-attribute", 20, "y = Concat (x, x)"),
        ("bad-element-type", 20, "y = Not (x)"),
        ("wrong-kind", 20, "y = SequenceLength (x)"),
        ("types-differ", 20, "y = Add (x, i)"),
    ],
)
def test_each_code_says_what_it_is_about(code: str, opset: int, nodes: str) -> None:
    found = findings(graph(nodes, "float[2] x, int64[1] i"), opset)
    assert [one.partition(" ")[0] for one in found] == [code]
