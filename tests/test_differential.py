"""The dump of sardonyx against the dump made from the onnx package alone, on models that show every corner."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import sardonyx as sx
from tests.dumps import differences, same_line
from tests.hostile import generate
from tests.rich import rich_model
from tests.tools.running import tool

onnx = pytest.importorskip("onnx")
from google.protobuf.message import DecodeError  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

from tests import onnx_dump  # noqa: E402

RICH = rich_model()
FLOAT2 = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])


def dumps(model: onnx.ModelProto) -> tuple[str, str]:
    """Return the dump of sardonyx and that of onnx."""
    data = model.SerializeToString()
    return sx.dump(sx.load(data)), onnx_dump.dump(onnx.load_model_from_string(data))


def model(*nodes: onnx.NodeProto, **fields) -> onnx.ModelProto:
    """A model from x: float[2] to y with these nodes before the one that makes y."""
    graph = helper.make_graph(
        [*nodes, helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [FLOAT2],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
        **fields,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def typed_tensor(code: int) -> TensorProto:
    """Three elements of a numeric type in its typed field, with bits above the element where there is room."""
    tensor = TensorProto(name=f"t{code}", data_type=code, dims=[3])
    if code in (TensorProto.FLOAT, TensorProto.COMPLEX64):
        tensor.float_data.extend([1.5, -0.0, float("nan"), 2, 3, 4][: 3 if code == TensorProto.FLOAT else 6])
    elif code in (TensorProto.DOUBLE, TensorProto.COMPLEX128):
        tensor.double_data.extend([1.5, -0.0, float("nan"), 2, 3, 4][: 3 if code == TensorProto.DOUBLE else 6])
    elif code == TensorProto.INT64:
        tensor.int64_data.extend([-1, 2**63 - 1, 0])
    elif code in (TensorProto.UINT64, TensorProto.UINT32):
        tensor.uint64_data.extend([2**64 - 1, 2**32 + 7, 0])
    elif code == TensorProto.STRING:
        tensor.string_data.extend([b"a", b"", b"\xff\xfe"])
    elif code in (TensorProto.UINT4, TensorProto.INT4, TensorProto.FLOAT4E2M1):
        tensor.int32_data.extend([-1, 0x105])
    elif code in (TensorProto.UINT2, TensorProto.INT2):
        tensor.int32_data.extend([0x11B])
    else:
        tensor.int32_data.extend([-1, 0x12345, 0])
    return tensor


NUMBERS = [number for number in TensorProto.DataType.values() if 0 < number <= 28]


@pytest.mark.parametrize("code", NUMBERS)
def test_d03_typed_data_of_each_element_type_hashes_as_its_raw_layout(code: int) -> None:
    ours, theirs = dumps(model(initializer=[typed_tensor(code)]))
    assert differences(ours, theirs) == []
    assert f"initializer t{code}: {TensorProto.DataType.Name(code).lower()}[3] sha256 " in ours


def test_d03_attributes_of_each_kind_are_shown_alike() -> None:
    tensor = helper.make_tensor("w", TensorProto.FLOAT, [2], [1, 2])
    sparse = helper.make_sparse_tensor(tensor, helper.make_tensor("i", TensorProto.INT64, [2], [0, 3]), [5])
    proto = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n", None, 3])
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["r"])], "body", [], [FLOAT2_NAMED("r")])
    values = {
        "f": 0.1, "i": -3, "s": "text", "t": tensor, "g": body, "sparse_tensor": sparse, "tp": proto,
        "floats": [1.0, -0.0], "ints": [1, 2], "strings": ["a", b"\xff"], "tensors": [tensor, tensor],
        "graphs": [body, body], "sparse_tensors": [sparse], "type_protos": [proto],
        "many_floats": [0.5] * 65, "many_ints": [7] * 65, "many_strings": ["s"] * 65, "long": "l" * 200,
    }  # fmt: skip
    node = helper.make_node("Everything", ["x", ""], ["z"], domain="com.example", name="all of it", **values)
    everything = model(node)
    everything.opset_import.append(helper.make_opsetid("com.example", 1))
    ours, theirs = dumps(everything)
    assert differences(ours, theirs) == []
    details = [line.split(": ")[1].split()[0] for line in ours.splitlines() if line.startswith("    ") and ": " in line]
    assert set(details) >= {
        "FLOAT", "INT", "STRING", "TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO",
        "FLOATS", "INTS", "STRINGS", "TENSORS", "GRAPHS", "SPARSE_TENSORS", "TYPE_PROTOS",
    }  # fmt: skip


def FLOAT2_NAMED(name: str) -> onnx.ValueInfoProto:  # noqa: N802
    """A float[2] under another name."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])


def test_d03_kinds_that_the_file_leaves_out_are_inferred_alike() -> None:
    node = helper.make_node("Loop", ["x"], ["z"], alpha=1.0, axes=[1], mode="m")
    for attr in node.attribute:
        attr.ClearField("type")
    ours, theirs = dumps(model(node))
    assert differences(ours, theirs) == []
    assert "    axes: INTS [1]" in ours.splitlines()


def test_d03_types_of_every_sort_are_shown_alike() -> None:
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n", "a b", None, -1, 3])
    types = [
        helper.make_tensor_type_proto(TensorProto.FLOAT, None),
        helper.make_tensor_type_proto(0, []),
        helper.make_sparse_tensor_type_proto(TensorProto.INT8, [4]),
        helper.make_sequence_type_proto(tensor),
        helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor)),
        helper.make_map_type_proto(TensorProto.STRING, tensor),
        onnx.TypeProto(opaque_type=onnx.TypeProto.Opaque(domain="d e", name="n")),
        onnx.TypeProto(),
        onnx.TypeProto(sequence_type=onnx.TypeProto.Sequence()),
    ]
    wide = model()
    for at, one in enumerate(types):
        wide.graph.input.add(name=f"in{at}").type.CopyFrom(one)
    ours, theirs = dumps(wide)
    assert differences(ours, theirs) == []
    assert '  input in3: seq(tensor(float)[n, "a b", ?, ?, 3])' in ours.splitlines()


def test_d03_declarations_beside_the_first_are_claims_in_both() -> None:
    infos = [helper.make_tensor_value_info(name, TensorProto.INT8, [7]) for name in ("x", "stray")]
    ours, theirs = dumps(model(value_info=infos))
    assert differences(ours, theirs) == []
    assert [line.strip() for line in ours.splitlines() if "claim" in line] == [
        "claim value_info x: tensor(int8)[7]",
        "claim value_info stray: tensor(int8)[7]",
    ]


def test_d03_nodes_out_of_order_are_sorted_alike() -> None:
    body = helper.make_graph([helper.make_node("Relu", ["late"], ["r"])], "body", [], [FLOAT2_NAMED("r")])
    nodes = [
        helper.make_node("If", ["c"], ["z"], then_branch=body, else_branch=body),
        helper.make_node("Abs", ["x"], ["late"]),
        helper.make_node("Not", ["x"], ["c"]),
    ]
    ours, theirs = dumps(model(*nodes))
    assert differences(ours, theirs) == []
    assert [line.split("(")[0] for line in ours.splitlines() if line.startswith("  node")] == [
        "  node Abs", "  node Not", "  node If", "  node Relu",
    ]  # fmt: skip


def test_d03_every_model_of_the_corpus_is_dumped_alike(shared: Path) -> None:
    wrong = {}
    for path in sorted((shared / "corpus").glob("*.onnx")):
        with sx.load(path, external_data="lazy") as model:
            theirs = onnx_dump.dump(onnx.load(str(path), load_external_data=False), path.parent)
            found = differences(sx.dump(model), theirs)
        if found:
            wrong[path.name] = found
    assert wrong == {}


def damaged(count: int) -> Iterator[bytes]:
    """The rich model and the hostile files with a few fields or bytes changed."""
    chance = random.Random(5)
    mutate = tool("mutate", "fuzz").mutate

    def bytewise(part: bytes, limit: int) -> bytes:
        changed = bytearray(part or b"x")
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        return bytes(changed[:limit])

    files = list(generate.files().values())
    for seed in range(count):
        yield mutate(RICH if seed % 4 else chance.choice(files), 8000, seed, bytewise)


def test_d03_damaged_models_that_still_load_are_dumped_alike() -> None:
    compared = 0
    for data in damaged(3000):
        try:
            model = sx.load(data, external_data="lazy")
        except sx.OnnxError:
            continue
        if model.lifetime.sources[0].repeats:
            continue  # protobuf merges a message that comes twice, the last one counts here
        if any(function.faults for function in model.functions.values()):
            continue  # a body with two values of one name, say, cannot be shown as it is
        theirs = onnx_dump.dump(onnx.load_model_from_string(data))
        assert differences(sx.dump(model), theirs) == [], data.hex()
        compared += 1
    assert compared > 250


def test_bytes_that_are_refused_as_malformed_are_no_protobuf_to_onnx_either_with_three_exceptions() -> None:
    refused, lenient = 0, set()
    for data in [*damaged(3000), *generate.files().values()]:
        try:
            sx.load(data, external_data="lazy")
        except sx.OnnxError as error:
            if error.kind is sx.ErrorKind.Malformed:
                refused += 1
                with suppress(DecodeError):
                    onnx.load_model_from_string(data)
                    lenient.add(error.code)
    assert refused > 500
    # protobuf loses the high bits of a tenth varint byte, gives bytes where text is not UTF-8, and skips groups
    assert lenient == {"bad-varint", "bad-utf8", "bad-wire-type"}


def test_dims_that_are_arithmetic_are_compared_by_value() -> None:
    assert same_line('x: tensor(float)["p + s", 3]', 'x: tensor(float)["s+p", 3]')
    assert same_line('x: tensor(float)["(h + 1)//2"]', 'x: tensor(float)["floor(h/2 - 1/2) + 1"]')
    assert not same_line('x: tensor(float)["p + s", 3]', 'x: tensor(float)["p - s", 3]')
    assert not same_line('x: tensor(float)["p + s", 3]', 'x: tensor(float)["p + s", 4]')
    assert not same_line('node "a b"()', 'node "b a"()')
