"""What holds for every pass, on every model at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import sardonyx as sx
from sardonyx import passes
from sardonyx.ir.verify import verify

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def run_all(path: Path) -> None:
    """Run every pass on a model and check the promises of a pass."""
    model = sx.load(path, external_data="lazy")
    before = sx.dump(model)
    known = {(one.code, one.place) for one in verify(model)}
    for name in passes.PASSES:
        run = passes.find(name)
        result = run(model)
        assert sx.dump(model) == before, f"{name} changed its input"
        assert not {(one.code, one.place) for one in verify(result)} - known, f"{name} broke the structure"
        assert run(result) is result, f"{name} finds something to do twice"
        if result is not model:
            again = sx.load(sx.to_bytes(result), external_data="lazy")
            if name not in ("inline", "scans"):  # which are there to write out what functions and bodies say
                assert sx.dump(again).count("\n") <= before.count("\n"), f"{name} made the model larger"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.onnx")), ids=lambda path: path.stem)
def test_a_pass_keeps_its_input_and_leaves_a_sound_model(path: Path) -> None:
    run_all(path)


def test_a_pass_keeps_its_input_and_leaves_a_sound_model_of_the_corpus(shared: Path) -> None:
    for path in sorted((shared / "corpus").glob("*.onnx")):
        if path.stat().st_size < 150_000:
            run_all(path)
