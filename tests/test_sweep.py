"""Real models in numbers: each loads, dumps as onnx dumps it, is saved, and reads back the same in both libraries."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx")

from tests.dumps import faults  # noqa: E402
from tests.hostile import generate  # noqa: E402


def report(found: Iterable[tuple[str, list[str]]]) -> str:
    """Name every model with faults, and what they are."""
    return "\n".join("\n    ".join([name, *lines]) for name, lines in found if lines)


def test_d01_every_packaged_backend_model_survives_the_round_trip() -> None:
    import onnx.backend.test

    folder = Path(onnx.backend.test.__file__).parent / "data"
    paths = sorted(folder.rglob("*.onnx"))
    assert len(paths) >= 100
    assert report((str(path.relative_to(folder)), faults(path)) for path in paths) == ""


def test_d01_every_node_test_case_survives_the_round_trip() -> None:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases compute their own expected results, with overflows and all
        cases = [case for case in collect_testcases(None) if case.model is not None]
    assert len(cases) >= 1000
    assert report((case.name, faults(case.model.SerializeToString())) for case in cases) == ""


def test_d01_every_model_of_the_corpus_survives_the_round_trip(shared: Path) -> None:
    paths = sorted((shared / "corpus").glob("*.onnx"))
    assert report((path.name, faults(path, external=False)) for path in paths) == ""


def test_the_sweep_notices_a_model_that_is_read_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests import onnx_dump

    assert faults(generate.VALID) == []
    monkeypatch.setattr(onnx_dump, "dtype_text", lambda code: "float16")
    assert faults(generate.VALID)[0] == "the dumps differ"


def test_the_sweep_notices_a_model_that_is_written_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    import sardonyx as sx

    other = generate.model(generate.relu(generate.block(10, "a doc string")))
    monkeypatch.setattr(sx, "to_bytes", lambda model: other)
    assert faults(generate.VALID)[0] == "the saved model dumps otherwise"
    monkeypatch.setattr(sx, "dump", lambda model: "")
    from tests import dumps

    monkeypatch.setattr(dumps, "differences", lambda ours, theirs: [])
    assert faults(generate.VALID)[0] == "onnx reads the saved model otherwise than the original"
