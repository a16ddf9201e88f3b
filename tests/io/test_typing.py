"""Declared types: what a TypeProto says, and what it leaves open."""

from __future__ import annotations

import pytest
from onnx import ModelProto, TensorProto, TypeProto, helper

import sardonyx as sx
from tests.io.graphs import constant, graph, info, load, model, node, refused

INT64 = TensorProto.INT64


def typed(*types: TypeProto) -> sx.Graph:
    """Load a graph whose inputs a, b, ... have these types."""
    return load(declaring(*types)).graph


def declaring(*types: TypeProto) -> ModelProto:
    """A model whose inputs a, b, ... have these types."""
    made = graph(inputs="", outputs="")
    for name, kind in zip("abcdef", types, strict=False):
        made.input.add(name=name, type=kind)
    return model(made)


def tensor(*dims: int | str | None, dtype: int = 1) -> TypeProto:
    """A tensor type; None is a dim that says nothing."""
    return helper.make_tensor_type_proto(dtype, dims)


def type_of(kind: TypeProto) -> sx.TensorType | None:
    """Load one type."""
    found = typed(kind)
    return found.type(found.inputs[0])


def test_a19_a_type_without_a_member_is_no_type():
    assert type_of(TypeProto()) is None


def test_a20_a_tensor_without_a_shape_has_unknown_rank():
    found = type_of(helper.make_tensor_type_proto(1, None))
    assert (found.dtype, found.shape, found.rank) == (sx.DType.FLOAT, None, None)


def test_a21_an_empty_shape_is_a_scalar():
    assert type_of(tensor()).shape == ()


def test_a22_a_dim_that_says_nothing_is_unknown_and_equal_to_no_other():
    found = typed(tensor(None, None), tensor(None, None))
    dims = [dim for value in found.inputs for dim in found.type(value).shape]
    assert all(dim.anonymous for dim in dims)
    assert len(set(dims)) == 4


def test_a23_an_empty_dim_name_is_unknown():
    kind = tensor("n")
    kind.tensor_type.shape.dim[0].dim_param = ""
    assert type_of(kind).shape[0].anonymous


def test_a24_a_negative_dim_is_unknown_with_an_issue():
    loaded = load(declaring(tensor(3, -1)))
    shape = loaded.graph.type(loaded.graph.inputs[0]).shape
    assert shape[0] == 3
    assert shape[1].anonymous
    assert [(one.code, one.severity) for one in loaded.issues] == [("negative-dim", "warning")]
    assert sx.to_bytes(loaded) == declaring(tensor(3, -1)).SerializeToString()


def test_a25_element_type_zero_is_unknown_and_above_28_unsupported():
    assert type_of(tensor(2, dtype=0)).dtype is None
    refused("element-type-unknown", declaring(tensor(2, dtype=29)), "Unsupported")
    assert type_of(tensor(2, dtype=28)).dtype.name == "FLOAT6E3M2"


RICH = [
    helper.make_sequence_type_proto(tensor("n", 2)),
    helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor(2))),
    helper.make_map_type_proto(TensorProto.STRING, tensor(dtype=1)),
    helper.make_sequence_type_proto(helper.make_map_type_proto(INT64, tensor(dtype=1))),
    helper.make_sparse_tensor_type_proto(1, [2, "n"]),
    TypeProto(opaque_type=TypeProto.Opaque(domain="d", name="o")),
]
TEXTS = [
    ("seq(tensor(float))", "seq(tensor(float)[n, 2])"),
    ("optional(seq(tensor(float)))", "optional(seq(tensor(float)[2]))"),
    ("map(string,tensor(float))", "map(string, tensor(float)[])"),
    ("seq(map(int64,tensor(float)))", "seq(map(int64, tensor(float)[]))"),
    ("sparse_tensor(float)", "sparse_tensor(float)[2, n]"),
    ("opaque(d,o)", "opaque(d,o)"),
]


@pytest.mark.parametrize(("kind", "texts"), list(zip(RICH, TEXTS, strict=True)), ids=[short for short, _ in TEXTS])
def test_a26_every_kind_of_type_is_read_and_written_back(kind, texts):
    made = declaring(kind)
    loaded = load(made)
    found = loaded.graph.type(loaded.graph.inputs[0])
    assert (found.type_str, str(found)) == texts
    assert sx.to_bytes(loaded) == made.SerializeToString()


def test_one_name_is_one_symbol_everywhere():
    found = typed(tensor("n", "m"), tensor("m"))
    (n, m), (other,) = (found.type(value).shape for value in found.inputs)
    assert m is other
    assert n is not m


def test_arithmetic_over_the_inputs_dim_names_is_an_expression():
    found = typed(tensor("past", "seq"), tensor("past + seq"), tensor("2*seq + 1"), tensor("seq + past"))
    shapes = [found.type(value).shape for value in found.inputs]
    past, seq = shapes[0]
    assert shapes[1][0] is past + seq is shapes[3][0]
    assert shapes[2][0] is 2 * seq + 1


@pytest.mark.parametrize("name", ["?", "batch size", "Layer:0", "unk__3", "n+unheard", "-1", "12", "n//0", "(", "__n"])
def test_any_other_text_is_an_opaque_name(name):
    found = typed(tensor("n"), tensor(name))
    (dim,) = found.type(found.inputs[1]).shape
    assert str(dim) == name
    assert dim.is_symbol


def declared(**roles: str) -> sx.Graph:
    """Load x -> t -> y with dims for the declarations of t and y."""
    made = graph(node("Relu", "x", "t"), node("Relu", "t", "y"), outputs=[info("y", (roles.get("output", 2),))])
    for name in ("t", "y", "x", "nobody"):
        if name in roles:
            made.value_info.append(info(name, (roles[name],)))
    return load(made).graph


def shape_of(found: sx.Graph, name: str) -> object:
    """The declared shape of a value."""
    kind = found.type(next(value for value in found.values if value.name == name))
    return None if kind is None else kind.shape


def test_g34_a_type_comes_from_the_input_then_the_output_then_value_info():
    made = graph(node("Relu", "x", "y"), inputs=[info("x", (1,))], outputs=[info("x", (2,)), info("y", (3,))])
    made.value_info.extend([info("x", (4,)), info("y", (5,))])
    found = load(made).graph
    assert (shape_of(found, "x"), shape_of(found, "y")) == ((1,), (3,))
    assert shape_of(declared(t=7), "t") == (7,)


def test_g35_value_info_never_overrides():
    assert shape_of(declared(x=9, y=9), "x") == (2,)
    assert shape_of(declared(x=9, y=9), "y") == (2,)


def test_g36_value_info_for_an_unknown_name_is_ignored():
    found = declared(nobody=4)
    assert all(value.name != "nobody" for value in found.values)


def test_g37_of_several_value_infos_the_first_with_a_type_counts():
    made = graph(node("Relu", "x", "t"), node("Relu", "t", "y"))
    made.value_info.add(name="t")
    made.value_info.extend([info("t", (5,)), info("t", (6,))])
    assert shape_of(load(made).graph, "t") == (5,)


def test_g38_a_declared_output_types_the_node_output():
    assert shape_of(declared(output=11), "y") == (11,)


def test_g39_an_initializer_has_its_own_type():
    found = load(graph(node("Add", "x w", "y"), initializers=(constant("w", 1.0, 2.0, 3.0),))).graph
    kind = found.type(next(iter(found.initializers)))
    assert (kind.dtype, kind.shape) == (sx.DType.FLOAT, (3,))


def test_the_main_graphs_table_answers_for_the_values_of_bodies():
    body = graph(node("Relu", "x", "r"), inputs="", outputs=[info("r", ("k",))])
    found = load(
        graph(node("If", "c", "y", then_branch=body, else_branch=body), inputs=[info("c", (), 9), info("x")])
    ).graph
    inner = found.nodes[0].bodies["then_branch"]
    assert str(found.type(inner.outputs[0])) == "tensor(float)[k]"
    assert inner.types == {}
