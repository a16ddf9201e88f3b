"""`sardonyx lower`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import sardonyx as sx
from tests.cli.runs import sardonyx, write


def outputs(path: Path) -> list[np.ndarray]:
    """Run the example under onnxruntime for one frame of two recordings."""
    onnxruntime = pytest.importorskip("onnxruntime")
    random = np.random.default_rng(0)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feed = {
        "frame": random.normal(size=(1, 2, 3)).astype(np.float32),
        "state": random.normal(size=(2, 24)).astype(np.float32),
        "calibrated": np.array(True),
    }
    found: list[np.ndarray] = session.run(None, feed)
    return found


def test_the_lowered_example_is_valid_and_computes_the_same(example: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    ran = sardonyx("lower", example, "-o", out)
    assert (ran.code, ran.err) == (0, "")
    onnx.checker.check_model(out, full_check=True)
    for before, after in zip(outputs(example), outputs(out), strict=True):
        np.testing.assert_array_equal(before, after)


def test_the_page_has_a_line_for_each_stage(example: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    lines = sardonyx("lower", example, "-o", out).out.splitlines()
    assert lines[0] == f"{example} -> {out}"
    stages = [line.split()[0] for line in lines[1:]]
    assert stages == ["load", "inline", "infer", "scans", "save"]
    assert all(" ms" in line for line in lines[1:])
    assert lines[2].startswith("  inline  38 nodes")
    assert lines[2].endswith("4 calls of 3 functions")
    assert lines[3].endswith("100% typed, 100% ranked, 100% with every dim expressed; 1 distinct symbolic dims")
    assert lines[4].startswith("  scans   39 nodes")
    assert lines[4].endswith("1 Scan inlined")


def test_json_has_the_stages_and_what_was_written(example: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    shown = sardonyx("lower", example, "-o", out, "--json").json
    assert (shown["schema"], shown["command"]) == (1, "lower")
    assert (shown["source"], shown["output"]) == (str(example), str(out))
    assert (shown["bytes"], shown["data_files"]) == (out.stat().st_size, [])
    assert shown["stages"][0]["stage"] == "load"
    assert shown["stages"][0]["nodes"] == 12
    assert shown["inlined"]["inlined"] == {"motion::Gate": 2, "motion::GruCell": 1, "motion::Standardise": 1}
    assert [row["stage"] for row in shown["stages"]] == ["load", "inline", "infer", "scans", "save"]
    assert shown["coverage"] == {"values": 56, "typed": 56, "ranked": 56, "expressed": 56}
    assert shown["scans"] == {"inlined": [{"node": "node 1 (Scan)", "where": "", "to_check": []}], "skipped": []}
    assert all(row["seconds"] >= 0 for row in shown["stages"])
    assert shown["issues"] == []


def test_no_function_is_left(example: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    sardonyx("lower", example, "-o", out)
    shown = sardonyx("inspect", out, "--json").json
    assert shown["functions"] == []
    assert not any(row["is_function"] for row in shown["operators"])


SYMBOLIC = """<ir_version: 9, opset_import: ["": 18]>
g (float[2] s, float[n, 2] xs) => (float[2] t, float[n, 2] ys) {
  t, ys = Scan (s, xs) <num_scan_inputs = 1,
    body = b (float[2] s0, float[2] x) => (float[2] t0, float[2] y) { y = Neg (x) t0 = Add (s0, y) }>
}"""


def test_a_scan_of_symbolic_length_is_inlined_only_when_someone_vouches_for_it(tmp_path: Path) -> None:
    path, out = write(tmp_path / "m.onnx", SYMBOLIC), tmp_path / "out.onnx"
    ran = sardonyx("lower", path, "-o", out)
    assert "Scans left alone (1)" in ran.out
    assert [node.op_type for node in onnx.load(out).graph.node] == ["Scan"]
    ran = sardonyx("lower", path, "-o", out, "--assume-single-trip")
    assert "  axis 0 of 'xs' has length 1 (n)" in ran.out.splitlines()
    assert [node.op_type for node in onnx.load(out).graph.node] == ["Squeeze", "Neg", "Add", "Unsqueeze"]


def test_types_are_written_for_what_a_scan_left_behind(tmp_path: Path) -> None:
    path, out = write(tmp_path / "m.onnx", SYMBOLIC.replace("n, 2", "1, 2")), tmp_path / "out.onnx"
    done = sx.lower(path, out)
    graph = done.model.graph
    assert all(graph.type(value) is not None for value in graph.values)
    assert done.inference.model is done.model is done.scans.model
    assert {one.name for one in onnx.load(out).graph.value_info} == {"x_1", "y_1"}


def test_what_inference_finds_wrong_is_among_the_issues_once(tmp_path: Path) -> None:
    text = (
        SYMBOLIC.replace("n, 2", "1, 2")
        .replace("g (float[2] s", "g (float[2] s, float[3] odd")
        .replace("{\n  t, ys", "<float[7] z> {\n  z = Neg (odd)\n  t, ys", 1)
    )
    found = [issue.code for issue in sx.lower(write(tmp_path / "m.onnx", text)).issues]
    assert found == ["claim-contradicted"]


def test_a_conflict_of_opsets_is_refused_unless_the_highest_is_asked_for(tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.onnx",
        """<ir_version: 9, opset_import: ["": 18, "d": 1]>
        g (float[2, 3] x) => (float[2, 1] y) { y = d.F (x) }
        <domain: "d", opset_import: ["": 12]>
        F (x) => (y) { y = ReduceSum <axes = [1]> (x) }""",
    )
    ran = sardonyx("lower", path, "-o", tmp_path / "out.onnx")
    assert ran.code == 3
    assert "ReduceSum" in ran.err
    assert sardonyx("lower", path, "-o", tmp_path / "out.onnx", "--opset-conflict", "highest").code == 0


def test_external_moves_weights_to_a_data_file_and_embed_brings_them_back(example: Path, tmp_path: Path) -> None:
    moved, whole = tmp_path / "moved.onnx", tmp_path / "whole.onnx"
    shown = sardonyx("lower", example, "-o", moved, "--external", "--threshold", "300", "--json").json
    (name,) = shown["data_files"]
    assert (tmp_path / name).stat().st_size > 0
    with sx.load(moved) as model:
        places = {tensor.name: tensor.is_external for tensor in model.graph.initializers.values()}
    assert places["u_update"]
    assert not places["b_update"]

    assert sardonyx("lower", moved, "-o", whole, "--embed").code == 0
    with sx.load(whole) as model:
        assert not any(tensor.is_external for tensor in model.graph.initializers.values())
    assert sardonyx("diff", moved, whole).code == 0


def test_external_and_embed_together_are_wrong_usage(example: Path, tmp_path: Path) -> None:
    assert sardonyx("lower", example, "-o", tmp_path / "out.onnx", "--external", "--embed").code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_loaded_writes_nothing(cut_short: Path, tmp_path: Path) -> None:
    ran = sardonyx("lower", cut_short, "-o", tmp_path / "out.onnx")
    assert ran.code == 3
    assert "[malformed: length-past-end]" in ran.err
    assert not (tmp_path / "out.onnx").exists()


def test_a_place_that_cannot_be_written_gives_status_3_and_names_it(example: Path, tmp_path: Path) -> None:
    ran = sardonyx("lower", example, "-o", tmp_path / "nowhere" / "out.onnx")
    assert ran.code == 3
    assert "nowhere" in ran.err
    assert "[io: " in ran.err


def test_quiet_prints_nothing(example: Path, tmp_path: Path) -> None:
    assert sardonyx("lower", "-q", example, "-o", tmp_path / "out.onnx") == (0, "", "")


def test_the_output_may_be_the_input(example: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(example.read_bytes())
    assert sardonyx("lower", path, "-o", path).code == 0
    assert sardonyx("check", path).code == 0


def test_a_dash_reads_standard_input(example: Path, tmp_path: Path) -> None:
    ran = sardonyx("lower", "-", "-o", tmp_path / "out.onnx", stdin=example.read_bytes())
    assert ran.code == 0
    assert (tmp_path / "out.onnx").exists()
