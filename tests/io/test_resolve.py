"""Names to values: scopes, captures, order, consumers."""

from __future__ import annotations

import random

import pytest
from onnx import GraphProto, SparseTensorProto, TensorProto, helper

import sardonyx as sx
from tests.io.graphs import constant, graph, info, load, model, names, node, refused

CONDITION = info("c", (), TensorProto.BOOL)


def sparse(name: str) -> SparseTensorProto:
    """A sparse initializer."""
    return SparseTensorProto(values=constant(name, 1.0), indices=helper.make_tensor("", 7, [1], [3]), dims=[8])


def branch(*nodes: object, outputs: str = "r", **fields: object) -> GraphProto:
    """A body without inputs."""
    return graph(*nodes, inputs="", outputs=outputs, **fields)  # type: ignore[arg-type]


def choose(then: GraphProto, other: GraphProto | None = None, outputs: str = "y", name: str = "choice") -> object:
    """An If with these branches."""
    return node("If", "c", outputs, name=name, then_branch=then, else_branch=then if other is None else other)


def with_body(then: GraphProto, *nodes: object, before: tuple[object, ...] = (), **fields: object) -> GraphProto:
    """A graph with an If, and nodes before and after it."""
    return graph(*before, choose(then), *nodes, inputs=[CONDITION, info("x")], **fields)  # type: ignore[arg-type]


def the_body(loaded: sx.Model) -> sx.Graph:
    """The first body of a model."""
    return next(one for one in loaded.graph.nodes if one.bodies).bodies["then_branch"]


# --- definitions


def test_g01_an_input_needs_a_name():
    refused("input-unnamed", graph(node("Relu", "x", "y"), inputs=[info("x"), info("")]))


def test_g02_two_inputs_may_not_share_a_name():
    assert refused("value-twice", graph(node("Relu", "x", "y"), inputs="x x")).place.value == "x"


@pytest.mark.parametrize("ir", [3, 4, 10])
def test_g03_an_initializer_named_like_an_input_is_its_default(ir):
    main = graph(node("Add", "x w", "y"), inputs="x w", initializers=(constant("w", 1.0, 2.0),))
    found = load(model(main, ir=ir)).graph
    assert names(found.inputs) == ["x", "w"]
    assert list(found.initializers) == [found.inputs[1]]
    assert len(found.values) == 3


def test_g04_an_input_has_one_default():
    twice = (constant("w", 1.0), constant("w", 2.0))
    refused("value-twice", graph(node("Add", "x w", "y"), inputs="x w", initializers=twice))


def test_g05_two_initializers_may_not_share_a_name():
    refused("value-twice", graph(node("Add", "x w", "y"), initializers=(constant("w", 1.0), constant("w", 1.0))))


def test_g06_an_initializer_needs_a_name():
    refused("initializer-unnamed", graph(node("Relu", "x", "y"), initializers=(constant("", 1.0),)))
    made = graph(node("Relu", "x", "y"))
    made.sparse_initializer.append(sparse(""))
    refused("initializer-unnamed", made)


@pytest.mark.parametrize("taken", ["x", "w", "s"])
def test_g07_a_sparse_initializer_may_not_repeat_any_name(taken):
    made = graph(node("Relu", "x", "y"), initializers=(constant("w", 1.0),))
    made.sparse_initializer.extend([sparse("s"), sparse(taken)])
    refused("value-twice", made)


@pytest.mark.parametrize("taken", ["x", "w", "t", "s"])
def test_g08_a_node_output_may_not_repeat_a_name(taken):
    made = graph(
        node("Relu", "x", "t"),
        node("Relu", "x", taken, name="second"),
        node("Relu", "x", "y"),
        initializers=(constant("w", 1.0),),
    )
    made.sparse_initializer.append(sparse("s"))
    error = refused("value-twice", made)
    assert (error.place.node, error.place.value) == ("node 'second' (Relu)", taken)
    refused("value-twice", graph(node("Split", "x", "t t"), outputs="t"))


def test_g09_an_empty_output_name_gives_no_value_and_may_repeat():
    found = load(graph(node("LSTM", "x", "- - y"), node("Foo", "x", "- -"), node("Relu", "y", "z"), outputs="z")).graph
    assert names(found.nodes[0].outputs) == [None, None, "y"]
    assert names(found.values) == ["x", "y", "z"]


def test_g10_an_empty_input_name_keeps_its_position():
    found = load(graph(node("Clip", "x - m", "y"), initializers=(constant("m", 1.0),))).graph
    assert names(found.nodes[0].inputs) == ["x", None, "m"]


def test_g11_values_are_inputs_initializers_sparse_initializers_node_outputs():
    made = graph(
        node("Relu", "x", "t"),
        node("Split", "t", "y z"),
        inputs="x w",
        initializers=(constant("v", 1.0), constant("w", 1.0)),
    )
    made.sparse_initializer.append(sparse("s"))
    assert names(load(made).graph.values) == ["x", "w", "v", "s", "t", "y", "z"]


# --- references


def test_g12_an_undefined_input_is_refused_naming_the_node():
    error = refused("value-undefined", graph(node("Add", "x nowhere", "y", name="sum")))
    assert (error.place.node, error.place.value) == ("node 'sum' (Add)", "nowhere")
    assert "input 1" in error.message
    assert error.path == "ModelProto.graph.node[0]"


def test_g13_an_undefined_graph_output_is_refused():
    error = refused("value-undefined", graph(node("Relu", "x", "y"), outputs="nowhere"))
    assert "graph output" in error.message
    assert error.path == "ModelProto.graph.output[0]"


def test_g14_a_graph_output_may_be_an_input_or_an_initializer():
    found = load(graph(outputs="x w", initializers=(constant("w", 1.0),))).graph
    assert found.outputs == (found.inputs[0], next(iter(found.initializers)))


def test_g15_a_graph_output_needs_a_name():
    refused("output-unnamed", graph(node("Relu", "x", "y"), outputs=[info("y"), info("")]))


def test_g16_an_unnamed_node_is_named_by_position_and_operator():
    error = refused("value-undefined", graph(node("Relu", "x", "t"), node("Add", "t no", "y")))
    assert error.place.node == "node 1 (Add)"


# --- scopes


def test_g17_a_body_sees_inputs_initializers_and_node_outputs_around_it():
    inner = branch(node("Sum", "x w t", "r"))
    loaded = load(with_body(inner, before=(node("Relu", "x", "t"),), initializers=(constant("w", 1.0),)))
    main, body = loaded.graph, the_body(loaded)
    assert body.nodes[0].inputs == (main.inputs[1], next(iter(main.initializers)), main.nodes[0].outputs[0])


def test_g18_a_body_sees_values_of_nodes_later_in_the_file():
    loaded = load(with_body(branch(node("Relu", "late", "r")), node("Neg", "x", "late")))
    assert [one.op_type for one in loaded.graph.nodes] == ["Neg", "If"]
    assert loaded.graph.nodes_were_reordered


def test_g19_an_inner_definition_shadows_an_outer_one():
    inner = branch(node("Neg", "x", "t"), node("Relu", "t", "r"))
    loaded = load(with_body(inner, before=(node("Relu", "x", "t"),)))
    body, outer = the_body(loaded), loaded.graph.nodes[0]
    assert body.nodes[1].inputs == body.nodes[0].outputs
    assert outer.outputs[0] not in body.captures
    assert loaded.graph.users(outer.outputs[0]) == ()


def test_g20_captures_are_the_outer_values_read_each_once_in_order_of_first_read():
    inner = branch(node("Sum", "b a b", "t"), node("Sum", "t x a", "r"))
    loaded = load(with_body(inner, before=(node("Relu", "x", "a"), node("Neg", "x", "b"))))
    assert names(the_body(loaded).captures) == ["b", "a", "x"]


def test_g21_a_capture_through_two_levels_appears_at_both():
    deep = branch(node("Relu", "x", "q"), outputs="q")
    middle = branch(node("If", "c", "r", then_branch=deep, else_branch=deep))
    loaded = load(with_body(middle))
    outer = the_body(loaded)
    assert names(outer.captures) == ["c", "x"]
    assert names(outer.nodes[0].bodies["then_branch"].captures) == ["x"]
    assert loaded.graph.captures == ()


def test_g22_a_value_that_a_body_only_outputs_counts_as_captured():
    loaded = load(with_body(branch(outputs="x")))
    assert names(the_body(loaded).captures) == ["x"]
    assert loaded.graph.users(loaded.graph.inputs[1]) == loaded.graph.nodes


def test_g23_lists_of_graphs_resolve_too():
    bodies = [branch(node("Relu", "x", "r")), branch(node("Neg", "x", "r"))]
    loaded = load(graph(node("Foo", "", "y", bodies=bodies)))
    found = loaded.graph.nodes[0].bodies["bodies"]
    assert [one.nodes[0].inputs[0] for one in found] == [loaded.graph.inputs[0]] * 2


def test_g24_sibling_bodies_do_not_see_each_other():
    error = refused(
        "value-undefined",
        graph(
            choose(branch(node("Relu", "x", "r")), branch(node("Neg", "r", "q"), outputs="q")),
            inputs=[CONDITION, info("x")],
        ),
    )
    assert error.place.graph == "node 'choice' (If).else_branch"


def test_g25_a_body_that_reads_its_own_nodes_output_is_a_cycle():
    refused("cycle", with_body(branch(node("Relu", "y", "r"))))


def test_g26_names_of_a_body_do_not_leak_out():
    refused("value-undefined", with_body(branch(node("Relu", "x", "r")), node("Relu", "r", "z")))


def test_g27_an_initializer_of_a_body_is_the_default_of_its_input():
    body = graph(node("Add", "i w", "r"), inputs="i w", outputs="r", initializers=(constant("w", 1.0),))
    found = load(graph(node("Foo", "x", "y", body=body))).graph.nodes[0].bodies["body"]
    assert list(found.initializers) == [found.inputs[1]]


def test_siblings_may_use_one_name_for_values_of_their_own():
    loaded = load(
        graph(choose(branch(node("Relu", "x", "r")), branch(node("Neg", "x", "r"))), inputs=[CONDITION, info("x")])
    )
    bodies = loaded.graph.nodes[0].bodies
    assert bodies["then_branch"].outputs[0] is not bodies["else_branch"].outputs[0]


def test_a_domain_must_be_imported_for_nodes_of_bodies_too():
    error = refused("domain-not-imported", with_body(branch(node("Foo", "x", "r", domain="d"))))
    assert error.place.graph == "node 'choice' (If).then_branch"


# --- order


def order_of(main: GraphProto) -> list[str]:
    """Node names in graph order."""
    return [one.name for one in load(main).graph.nodes]


def test_g40_a_sorted_file_keeps_its_order():
    main = graph(node("Relu", "x", "b", "2"), node("Neg", "x", "a", "1"), node("Add", "a b", "y", "3"))
    assert order_of(main) == ["2", "1", "3"]
    assert not load(main).graph.nodes_were_reordered


def test_g41_otherwise_the_ready_node_of_smallest_file_index_goes_first():
    diamond = graph(
        node("Add", "l r", "y", "bottom"),
        node("Neg", "t", "r", "right"),
        node("Abs", "t", "l", "left"),
        node("Relu", "x", "t", "top"),
        node("Foo", "x", "z", "free"),
    )
    assert order_of(diamond) == ["top", "right", "left", "bottom", "free"]


def test_g42_the_flag_tells_whether_the_order_changed():
    assert load(graph(node("Neg", "t", "y"), node("Relu", "x", "t"))).graph.nodes_were_reordered
    assert not load(graph(node("Relu", "x", "t"), node("Neg", "t", "y"))).graph.nodes_were_reordered


def test_g43_what_a_body_reads_orders_its_node():
    late = with_body(branch(node("Relu", "t", "r")), node("Neg", "x", "t", "needed"))
    assert order_of(late) == ["needed", "choice"]


@pytest.mark.parametrize(
    "nodes",
    [
        (node("Relu", "b", "a"), node("Relu", "a", "b"), node("Add", "a x", "y")),
        (node("Add", "a x", "a", name="self"), node("Relu", "a", "y")),
    ],
    ids=["two nodes", "one node"],
)
def test_g44_a_cycle_is_refused(nodes):
    assert "->" in refused("cycle", graph(*nodes)).message


def test_g44_a_cycle_through_a_body_is_refused():
    refused("cycle", with_body(branch(node("Relu", "t", "r")), node("Neg", "y", "t")))


def test_g45_a_body_is_sorted_with_a_flag_of_its_own():
    loaded = load(with_body(branch(node("Neg", "t", "r", "late"), node("Relu", "x", "t", "early"))))
    body = the_body(loaded)
    assert [one.name for one in body.nodes] == ["early", "late"]
    assert body.nodes_were_reordered
    assert not loaded.graph.nodes_were_reordered


def test_g46_a_long_chain_in_reverse_sorts_without_recursion():
    count = 100_000
    made = GraphProto()
    made.input.append(info("v0"))
    made.output.append(info(f"v{count}"))
    for at in range(count - 1, -1, -1):
        made.node.add(op_type="Relu", input=[f"v{at}"], output=[f"v{at + 1}"])
    found = load(made).graph
    assert [one.outputs[0].name for one in found.nodes[:2]] == ["v1", "v2"]
    assert found.nodes[-1].outputs == found.outputs
    assert found.nodes_were_reordered


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_a_files_nodes_gives_a_topological_one(seed):
    chance = random.Random(seed)
    nodes = [
        node("Sum", " ".join(f"v{chance.randrange(at)}" for _ in range(2)), f"v{at}", str(at)) for at in range(1, 40)
    ]
    chance.shuffle(nodes)
    found = load(graph(*nodes, inputs="v0", outputs="v39")).graph
    seen = set(found.inputs)
    for one in found.nodes:
        assert seen.issuperset(one.inputs)
        seen.update(one.outputs)


# --- consumers


def test_g47_users_come_in_order_and_a_node_counts_once():
    found = load(graph(node("Add", "x x", "t"), node("Neg", "x", "u"), node("Add", "t u", "y"))).graph
    assert found.users(found.inputs[0]) == found.nodes[:2]
    assert found.index.uses(found.inputs[0]) == ((found.nodes[0], 0), (found.nodes[0], 1), (found.nodes[1], 0))


def test_g48_a_reader_in_a_body_counts_as_the_node_that_holds_it():
    loaded = load(with_body(branch(node("Relu", "x", "r")), node("Neg", "x", "z")))
    main = loaded.graph
    assert main.users(main.inputs[1]) == main.nodes
    assert main.index.uses(main.inputs[1])[0] == (main.nodes[0], None)


def test_g49_graph_outputs_are_not_users():
    found = load(graph(node("Relu", "x", "y"))).graph
    assert found.users(found.outputs[0]) == ()


# --- limits and collecting


def test_the_number_of_nodes_can_be_limited_bodies_counted():
    main = with_body(branch(node("Relu", "x", "r")))
    load(main, limits=sx.Limits(max_nodes=3))
    with pytest.raises(sx.OnnxError) as caught:
        load(main, limits=sx.Limits(max_nodes=2))
    assert (caught.value.kind.value, caught.value.code) == ("Unsupported", "limit-exceeded")


def test_check_reports_faults_in_three_graphs_at_once():
    bad = branch(node("Relu", "x", "r"), node("Relu", "x", "r"))
    other = branch(node("Relu", "x", "r"), initializers=(helper.make_tensor("w", 1, [2], [1.0, 2.0]),))
    other.initializer[0].dims[0] = 3
    main = graph(choose(bad, other), node("Add", "x missing", "z"), inputs=[CONDITION, info("x")])
    found = sx.check(model(main).SerializeToString())
    assert sorted(issue.code for issue in found if issue.severity == "error") == [
        "data-length",
        "value-twice",
        "value-undefined",
    ]
    assert len({issue.place.graph for issue in found if issue.code != "data-length"}) == 2


def test_check_of_a_clean_model_is_empty():
    assert sx.check(model(graph(node("Relu", "x", "y"))).SerializeToString()) == []


def test_check_tells_equal_faults_of_each_node_and_value_apart():
    empty = helper.make_node("Custom", ["x"], ["y"], name="first")
    empty.attribute.add(name="a")
    again = type(empty)()
    again.CopyFrom(empty)
    again.name, again.output[0] = "second", "z"
    main = graph(empty, again, inputs="x w")
    for value in main.input:
        value.type.tensor_type.elem_type = 99
    found = [
        (issue.code, issue.place.path, issue.place.node or issue.place.value)
        for issue in sx.check(model(main).SerializeToString())
        if issue.code in ("attribute-empty", "element-type-unknown")
    ]
    assert found == [
        ("attribute-empty", "ModelProto.graph.node[0].attribute[0]", "node 'first' (Custom)"),
        ("attribute-empty", "ModelProto.graph.node[1]", "node 'second' (Custom)"),
        ("element-type-unknown", "ModelProto.graph.input[0].type", "x"),
        ("element-type-unknown", "ModelProto.graph.input[1]", "w"),
    ]
