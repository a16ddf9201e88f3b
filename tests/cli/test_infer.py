"""`sardonyx infer`."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import sardonyx as sx
from tests.cli.runs import sardonyx, write

TOP = '<ir_version: 10, opset_import: ["": 20, "local": 1]>'


@pytest.fixture
def typed(tmp_path: Path) -> Path:
    """A chain, a body and a call, with nothing declared but the inputs."""
    return write(
        tmp_path / "m.onnx",
        TOP
        + """
        g (float[batch, 4] x, bool c) => (y) {
          z = local.twice (x)
          y = If (c) <then_branch = t () => (p) { p = Relu (z) }, else_branch = e () => (q) { q = Transpose (z) }>
        }
        <domain: "local", opset_import: ["": 20]> twice (a) => (b) { b = Concat <axis = 0> (a, a) }""",
    )


@pytest.fixture
def contradictory(tmp_path: Path) -> Path:
    return write(tmp_path / "m.onnx", TOP + " g (float[2, 3] x, float[4, 5] w) => (y) { y = MatMul (x, w) }")


def test_the_page_tells_coverage_interface_and_what_is_unknown(tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.onnx", TOP + " g (float[n, 2] x) => (y) { z = Concat <axis = 1> (x, x) y = NonZero (z) }"
    )
    ran = sardonyx("infer", path)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[:5] == [
        str(path),
        "  values     3",
        "  typed      100%",
        "  ranked     100%",
        "  expressed  66.7%, with 1 distinct symbolic dims",
    ]
    assert "  x  tensor(float)[n, 2]" in lines
    assert "Unknown (1)" in lines
    why, unknown = lines[lines.index("Unknown (1)") + 1 :][:2]
    assert "NonZero" in why
    assert unknown.startswith("    y  tensor(int64)[2, ")


def test_a_size_that_an_element_of_an_input_decides_says_so(tmp_path: Path) -> None:
    text = " g (int64[1] k, float[s] x) => (z) { y = ConstantOfShape (k) z = Concat <axis = 0> (y, x) }"
    lines = sardonyx("infer", write(tmp_path / "m.onnx", TOP + text)).out.splitlines()
    why, *unknown = lines[lines.index("Unknown (2)") + 1 :]
    assert why == "  element 0 of 'k' is _d0: it comes with the graph's input"
    assert [line.split()[0] for line in unknown] == ["y", "z"]


def test_the_model_is_saved_with_its_types(typed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    assert sardonyx("infer", typed, "-o", out, "--quiet") == (0, "", "")
    saved = onnx.load(out)
    (info,) = saved.graph.value_info
    assert (info.name, [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim]) == (
        "z",
        ["2*batch", 4],
    )
    with sx.load(out) as model:
        assert str(model.graph.types[model.graph.nodes[0].outputs[0]]) == "tensor(float)[2*batch, 4]"


def test_sizes_can_be_given_for_names(typed: Path) -> None:
    ran = sardonyx("infer", typed, "--bind", "batch=8", "--frames")
    assert ran.code == 0
    assert "tensor(float)[16, 4]" in ran.out
    assert "batch" not in ran.out


@pytest.mark.parametrize("given", ["batch", "batch=", "batch=-1", "=3", "batch=x", "nobody=3"])
def test_a_size_that_means_nothing_is_wrong_usage(typed: Path, given: str) -> None:
    ran = sardonyx("infer", typed, "--bind", given)
    assert ran.code == 2
    assert "--bind" in ran.err or "NAME=SIZE" in ran.err


def test_a_name_that_no_input_has_is_answered_with_those_there_are(typed: Path) -> None:
    assert "batch" in sardonyx("infer", typed, "--bind", "nobody=3").err


def test_a_contradiction_is_shown_and_the_rest_inferred(contradictory: Path) -> None:
    ran = sardonyx("infer", contradictory)
    assert ran.code == 0
    assert "[invalid-model: dim-mismatch]" in ran.out


def test_in_strict_mode_a_contradiction_ends_it_with_status_1_and_nothing_is_written(
    contradictory: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.onnx"
    ran = sardonyx("infer", contradictory, "--strict", "-o", out)
    assert (ran.code, ran.out) == (1, "")
    assert "[invalid-model: dim-mismatch]" in ran.err
    assert not out.exists()


def test_frames_are_a_tree_of_bodies_and_calls(typed: Path) -> None:
    lines = sardonyx("infer", typed, "--frames").out.splitlines()
    tree = [line.rstrip() for line in lines[lines.index("Frames") + 1 :]]
    assert tree == [
        "  main graph",
        "    x  tensor(float)[batch, 4]",
        "    c  tensor(bool)[]",
        "    z  tensor(float)[2*batch, 4]",
        tree[4],
        "    call of node 0 (twice)",
        "      a  tensor(float)[batch, 4]",
        "      b  tensor(float)[2*batch, 4]",
        "    node 1 (If).then_branch",
        "      p  tensor(float)[2*batch, 4]",
        "    node 1 (If).else_branch",
        "      q  tensor(float)[4, 2*batch]",
    ]
    assert tree[4].startswith("    y  tensor(float)[")


def test_events_are_shown_with_the_way_to_their_frame(typed: Path) -> None:
    lines = sardonyx("infer", typed, "--events").out.splitlines()
    (title,) = [line for line in lines if line.startswith("Events (")]
    events = lines[lines.index(title) + 1 :]
    assert f"Events ({len(events)})" == title
    assert any("typed z: tensor(float)[2*batch, 4]" in line for line in events)
    assert any(line.startswith("  [0.call]: node 0 (Concat)") for line in events)


def test_a_long_way_to_a_frame_is_shown_by_its_beginning_and_its_end(tmp_path: Path) -> None:
    head = '<domain: "local", opset_import: ["": 20, "local": 1]>'
    calls = "".join(f"{head} f{at} (a) => (b) {{ b = local.f{at + 1} (a) }}\n" for at in range(20))
    text = (
        f"{TOP} g (float[n] x) => (float[n] y) {{ y = local.f0 (x) }}\n{calls}{head} f20 (a) => (b) {{ b = Relu (a) }}"
    )
    lines = sardonyx("infer", write(tmp_path / "m.onnx", text), "--events").out.splitlines()
    way = "0.call > 0.call > 0.call > 0.call > 0.call > 14 more > 0.call > 0.call"
    assert f"  [{way}]: node 0 (Relu): typed b: tensor(float)[n]" in lines


def test_json_has_it_all(typed: Path) -> None:
    shown = sardonyx("infer", typed, "--json", "--events", "--frames").json
    assert (shown["schema"], shown["command"], shown["source"], shown["output"]) == (1, "infer", str(typed), None)
    assert shown["coverage"]["values"] == shown["coverage"]["typed"] == 6
    assert shown["interface"][0] == {"role": "input", "name": "x", "type": "tensor(float)[batch, 4]"}
    assert {"constraints", "assumptions", "unknown", "issues"} <= shown.keys()
    assert {frame["place"] for frame in shown["frames"]} >= {None, "call of node 0 (twice)", "node 1 (If).then_branch"}
    assert any(event["kind"] == "typed" and event["value"] == "z" for event in shown["events"])


def test_missing_weights_are_no_obstacle_when_data_is_read_lazily(shared: Path) -> None:
    shown = sardonyx("infer", "--lazy-data", "--json", shared / "corpus" / "bert_base_ts.onnx").json
    assert shown["coverage"]["expressed"] == shown["coverage"]["values"]
