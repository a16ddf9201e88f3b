"""`sardonyx inline`."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from tests.cli.runs import sardonyx, write

TEXT = """<ir_version: 10, opset_import: ["": 20, "loc": 1]>
g (float[3] x) => (float[3] y) { a = loc.F(x)  y = loc.G(a) }
<domain: "loc", opset_import: ["": 20, "loc": 1]>
F (X) => (Y) { t = Abs(X)  Y = Neg(t) }
<domain: "loc", opset_import: ["": 20, "loc": 1]>
G (X) => (Y) { Y = loc.F(X) }
<domain: "loc", opset_import: ["": 20, "loc": 1]>
Unused (X) => (Y) { Y = Neg(X) }"""


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    """A model with three functions, one of which nothing calls."""
    return write(tmp_path / "nested.onnx", TEXT)


def test_it_writes_the_model_without_calls_and_says_what_it_did(nested: Path, tmp_path: Path) -> None:
    out = tmp_path / "flat.onnx"
    ran = sardonyx("inline", nested, "-o", out)
    assert ran.code == 0
    assert ran.out.splitlines()[:4] == [
        "loc::F: inlined 2 times",
        "loc::G: inlined 1 time",
        "loc::Unused: dropped, since nothing calls it",
        "3 calls became 4 nodes",
    ]
    assert "function-unused" in ran.out
    model = onnx.load(out)
    assert [node.op_type for node in model.graph.node] == ["Abs", "Neg", "Abs", "Neg"]
    onnx.checker.check_model(model)


def test_kept_functions_stay(nested: Path, tmp_path: Path) -> None:
    out = tmp_path / "flat.onnx"
    assert sardonyx("inline", nested, "-o", out, "--keep", "loc::G", "-q") == (0, "", "")
    model = onnx.load(out)
    assert [node.op_type for node in model.graph.node] == ["Abs", "Neg", "G"]
    assert [one.name for one in model.functions] == ["F", "G"]


def test_a_function_that_is_not_there_cannot_be_kept(nested: Path, tmp_path: Path) -> None:
    ran = sardonyx("inline", nested, "-o", tmp_path / "flat.onnx", "--keep", "loc::H")
    assert ran.code == 2
    assert not (tmp_path / "flat.onnx").exists()


def test_json_is_the_report(nested: Path, tmp_path: Path) -> None:
    ran = sardonyx("inline", "--json", nested, "-o", tmp_path / "flat.onnx")
    assert ran.code == 0
    assert (ran.json["inlined"], ran.json["dropped"], ran.json["nodes_made"]) == (
        {"loc::F": 2, "loc::G": 1},
        ["loc::Unused"],
        4,
    )
    assert [one["code"] for one in ran.json["issues"]] == ["function-unused"]


def test_an_opset_that_changes_an_operator_is_refused_unless_told_otherwise(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["": 12, "loc": 1]>
    g (float[1, 3] x, int64[1] a) => (float[3] y) { t = Squeeze <axes = [0]> (x)  y = loc.F(x, a) }
    <domain: "loc", opset_import: ["": 13]>
    F (X, A) => (Y) { Y = Squeeze(X, A) }"""
    path, out = write(tmp_path / "old.onnx", text), tmp_path / "flat.onnx"
    ran = sardonyx("inline", path, "-o", out)
    assert ran.code == 3
    assert "opset-changes-operator" in ran.err
    assert not out.exists()
    assert sardonyx("inline", path, "-o", out, "--opset-conflict", "highest").code == 0
    assert out.exists()
