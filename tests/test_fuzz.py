"""The fuzz targets and their mutator, without the fuzzer: what they claim holds for every seed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.conftest import ROOT
from tests.hostile import generate
from tests.rich import rich_model
from tests.tools.running import tool


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make fuzz/ importable, with a stand-in for atheris, which need not be installed."""
    atheris = ModuleType("atheris")
    atheris.instrument_imports = lambda include: contextlib.nullcontext()
    monkeypatch.setitem(sys.modules, "atheris", atheris)
    monkeypatch.syspath_prepend(str(ROOT / "fuzz"))
    yield
    sys.modules.pop("mutate", None)


def test_the_claims_about_models_hold_for_the_hostile_files_and_a_rich_model(fuzz: None) -> None:
    target = tool("fuzz_model", "fuzz")
    for data in [*generate.files().values(), rich_model()]:
        target.one_input(data)


def test_the_claims_about_tensors_hold_for_every_seed(fuzz: None) -> None:
    target, seeds = tool("fuzz_tensor", "fuzz"), tool("seeds", "fuzz")
    found = list(seeds.tensors())
    assert len(found) > 50
    for data in found:
        target.one_input(data)


def test_a_broken_claim_is_noticed(fuzz: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import sardonyx as sx

    target = tool("fuzz_model", "fuzz")
    other = generate.model(generate.relu(generate.block(10, "a doc string")))
    monkeypatch.setattr(sx, "to_bytes", lambda model: other)
    with pytest.raises(AssertionError, match="the dump changed over save and load"):
        target.one_input(generate.VALID)


def test_the_mutator_mends_lengths(fuzz: None) -> None:
    mutate = tool("mutate", "fuzz")
    data = rich_model()
    assert mutate.write(mutate.read(data, mutate.DEPTH)) == data
    changed = [mutate.mutate(data, 8000, seed, lambda part, limit: part[::-1][:limit]) for seed in range(200)]
    whole = [one for one in changed if mutate.read(one, 0) is not None]
    assert len({*changed} - {data}) > 100
    assert len(whole) > 150
