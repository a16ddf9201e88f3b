"""Run every pass over text cases: a model, a line `--- passes`, and the model that must come out.

`unchanged` in place of a model means that the same object comes back.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path

import pytest

from sardonyx import passes
from sardonyx.ir.graph import Model
from sardonyx.ir.text import parse_graph, parse_model, to_text
from sardonyx.ir.verify import verify

CASES = Path(__file__).parent / "cases"
UPDATE = os.environ.get("UPDATE_CASES") == "1"


def read(text: str) -> Model:
    """Read a model; a graph alone stands for a model with opset 18."""
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip()
    return parse_model(text) if code.startswith("<") else Model(parse_graph(text), {"": 18})


def show(model: Model, like: str) -> str:
    """Print a model the way the case gives it: whole, or its graph alone."""
    return to_text(model if like.lstrip().startswith("<") else model.graph)


@pytest.mark.parametrize("path", sorted(CASES.glob("*/*.txt")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_pass_turns_the_first_model_into_the_second(path: Path) -> None:
    given, _, rest = path.read_text().partition("\n--- ")
    pipeline, _, expected = rest.partition("\n")
    code = "\n".join(line for line in given.splitlines() if not line.startswith("#"))
    model = read(code)
    before = to_text(model)
    result = passes.run(model, pipeline)
    assert to_text(model) == before, "the input changed"
    assert verify(result) == []
    assert passes.run(result, pipeline) is result, "a second run finds something to do"
    got = "unchanged\n" if result is model else show(result, code)
    if UPDATE:
        path.write_text(f"{given}\n--- {pipeline}\n{got}")
    elif got != expected:
        diff = "\n".join(unified_diff(expected.splitlines(), got.splitlines(), "expected", "got", lineterm=""))
        pytest.fail(f"{path.name}:\n{diff}\n\nto accept: UPDATE_CASES=1 python -m pytest {path.parent.parent.parent}")


def test_every_pass_has_cases() -> None:
    assert {path.name for path in CASES.iterdir()} >= {"dead_code", "identity", "scans"}
