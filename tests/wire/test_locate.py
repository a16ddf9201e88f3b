"""The path of every byte, for every kind of message, whole or damaged."""

from __future__ import annotations

import pytest

from sardonyx.errors import Issue, Place
from sardonyx.wire.locate import Walk, locate, name_of, spot, with_paths
from sardonyx.wire.messages import ModelProto, NodeProto, TensorProto
from sardonyx.wire.pieces import scan
from sardonyx.wire.schema import LENGTH, MESSAGES
from tests.wire.bytes_of import attribute, fixed32, graph, number, payload, tensor


def sample(known) -> bytes:
    """One occurrence of a field."""
    if known.wire == LENGTH:
        return payload(known.number, b"" if known.kind == "message" else b"text")
    return (
        number(known.number, 5)
        if known.wire == 0
        else bytes([known.number << 3 | known.wire]) + b"\0" * (4 if known.kind == "float" else 8)
    )


@pytest.mark.parametrize("cls", MESSAGES.values(), ids=MESSAGES)
def test_r05_each_byte_of_each_field_of_each_message_has_its_path(cls):
    data, expected = b"", []
    for known in cls.fields:
        for occurrence in range(3 if known.repeated else 1):
            piece = sample(known)
            index = f"[{occurrence}]" if known.repeated else ""
            data += piece
            expected += [f"{name_of(cls)}.{known.name}{index}"] * len(piece)
    assert [locate(data, offset, cls) for offset in range(len(data))] == expected
    assert locate(data, len(data), cls) == name_of(cls)


def test_r05_paths_go_inwards():
    inner = payload(8, b"name")
    data = attribute(payload(6, payload(1, b"") + payload(1, payload(5, b"") + payload(5, payload(5, inner)))))
    path = "ModelProto.graph.node[0].attribute[0].g.node[1].attribute[1].t"
    at = data.index(inner)
    assert locate(data, at - 1) == path
    assert locate(data, at) == f"{path}.name"
    assert spot(data, at).owner == "TensorProto"


def test_numbers_of_a_packed_run_have_their_own_index():
    data = tensor(number(7, 1) + payload(7, b"\x01\xac\x02\x03") + payload(4, b"\0" * 12))
    start = data.index(b"\x01\xac")
    names = [locate(data, start + at).removeprefix("ModelProto.graph.initializer[0].") for at in range(-1, 4)]
    assert names == ["int64_data[1]", "int64_data[1]", "int64_data[2]", "int64_data[2]", "int64_data[3]"]
    assert locate(data, len(data) - 1) == "ModelProto.graph.initializer[0].float_data[2]"


def test_unknown_fields_are_shown_by_number():
    data = graph(number(99, 5) + payload(98, payload(1, b"x")))
    assert locate(data, 2) == "ModelProto.graph.<field 99>"
    assert locate(data, len(data) - 1) == "ModelProto.graph.<field 98>"


def test_spot_tells_key_length_and_payload_apart():
    data = number(1, 6) + graph(payload(2, b"name") + payload(1, fixed32(99, b"1234")))
    found = spot(data, 7)
    assert (found.path, found.part, found.owner, found.number, found.wire) == (
        "ModelProto.graph.name", "payload", "GraphProto", 2, 2,
    )  # fmt: skip
    assert (found.owner_start, found.owner_end) == (4, len(data))
    assert (found.start, found.payload, found.end, found.field.kind) == (4, 6, 10, "string")
    assert [spot(data, at).part for at in range(7)] == ["key", "value", "key", "length", "key", "length", "payload"]
    assert spot(data, len(data)).part == "message"


@pytest.mark.parametrize(
    ("tail", "path", "damage"),
    [
        (b"\x80", "NodeProto", "key"),
        (b"\x00\x00", "NodeProto", "key"),
        (b"\x1b", "NodeProto.name", "key"),
        (b"\x1a", "NodeProto.name", "length"),
        (b"\x1a\xff", "NodeProto.name", "length"),
        (b"\x1a\x10abc", "NodeProto.name", "length"),
        (b"\xf8\x01\xff", "NodeProto.<field 31>", "value"),
        (b"\xfd\x01\xff", "NodeProto.<field 31>", "value"),
    ],
)
def test_damage_is_named_and_ends_the_walk(tail, path, damage):
    data = payload(4, b"Relu") + tail
    for offset in range(6, len(data) + 1):
        found = spot(data, offset, NodeProto)
        assert (found.path, found.damage) == (path, damage)
    assert locate(data, 3, NodeProto) == "NodeProto.op_type"


def test_a_cut_message_is_followed_to_the_cut():
    data = attribute(payload(5, payload(8, b"weights") + payload(9, b"x" * 50)))
    path = "ModelProto.graph.node[0].attribute[0].t"
    assert locate(data[:-40], data.index(b"weights")) == f"{path}.name"
    assert locate(data[:-40], len(data) - 45) == f"{path}.raw_data"


def test_any_byte_of_any_prefix_has_a_path(shared):
    data = (shared / "corpus" / "proto_corners.onnx").read_bytes()
    for offset in range(0, len(data), 7):
        whole = locate(data, offset)
        assert whole.startswith("ModelProto")
        assert locate(data[: offset + 1], offset).startswith("ModelProto")
    assert locate(data, 10**9) == "ModelProto"


def test_errors_name_the_field_in_a_message_decoded_on_its_own():
    assert locate(payload(8, b"x"), 2, TensorProto) == "TensorProto.name"
    assert locate(b"", 0, ModelProto) == "ModelProto"


def told(found) -> tuple:
    return found.path, found.part, found.start, found.end


def test_one_walk_finds_every_byte_in_any_order(shared):
    data = (shared / "corpus" / "proto_corners.onnx").read_bytes()
    walk = Walk(data, ModelProto)
    offsets = [*range(0, len(data) + 2, 11), *range(0, len(data), 101), *range(len(data), 0, -137)]
    assert [told(walk.spot(offset)) for offset in offsets] == [told(spot(data, offset)) for offset in offsets]


def test_a_walk_to_many_bytes_goes_over_the_file_once(monkeypatch: pytest.MonkeyPatch):
    data = payload(7, b"".join(payload(1, payload(4, b"Neg")) for _ in range(500)))
    steps = []

    def counted(*args):
        for piece in scan(*args):
            steps.append(piece)
            yield piece

    monkeypatch.setattr("sardonyx.wire.locate.scan", counted)
    issues = [Issue("cycle", "", Place(offset=offset)) for offset in range(len(data), 3, -7)]
    paths = [one.place.path for one in with_paths(issues, data)]
    assert len(steps) < 4 * 500
    assert paths == [locate(data, issue.place.offset - 1) for issue in issues]
