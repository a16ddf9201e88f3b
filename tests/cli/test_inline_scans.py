"""`sardonyx inline-scans`."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from tests.cli.runs import sardonyx, write

TEXT = """<ir_version: 9, opset_import: ["": 18]>
g (float[2] s, float[{extent}, 2] xs) => (float[2] t, float[{extent}, 2] ys) {{
  t, ys = Scan (s, xs) <num_scan_inputs = 1,
    body = b (float[2] s0, float[2] x) => (float[2] t0, float[2] y) {{ y = Neg (x) t0 = Add (s0, y) }}>
}}"""


@pytest.fixture
def single(tmp_path: Path) -> Path:
    """One trip for certain."""
    return write(tmp_path / "single.onnx", TEXT.format(extent=1))


@pytest.fixture
def symbolic(tmp_path: Path) -> Path:
    """As many trips as there are tokens."""
    return write(tmp_path / "symbolic.onnx", TEXT.format(extent="tokens"))


def test_it_writes_the_model_without_the_scan_and_with_types(single: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    assert sardonyx("inline-scans", single, "-o", out) == (0, "1 Scan inlined\n", "")
    model = onnx.load(out)
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node] == ["Squeeze", "Neg", "Add", "Unsqueeze"]
    assert {one.name for one in model.graph.value_info} == {"x_1", "y_1"}


def test_a_scan_that_is_left_alone_has_its_reason_on_the_page(symbolic: Path, tmp_path: Path) -> None:
    ran = sardonyx("inline-scans", symbolic, "-o", tmp_path / "out.onnx")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "1 Scan left alone",
        "",
        "Scans left alone (1)",
        "  node 0 (Scan)  the extent of the scan axis is not known to be 1; assume_single_trip vouches for it",
    ]
    assert [node.op_type for node in onnx.load(tmp_path / "out.onnx").graph.node] == ["Scan"]


def test_what_was_vouched_for_is_on_the_page(symbolic: Path, tmp_path: Path) -> None:
    ran = sardonyx("inline-scans", symbolic, "-o", tmp_path / "out.onnx", "--assume-single-trip")
    assert ran.out.splitlines() == [
        "1 Scan inlined",
        "",
        "To check before every run",
        "  axis 0 of 'xs' has length 1 (tokens)",
    ]


def test_a_scan_without_state_is_inlined_when_asked_for(tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.onnx",
        """<ir_version: 9, opset_import: ["": 18]> g (float[1, 2] xs) => (float[1, 2] ys) {
          ys = Scan (xs) <num_scan_inputs = 1, body = b (float[2] x) => (float[2] y) { y = Neg (x) }>
        }""",
    )
    out = tmp_path / "out.onnx"
    assert "no recurrent state" in sardonyx("inline-scans", path, "-o", out).out
    assert sardonyx("inline-scans", path, "-o", out, "--no-require-state").out == "1 Scan inlined\n"


def test_json_says_what_was_done(symbolic: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    shown = sardonyx("inline-scans", "--json", symbolic, "-o", out, "--assume-single-trip").json
    assert shown == {
        "schema": 1,
        "command": "inline-scans",
        "source": str(symbolic),
        "output": str(out),
        "inlined": [
            {"node": "node 0 (Scan)", "where": "", "to_check": [{"value": "xs", "axis": 0, "dim": "tokens"}]},
        ],
        "skipped": [],
        "issues": [],
    }


def test_a_model_without_scans_says_so(small: Path, tmp_path: Path) -> None:
    assert sardonyx("inline-scans", small, "-o", tmp_path / "out.onnx").out == "no Scans\n"


def test_quiet_prints_nothing(single: Path, tmp_path: Path) -> None:
    assert sardonyx("inline-scans", "-q", single, "-o", tmp_path / "out.onnx") == (0, "", "")
