"""Producers, users and positions."""

from __future__ import annotations

from sardonyx.ir.text import parse_graph

TEXT = """
g (bool c, float x) => (y, a) {
   a = Neg(x)
   b = Add(a, a)
   y = If (c, b) <then_branch = t () => (p) { p = Neg(a) }>
}
"""


def test_a_producer_is_the_node_that_defines_a_value() -> None:
    graph = parse_graph(TEXT)
    neg, add, _ = graph.nodes
    assert graph.producer(neg.outputs[0]) is neg
    assert graph.producer(add.outputs[0]) is add
    assert graph.producer(graph.inputs[0]) is None


def test_users_come_in_order_once_each_and_count_what_bodies_read() -> None:
    graph = parse_graph(TEXT)
    neg, add, choice = graph.nodes
    assert graph.users(neg.outputs[0]) == (add, choice)
    assert graph.users(graph.inputs[1]) == (neg,)


def test_a_graph_output_is_no_use() -> None:
    graph = parse_graph(TEXT)
    assert graph.users(graph.outputs[0]) == ()


def test_uses_name_the_position_or_the_capture() -> None:
    graph = parse_graph(TEXT)
    neg, add, choice = graph.nodes
    assert graph.index.uses(neg.outputs[0]) == ((add, 0), (add, 1), (choice, None))


def test_positions_are_those_in_the_list_of_nodes() -> None:
    graph = parse_graph(TEXT)
    assert [graph.index.positions[node] for node in graph.nodes] == [0, 1, 2]


def test_the_index_is_built_once() -> None:
    graph = parse_graph(TEXT)
    assert graph.index is graph.index
