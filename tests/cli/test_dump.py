"""`sardonyx dump`."""

from __future__ import annotations

import json
from pathlib import Path

import sardonyx as sx
from tests.cli.runs import sardonyx


def test_the_text_is_that_of_the_library(example: Path) -> None:
    with sx.load(example) as model:
        assert sardonyx("dump", example) == (0, sx.dump(model), "")


def test_json_wraps_the_description_of_the_library(example: Path) -> None:
    with sx.load(example) as model:
        expected = json.loads(sx.dump(model, format="json"))
    assert sardonyx("dump", "--json", example).json == {"schema": 1, "command": "dump", "model": expected}


def test_a_dash_reads_standard_input(small: Path) -> None:
    assert sardonyx("dump", "-", stdin=small.read_bytes()) == sardonyx("dump", small)
