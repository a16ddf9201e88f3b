"""The cases from public bug reports: models that some reader got wrong, with the right answer."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from tests.conftest import SHARED

CASES = SHARED / "cases"


def listed(kind: str) -> list[dict]:
    """The cases of one kind; none when the shared material is not there."""
    path = CASES / "cases.json"
    return [case for case in json.loads(path.read_text()) if case["kind"] == kind] if path.is_file() else []


@pytest.fixture(scope="module")
def scorer(shared: Path):
    """The scoring script and the adapter that shows it sardonyx."""
    sys.path.insert(0, str(shared / "cases"))
    try:
        check = module("check", shared / "cases" / "check.py")
        return check, module("adapter_sardonyx", shared / "cases" / "adapter_sardonyx.py")
    finally:
        sys.path.remove(str(shared / "cases"))


def module(name: str, path: Path):
    spec = importlib.util.spec_from_file_location(name, path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_there_are_cases_to_score(shared: Path) -> None:
    assert len(listed("load")) >= 40


@pytest.mark.parametrize("case", listed("load"), ids=lambda case: case["id"])
def test_a_case_is_loaded_or_refused_as_it_should_be(case: dict, scorer) -> None:
    check, adapter = scorer
    assert check.c_load(adapter, case) == ("right", [])
