"""Generated models with bodies: whatever is inferred is true of every value of every iteration, branch and call."""

from __future__ import annotations

import multiprocessing
import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

pytest.importorskip("onnx")

from onnx import printer

import sardonyx as sx
from tests.infer import generated_bodies
from tests.infer.every_iteration import differences
from tests.infer.generated_bodies import RUNS, Maker, feeds_of
from tests.infer.models import infer
from tests.infer.tiny_runtime import Maybe, Program, Unspecified

SEEDS = 1000
BLOCKS = 10


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_what_is_inferred_is_what_every_iteration_shows(block: int) -> None:
    counts: Counter = Counter()
    size = SEEDS // BLOCKS
    for seed in range(block * size, (block + 1) * size):
        wrong, found = generated_bodies.check(seed)
        counts += found
        assert wrong == [], f"seed {seed}"
    print(dict(counts))
    assert counts["refused"] <= 0.1 * counts["ran"]
    assert counts["assumption broken"] <= 0.05 * counts["ran"]
    assert counts["open"] <= 0.02 * counts["dims"]  # what no run can contradict


def test_the_models_have_bodies_of_every_kind_three_deep() -> None:
    text = "\n".join(printer.to_text(Maker(seed).model()) for seed in range(60))
    found = set(re.findall(r"(\w+) \(", text))
    assert {"If", "Loop", "Scan", "SequenceMap", "SequenceInsert", "Optional", "f0"} <= found
    assert len(re.findall(r"ai\.onnx\.ml\.(?:ZipMap|CastMap|DictVectorizer)", text)) > 20
    assert re.search(r"^ {9,}v\d+ = \w+ ", text, re.MULTILINE)
    for attribute in ("scan_input_directions: ints = [1", "scan_output_axes: ints = [-", "scan_input_axes: ints = [-"):
        assert attribute in text


def shapes(one):
    """Return the shape of a value, of a list those of its elements, None where there is nothing to compare."""
    if isinstance(one, Maybe):
        one = one.value
    if one is None or isinstance(one, Unspecified):
        return None
    if isinstance(one, dict):
        return sorted(one)
    return [shapes(part) for part in one] if isinstance(one, list) else np.shape(one)


def run_elsewhere(seed: int, sizes) -> dict[str, object]:
    """Run a model in onnxruntime; return its outputs' shapes."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(Maker(seed).model().SerializeToString(), options)
    plain = {name: one.value if isinstance(one, Maybe) else one for name, one in feeds_of(sizes).items()}
    names = [one.name for one in session.get_outputs()]
    return {name: shapes(one) for name, one in zip(names, session.run(names, plain), strict=True)}


@pytest.mark.slow
def test_the_tiny_runtime_gives_the_shapes_that_onnxruntime_gives() -> None:
    pytest.importorskip("onnxruntime")
    spawn = multiprocessing.get_context("spawn")  # onnxruntime dies of some models
    with ProcessPoolExecutor(1, spawn) as pool:
        for seed in (4, 8, 52, 68, 100, 212, 244, 316, 428, 468):  # models that onnxruntime takes
            program = Program(Maker(seed).model())
            for sizes in (RUNS[0], RUNS[1], RUNS[4]):
                ours = program.run(feeds_of(sizes)).values
                for name, theirs in pool.submit(run_elsewhere, seed, sizes).result().items():
                    assert shapes(ours[name]) in (None, theirs), (seed, name)


def test_a_wrong_answer_in_a_body_would_be_found(monkeypatch) -> None:
    true = sx.infer_shapes

    def wrong(model, **options):
        inference = true(model, **options)
        for frame in inference.frames.values():
            for value in frame.graph.values if frame.parent is not None else ():
                kind = frame.activation.types.get(value)
                if getattr(kind, "shape", None):
                    frame.activation.types[value] = kind.with_shape((kind.shape[0] + 1, *kind.shape[1:]))
        return inference

    monkeypatch.setattr(generated_bodies.sx, "infer_shapes", wrong)
    assert sum(bool(generated_bodies.check(seed)[0]) for seed in range(10)) >= 8


def test_a_difference_after_inlining_would_be_found() -> None:
    text = "g (float[a, b] x) => (y) {{ y = {} (x) }}"
    one, other, third = (infer(text.format(op)) for op in ("Relu", "Neg", "Transpose"))
    assert differences(one, other) == []
    assert differences(one, third) == ["y: tensor(float)[a, b] and tensor(float)[b, a]"]
