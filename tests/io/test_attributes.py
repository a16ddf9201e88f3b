"""Attributes: the kind that is declared or inferred, and the value that goes with it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from onnx import AttributeProto, GraphProto, ModelProto, SparseTensorProto, TypeProto, helper

import sardonyx as sx
from sardonyx.ir.attrs import AttrKind
from tests.io.graphs import constant, graph, load, model, node, refused

BODY = graph(node("Relu", "c", "d"), inputs="", outputs="d", initializers=(constant("c", 1.0),))
TENSOR = constant("t", 1.0, 2.0)
SPARSE = SparseTensorProto(values=constant("v", 1.0), indices=helper.make_tensor("i", 7, [1], [3]), dims=[8])
TYPE = helper.make_tensor_type_proto(1, [2])

VALUES = {
    "f": ("FLOAT", 0.5),
    "i": ("INT", 3),
    "s": ("STRING", b"\xff"),
    "t": ("TENSOR", TENSOR),
    "g": ("GRAPH", BODY),
    "sparse_tensor": ("SPARSE_TENSOR", SPARSE),
    "tp": ("TYPE_PROTO", TYPE),
    "floats": ("FLOATS", [0.5, -0.0]),
    "ints": ("INTS", [1, -1]),
    "strings": ("STRINGS", [b"a", b"\xff"]),
    "tensors": ("TENSORS", [TENSOR]),
    "graphs": ("GRAPHS", [BODY, BODY]),
    "sparse_tensors": ("SPARSE_TENSORS", [SPARSE]),
    "type_protos": ("TYPE_PROTOS", [TYPE]),
}
"""Field to the kind that it implies and a value."""


def attribute(name: str = "a", kind: int | None = None, ref: str = "", **fields: object) -> AttributeProto:
    """An attribute with exactly these fields."""
    made = AttributeProto(name=name)
    if kind is not None:
        made.type = kind  # type: ignore[assignment]
    if ref:
        made.ref_attr_name = ref
    for key, value in fields.items():
        if isinstance(value, list):
            getattr(made, key).extend(value)
        elif hasattr(value, "SerializeToString"):
            getattr(made, key).CopyFrom(value)
        else:
            setattr(made, key, value)
    return made


def with_attributes(*attributes: AttributeProto) -> ModelProto:
    """A model of one node that has these attributes."""
    one = node("Relu", "x", "y", name="n")
    one.attribute.extend(attributes)
    return model(graph(one))


def read(made: AttributeProto) -> sx.Attr:
    """Load one attribute."""
    return load(with_attributes(made)).graph.nodes[0].attrs["a"]


@pytest.mark.parametrize("field", VALUES)
def test_a07_without_a_type_the_field_that_is_set_decides(field):
    kind, value = VALUES[field]
    found = read(attribute(**{field: value}))
    assert found.kind.name == kind
    if field in ("f", "i", "s"):
        assert found.value == value
    elif field in ("floats", "ints", "strings"):
        assert found.value == tuple(value)
    elif field == "t":
        assert found.value.numpy().tolist() == [1.0, 2.0]
    elif field == "tensors":
        assert [one.numpy().tolist() for one in found.value] == [[1.0, 2.0]]
    elif field == "sparse_tensor":
        assert (found.value.shape, found.value.values.numpy().tolist()) == ((8,), [1.0])
    elif field == "sparse_tensors":
        assert [one.indices.numpy().tolist() for one in found.value] == [[3]]
    elif field == "tp":
        assert str(found.value) == "tensor(float)[2]"
    elif field == "type_protos":
        assert [str(one) for one in found.value] == ["tensor(float)[2]"]
    elif field == "g":
        assert found.value.nodes[0].op == "Relu"
    else:
        assert [one.nodes[0].op for one in found.value] == ["Relu", "Relu"]
        assert found.value[0] is not found.value[1]


def test_a08_of_several_fields_the_first_in_the_order_of_the_document_decides():
    order = list(VALUES)
    for first, second in pairwise(order):
        both = {field: VALUES[field][1] for field in (second, first)}
        assert read(attribute(**both)).kind.name == VALUES[first][0]


def test_a09_neither_type_nor_value_nor_reference_is_refused():
    error = refused("attribute-empty", with_attributes(attribute()))
    assert error.place.attribute == "a"
    assert error.path == "ModelProto.graph.node[0].attribute[0]"


@pytest.mark.parametrize(("kind", "value"), [("FLOAT", 0.0), ("INT", 0), ("STRING", b"")])
def test_a10_an_absent_scalar_reads_as_zero_or_empty(kind, value):
    found = read(attribute(kind=AttrKind[kind]))
    assert (found.kind.name, found.value) == (kind, value)


@pytest.mark.parametrize("kind", ["TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO"])
def test_a11_a_declared_message_must_be_there(kind):
    assert kind in refused("attribute-incomplete", with_attributes(attribute(kind=AttrKind[kind]))).message


@pytest.mark.parametrize("kind", ["FLOATS", "INTS", "STRINGS", "TENSORS", "GRAPHS", "SPARSE_TENSORS", "TYPE_PROTOS"])
def test_a12_a_list_without_entries_is_an_empty_list(kind):
    found = read(attribute(kind=AttrKind[kind]))
    assert (found.kind.name, found.value) == (kind, ())


def test_a13_the_declared_type_rules_over_the_field_that_is_set():
    found = read(attribute(kind=AttrKind.INT, f=2.5))
    assert (found.kind, found.value) == (AttrKind.INT, 0)


def test_a14_a_reference_has_no_value_whatever_stands_beside_it():
    found = read(attribute(ref="alpha", kind=AttrKind.FLOAT, f=2.5))
    assert isinstance(found, sx.AttrRef)
    assert (found.ref, found.kind, found.value) == ("alpha", AttrKind.FLOAT, None)
    assert read(attribute(ref="alpha")).kind is AttrKind.UNDEFINED
    assert read(attribute(ref="alpha", kind=AttrKind.TENSOR)).value is None  # not "incomplete"


def test_a15_an_explicit_type_of_zero_is_no_type():
    assert read(attribute(kind=0, i=4)).kind is AttrKind.INT
    refused("attribute-empty", with_attributes(attribute(kind=0)))


@pytest.mark.parametrize("number", [15, 99, -1])
def test_a16_an_unknown_type_number_is_refused(number):
    made = attribute()
    data = (
        made.SerializeToString() + b"\xa0\x01" + (number & (1 << 64) - 1).to_bytes(1, "little")
        if number > 0
        else (made.SerializeToString() + b"\xa0\x01" + b"\xff" * 9 + b"\x01")
    )
    whole = with_attributes(attribute(name="placeholder", i=1)).SerializeToString()
    old = attribute(name="placeholder", i=1).SerializeToString()
    refused("attribute-type-unknown", rebuilt(whole, old, data))


def rebuilt(whole: bytes, old: bytes, new: bytes) -> bytes:
    """Swap the one attribute of the one node of a model for other bytes."""
    proto = ModelProto.FromString(whole)
    one = proto.graph.node[0]
    del one.attribute[:]
    head = one.SerializeToString()
    inner = head + b"\x2a" + bytes([len(new)]) + new
    rest = GraphProto()
    rest.CopyFrom(proto.graph)
    del rest.node[:]
    body = b"\x0a" + bytes([len(inner)]) + inner + rest.SerializeToString()
    proto.ClearField("graph")
    assert len(body) < 128
    return proto.SerializeToString() + b"\x3a" + bytes([len(body)]) + body


def test_a17_two_attributes_of_one_name_are_refused():
    error = refused("attribute-twice", with_attributes(attribute(i=1), attribute(i=2)))
    assert (error.place.node, error.place.attribute) == ("node 'n' (Relu)", "a")
    refused("attribute-twice", with_attributes(attribute(i=1), attribute(i=1)))


def test_a18_an_attribute_needs_a_name():
    refused("attribute-unnamed", with_attributes(attribute(name="", i=1)))


def test_attributes_of_a_function_body_are_checked_at_load():
    made = model(graph(node("Relu", "x", "y")))
    function = made.functions.add(name="f", domain="fn", input=["a"], output=["b"])
    function.node.append(node("Relu", "a", "b", bad=attribute()))
    refused("attribute-empty", made)


def test_a_long_string_stays_in_the_file_until_it_is_asked_for():
    text = bytes(range(256)) * 64
    loaded = load(with_attributes(attribute(s=text)))
    attr = loaded.graph.nodes[0].attrs["a"]
    assert attr.content is not text
    assert attr.value == text
    loaded.close()
    with pytest.raises(sx.OnnxError, match="source-closed"):
        attr.value  # noqa: B018


def test_equal_attributes_are_one_object_but_bodies_never_are():
    loaded = load(graph(node("Foo", "x", "t", k=1, body=tiny()), node("Foo", "t", "y", k=1, body=tiny())))
    first, second = loaded.graph.nodes
    assert first.attrs["k"] is second.attrs["k"]
    assert first.bodies["body"] is not second.bodies["body"]
    assert first.bodies["body"].inputs[0] is not second.bodies["body"].inputs[0]


def tiny() -> GraphProto:
    """A graph short enough for the decoder to share its message."""
    made = GraphProto()
    made.input.add(name="a")
    made.output.add(name="a")
    return made


def test_an_empty_type_is_no_type():
    found = read(attribute(tp=TypeProto()))
    assert (found.kind, found.value) == (AttrKind.TYPE_PROTO, None)


def test_one_attribute_can_be_limited():
    made = with_attributes(attribute(ints=list(range(1000))))
    load(made, limits=sx.Limits(max_attribute_bytes=10_000))
    with pytest.raises(sx.OnnxError) as caught:
        load(made, limits=sx.Limits(max_attribute_bytes=1000))
    assert caught.value.code == "limit-exceeded"
    assert "max_attribute_bytes" in (caught.value.hint or "")
