"""Models that run have no issues: the corpus, the node tests of ONNX, the cases from public bug reports."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("onnx")

import sardonyx as sx
from tests.conftest import SHARED
from tests.infer.corpus import entries
from tests.infer.node_tests import RUNS, collect


@pytest.mark.parametrize("name", [entry["name"] for entry in entries()])
def test_a_corpus_model_is_clean_but_for_weights_that_are_not_there(name: str) -> None:
    issues = sx.check(SHARED / "corpus" / f"{name}.onnx", external_data="lazy")
    assert [str(issue) for issue in issues if issue.code != "external-missing"] == []


def test_every_node_test_is_clean() -> None:
    found = {
        f"{case.name} [{run}]": str(issue)
        for case in collect()
        for run in RUNS[:2]
        for issue in sx.check(case.models[run])
    }
    assert found == {}


REALLY_WRONG = {
    "inf-flatten-product-overflows-int64": ["size-too-large"],
    "inf-negative-declared-dim": ["negative-dim"],
    "inf-splittosequence-zero-split": ["bad-input"],
    "inf-gemm-scalar-operand": ["rank-mismatch"],
}
"""Case to the issues that it is about."""


def cases() -> list[dict]:
    """The cases that a correct reader accepts; load cases are often about operators that do not fit."""
    path = SHARED / "cases" / "cases.json"
    listed = json.loads(path.read_text()) if path.is_file() else []
    return [case for case in listed if case["kind"] != "load" and "error" not in case["expect"]]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_a_case_that_is_valid_is_clean(case: dict) -> None:
    issues = sx.check(SHARED / "cases" / case["file"], external_data="lazy")
    codes = [issue.code for issue in issues if issue.code != "external-missing"]
    assert codes == REALLY_WRONG.get(case["id"], [])
