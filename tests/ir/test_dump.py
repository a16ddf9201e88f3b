"""The structural dump: all that a model says, one fact a line."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path

import pytest

import sardonyx as sx
from sardonyx.ir import describe
from sardonyx.ir.attrs import AttrKind
from tests.hostile.generate import (
    attribute,
    block,
    entries,
    floats,
    lay_out,
    model,
    nested,
    node,
    number,
    relu,
    tensor,
    value,
)

RAW = floats(1, 2)
HASH = hashlib.sha256(RAW).hexdigest()


def dumped(*rest: bytes, **options: str) -> str:
    """Dump the model y = Relu(x) with more in its graph."""
    return sx.dump(sx.load(model(relu(*rest))), **options)


def attribute_line(*rest: bytes) -> str:
    """Dump an attribute `a` and return what follows its name."""
    text = dumped(node("Op", ["x"], ["z"], attribute("a", *rest)))
    return next(line for line in text.splitlines() if line.startswith("    a: ")).removeprefix("    a: ")


def test_d02_the_dump_shows_header_types_nodes_attributes_and_hashes() -> None:
    header = number(1, 9) + block(2, "a tool") + block(3, "1.0") + block(4, "org") + number(5, 3)
    body = node("Relu", ["x"], ["r"]) + block(2, "body") + value(12, "r")
    graph = relu(
        node(
            "If", ["x", ""], ["z", ""], block(3, "choose"), block(7, "ai.onnx"), block(8, "odd"),
            attribute("then_branch", number(20, 5), block(6, body)),
            attribute("axis", number(20, 2), number(3, -1)),
        ),
        tensor(block(9, RAW)),
        block(13, block(1, "stray"), block(2, block(1, number(1, 7)))),
    )  # fmt: skip
    function = block(
        25, block(1, "F"), block(10, "org"), block(4, "a"), block(5, "b"), block(6, "k"), block(9, number(2, 18)),
        block(7, block(1, "a"), block(2, "b"), block(4, "Op"), attribute("k", block(21, "k"), number(20, 1))),
        block(11, block(1, "m"), number(20, 3), block(4, "fast")),
    )  # fmt: skip
    data = header + block(7, graph) + block(8, number(2, 18)) + block(8, block(1, "org"), number(2, 1)) + function
    assert (
        sx.dump(sx.load(data))
        == f"""\
ir_version 9
producer "a tool" 1.0
domain org
model_version 3
opset "" 18
opset org 1
graph g
  input x: tensor(float)[2]
  output y: tensor(float)[2]
  claim value_info stray: tensor(int64)
  initializer w: float[2] sha256 {HASH}
  node Relu(x)
    -> y: tensor(float)[2]
  node ai.onnx::If:odd(x, "") "choose"
    -> z
    -> ""
    then_branch: GRAPH
      graph body
        output r: tensor(float)[2]
        node Relu(x)
          -> r: tensor(float)[2]
    axis: INT -1
function org::F
  input a
  output b
  attribute k
  default m: STRING "fast"
  opset "" 18
  node Op(a)
    -> b
    k: FLOAT = @k
"""
    )


@pytest.mark.parametrize(
    ("bits", "shown"),
    [
        (0x3F800000, "0x3f800000 (1)"),
        (0x80000000, "0x80000000 (-0)"),
        (0x7F800000, "0x7f800000 (inf)"),
        (0x7FC00000, "0x7fc00000 (nan)"),
        (0xFFC00123, "0xffc00123 (nan)"),
        (0x00000001, "0x00000001 (1.40129846e-45)"),
        (0x3DCCCCCD, "0x3dcccccd (0.100000001)"),
    ],
)
def test_d04_floats_are_bit_patterns(bits: int, shown: str) -> None:
    raw = struct.pack("<I", bits)
    assert attribute_line(number(20, 1), b"\x15" + raw) == f"FLOAT {shown}"
    assert attribute_line(number(20, 6), block(7, raw)) == f"FLOATS [{shown.split()[0]}]"


def test_long_lists_and_texts_are_shown_by_size_and_hash() -> None:
    ints = attribute_line(number(20, 7), block(8, bytes(range(65))))
    assert ints == f"INTS 65 entries sha256 {hashlib.sha256(struct.pack('<65q', *range(65))).hexdigest()}"
    text = attribute_line(number(20, 3), block(4, "x" * 121))
    assert text == f"STRING 121 bytes sha256 {hashlib.sha256(b'x' * 121).hexdigest()}"
    assert attribute_line(number(20, 3), block(4, "x" * 120)) == 'STRING "' + "x" * 120 + '"'
    assert attribute_line(number(20, 7), block(8, bytes(range(64)))) == f"INTS {list(range(64))}"


def test_a_text_that_is_not_utf8_is_shown_by_hash() -> None:
    digest = hashlib.sha256(b"\xff").hexdigest()
    assert attribute_line(number(20, 3), block(4, b"\xff")) == f"STRING 1 bytes sha256 {digest}"


def test_every_kind_of_attribute_has_a_way_to_be_described() -> None:
    nested = {AttrKind.GRAPH, AttrKind.GRAPHS, AttrKind.TENSOR, AttrKind.TENSORS}
    nested |= {AttrKind.SPARSE_TENSOR, AttrKind.SPARSE_TENSORS, AttrKind.UNDEFINED}
    assert set(describe.SIMPLE) == set(AttrKind) - nested


def test_typed_data_hashes_like_the_same_raw_data() -> None:
    assert dumped(tensor(block(4, floats(1, 2)))) == dumped(tensor(block(9, RAW)))


def test_where_one_string_ends_is_part_of_the_hash() -> None:
    def strings(*entries: str) -> str:
        return dumped(tensor(*[block(6, entry) for entry in entries], data_type=8, dims=(len(entries),)))

    assert strings("ab", "c") != strings("a", "bc")
    hashed = hashlib.sha256(struct.pack("<Q", 2) + b"ab" + struct.pack("<Q", 1) + b"c").hexdigest()
    assert f"string[2] sha256 {hashed}" in strings("ab", "c")


def test_names_that_are_not_plain_are_quoted_and_stay_on_their_line() -> None:
    text = dumped(node("Relu", ["x"], ["a b\n"]))
    assert '    -> "a b\\n"' in text.splitlines()


def test_metadata_and_documentation_are_shown_where_they_are() -> None:
    note = block(9, block(1, "k"), block(2, "v"))
    text = dumped(node("Relu", ["x"], ["z"], block(6, "why"), note))
    assert text.splitlines()[-3:] == ["    -> z", '    doc "why"', '    metadata "k" = "v"']


def test_an_external_tensor_is_hashed_and_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "model" / "m.onnx"
    path.parent.mkdir()
    path.write_bytes(entries(location="w.bin"))
    with sx.load(path, external_data="lazy") as lazy:
        assert "  initializer w: float[2] unavailable location=w.bin" in sx.dump(lazy).splitlines()
        described = json.loads(sx.dump(lazy, format="json"))["graph"]["initializers"][0]
    assert described["sha256"] is None
    assert described["unavailable"] in sx.CODES
    lay_out(path.parent)
    with sx.load(path) as found:
        assert f"initializer w: float[2] sha256 {hashlib.sha256(bytes(8)).hexdigest()}" in sx.dump(found)


def test_large_data_is_hashed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = dumped(tensor(block(9, RAW)))
    monkeypatch.setattr(describe, "PIECE", 3)
    assert dumped(tensor(block(9, RAW))) == whole


def test_json_has_a_schema_number_and_the_same_facts() -> None:
    facts = json.loads(dumped(tensor(block(9, RAW)), format="json"))
    assert facts["schema"] == 1
    assert facts["graph"]["inputs"] == [{"name": "x", "type": "tensor(float)[2]"}]
    assert facts["graph"]["initializers"] == [{"name": "w", "dtype": "float", "dims": [2], "sha256": HASH}]
    assert facts["graph"]["nodes"] == [
        {
            "op_type": "Relu",
            "domain": "",
            "overload": "",
            "name": "",
            "inputs": ["x"],
            "outputs": [{"name": "y", "type": "tensor(float)[2]"}],
            "attributes": [],
        }
    ]


def test_another_format_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="'yaml'; it must be 'text' or 'json'"):
        dumped(format="yaml")


def test_a_path_is_not_a_model() -> None:
    with pytest.raises(TypeError, match="str is not a loaded model"):
        sx.dump("model.onnx")
    with pytest.raises(TypeError, match="str is not a loaded model"):
        sx.diff(sx.load(model(relu())), "model.onnx")


def test_a_long_chain_of_nodes_needs_no_stack() -> None:
    chain = b"".join(node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(20_000))
    text = sx.dump(sx.load(model(chain + block(2, "g") + value(11, "v0"))))
    assert text.count("\n  node Relu(") == 20_000


def test_the_deepest_model_that_can_be_loaded_is_dumped_and_compared() -> None:
    deep, other = (sx.load(model(nested(count)), max_nesting=250) for count in (82, 81))
    assert sx.dump(deep).count("GRAPH\n") == 82
    assert sx.dump(deep, format="json").count('"GRAPH"') == 82
    assert sx.diff(deep, other)


def test_a_closed_model_cannot_be_dumped() -> None:
    with sx.load(model(relu(tensor(block(9, RAW))))) as closed:
        pass
    with pytest.raises(sx.OnnxError) as caught:
        sx.dump(closed)
    assert caught.value.code == "source-closed"
