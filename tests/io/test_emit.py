"""Models as messages: what is unchanged is copied, what is encoded keeps what the graph does not model."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sardonyx as sx
from sardonyx.errors import OnnxError
from sardonyx.io import emit_nodes
from sardonyx.io.emit import emit
from sardonyx.io.save import to_bytes
from sardonyx.ir.attrs import AttrKind
from sardonyx.ir.graph import NOTHING, Written
from sardonyx.ir.tensor import tensor_of
from tests.io.everything import everything, ordered, spice
from tests.io.touched import touched
from tests.wire.bytes_of import number, payload

onnx = pytest.importorskip("onnx")
from onnx import ModelProto, TensorProto, helper, parser  # noqa: E402

TEXT = """
<ir_version: 10, opset_import: ["" : 21]>
main (float[n, 4] x) => (float[n, 4] z) <float[2] w = {1, 2}> {
    y = Relu(x)
    z = Neg(y)
}
"""


def parsed(text: str = TEXT) -> ModelProto:
    return parser.parse_model(text)


def loaded(proto: ModelProto | bytes) -> sx.Model:
    return sx.load(proto if isinstance(proto, bytes) else proto.SerializeToString())


def written(model: sx.Model) -> ModelProto:
    """The model as the onnx package reads what was written."""
    return ModelProto.FromString(to_bytes(model))


def nodes_changed(model: sx.Model, *nodes: sx.Node) -> sx.Model:
    return model.replace(graph=model.graph.replace(nodes=nodes))


# --- unchanged models


def test_a_model_with_every_field_is_written_back_byte_for_byte() -> None:
    data = everything().SerializeToString()
    assert to_bytes(sx.load(data)) == data


def test_every_corpus_model_is_written_back_byte_for_byte(shared: Path) -> None:
    for path in sorted((shared / "corpus").glob("*.onnx")):
        with sx.load(path, external_data="lazy") as model:
            assert to_bytes(model) == path.read_bytes(), path.name


def test_models_of_the_backend_test_suite_are_written_back_byte_for_byte() -> None:
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data"
    paths = sorted(folder.rglob("model.onnx"))
    assert len(paths) > 100
    for path in paths:
        with sx.load(path) as model:
            assert to_bytes(model) == path.read_bytes(), path


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_unknown_fields_and_wrong_wire_types_are_kept_at_every_level(seed: int) -> None:
    data = spice(everything().SerializeToString(), Random(seed))
    assert ordered(to_bytes(sx.load(data))) == ordered(data)


def test_unchanged_nodes_become_one_range_of_the_file() -> None:
    proto = parsed()
    for i in range(1000):
        proto.graph.node.append(helper.make_node("Relu", ["x"], [f"r{i}"]))
    chunks, _ = emit(loaded(proto))
    assert len(chunks.parts) < 20


def test_reordered_nodes_are_written_in_topological_order() -> None:
    proto = parsed()
    first, second = proto.graph.node
    del proto.graph.node[:]
    proto.graph.node.extend([second, first])
    proto.graph.doc_string = "kept"
    again = written(loaded(proto))
    assert [node.op_type for node in again.graph.node] == ["Relu", "Neg"]
    assert again.graph.doc_string == "kept"


def test_a_value_beside_a_reference_and_a_negative_dim_stay_though_they_are_ignored() -> None:
    proto = everything()
    assert proto.functions[0].node[0].attribute[-1].f == 2.0
    assert proto.graph.input[0].type.tensor_type.shape.dim[2].dim_value == -1
    assert written(loaded(proto)) == proto


# --- fields given twice


def test_of_a_singular_field_given_twice_only_the_last_is_written() -> None:
    data = parsed().SerializeToString()
    twice = number(1, 3) + payload(2, b"old producer") + data + payload(2, b"new") + payload(31, b"unknown")
    again = to_bytes(sx.load(twice))
    assert b"old producer" not in again
    assert again.endswith(payload(31, b"unknown"))
    proto = ModelProto.FromString(again)
    assert (proto.ir_version, proto.producer_name) == (10, "new")


def test_a_message_given_twice_is_replaced_not_merged_also_deep_inside_an_unchanged_node() -> None:
    before = payload(1, b"t") + payload(5, TensorProto(name="old", dims=[0]).SerializeToString())
    after = payload(5, TensorProto(data_type=1, dims=[0]).SerializeToString())
    node = payload(2, b"new") + payload(4, b"Op") + payload(5, before + payload(77, b"unknown") + after + number(20, 4))
    proto = parsed()
    graph = payload(7, payload(1, node) + proto.graph.SerializeToString())
    proto.ClearField("graph")
    again = to_bytes(sx.load(proto.SerializeToString() + graph))
    [found] = ModelProto.FromString(again).graph.node[0].attribute
    assert (found.t.name, found.t.data_type) == ("", 1)
    assert b"old" not in again
    assert payload(77, b"unknown") in again


# --- changed models


@pytest.mark.parametrize("seed", range(5))
def test_a_model_that_is_encoded_anew_means_the_same(seed: int) -> None:
    model = sx.load(spice(everything().SerializeToString(), Random(seed)))
    chunks, _ = emit(touched(model))
    assert sx.dump(sx.load(chunks.join())) == sx.dump(model)


def test_a_model_encoded_anew_keeps_documentation_metadata_and_what_is_not_modelled() -> None:
    proto = everything()
    again = ModelProto.FromString(emit(touched(loaded(proto)))[0].join())
    del proto.graph.node[0].device_configurations[:]  # may not hold for a rewritten node
    for one in (*proto.graph.node[0].attribute, *proto.graph.node):
        one.ClearField("domain" if hasattr(one, "domain") else "doc_string")
    for one in (*again.graph.node[0].attribute, *again.graph.node):
        one.ClearField("domain" if hasattr(one, "domain") else "doc_string")
    assert again.graph.node[0].metadata_props == proto.graph.node[0].metadata_props
    assert again.training_info == proto.training_info
    assert again.configuration == proto.configuration
    assert again.metadata_props == proto.metadata_props
    assert again.opset_import == proto.opset_import
    assert again.graph.quantization_annotation == proto.graph.quantization_annotation
    assert again.graph.input == proto.graph.input
    assert again.graph.value_info == proto.graph.value_info
    assert again.graph.doc_string == proto.graph.doc_string
    assert again.graph.initializer[0] == proto.graph.initializer[0]
    assert again.functions[0].metadata_props == proto.functions[0].metadata_props


def test_a_rewritten_node_loses_unknown_fields_with_an_issue_and_keeps_its_documentation() -> None:
    proto = parsed()
    proto.graph.node[0].doc_string = "why"
    proto.graph.node[0].metadata_props.add(key="k", value="v")
    proto.graph.node[0].name = "first"
    proto.graph.node[0].device_configurations.add(configuration_id="c")
    model = loaded(proto)
    first, second = model.graph.nodes
    chunks, issues = emit(nodes_changed(model, first.replace(op_type="Abs"), second))
    node = ModelProto.FromString(chunks.join()).graph.node[0]
    assert (node.op_type, node.doc_string, node.metadata_props[0].key) == ("Abs", "why", "k")
    assert not node.device_configurations
    [issue] = issues
    assert (issue.code, issue.severity, issue.place.node) == ("fields-dropped", "warning", "node 'first' (Abs)")
    assert "device_configurations" in issue.message


def test_nodes_of_a_function_and_of_another_file_may_stand_among_unchanged_nodes() -> None:
    body = [helper.make_node("Exp", ["a"], ["b"]), helper.make_node("Log", ["b"], ["c"])]
    proto = parsed()
    proto.functions.append(helper.make_function("d", "f", ["a"], ["c"], body, [helper.make_opsetid("", 21)]))
    model, other = loaded(proto), loaded(parsed())
    [function] = model.functions.values()
    first, second = other.graph.nodes
    nodes = (first, *function.body.nodes, second)
    graph = sx.Graph("mixed", (*other.graph.inputs, *function.body.inputs), (), nodes)
    again = written(other.replace(graph=graph)).graph.node
    assert list(again) == [proto.graph.node[0], *body, proto.graph.node[1]]


def test_what_is_remembered_while_nodes_are_written_changes_nothing_when_it_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = touched(loaded(everything()))
    before = to_bytes(model)
    monkeypatch.setattr(emit_nodes, "MOST", 1)
    assert to_bytes(model) == before


@pytest.mark.parametrize("length", [0, 1, 127, 128, 300, 20000])
def test_a_made_node_is_written_as_protobuf_writes_it(length: int) -> None:
    model = loaded(parsed())
    word = "w" * length
    attrs = {
        "a": sx.Attr("a", AttrKind.STRING, word.encode()),
        "r": sx.Attr("r", AttrKind.INTS, (1, -length)),
    }
    node = sx.Node(
        "Op" + word, (model.graph.inputs[0], None), (None, sx.Value("v" + word)), attrs,
        domain=word, overload=word, name=word, details=Written(word, {word: word, "k": ""}),
    )  # fmt: skip
    expected = onnx.NodeProto(input=["x", ""], output=["", "v" + word], op_type="Op" + word)
    for field in ("name", "domain", "overload", "doc_string"):
        if word:
            setattr(expected, field, word)
    expected.attribute.add(name="a", s=word.encode(), type=3)
    expected.attribute.add(name="r", ints=[1, -length], type=7)
    expected.metadata_props.add(key=word, value=word)
    expected.metadata_props.add(key="k", value="")
    assert expected.SerializeToString() in to_bytes(nodes_changed(model, *model.graph.nodes, node))


def test_a_long_attribute_of_a_rewritten_node_is_not_copied_before_it_is_written() -> None:
    proto = parsed()
    tensor = helper.make_tensor("t", TensorProto.UINT8, [5000], b"\7" * 5000, raw=True)
    proto.graph.node[0].attribute.append(helper.make_attribute("t", tensor))
    model = loaded(proto)
    first, second = model.graph.nodes
    chunks, _ = emit(nodes_changed(model, first.replace(op_type="Abs"), second))
    assert max(len(part) for part in chunks.parts if isinstance(part, bytes)) < 1000
    assert ModelProto.FromString(chunks.join()).graph.node[0].attribute[0].t == tensor


def test_an_unchanged_node_with_a_body_loses_nothing() -> None:
    proto = everything()
    model = loaded(proto)
    body = model.graph.nodes[0].bodies["g"]
    assert isinstance(body, sx.Graph)
    chunks, issues = emit(model)
    assert not issues
    assert ModelProto.FromString(chunks.join()).graph.node[0].device_configurations


def test_details_that_code_gives_are_written_and_details_that_it_takes_are_gone() -> None:
    proto = everything()
    model = loaded(proto)
    given = Written("new words", {"a": "b"})
    changed = model.replace(details=given, graph=model.graph.replace(details=NOTHING))
    again = written(changed)
    assert (again.doc_string, [(one.key, one.value) for one in again.metadata_props]) == ("new words", [("a", "b")])
    assert not again.graph.HasField("doc_string")
    assert not again.graph.metadata_props


def test_details_of_one_message_may_be_given_to_another_kind() -> None:
    model = loaded(everything())
    node = sx.Node("Relu", (model.graph.inputs[0],), (sx.Value("new"),), details=model.graph.details)
    again = written(nodes_changed(model, *model.graph.nodes, node)).graph.node[-1]
    assert again.doc_string == "about main"
    assert [(one.key, one.value) for one in again.metadata_props] == [("k", "1"), ("other", ""), ("k", "2")]


def test_scalars_of_the_model_are_written_as_they_are_now() -> None:
    model = loaded(everything()).replace(ir_version=13, producer_name="", producer_version="2", model_version=5)
    again = written(model)
    assert (again.ir_version, again.producer_name, again.producer_version, again.model_version) == (13, "", "2", 5)
    assert again.domain == "d"


def test_a_default_that_the_file_does_not_have_is_not_written() -> None:
    again = written(loaded(parsed()))
    assert not again.HasField("producer_name")
    assert not again.HasField("model_version")
    assert written(loaded(everything())).HasField("producer_version")


def test_opset_imports_that_still_hold_stay_and_others_follow() -> None:
    proto = everything()
    model = loaded(proto)
    imports = {"": 22, "my.domain": 1, "new": 3}
    again = written(model.replace(opset_imports=imports))
    assert [(one.domain, one.version) for one in again.opset_import] == [("my.domain", 1), ("", 22), ("new", 3)]


def test_equal_repeated_imports_stay() -> None:
    proto = parsed()
    proto.opset_import.append(helper.make_opsetid("", 21))
    assert written(loaded(proto)) == proto


def test_every_kind_of_attribute_that_code_makes_is_read_back() -> None:
    model = loaded(parsed())
    body = sx.Graph("b", (), (sx.Value("v"),), ())
    body = body.replace(nodes=(sx.Node("Constant", (), body.outputs),))
    values = {
        AttrKind.FLOAT: -0.5, AttrKind.INT: -3, AttrKind.STRING: b"\xff", AttrKind.FLOATS: (1.0, 2.0),
        AttrKind.INTS: (-1, 2**40), AttrKind.STRINGS: (b"a", b""), AttrKind.TENSOR: tensor_of(np.arange(3)),
        AttrKind.TENSORS: (tensor_of(np.float16([1])),), AttrKind.GRAPH: body, AttrKind.TYPE_PROTOS: (),
        AttrKind.TYPE_PROTO: sx.TensorType(sx.DType.FLOAT, (2, 3)),
        AttrKind.SPARSE_TENSOR: sx.SparseTensor(tensor_of(np.float32([1]), "s"), tensor_of(np.array([0])), (4,)),
    }  # fmt: skip
    attrs = {kind.name: sx.Attr(kind.name, kind, value) for kind, value in values.items()}
    node = sx.Node("Everything", (), (sx.Value("new"),), attrs)
    again = sx.load(to_bytes(nodes_changed(model, *model.graph.nodes, node))).graph.nodes[-1]
    assert {name: attr.kind for name, attr in again.attrs.items()} == {kind.name: kind for kind in values}
    for kind in (AttrKind.FLOAT, AttrKind.INT, AttrKind.STRING, AttrKind.FLOATS, AttrKind.INTS, AttrKind.STRINGS):
        assert again.attrs[kind.name].value == values[kind]
    assert again.attrs["TENSOR"].value.numpy().tolist() == [0, 1, 2]
    assert again.attrs["TYPE_PROTO"].value == values[AttrKind.TYPE_PROTO]
    assert again.attrs["GRAPH"].value.outputs[0].name == "v"
    assert again.attrs["SPARSE_TENSOR"].value.shape == (4,)


def test_an_attribute_reference_that_code_makes_is_read_back() -> None:
    model = loaded(everything())
    [function] = model.functions.values()
    [node] = function.nodes
    changed = node.replace(attrs={"r": sx.AttrRef("r", AttrKind.INT, "beta")})
    body = function.body.replace(nodes=(changed,))
    again = written(model.replace(functions={function.key: function.replace(body=body)}))
    [attribute] = again.functions[0].node[0].attribute
    assert (attribute.name, attribute.ref_attr_name, attribute.type) == ("r", "beta", 2)


def test_a_long_string_attribute_of_a_rewritten_node_is_not_read() -> None:
    proto = parsed()
    proto.graph.node[0].attribute.append(helper.make_attribute("code", b"\xff" * 10000))
    model = loaded(proto)
    first, second = model.graph.nodes
    attrs = {name: attr.replace() for name, attr in first.attrs.items()}
    again = written(nodes_changed(model, first.replace(attrs=attrs), second))
    assert again.graph.node[0].attribute[0].s == b"\xff" * 10000


# --- tensors


def test_an_initializer_is_written_with_the_name_of_its_value() -> None:
    proto = everything()
    model = loaded(proto)
    graph = model.graph
    renamed = {
        (value if value in graph.inputs else sx.Value("new " + value.name)): t
        for value, t in graph.initializers.items()
    }
    sparse = {sx.Value("new sparse"): one for one in graph.sparse_initializers.values()}
    again = written(model.replace(graph=graph.replace(initializers=renamed, sparse_initializers=sparse))).graph
    before = proto.graph
    assert [one.name for one in again.initializer] == ["w", "new typed", "new strings"]
    assert again.initializer[1].int32_data == before.initializer[1].int32_data
    assert again.initializer[0] == before.initializer[0]
    assert again.sparse_initializer[0].values.name == "new sparse"
    assert again.sparse_initializer[0].values.doc_string == before.sparse_initializer[0].values.doc_string


def test_a_tensor_made_by_code_is_written_as_raw_data() -> None:
    model = loaded(parsed())
    made = {
        sx.Value("made"): tensor_of(np.array([[1, 2]], np.int16)),
        sx.Value("text"): tensor_of(np.array(["a", "é"])),
    }
    again = sx.load(to_bytes(model.replace(graph=model.graph.replace(initializers=made)))).graph
    numbers, text = again.initializers.values()
    assert (numbers.name, numbers.shape, numbers.numpy().tolist()) == ("made", (1, 2), [[1, 2]])
    assert text.strings == (b"a", "é".encode())


# --- types


def typed(model: sx.Model, **types: sx.TensorType | None) -> sx.Model:
    """Change what is known of the main graph's values; None is nothing."""
    graph = model.graph
    table = {value: kind for value, kind in graph.types.items() if types.get(value.name, kind) is not None}
    table.update({value: types[value.name] for value in graph.values if types.get(value.name) is not None})
    return model.replace(graph=graph.replace(types=table))


F = sx.DType.FLOAT


def infos(proto: ModelProto) -> dict[str, list[str | int]]:
    """The dims of the value_info of tensors, by name."""
    shapes = {one.name: one.type.tensor_type.shape for one in proto.graph.value_info}
    return {name: [dim.dim_param or dim.dim_value for dim in shape.dim] for name, shape in shapes.items()}


def test_a_type_without_a_declaration_gets_a_value_info_and_an_initializer_does_not() -> None:
    model = loaded(parsed())
    n = model.graph.types[model.graph.inputs[0]].shape[0]
    again = written(typed(model, y=sx.TensorType(F, (2 * n + 1, 4))))
    assert infos(again) == {"y": ["2*n + 1", 4]}
    assert not infos(written(model))


def test_new_value_infos_follow_the_old_ones_in_graph_order() -> None:
    proto = parsed()
    for name in ("b", "a"):
        proto.graph.node.append(helper.make_node("Relu", ["x"], [name]))
    proto.graph.value_info.extend(
        [helper.make_tensor_value_info("a", 1, [1]), helper.make_tensor_value_info("zz", 1, [1])]
    )
    again = written(typed(loaded(proto), y=sx.TensorType(F, ()), b=sx.TensorType(F, ())))
    assert list(infos(again)) == ["a", "zz", "y", "b"]


def test_an_inferred_type_takes_the_place_of_a_claim_and_keeps_what_is_said_beside_it() -> None:
    proto = parsed()
    info = helper.make_tensor_value_info("y", 1, ["n", None])
    info.doc_string = "documented"
    info.type.denotation = "IMAGE"
    info.type.tensor_type.shape.dim[1].denotation = "DATA_CHANNEL"
    other = helper.make_tensor_value_info("y", 1, [7, 7])
    proto.graph.value_info.extend([info, other])
    again = written(typed(loaded(proto), y=sx.TensorType(F, (3, 4))))
    info.type.tensor_type.shape.dim[0].dim_value = 3
    info.type.tensor_type.shape.dim[1].dim_value = 4
    assert list(again.graph.value_info) == [info]


def test_inputs_and_outputs_are_written_with_the_type_that_is_known_now() -> None:
    again = written(typed(loaded(parsed()), x=sx.TensorType(F, (8, 4)), z=None))
    assert again.graph.input[0] == helper.make_tensor_value_info("x", 1, [8, 4])
    assert again.graph.output[0] == onnx.ValueInfoProto(name="z")


def test_a_claim_whose_type_was_erased_or_whose_value_is_gone_is_dropped() -> None:
    proto = parsed()
    proto.graph.node.append(helper.make_node("Relu", ["x"], ["dead"]))
    proto.graph.value_info.extend([helper.make_tensor_value_info(name, 1, [1]) for name in ("y", "dead", "nobody")])
    model = loaded(proto)
    assert list(infos(written(model))) == ["y", "dead", "nobody"]
    assert list(infos(written(typed(model, y=None)))) == ["dead", "nobody"]
    assert list(infos(written(nodes_changed(model, *model.graph.nodes[:2])))) == ["y", "nobody"]


def test_a_claim_about_an_unknown_name_goes_when_something_is_called_so() -> None:
    proto = parsed()
    proto.graph.value_info.append(helper.make_tensor_value_info("later", 1, [1]))
    model = loaded(proto)
    new = sx.Node("Relu", (model.graph.inputs[0],), (sx.Value("later"),))
    assert infos(written(nodes_changed(model, *model.graph.nodes, new))) == {}


def test_an_incomplete_type_is_not_written_as_value_info() -> None:
    model = loaded(parsed())
    assert infos(written(typed(model, y=sx.TensorType(None, (1,))))) == {}
    assert infos(written(typed(model, y=sx.SequenceType(None)))) == {}
    assert infos(written(typed(model, y=sx.SequenceType(sx.TensorType(F, None))))) == {"y": []}


@pytest.mark.parametrize(
    "kind",
    [
        sx.TensorType(F, None),
        sx.TensorType(F, ()),
        sx.SparseTensorType(F, (2,)),
        sx.SequenceType(sx.TensorType(F, (2,))),
        sx.OptionalType(sx.SequenceType(sx.TensorType(F, (2,)))),
        sx.MapType(sx.DType.STRING, sx.TensorType(F, ())),
        sx.OpaqueType("d", "n"),
    ],
    ids=str,
)
def test_every_kind_of_type_is_read_back(kind: sx.TensorType) -> None:
    again = sx.load(to_bytes(typed(loaded(parsed()), y=kind))).graph
    assert again.types[again.nodes[0].outputs[0]] == kind


def test_anonymous_symbols_get_names_of_their_own_and_one_name_for_one_symbol() -> None:
    model = loaded(parsed())
    scope = model.scope.child()
    a, b = scope.fresh(), scope.fresh()
    again = written(typed(model, y=sx.TensorType(F, (a, b, a, a + 1))))
    dims = [dim.dim_param for dim in again.graph.value_info[0].type.tensor_type.shape.dim]
    assert dims[0] == dims[2] != dims[1]
    assert "" not in dims
    assert dims[3] == f"{dims[0]} + 1"
    assert "n" not in dims


def test_two_symbols_that_print_alike_are_not_written_as_one() -> None:
    model = loaded(parsed())
    proto = parsed()
    proto.graph.node.append(helper.make_node("Relu", ["x"], ["late"]))
    model = loaded(proto)
    one, other = model.scope.child().symbol("m"), model.scope.child().symbol("m")
    assert one is not other
    again = written(typed(model, y=sx.TensorType(F, (one,)), late=sx.TensorType(F, (other,))))
    first, second = again.graph.value_info
    assert first.type.tensor_type.shape.dim[0].dim_param == "m"
    assert not second.type.tensor_type.shape.dim[0].HasField("value")


def test_an_unknown_dim_of_a_type_attribute_stays_unknown() -> None:
    model = loaded(everything())
    chunks, _ = emit(touched(model))
    attribute = next(one for one in ModelProto.FromString(chunks.join()).graph.node[0].attribute if one.name == "tp")
    assert not attribute.tp.tensor_type.shape.dim[2].HasField("value")


def test_bodies_are_typed_by_the_table_of_the_outermost_graph() -> None:
    model = loaded(everything())
    graph = model.graph
    body = graph.nodes[0].bodies["g"]
    value = body.nodes[0].outputs[0]
    types = dict(graph.types) | {value: sx.TensorType(F, (11,))}
    again = written(model.replace(graph=graph.replace(types=types)))
    body = next(one for one in again.graph.node[0].attribute if one.name == "g").g
    assert body.output[0].type.tensor_type.shape.dim[0].dim_value == 11


# --- functions


def test_an_unchanged_function_is_copied_though_its_body_is_faulty() -> None:
    proto = everything()
    proto.functions[0].node[0].input[0] = "nowhere"
    assert written(loaded(proto)) == proto


def with_function_types(model: sx.Model) -> sx.Model:
    [function] = model.functions.values()
    body = function.body
    kind = sx.TensorType(F, (6,))
    typed_body = body.replace(types=dict(body.types) | {body.outputs[0]: kind, body.inputs[0]: kind})
    return model.replace(functions={function.key: function.replace(body=typed_body)})


def test_types_of_a_function_are_written_as_its_value_info_inputs_and_outputs_included() -> None:
    again = written(with_function_types(loaded(everything()))).functions[0]
    assert [(one.name, one.type.tensor_type.shape.dim[0].dim_value) for one in again.value_info] == [("a", 6), ("b", 6)]
    assert again.value_info[0].doc_string == "about a"
    assert (again.name, list(again.input), list(again.attribute)) == ("my_function", ["a"], ["beta"])


def test_before_ir_version_10_functions_have_no_value_info() -> None:
    proto = everything()
    proto.ir_version = 9
    del proto.functions[0].value_info[:]
    assert not written(with_function_types(loaded(proto))).functions[0].value_info


# --- names


def test_a_value_without_a_name_gets_one_that_nothing_else_has() -> None:
    proto = parsed()
    proto.graph.node.append(helper.make_node("Relu", ["x"], ["value"]))
    model = loaded(proto)
    unnamed = sx.Value("")
    nodes = (sx.Node("Abs", model.graph.inputs, (unnamed,)), sx.Node("Neg", (unnamed,), (sx.Value("end"),)))
    made, used = written(nodes_changed(model, *model.graph.nodes, *nodes)).graph.node[-2:]
    assert made.output == used.input == ["value_1"]


def test_two_values_of_one_name_are_refused() -> None:
    model = loaded(parsed())
    node = sx.Node("Abs", model.graph.inputs, (sx.Value("y"),))
    with pytest.raises(OnnxError) as caught:
        to_bytes(nodes_changed(model, *model.graph.nodes, node))
    assert (caught.value.code, caught.value.place.value) == ("value-twice", "y")


def test_a_read_that_would_find_another_value_is_refused() -> None:
    model = loaded(parsed())
    node = sx.Node("Abs", (sx.Value("x"),), (sx.Value("new"),), name="reader")
    with pytest.raises(OnnxError) as caught:
        to_bytes(nodes_changed(model, *model.graph.nodes, node))
    assert (caught.value.code, caught.value.place.node) == ("value-undefined", "node 'reader' (Abs)")


def test_a_capture_that_a_body_would_shadow_is_refused() -> None:
    model = loaded(parsed())
    outer = model.graph.inputs[0]
    body = sx.Graph("b", (), (outer,), (sx.Node("Constant", (), (sx.Value("x"),)),))
    node = sx.Node("If", model.graph.inputs, (sx.Value("new"),), {"g": sx.Attr("g", AttrKind.GRAPH, body)}, name="if")
    with pytest.raises(OnnxError) as caught:
        to_bytes(nodes_changed(model, *model.graph.nodes, node))
    assert caught.value.code == "value-undefined"
    assert "node 'if' (If).g" in str(caught.value)


def test_after_close_nothing_can_be_written() -> None:
    model = loaded(everything())
    model.close()
    with pytest.raises(OnnxError) as caught:
        to_bytes(model)
    assert caught.value.code == "source-closed"
