"""Small random models: whatever is inferred is true of every run, however little is known of the inputs."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from hypothesis import given, settings
from hypothesis import strategies as st

import sardonyx as sx
from tests.infer import random_models

TOTALS: Counter = Counter()


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**31))
def test_inference_agrees_with_runs(seed: int) -> None:
    wrong, counts = random_models.check(seed)
    TOTALS.update(counts)
    assert wrong == []


@pytest.mark.slow
def test_few_runs_are_passed_over() -> None:
    counts = Counter()
    for seed in range(40):
        counts += random_models.check(seed)[1]
    print(dict(counts))
    assert counts["ran"] > 80
    assert counts["assumption broken"] <= 0.05 * 5 * counts["ran"]  # each run is compared five times
    assert counts["unknown"] <= 0.02 * counts["values"]


def test_a_wrong_answer_would_be_found(monkeypatch) -> None:
    true = sx.infer_shapes

    def wrong(model, **options):
        inference = true(model, **options)
        graph = inference.model.graph
        types = dict(graph.types)
        for value in graph.outputs:
            kind = types.get(value)
            if getattr(kind, "shape", None):
                types[value] = kind.with_shape((kind.shape[0] + 1, *kind.shape[1:]))
        inference.model = inference.model.replace(graph=graph.replace(types=types))
        return inference

    monkeypatch.setattr(random_models.sx, "infer_shapes", wrong)
    assert all(random_models.check(seed)[0] for seed in (1, 2, 3))
