"""The whole of a model: versions, imports, functions."""

from __future__ import annotations

import pytest
from onnx import AttributeProto, FunctionProto, ModelProto, helper

import sardonyx as sx
from tests.io.graphs import constant, graph, load, model, names, node, refused
from tests.wire.bytes_of import number, payload

RELU = graph(node("Relu", "x", "y"))


def test_a01_a_model_needs_an_ir_version():
    bare = model(RELU)
    bare.ClearField("ir_version")
    assert refused("no-ir-version", bare).path == "ModelProto"


def test_a02_an_ir_version_before_3_is_refused():
    for version in (2, 0, -1):
        refused("ir-version-too-old", model(RELU, ir=version))


def test_a03_ir_version_3_is_the_oldest_that_loads():
    assert load(model(RELU, ir=3)).ir_version == 3


def test_a04_a_far_future_version_loads_and_its_new_fields_are_skipped():
    data = model(RELU, ir=9999).SerializeToString() + payload(99, b"news") + number(100, 7)
    loaded = sx.load(data)
    assert loaded.ir_version == 9999
    assert sx.to_bytes(loaded) == data


def test_a05_a_model_needs_a_graph():
    bare = model(RELU)
    bare.ClearField("graph")
    refused("no-graph", bare)


def test_a06_an_empty_graph_is_a_graph():
    empty = ModelProto(ir_version=8)
    empty.graph.SetInParent()
    loaded = load(empty)
    assert (loaded.graph.nodes, loaded.graph.values) == ((), ())


def test_w50_an_empty_file_is_protobuf_but_no_model():
    error = refused("no-ir-version", b"")
    assert "empty" in error.message


def test_g28_the_empty_domain_and_ai_onnx_are_one():
    for imported, used in (("", "ai.onnx"), ("ai.onnx", ""), ("ai.onnx", "ai.onnx")):
        loaded = load(model(graph(node("Relu", "x", "y", domain=used)), opsets={imported: 17}))
        assert loaded.opset_version("") == loaded.opset_version("ai.onnx") == 17
        assert loaded.graph.nodes[0].op == "Relu"
        assert list(loaded.opset_imports) == [imported]  # the model's spelling stays


def test_g29_a_node_of_a_domain_that_is_not_imported_is_refused_by_name():
    error = refused("domain-not-imported", graph(node("Foo", "x", "y", name="foo", domain="my.domain")))
    assert error.place.node == "node 'foo' (Foo)"
    assert "'my.domain'" in error.message
    assert error.path == "ModelProto.graph.node[0]"


def test_g30_an_opset_version_is_known_per_domain():
    loaded = load(model(graph(node("Foo", "x", "y", domain="d")), opsets={"": 18, "d": 3}))
    assert (loaded.opset_version("d"), loaded.opset_version(""), loaded.opset_version("other")) == (3, 18, None)


def test_g31_a_model_without_imports_and_nodes_loads():
    assert load(model(graph(outputs="x"), opsets={})).opset_imports == {}


def test_g32_one_domain_imported_twice_must_have_one_version():
    def twice(*imports: tuple[str, int]) -> ModelProto:
        made = model(RELU, opsets={})
        for domain, version in imports:
            made.opset_import.add(domain=domain, version=version)
        return made

    assert load(twice(("", 18), ("ai.onnx", 18))).opset_version("") == 18
    assert load(twice(("", 18), ("", 18))).opset_version("") == 18
    for pair in ((("", 18), ("ai.onnx", 19)), (("d", 1), ("d", 2))):
        refused("opset-conflict", twice(("", 18), *pair))


def function(name: str = "f", nodes: tuple[object, ...] = (), **fields: object) -> FunctionProto:
    """A function of domain `fn` with one input and one output."""
    made = FunctionProto(name=name, domain="fn", input=["a"], output=["b"])
    made.node.extend(nodes or (node("Relu", "a", "b"),))
    made.opset_import.add(domain="", version=21)
    for key, value in fields.items():
        field = getattr(made, key)
        field.extend(value) if hasattr(field, "extend") else setattr(made, key, value)
    return made


def test_g33_a_function_body_is_not_resolved_until_it_is_asked_for():
    odd = function(nodes=(node("Foo", "nowhere", "b", domain="unheard.of"),))
    loaded = load(model(RELU, odd))
    (found,) = loaded.functions.values()
    assert names(found.nodes[0].inputs) == ["nowhere"]
    assert [fault.code for fault in found.faults] == ["value-undefined", "domain-not-imported"]
    with pytest.raises(sx.OnnxError) as caught:
        found.graph  # noqa: B018
    assert caught.value.code == "value-undefined"
    assert caught.value.place.graph == "function fn::f"


def test_g50_functions_are_kept_as_written():
    default = helper.make_attribute("alpha", 0.5)
    call = node("f", "x", "y", domain="fn")
    body = (
        node("Relu", "a", "t"),
        node("Elu", "t", "b", alpha=AttributeProto(name="alpha", ref_attr_name="alpha", type=1)),
    )
    made = function(nodes=body, attribute=["k"], attribute_proto=[default], overload="o")
    loaded = load(model(graph(call), made, opsets={"": 21, "fn": 1}))
    (found,) = loaded.functions.values()
    assert (found.domain, found.name, found.overload) == ("fn", "f", "o")
    assert (found.inputs, found.outputs, found.attributes) == (("a",), ("b",), ("k",))
    assert {name: attr.value for name, attr in found.defaults.items()} == {"alpha": 0.5}
    assert [one.op_type for one in found.nodes] == ["Relu", "Elu"]
    assert found.nodes[1].attrs["alpha"].ref == "alpha"
    assert found.opset_imports == {"": 21}
    assert [one.op_type for one in loaded.graph.nodes] == ["f"]  # not expanded
    assert found.graph.outputs == found.nodes[1].outputs


def test_g51_two_functions_may_not_share_domain_name_and_overload():
    refused("function-twice", model(RELU, function(), function()))
    aliases = [function(), function()]
    aliases[0].domain, aliases[1].domain = "", "ai.onnx"
    refused("function-twice", model(RELU, *aliases))
    loaded = load(model(RELU, function(overload="1"), function(overload="2")))
    assert list(loaded.functions) == [("fn", "f", "1"), ("fn", "f", "2")]


def test_a_call_finds_its_function_by_the_whole_key():
    loaded = load(model(graph(node("f", "x", "y", domain="fn")), function(), opsets={"": 21, "fn": 1}))
    call = loaded.graph.nodes[0]
    assert loaded.function(call) is loaded.functions["fn", "f", ""]
    assert loaded.function(call.replace(overload="other")) is None


def test_a_default_that_holds_a_graph_is_resolved_on_its_own():
    inner = graph(node("Relu", "c", "d"), inputs="", outputs="d", initializers=(constant("c", 1.0),))
    loaded = load(model(RELU, function(attribute_proto=[helper.make_attribute("body", inner)])))
    (found,) = loaded.functions.values()
    assert found.faults == ()
    assert found.defaults["body"].value.nodes[0].op == "Relu"


def test_documentation_and_metadata_are_read_when_asked_for():
    made = model(RELU)
    made.doc_string = "what it is"
    made.metadata_props.add(key="k", value="first")
    made.metadata_props.add(key="k", value="last")
    made.graph.node[0].doc_string = "a node"
    made.graph.node[0].metadata_props.add(key="from", value="here")
    loaded = load(made)
    assert (loaded.doc_string, loaded.metadata) == ("what it is", {"k": "last"})
    assert (loaded.graph.nodes[0].doc_string, loaded.graph.nodes[0].metadata) == ("a node", {"from": "here"})
    assert (loaded.graph.doc_string, loaded.graph.metadata) == ("", {})
