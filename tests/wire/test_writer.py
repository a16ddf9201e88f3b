"""Encoding: the bytes are those of protobuf's own serializer."""

from __future__ import annotations

import struct

import pytest

from sardonyx.wire import decode, encode, header, key, varint
from sardonyx.wire.messages import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    StringStringEntryProto,
    TensorProto,
    TensorProtoSegment,
    TensorShapeProto,
    TypeProto,
    TypeProtoTensor,
    ValueInfoProto,
)
from sardonyx.wire.messages import Dimension as Dim
from tests.wire.bytes_of import fixed32, number, payload


def test_every_sample_comes_back_as_protobuf_writes_it(shared):
    onnx = pytest.importorskip("onnx")
    samples = [path for path in sorted((shared / "corpus").glob("*.onnx")) if path.stat().st_size < 1_500_000]
    assert samples
    for path in samples:
        data = path.read_bytes()
        decoded = decode(data, ModelProto, source=path.name)
        expected = onnx.ModelProto.FromString(data).SerializeToString(deterministic=True)
        assert encode(decoded.message, data) == expected, path.name


def test_a_model_built_by_hand_is_what_onnx_builds():
    onnx = pytest.importorskip("onnx")
    theirs = onnx.ModelProto(ir_version=10, producer_name="me", doc_string="why")
    theirs.opset_import.add(domain="", version=21)
    theirs.metadata_props.add(key="k", value="v")
    theirs.graph.name = "g"
    node = theirs.graph.node.add(op_type="Op", input=["x", ""], output=["y"])
    node.attribute.add(name="a", type=7, ints=[1, -1, 2**40])
    node.attribute.add(name="b", type=6, floats=[0.5, -0.0])
    node.attribute.add(name="c", type=3, s=b"\xff")
    node.attribute.add(name="d", type=1, f=1e-3)
    node.attribute.add(name="e", type=2, i=-(2**63))
    weights = theirs.graph.initializer.add(name="w", dims=[2], data_type=7, int64_data=[-1, 300])
    weights.segment.begin, weights.segment.end = 0, 2
    theirs.graph.initializer.add(name="u", dims=[2], data_type=1, float_data=[1, 2], raw_data=b"")
    theirs.graph.initializer.add(name="s", data_type=8, string_data=[b"a", b""])
    shape = theirs.graph.input.add(name="x").type.tensor_type
    shape.elem_type = 1
    shape.shape.dim.add(dim_param="n")
    shape.shape.dim.add(dim_value=0)
    shape.shape.dim.add()

    ours = ModelProto(
        ir_version=10,
        producer_name="me",
        doc_string="why",
        opset_import=[OperatorSetIdProto(domain="", version=21)],
        metadata_props=[StringStringEntryProto(key="k", value="v")],
        graph=GraphProto(
            name="g",
            node=[
                NodeProto(
                    op_type="Op",
                    input=["x", ""],
                    output=["y"],
                    attribute=[
                        AttributeProto(name="a", type=7, ints=[1, -1, 2**40]),
                        AttributeProto(name="b", type=6, floats=[0.5, -0.0]),
                        AttributeProto(name="c", type=3, s=b"\xff"),
                        AttributeProto(name="d", type=1, f=1e-3),
                        AttributeProto(name="e", type=2, i=-(2**63)),
                    ],
                )
            ],
            initializer=[
                TensorProto(
                    name="w",
                    dims=[2],
                    data_type=7,
                    int64_data=[-1, 300],
                    segment=TensorProtoSegment(begin=0, end_=2),
                ),
                TensorProto(name="u", dims=[2], data_type=1, float_data=[1, 2], raw_data=b""),
                TensorProto(name="s", data_type=8, string_data=[b"a", b""]),
            ],
            input=[
                ValueInfoProto(
                    name="x",
                    type=TypeProto(
                        tensor_type=TypeProtoTensor(
                            elem_type=1, shape=TensorShapeProto(dim=[Dim(dim_param="n"), Dim(dim_value=0), Dim()])
                        )
                    ),
                )
            ],
        ),
    )
    assert encode(ours) == theirs.SerializeToString(deterministic=True)


def test_fields_are_written_in_the_order_of_their_numbers():
    assert encode(NodeProto(op_type="B", input=["a"])) == encode(NodeProto(input=["a"], op_type="B"))
    assert encode(NodeProto(op_type="B", input=["a"])) == payload(1, b"a") + payload(4, b"B")


def test_a_present_default_is_written_and_an_empty_list_is_not():
    assert encode(NodeProto(name="", domain="", input=[], attribute=[])) == payload(3) + payload(7)
    assert encode(AttributeProto(i=0, ints=[], f=0.0)) == fixed32(2, b"\0" * 4) + number(3, 0)
    assert encode(TensorProto(int64_data=[])) == b""


def test_the_bits_of_a_nan_survive():
    quiet, signalling = struct.pack("<I", 0x7FC12345), struct.pack("<I", 0xFF812345)
    data = fixed32(2, quiet) + fixed32(2, signalling) + fixed32(7, signalling) + payload(7, quiet + b"\0" * 4)
    expected = fixed32(2, signalling) + fixed32(7, signalling) + fixed32(7, quiet) + fixed32(7, b"\0" * 4)
    assert encode(decode(data, AttributeProto).message, data) == expected


def test_unknown_fields_and_known_ones_of_another_wire_type_are_kept_at_the_end():
    odd = number(99, 5) + fixed32(1, b"abcd")
    data = odd + payload(3, b"name") + payload(99, b"\xff")
    assert encode(decode(data, NodeProto).message, data) == payload(3, b"name") + odd + payload(99, b"\xff")


def test_metadata_that_was_not_decoded_is_copied():
    entry = payload(9, payload(2, b"v") + payload(1, b"k") + number(7, 1))
    data = entry + payload(3, b"name") + entry
    assert encode(decode(data, NodeProto).message, data) == payload(3, b"name") + entry + entry


@pytest.mark.parametrize(
    ("data", "cls"),
    [
        (payload(9, b"raw"), TensorProto),
        (payload(12, b"doc"), TensorProto),
        (payload(7, b"\x01"), TensorProto),
        (payload(16), TensorProto),
        (number(99, 1), TensorProto),
        (payload(6, b"text"), TensorProto),
    ],
)
def test_a_decoded_message_with_spans_needs_its_bytes(data, cls):
    message = decode(data, cls).message
    assert encode(message, data) == data
    with pytest.raises(ValueError, match="its bytes are needed"):
        encode(message)


def test_varints_keys_and_headers():
    assert [varint(n) for n in (0, 127, 128, 300, 2**64 - 1)] == [
        b"\0", b"\x7f", b"\x80\x01", b"\xac\x02", b"\xff" * 9 + b"\x01",
    ]  # fmt: skip
    assert varint(-1) == varint(2**64 - 1)
    assert key(20, 0) == b"\xa0\x01"
    assert header(1, 300) == b"\x0a\xac\x02"
    for number_out in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="does not fit in 64 bits"):
            varint(number_out)
