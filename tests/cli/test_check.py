"""`sardonyx check`."""

from __future__ import annotations

import hashlib
from pathlib import Path

import onnx

from tests.cli.runs import sardonyx, write


def test_a_clean_model_gives_status_0(small: Path) -> None:
    ran = sardonyx("check", small)
    assert (ran.code, ran.out, ran.err) == (0, f"{small}: no issues\n", "")


def test_every_fault_is_reported_at_once(broken: Path) -> None:
    ran = sardonyx("check", broken)
    assert ran.code == 1
    assert "'missing'" in ran.out
    assert "'absent'" in ran.out
    assert "'q'" in ran.out
    assert ran.out.endswith(f"{broken}: 3 errors\n")


def test_json_lists_the_issues_with_codes_and_places(broken: Path) -> None:
    ran = sardonyx("check", broken, "--json")
    assert ran.code == 1
    assert (ran.json["schema"], ran.json["command"], ran.json["source"]) == (1, "check", str(broken))
    assert sorted(issue["code"] for issue in ran.json["issues"]) == [
        "value-twice",
        "value-undefined",
        "value-undefined",
    ]
    assert {issue["place"]["source"] for issue in ran.json["issues"]} == {str(broken)}


def test_malformed_bytes_are_a_finding(cut_short: Path) -> None:
    ran = sardonyx("check", cut_short)
    assert (ran.code, ran.err) == (1, "")
    assert "[malformed: length-past-end]" in ran.out


def test_quiet_leaves_only_the_status(broken: Path, small: Path) -> None:
    assert sardonyx("check", "--quiet", broken) == (1, "", "")
    assert sardonyx("check", "-q", small) == (0, "", "")


def test_a_dash_reads_standard_input(broken: Path) -> None:
    ran = sardonyx("check", "-", stdin=broken.read_bytes())
    assert ran.code == 1
    assert "-: 3 errors" in ran.out


def test_checksums_are_verified_when_asked(tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.onnx", '<ir_version: 9, opset_import: ["": 18]> g (float[2] x) => (float[2] y) { y = Add (x, w) }'
    )
    (tmp_path / "w.bin").write_bytes(bytes(8))
    model = onnx.load(path)
    tensor = model.graph.initializer.add(name="w", data_type=1, dims=[2], data_location=1)
    tensor.external_data.add(key="location", value="w.bin")
    tensor.external_data.add(key="checksum", value=hashlib.sha1(b"something else").hexdigest())
    path.write_bytes(model.SerializeToString())
    assert sardonyx("check", path).code == 0
    ran = sardonyx("check", "--deep", path)
    assert ran.code == 1
    assert "w.bin" in ran.out
