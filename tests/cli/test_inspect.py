"""`sardonyx inspect`."""

from __future__ import annotations

from pathlib import Path

import onnx

from tests.cli.runs import sardonyx, write

PAGE = """\
{path}
  size    132 B
  format  IR version 9
  opsets  ai.onnx 18
  graph   g: 1 node

Inputs (1)
  x  tensor(float)[n, 2]

Outputs (1)
  y  tensor(float)[n, 2]

Operators (1 node)
  1  Add

Weights (0 parameters in 0 initializers, 0 B)
"""


def test_the_page_of_a_small_model(small: Path) -> None:
    ran = sardonyx("inspect", small)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == PAGE.format(path=small).replace("132 B", f"{small.stat().st_size} B")


def test_the_page_of_the_example_shows_functions_bodies_and_weights(example: Path) -> None:
    out = sardonyx("inspect", example).out
    assert "  motion::Standardise<epsilon>(x) -> (y)" in out
    assert "  If 'centred'.then_branch  2 nodes  captures frame, sensor_mean, sensor_scale\n" in out
    assert "Weights (2,122 parameters in 13 initializers, 8.49 kB)\n" in out
    assert "    1              1             motion::GruCell (function)\n" in out


def test_piped_output_has_neither_colour_nor_boxes_nor_blanks_at_line_ends(example: Path) -> None:
    out = sardonyx("inspect", example).out
    assert out.isascii()
    assert "\x1b" not in out
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


def test_json_says_the_same_as_data(example: Path) -> None:
    shown = sardonyx("inspect", example, "--json").json
    assert (shown["schema"], shown["command"]) == (1, "inspect")
    assert set(shown) == {
        "schema", "command", "model", "graph", "operators", "functions", "bodies", "weights", "issues",
    }  # fmt: skip
    assert shown["model"]["bytes"] == example.stat().st_size
    assert shown["model"]["opset_imports"] == {"ai.onnx": 18, "motion": 1}
    assert shown["graph"]["inputs"][0] == {"name": "frame", "type": "tensor(float)[1, batch, 3]"}
    assert shown["operators"][0] == {
        "domain": "ai.onnx", "op_type": "Add", "overload": "", "count": 6,
        "graph": 0, "bodies": 0, "functions": 6, "is_function": False,
    }  # fmt: skip
    assert shown["weights"]["parameters"] == 2122
    assert shown["bodies"][0]["captures"] == ["frame", "sensor_mean", "sensor_scale"]


def test_a_dash_reads_standard_input(example: Path) -> None:
    ran = sardonyx("inspect", "-", "--json", stdin=example.read_bytes())
    assert ran.code == 0
    assert ran.json["graph"]["name"] == "motion"
    assert "bytes" not in ran.json["model"]


def test_names_in_a_model_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "hostile.onnx"
    node = onnx.helper.make_node("Abs", ["\x1b[31mred"], ["[bold]y\n\u202eevil"])
    graph = onnx.helper.make_graph(
        [node],
        "g\x07",
        [onnx.helper.make_tensor_value_info("\x1b[31mred", 1, [2])],
        [onnx.helper.make_tensor_value_info("[bold]y\n\u202eevil", 1, [2])],
    )
    path.write_bytes(onnx.helper.make_model(graph, ir_version=9).SerializeToString())
    out = sardonyx("inspect", path).out
    assert "  \\x1b[31mred  tensor(float)[2]\n" in out
    assert "  [bold]y\\n\\u202eevil  tensor(float)[2]\n" in out
    assert "g\\x07: 1 node\n" in out
    assert not any(ord(one) < 32 and one != "\n" for one in out)


def test_a_model_whose_data_file_is_missing_can_be_inspected_lazily(tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.onnx", '<ir_version: 9, opset_import: ["": 18]> g (float[2] x) => (float[2] y) { y = Add (x, w) }'
    )
    model = onnx.load(path)
    tensor = model.graph.initializer.add(name="w", data_type=1, dims=[2], data_location=1)
    tensor.external_data.add(key="location", value="weights.bin")
    path.write_bytes(model.SerializeToString())

    assert sardonyx("inspect", path).code == 3
    ran = sardonyx("inspect", "--lazy-data", path)
    assert ran.code == 0
    assert "        1  float         2    8 B  weights.bin\n" in ran.out

    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "weights.bin").write_bytes(bytes(8))
    assert sardonyx("inspect", "--external-data-dir", tmp_path / "elsewhere", path).code == 0


def test_a_long_list_is_cut_on_the_page_and_whole_in_json(tmp_path: Path) -> None:
    inputs = ", ".join(f"float x{i}" for i in range(60))
    text = f'<ir_version: 9, opset_import: ["": 18]> g ({inputs}) => (float y) {{ y = Neg (x0) }}'
    path = write(tmp_path / "wide.onnx", text)
    out = sardonyx("inspect", path).out
    assert "  x39  tensor(float)[]\n  ... and 20 more (--json has all)\n" in out
    assert "x40" not in out
    assert len(sardonyx("inspect", path, "--json").json["graph"]["inputs"]) == 60


def test_sparse_weights_count_their_values_and_name_their_indices(tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.onnx",
        '<ir_version: 9, opset_import: ["": 18]> g (float[4] x) => (float[4] y) { y = Add (x, w) }',
    )
    model = onnx.load(path)
    values = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2], [1.0, 2.0])
    indices = onnx.helper.make_tensor("", onnx.TensorProto.INT64, [2], [0, 3])
    model.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, indices, [4]))
    path.write_bytes(model.SerializeToString())
    weights = sardonyx("inspect", path, "--json").json["weights"]
    assert (weights["parameters"], weights["tensors"], weights["bytes"]) == (2, 1, 8)
    assert [part["role"] for part in weights["parts"]] == ["sparse values", "sparse indices"]
