"""Rewrite, each_graph and substitute: new graphs from old ones, which stay as they were."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sardonyx.ir.attrs import Attr, AttrKind
from sardonyx.ir.graph import Declared, Graph, Model, Node, Value, body_list
from sardonyx.ir.rewrite import Rewrite, each_graph, substitute
from sardonyx.ir.source import Origin, Source
from sardonyx.ir.tensor import SparseTensor, tensor_of
from sardonyx.ir.text import parse_graph, to_text
from sardonyx.ir.types import DType, TensorType
from sardonyx.ir.verify import verify

CHAIN = "g (float[N] x) => (float[N] y) <float[N] a, float[N] b> { a = Neg(x) b = Abs(a) y = Add(a, b) }"
NESTED = """
g (bool c, float x, float z) => (y) {
   a = Neg(x)
   y = If (c) <
      then_branch = t () => (p) { p = Add(a, z) },
      else_branch = e () => (q) {
         q = If (c) <then_branch = i () => (r) { r = Abs(a) }, else_branch = j () => (s) { s = Abs(z) }>
      }
   >
}
"""


def named(graph: Graph, name: str) -> Value:
    """Return the value of a name in a graph."""
    return next(value for value in graph.values if value.name == name)


def keep_all(graph: Graph, out: Rewrite) -> Graph:
    """Keep every node."""
    for node in graph.nodes:
        out.keep(node)
    return out.finish()


# --- Rewrite


def test_keeping_everything_gives_the_same_object() -> None:
    graph = parse_graph(CHAIN)
    assert keep_all(graph, Rewrite(graph)) is graph


def test_a_node_that_is_not_kept_is_gone_with_its_types_and_declarations() -> None:
    graph = parse_graph(CHAIN)
    origin = Origin(Source(b"", "m"), 0, 0)
    told = [Declared("value_info", value.name, value, None, graph.details, origin) for value in graph.values]
    told.append(Declared("value_info", "nobody", None, None, graph.details, origin))
    graph = graph.replace(declared=tuple(told))
    out = Rewrite(graph)
    for node in (graph.nodes[0], graph.nodes[2].replace(inputs=(named(graph, "a"),) * 2)):
        out.add(node)
    result = out.finish()
    assert [value.name for value in result.types] == ["x", "y", "a"]
    assert [one.name for one in result.declared] == ["x", "a", "y", "nobody"]
    assert len(graph.nodes) == 3
    assert len(graph.types) == 4


def test_untouched_nodes_are_the_same_objects() -> None:
    graph = parse_graph(CHAIN)
    out = Rewrite(graph)
    out.alias(named(graph, "b"), named(graph, "x"))
    kept = [out.keep(graph.nodes[0]), out.keep(graph.nodes[2])]
    result = out.finish()
    assert result.nodes[0] is graph.nodes[0]
    assert list(result.nodes) == kept
    assert result.nodes[1].inputs == (named(graph, "a"), named(graph, "x"))


def test_chains_of_aliases_lead_to_their_end_in_either_order() -> None:
    graph = parse_graph("g (x) => (y) { a = F(x) b = F(a) c = F(b) y = G(a, b, c) }")
    a, b, c, x = (named(graph, name) for name in "abcx")
    for pairs in ([(c, b), (b, a), (a, x)], [(a, x), (b, a), (c, b)]):
        out = Rewrite(graph)
        for old, new in pairs:
            out.alias(old, new)
        out.keep(graph.nodes[3])
        assert out.finish().nodes[0].inputs == (x, x, x)


def test_a_long_chain_of_aliases_is_walked_once() -> None:
    values = [Value(f"v{i}") for i in range(20_000)]
    out = Rewrite(Graph("g", (), (), ()))
    for old, new in pairwise(values):
        out.alias(old, new)
    assert out.current(values[0]) is values[-1]
    assert all(out.aliases[value] is values[-1] for value in values[:-1])


def test_a_value_cannot_replace_itself() -> None:
    graph = parse_graph(CHAIN)
    a, b = named(graph, "a"), named(graph, "b")
    out = Rewrite(graph)
    out.alias(a, b)
    with pytest.raises(ValueError, match="stands for the same value"):
        out.alias(b, a)


def test_the_type_of_an_alias_passes_on_where_nothing_is_known() -> None:
    graph = parse_graph("g (x) => (y) <float[2] b> { a = F(x) b = F(a) y = F(b) }")
    out = Rewrite(graph)
    out.keep(graph.nodes[0])
    out.alias(named(graph, "b"), named(graph, "a"))
    out.keep(graph.nodes[2])
    assert out.finish().type(named(graph, "a")) == TensorType(DType.FLOAT, (2,))


def test_an_aliased_output_stays_the_same_value_behind_an_identity() -> None:
    graph = parse_graph(CHAIN)
    out = Rewrite(graph)
    out.keep(graph.nodes[0])
    out.alias(named(graph, "y"), named(graph, "a"))
    result = out.finish()
    assert result.outputs == graph.outputs
    assert (
        to_text(result)
        == "g (float[N] x) => (float[N] y)\n<\n   float[N] a\n>\n{\n   a = Neg (x)\n   y = Identity (a)\n}\n"
    )
    assert verify(result) == []


def test_two_outputs_that_come_to_be_one_value_get_an_identity_each() -> None:
    graph = parse_graph("g (x) => (y, z, y) { y = Neg(x) z = Neg(x) }")
    out = Rewrite(graph)
    for output in graph.outputs[:2]:
        out.alias(output, graph.inputs[0])
    assert [repr(node) for node in out.finish().nodes] == ["<y = Identity(x)>", "<z = Identity(x)>"]


def test_an_aliased_output_that_is_still_defined_needs_no_identity() -> None:
    graph = parse_graph("g (x) => (x, y, k) <float[1] k = {1}> { y, other = Split(x) z = Neg(y) }")
    out = Rewrite(graph)
    for value in graph.outputs:
        out.alias(value, named(graph, "other"))
    out.keep(graph.nodes[0])
    assert [node.op for node in out.finish().nodes] == ["Split"]


def test_an_alias_reaches_into_the_bodies_that_capture_the_value() -> None:
    graph = parse_graph(NESTED)
    out = Rewrite(graph)
    out.alias(named(graph, "a"), named(graph, "x"))
    out.keep(graph.nodes[1])
    result = out.finish()
    assert verify(result) == []
    outer, inner = body_list(result.nodes[0])
    assert repr(outer.nodes[0]) == "<p = Add(x, z)>"
    assert repr(body_list(inner.nodes[0])[0].nodes[0]) == "<r = Abs(x)>"
    assert body_list(inner.nodes[0])[1] is body_list(body_list(graph.nodes[1])[1].nodes[0])[1], "reads only z: shared"
    assert result.nodes[0].bodies["then_branch"] is outer, "attrs and bodies agree"


def test_interface_values_are_inputs_and_outputs() -> None:
    graph = parse_graph(CHAIN)
    out = Rewrite(graph)
    assert [value.name for value in graph.values if out.is_interface(value)] == ["x", "y"]
    assert not out.is_interface(None)


def test_constants_come_with_their_type_and_go_with_it() -> None:
    graph = parse_graph("g (x, float[1] d = {1}) => (y) <float[2] k = {1, 2}> { y = Add(x, k) }")
    out = Rewrite(graph)
    new = Value("new")
    out.add_initializer(new, tensor_of([1, 2, 3], "new"))
    out.drop_initializer(named(graph, "k"))
    out.drop_initializer(named(graph, "d"))
    out.add(graph.nodes[0].replace(inputs=(graph.inputs[0], new)))
    result = out.finish()
    assert list(result.initializers) == [new]
    assert result.type(new) == TensorType(DType.INT64, (3,))
    assert named(graph, "k") not in result.types
    assert result.type(named(graph, "d")) == TensorType(DType.FLOAT, (1,)), "still an input"
    assert len(graph.initializers) == 2


def test_sparse_constants_are_kept_apart() -> None:
    graph = Graph("g", (), (), ())
    value, sparse = Value("s"), SparseTensor(tensor_of([1.0], "s"), tensor_of([0]), (5,))
    out = Rewrite(graph)
    out.add_initializer(value, sparse)
    added = out.finish()
    assert dict(added.sparse_initializers) == {value: sparse}
    assert not added.initializers
    out = Rewrite(added)
    out.drop_initializer(value)
    assert not out.finish().sparse_initializers


def test_a_rewritten_graph_no_longer_vouches_for_its_bytes() -> None:
    graph = parse_graph(CHAIN).replace(origin=Origin(Source(b"", "m"), 0, 0))
    out = Rewrite(graph)
    out.keep(graph.nodes[0])
    assert not out.finish().origin.exact
    assert graph.origin.exact


# --- each_graph


def test_a_change_reaches_bodies_innermost_first() -> None:
    graph = parse_graph(NESTED)
    seen = []

    def look(one: Graph) -> Graph:
        seen.append(one.name)
        return one

    assert each_graph(graph, look) is graph
    assert seen == ["t", "i", "j", "e", "g"]


def test_a_model_in_which_nothing_changes_is_the_same_object() -> None:
    model = Model(parse_graph(NESTED), {})
    assert each_graph(model, lambda graph: graph) is model


def test_types_of_changed_bodies_live_in_the_outermost_table() -> None:
    graph = parse_graph(
        "g (bool c, float x) => (y) { y = If (c) <b = t () => (p) <float[1] old> { old = Neg(x) p = Abs(old) }> }"
    )
    new = Value("new")

    def renew(one: Graph) -> Graph:
        if one.name != "t":
            return one
        out = Rewrite(one)
        out.add(one.nodes[0].replace(outputs=(new,)))
        out.add(one.nodes[1].replace(inputs=(new,)))
        out.set_type(new, TensorType(DType.FLOAT, (7,)))
        return out.finish()

    result = each_graph(Model(graph, {}), renew).graph
    assert verify(result) == []
    assert result.type(new) == TensorType(DType.FLOAT, (7,))
    assert [value.name for value in result.types] == ["c", "x", "new"]
    assert not body_list(result.nodes[0])[0].types


def test_lists_of_bodies_are_rebuilt_too() -> None:
    graph = parse_graph(
        "g (x) => (y) { y = Many (x) <list = [a () => (p) { p = Neg(x) }, b () => (q) { q = Abs(x) }]> }"
    )

    def flip(one: Graph) -> Graph:
        return one if one.name != "b" else one.replace(nodes=(one.nodes[0].replace(op_type="Neg"),))

    result = each_graph(graph, flip)
    first, second = result.nodes[0].bodies["list"]
    assert first is graph.nodes[0].bodies["list"][0]
    assert second.nodes[0].op == "Neg"
    assert result.nodes[0].attrs["list"].value == (first, second)


def test_bodies_may_nest_deeper_than_python_recurses() -> None:
    x, made = Value("x"), Value("d")
    graph = Graph("inmost", (), (made,), (Node("Old", (x,), (made,)),))
    for _ in range(3000):
        made = Value("v")
        graph = Graph("g", (), (made,), (Node("If", (), (made,), {"b": Attr("b", AttrKind.GRAPH, graph)}),))
        assert graph.captures == (x,)  # kept, so that the next one out need not look inside

    def renew(one: Graph) -> Graph:
        if one.name != "inmost":
            return one
        return one.replace(nodes=(one.nodes[0].replace(op_type="New"),))

    result = each_graph(graph, renew)
    for _ in range(3000):
        result = result.nodes[0].bodies["b"]
    assert result.nodes[0].op == "New"


# --- substitute


def test_a_body_that_reads_none_of_the_values_is_the_same_object() -> None:
    graph = parse_graph(NESTED)
    body = body_list(graph.nodes[1])[0]
    assert substitute(body, {named(graph, "c"): named(graph, "x")}) is body


def test_a_captured_output_is_mapped_too() -> None:
    graph = parse_graph("g (bool c, float x, float z) => (y) { y = If (c) <then_branch = t () => (x) {}> }")
    _, x, z = graph.inputs
    assert substitute(body_list(graph.nodes[0])[0], {x: z}).outputs == (z,)


def test_omitted_inputs_stay_omitted() -> None:
    graph = parse_graph('g (float x, float z) => (y) { y = Clip(x, "", x) }')
    x, z = graph.inputs
    assert substitute(graph, {x: z}).nodes[0].inputs == (z, None, z)
