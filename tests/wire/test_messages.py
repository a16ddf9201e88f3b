"""The message tables against the descriptors of the installed onnx package."""

from __future__ import annotations

import pytest

from sardonyx.wire.locate import name_of
from sardonyx.wire.messages import NodeProto, TensorProto, TensorProtoSegment
from sardonyx.wire.schema import MESSAGES

KINDS = {
    1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 9: "string", 11: "message", 12: "bytes", 14: "enum",
}  # fmt: skip


def described(descriptor) -> list[tuple]:
    """The fields of a message as onnx knows them."""
    return [
        (
            known.number,
            known.name,
            KINDS[known.type],
            known.message_type.full_name.removeprefix("onnx.") if known.message_type else None,
            known.is_repeated,
            known.is_packed,
            known.containing_oneof.name if known.containing_oneof else None,
        )
        for known in sorted(descriptor.fields, key=lambda known: known.number)
    ]


def declared(cls) -> list[tuple]:
    """The same of our table."""
    return [
        (
            known.number,
            known.name,
            known.kind,
            name_of(known.message) if known.child else None,
            known.repeated,
            known.packed,
            known.oneof,
        )
        for known in cls.fields
    ]


def test_every_message_of_onnx_is_declared_as_it_is_there():
    onnx_ml_pb2 = pytest.importorskip("onnx.onnx_ml_pb2")
    waiting = list(onnx_ml_pb2.DESCRIPTOR.message_types_by_name.values())
    found = {}
    for descriptor in waiting:
        waiting.extend(descriptor.nested_types)
        found[descriptor.full_name.removeprefix("onnx.")] = described(descriptor)
    ours = {name_of(cls): declared(cls) for cls in MESSAGES.values()}
    assert ours.keys() == found.keys()
    for name, fields in found.items():
        assert ours[name] == fields


def test_no_field_hides_where_a_message_starts_and_ends():
    for cls in MESSAGES.values():
        assert not {"start", "end", "fields", "unknown", "has", "by_number"} & {known.attribute for known in cls.fields}
    assert [known.name for known in TensorProtoSegment.fields] == ["begin", "end"]


def test_a_message_built_by_hand_has_what_it_was_given():
    node = NodeProto(op_type="Relu", input=["x"], name="")
    assert (node.op_type, node.input, node.output, node.start) == ("Relu", ["x"], (), -1)
    assert (node.has("name"), node.has("domain")) == (True, False)
    with pytest.raises(TypeError, match="NodeProto has no field 'inputs'"):
        NodeProto(inputs=["x"])


def test_every_message_fits_the_decoders_table():
    assert max(known.number for cls in MESSAGES.values() for known in cls.fields) < 31
    assert TensorProto.by_number[9].attribute == "raw_data"
