"""Fresh names: unused anywhere in the model, the same in every run."""

from __future__ import annotations

from sardonyx.ir.graph import Declared, Graph, Node, Value
from sardonyx.ir.names import Names
from sardonyx.ir.source import Origin, Source
from sardonyx.ir.text import parse_graph, parse_model

MODEL = """
<ir_version: 10, opset_import: ["" : 18, "d" : 1]>
main (float input, float[1] default = {1}) => (output) <float[1] constant = {2}> {
   [first] local = Neg(input)
   [second] output = If (local) <
      then_branch = t (float formal) => (inner) <float[1] held = {2}> { [third] inner = Abs(input) },
      else_branch = e () => (deep) { deep = Loop(input) <body = b (trip) => (deepest) { deepest = Neg(trip) }> }
   >
}
<domain: "d"> f <g: graph = default_graph () => (defaulted) { defaulted = Neg() }> (actual) => (result) {
   [fourth] body_local = Neg(actual)
   result = If (actual) <then_branch = t () => (in_function) { in_function = Neg(body_local) }>
}
"""


def test_a_name_that_nothing_uses_is_taken_as_it_is() -> None:
    names = Names(parse_graph("g (x) => (x) {}"))
    assert names.fresh("y") == "y"
    assert names.fresh("y") == "y_1"
    assert names.fresh("y") == "y_2"


def test_every_value_name_of_the_model_is_avoided() -> None:
    names = Names(parse_model(MODEL))
    values = ["input", "default", "constant", "local", "output", "formal", "inner", "held", "deep", "trip", "deepest"]
    in_functions = ["actual", "result", "body_local", "in_function", "defaulted"]
    for name in (*values, *in_functions):
        assert names.fresh(name) == f"{name}_1"


def test_a_declaration_for_a_value_that_does_not_exist_counts() -> None:
    origin = Origin(Source(b"", "m"), 0, 0)
    told = Declared("value_info", "ghost", None, None, Graph("", (), (), ()).details, origin)
    assert Names(Graph("g", (), (), (), declared=(told,))).fresh("ghost") == "ghost_1"


def test_values_without_a_definition_count() -> None:
    lost = Node("Neg", (Value("lost"),), ())
    assert Names(Graph("g", (), (Value("gone"),), (lost,))).fresh("lost") == "lost_1"
    assert Names(Graph("g", (), (Value("gone"),), (lost,))).fresh("gone") == "gone_1"


def test_node_names_are_a_namespace_of_their_own() -> None:
    names = Names(parse_model(MODEL))
    assert [names.fresh_node(name) for name in ("first", "third", "fourth", "input")] == [
        "first_1",
        "third_1",
        "fourth_1",
        "input",
    ]


def test_a_numbered_name_that_is_taken_is_passed_over() -> None:
    names = Names(parse_graph("g (a, a_1, a_3) => (a) {}"))
    assert [names.fresh("a") for _ in range(3)] == ["a_2", "a_4", "a_5"]
    assert names.fresh("a_1") == "a_1_1"


def test_an_empty_hint_gives_a_name_all_the_same() -> None:
    names = Names(parse_graph("g () => () {}"))
    assert (names.fresh(""), names.fresh_node("")) == ("value", "node")


def test_a_value_comes_with_its_fresh_name() -> None:
    names = Names(parse_graph("g (x) => (x) {}"))
    assert (names.value("x").name, names.value("x").name) == ("x_1", "x_2")


def test_many_names_from_one_hint_take_linear_time() -> None:
    names = Names(parse_graph("g (x) => (x) {}"))
    looked_up = 0

    class Counting(set[str]):
        def __contains__(self, name: object) -> bool:
            nonlocal looked_up
            looked_up += 1
            return super().__contains__(name)

    names.values = Counting(names.values)
    for _ in range(1000):
        names.fresh("x")
    assert looked_up <= 2001


def test_the_same_requests_give_the_same_names() -> None:
    def series() -> list[str]:
        names = Names(parse_model(MODEL))
        return [names.fresh(hint) for hint in ("input", "deep", "new", "input", "new")]

    assert series() == series() == ["input_1", "deep_1", "new", "input_2", "new_1"]
