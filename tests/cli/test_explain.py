"""`sardonyx explain`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runs import sardonyx, write


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache that grows by the new keys."""
    return write(
        tmp_path / "m.onnx",
        """<ir_version: 10, opset_import: ["": 20]>
        g (float[b, past, 8] keys, float[b, seq, 8] new) => (y) { y = Concat <axis = 1> (keys, new) }""",
    )


def test_the_chain_of_steps_is_printed(cache: Path) -> None:
    ran = sardonyx("explain", cache, "y", "--dim", "1")
    assert (ran.code, ran.err) == (0, "")
    for word in ("past + seq", "Concat", "keys", "new"):
        assert word in ran.out


def test_json_has_the_steps(cache: Path) -> None:
    shown = sardonyx("explain", cache, "y", "--json").json
    assert (shown["command"], shown["value"], shown["dim"]) == ("explain", "y", None)
    assert any("past + seq" in step["text"] for step in shown["steps"])
    assert {step["value"] for step in shown["steps"]} >= {"y", "keys", "new"}
    assert not any(step["lost"] for step in shown["steps"])


def test_a_value_that_is_not_there_is_wrong_usage(cache: Path) -> None:
    ran = sardonyx("explain", cache, "nothing")
    assert ran.code == 2
    assert "nothing" in ran.err


def test_an_axis_that_is_not_there_is_wrong_usage(cache: Path) -> None:
    assert sardonyx("explain", cache, "y", "--dim", "7").code == 2
