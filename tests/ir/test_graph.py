"""Values, nodes, graphs, functions, models: what they say of themselves, and that nothing changes them."""

from __future__ import annotations

import pytest

from sardonyx.ir.attrs import Attr, AttrKind, AttrRef
from sardonyx.ir.graph import Graph, Model, Node, Value, Written, body_list, each_body
from sardonyx.ir.source import Origin, Source
from sardonyx.ir.text import parse_graph, parse_model
from sardonyx.ir.types import DType, TensorType

NESTED = """
g (bool c, float[N] x) => (float[N] y) <float[1] k = {1}> {
   a = Neg(x)
   y = If (c) <
      then_branch = t () => (p) { q = Add(a, k) p = Abs(q) },
      else_branch = e () => (r) {
         r = If (c) <then_branch = i () => (s) { s = Neg(x) }, else_branch = j () => (u) { u = Neg(a) }>
      }
   >
}
"""


def test_a_value_equals_only_itself() -> None:
    assert Value("x") != Value("x")


def test_a_node_knows_its_operator_by_one_name() -> None:
    assert Node("Relu").op == Node("Relu", domain="ai.onnx").op == "Relu"
    assert Node("Attention", domain="com.microsoft").op == "com.microsoft::Attention"


def test_a_node_reads_its_inputs_and_what_its_bodies_capture_each_once() -> None:
    graph = parse_graph(NESTED)
    assert [value.name for value in graph.nodes[1].reads] == ["c", "a", "k", "x"]


def test_bodies_are_the_graph_valued_attributes() -> None:
    inner = Graph("b", (), (), ())
    node = Node(
        "Op",
        attrs={
            "axis": Attr("axis", AttrKind.INT, 1),
            "one": Attr("one", AttrKind.GRAPH, inner),
            "many": Attr("many", AttrKind.GRAPHS, (inner, inner)),
            "ref": AttrRef("ref", AttrKind.GRAPH, "formal"),
        },
    )
    assert dict(node.bodies) == {"one": inner, "many": (inner, inner)}
    assert body_list(node) == (inner, inner, inner)
    graph = Graph("g", (), (), (node,))
    assert [name for _, name, _ in each_body(graph)] == ["one", "many[0]", "many[1]"]


def test_replace_on_a_node_gives_a_new_node_whose_bytes_are_no_longer_vouched_for() -> None:
    x, y = Value("x"), Value("y")
    origin = Origin(Source(b"0123", "m.onnx"), 1, 3)
    node = Node("Relu", (x,), (y,), name="n", domain="d", overload="o", details=Written("doc"), origin=origin)
    other = node.replace(op_type="Neg")
    assert (other.op_type, other.inputs, other.outputs, other.name) == ("Neg", (x,), (y,), "n")
    assert (other.domain, other.overload, other.doc_string) == ("d", "o", "doc")
    assert other.origin is not None
    assert not other.origin.exact
    assert node.op_type == "Relu"
    assert origin.exact


def test_values_come_as_inputs_initializers_and_node_outputs() -> None:
    graph = parse_graph('g (float x, float[1] w = {1}) => (y) <float[1] k = {2}> { a, "" = Split(x) y = Add(a, k) }')
    assert [value.name for value in graph.values] == ["x", "w", "k", "a", "y"]


def test_the_outermost_table_answers_for_the_values_of_bodies() -> None:
    graph = parse_graph("g (bool c) => (y) { y = If (c) <then_branch = t () => (float[2] p) { p = A() }> }")
    body = body_list(graph.nodes[0])[0]
    assert graph.type(body.outputs[0]) == TensorType(DType.FLOAT, (2,))
    assert body.type(body.outputs[0]) is None


def test_captures_are_the_outer_values_in_order_of_first_read() -> None:
    graph = parse_graph(NESTED)
    then_branch, else_branch = body_list(graph.nodes[1])
    assert [value.name for value in then_branch.captures] == ["a", "k"]
    assert [value.name for value in else_branch.captures] == ["c", "x", "a"]
    assert graph.captures == ()


def test_an_output_that_is_an_outer_value_is_a_capture() -> None:
    graph = parse_graph("g (bool c, float x) => (y) { y = If (c) <then_branch = t () => (x) {}> }")
    assert body_list(graph.nodes[0])[0].captures == (graph.inputs[1],)


def test_one_spelling_of_the_default_domain_answers_for_both() -> None:
    for spelling in ("", "ai.onnx"):
        model = Model(Graph("g", (), (), ()), {spelling: 17, "d": 1})
        assert model.opset_version("") == model.opset_version("ai.onnx") == 17
    assert model.opset_version("d") == 1
    assert model.opset_version("other") is None


def test_a_call_is_matched_by_domain_name_and_overload() -> None:
    model = parse_model(
        '<opset_import: ["": 18, "d": 1]> g (x) => (y) { a = d.f(x) b = d.f:o(a) y = f(b) }'
        '<domain: "d"> f (p) => (q) { q = Neg(p) }'
        '<domain: "d", overload: "o"> f (p) => (q) { q = Abs(p) }'
    )
    found = [model.function(node) for node in model.graph.nodes]
    assert [function and function.label for function in found] == ["d::f", "d::f:o", None]


def test_a_model_is_a_context_that_closes_its_files() -> None:
    source = Source(b"bytes", "m.onnx")
    from sardonyx.ir.source import Lifetime

    lifetime = Lifetime()
    lifetime.add(source)
    with Model(Graph("g", (), (), ()), {}, lifetime=lifetime) as model:
        assert not source.closed
    assert source.closed
    model.close()


def test_nodes_and_graphs_print_on_one_line() -> None:
    graph = parse_graph('g (float x) => (y) { y, "" = d.Split(x, "") }')
    assert repr(graph) == "<Graph 'g': 1 inputs, 1 nodes, 1 outputs>"
    assert repr(graph.nodes[0]) == "<y,  = d::Split(x, )>"
    with pytest.raises(AttributeError):
        graph.nodes[0].extra = 1
