"""Structural checks: one graph per fault, and the issue it gives."""

from __future__ import annotations

import pytest

from sardonyx.errors import error
from sardonyx.ir.attrs import Attr, AttrKind, AttrRef
from sardonyx.ir.graph import Function, Graph, Model, Node, Value
from sardonyx.ir.tensor import SparseTensor, tensor_of
from sardonyx.ir.text import parse_graph, parse_model
from sardonyx.ir.types import TensorType
from sardonyx.ir.verify import verify

X, Y, Z = Value("x"), Value("y"), Value("z")


def body(graph: Graph, name: str = "body") -> dict[str, Attr]:
    """Return attributes that hold one body."""
    return {name: Attr(name, AttrKind.GRAPH, graph)}


def found(graph: Graph) -> list[tuple[str, str | None, str | None, str | None]]:
    """Return code, graph path, node and value of every issue."""
    return [(one.code, one.place.graph, one.place.node, one.place.value) for one in verify(graph)]


def test_a_sound_model_has_no_issues() -> None:
    text = """
    <ir_version: 10, opset_import: ["" : 18, "d" : 1]>
    g (bool c, float x, float[1] k = {1}) => (x, y) <float[1] w = {2}> {
       a = Neg(x)
       y = If (c) <then_branch = t () => (p) { q = Add(a, w) p = d.f(q) }, else_branch = e () => (q) { q = Neg(k) }>
    }
    <domain: "d"> f <n> (x) => (y) { y = Neg <axis = @n> (x) }
    """
    assert verify(parse_model(text)) == []


def test_an_input_that_nothing_defines() -> None:
    graph = Graph("g", (X,), (Y,), (Node("Add", (X, Z), (Y,), name="n"),))
    assert found(graph) == [("value-undefined", None, "node 'n' (Add)", "z")]


def test_an_output_that_nothing_defines() -> None:
    assert found(Graph("g", (X,), (Y,), ())) == [("value-undefined", None, None, "y")]


def test_a_node_before_the_one_it_needs() -> None:
    graph = Graph("g", (X,), (Z,), (Node("Neg", (Y,), (Z,)), Node("Neg", (X,), (Y,))))
    assert found(graph) == [("not-sorted", None, "node 0 (Neg)", "y")]


def test_a_node_that_reads_its_own_output() -> None:
    assert found(Graph("g", (), (Y,), (Node("Neg", (Y,), (Y,)),))) == [("not-sorted", None, "node 0 (Neg)", "y")]


def test_a_body_that_reads_an_outer_value_too_early() -> None:
    reads = Graph("b", (), (Z,), (Node("Neg", (Y,), (Z,)),))
    graph = Graph("g", (), (Y,), (Node("If", (), (Y,), body(reads)),))
    assert found(graph) == [("not-sorted", "node 0 (If).body", "node 0 (Neg)", "y")]


def test_a_value_of_a_body_read_outside() -> None:
    inner = Graph("b", (), (Z,), (Node("Rand", (), (Z,)),))
    graph = Graph("g", (), (X,), (Node("If", (), (Y,), body(inner)), Node("Neg", (Z,), (X,))))
    assert found(graph) == [("out-of-scope", None, "node 1 (Neg)", "z")]


def test_a_value_of_a_body_read_in_its_sibling() -> None:
    first = Graph("a", (), (Z,), (Node("Rand", (), (Z,)),))
    second = Graph("b", (), (X,), (Node("Neg", (Z,), (X,)),))
    pair = {"list": Attr("list", AttrKind.GRAPHS, (first, second))}
    graph = Graph("g", (), (Y,), (Node("If", (), (Y,), pair),))
    assert found(graph) == [("out-of-scope", "node 0 (If).list[1]", "node 0 (Neg)", "z")]


@pytest.mark.parametrize(
    "graph",
    [
        Graph("g", (X, X), (), ()),
        Graph("g", (X, Value("x")), (), ()),
        Graph("g", (X,), (), (Node("Rand", (), (X,)),)),
        Graph("g", (X,), (), (Node("Rand", (), (Value("x"),)),)),
        Graph("g", (), (), (Node("Rand", (), (X, X)),)),
        Graph("g", (), (), (), {X: tensor_of([1])}, {X: SparseTensor(tensor_of([1]), tensor_of([0]), (2,))}),
        Graph("g", (X,), (), (), {Value("x"): tensor_of([1])}),
    ],
)
def test_a_second_definition(graph: Graph) -> None:
    assert [(code, value) for code, _, _, value in found(graph)] == [("value-twice", "x")]


def test_a_value_defined_in_two_graphs() -> None:
    one = Graph("a", (), (Z,), (Node("Rand", (), (Z,)),))
    two = Graph("b", (), (Z,), (Node("Rand", (), (Z,)),))
    graph = Graph("g", (), (Y,), (Node("If", (), (Y,), body(one, "a") | body(two, "b")),))
    assert found(graph) == [("value-twice", "node 0 (If).b", "node 0 (Rand)", "z")]


def test_siblings_may_use_the_same_names() -> None:
    text = "g (bool c) => (y) { y = If (c) <a = a () => (p) { p = R() }, b = b () => (p) { p = R() }> p = R() }"
    assert verify(parse_graph(text)) == []


def test_a_body_that_hides_an_outer_name() -> None:
    graph = parse_graph("g (bool c, float x) => (y) { y = If (c) <b = b () => (x) { x = R() }> z = Neg(x) }")
    (issue,) = verify(graph)
    assert (issue.code, issue.severity) == ("name-shadowed", "warning")
    assert str(issue.place) == "node 0 (If).b, node 0 (R), value 'x'"


def test_a_body_may_use_the_name_of_a_value_that_comes_later() -> None:
    assert verify(parse_graph("g (bool c) => (y) { y = If (c) <b = b () => (y) { y = R() }> }")) == []


def test_a_body_that_outputs_an_outer_value() -> None:
    graph = parse_graph("g (bool c, float x) => (y) { y = If (c) <b = b () => (x) {}> }")
    (issue,) = verify(graph)
    assert (issue.code, issue.severity, issue.place.graph) == ("captured-output", "warning", "node 0 (If).b")


def test_a_type_of_a_value_that_no_graph_defines() -> None:
    (issue,) = verify(Graph("g", (X,), (X,), (), types={X: TensorType(), Y: TensorType()}))
    assert (issue.code, issue.severity, issue.place.value) == ("type-stray", "warning", "y")


def test_a_reference_to_an_attribute_outside_of_a_function() -> None:
    node = Node("Neg", (X,), (Y,), {"axis": AttrRef("axis", AttrKind.INT, "n")})
    (issue,) = verify(Graph("g", (X,), (Y,), (node,)))
    assert (issue.code, issue.place.attribute) == ("reference-outside-function", "axis")
    function = Function("d", "f", "", ("x",), ("y",), ("n",), {}, {}, Graph("f", (X,), (Y,), (node,)))
    assert verify(Model(Graph("g", (), (), ()), {}, {function.key: function})) == []


def test_the_faults_of_a_function_are_told_with_its_name() -> None:
    fault = error("value-undefined", "it is defined nowhere", value="q").issue
    faulty = Function("d", "f", "", (), (), (), {}, {}, Graph("f", (), (), ()), (fault,))
    broken = Function("d", "h", "o", (), (), (), {}, {}, Graph("h", (), (Y,), ()))
    model = Model(Graph("g", (), (), ()), {}, {faulty.key: faulty, broken.key: broken}, source="m.onnx")
    assert [str(issue.place) for issue in verify(model)] == [
        "m.onnx: function d::f, value 'q'",
        "m.onnx: function d::h:o, value 'y'",
    ]


def test_a_value_without_a_name_is_no_fault() -> None:
    graph = Graph("g", (), (Y,), (Node("R", (), (first := Value(""),)), Node("R", (first,), (Value(""), Y))))
    assert verify(graph) == []


def test_several_faults_are_all_told_in_order() -> None:
    inner = Graph("b", (), (Z,), (Node("Neg", (Value("u"),), (Z,)), Node("R", (), (Z,))))
    graph = Graph("g", (X, X), (Value("w"),), (Node("If", (Value("v"),), (Y,), body(inner)),))
    assert [(code, value) for code, _, _, value in found(graph)] == [
        ("value-twice", "x"),
        ("value-undefined", "v"),
        ("value-undefined", "u"),
        ("value-twice", "z"),
        ("value-undefined", "w"),
    ]


def test_bodies_may_nest_deeper_than_python_recurses() -> None:
    inner = Graph("b", (), (Z,), (Node("Neg", (Y,), (Z,)),))
    for i in range(3000):
        made = Value(f"v{i}")
        inner = Graph("b", (), (made,), (Node("If", (), (made,), body(inner)),))
    assert [code for code, *_ in found(inner)] == ["value-undefined"]


def test_places_of_nested_bodies_read_from_the_outside_in() -> None:
    text = "g (c) => (y) { y = If (c) <b = b () => (p) { [in] p = If (c) <d = d () => (c) {}> }> }"
    (issue,) = verify(parse_graph(text))
    assert issue.place.graph == "node 0 (If).b > node 'in' (If).d"
