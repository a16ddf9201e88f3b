"""Single-trip Scans of real models: the bundled one, and those of the corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sardonyx as sx
from tests.conftest import ROOT
from tests.passes.scan_models import assert_same, check_sound, erased, ops, outcome


def prepared(path: Path) -> sx.Model:
    """Load a model, inline its functions, infer its types."""
    return sx.infer_shapes(sx.inline_functions(sx.load(path))).model


def feeds_for(model: sx.Model, sizes: dict[str, int]) -> dict[str, Any]:
    """Random inputs."""
    random = np.random.default_rng(3)
    found: dict[str, Any] = {}
    for value in model.graph.inputs:
        kind = model.graph.type(value)
        assert isinstance(kind, sx.TensorType)
        shape = tuple(dim if isinstance(dim, int) else sizes[str(dim)] for dim in kind.shape or ())
        if kind.dtype is sx.DType.INT64:
            found[value.name] = random.integers(0, 60, shape)
        elif kind.dtype is sx.DType.BOOL:
            found[value.name] = np.array(True)
        else:
            found[value.name] = random.normal(size=shape).astype(np.float32)
    return found


def check(model: sx.Model, sizes: dict[str, int], **options: bool) -> sx.Model:
    """Inline, and compare structure, types and bits with the model as it was."""
    pytest.importorskip("onnxruntime")
    done = sx.inline_single_trip_scan_bodies(model, **options)
    assert done.inlined
    check_sound(done.model)
    feeds = feeds_for(model, sizes)
    assert_same(outcome(model, feeds), outcome(done.model, feeds))
    bind = {"s": 1} if options else None
    graph = sx.infer_shapes(erased(done.model), bind=bind).model.graph
    before = sx.infer_shapes(model, bind=bind).model.graph
    assert [str(graph.type(value)) for value in graph.outputs] == [str(before.type(value)) for value in before.outputs]
    assert all(graph.type(value) is not None for value in graph.values)
    return done.model


def test_the_bundled_model() -> None:
    result = check(prepared(ROOT / "examples" / "motion.onnx"), {"batch": 2})
    assert "Scan" not in ops(result.graph)


def test_a_decoder_of_one_token_proves_its_single_trip(shared: Path) -> None:
    model = prepared(shared / "corpus" / "hybrid_gdn_decode_l2.onnx")
    assert [one.to_check for one in sx.inline_single_trip_scan_bodies(model).inlined] == [()]
    check(model, {"b": 2, "p": 3})


def test_a_decoder_of_many_tokens_is_inlined_on_somebodys_word(shared: Path) -> None:
    model = prepared(shared / "corpus" / "hybrid_gdn_prefill_l2.onnx")
    assert sx.inline_single_trip_scan_bodies(model).model is model
    check(model, {"b": 2, "p": 3, "s": 1}, assume_single_trip=True)


def test_layers_that_are_functions_are_inlined_like_flat_ones(shared: Path) -> None:
    found = []
    for name in ("hybrid_gdn_prefill_l24", "hybrid_gdn_prefill_l24_fn"):
        model = sx.load(shared / "corpus" / f"{name}.onnx", external_data="lazy")
        typed = sx.infer_shapes(sx.inline_functions(model)).model
        done = sx.inline_single_trip_scan_bodies(typed, assume_single_trip=True)
        assert len(done.inlined) == 18
        assert done.skipped == ()
        assert {str(extent.dim) for one in done.inlined for extent in one.to_check} == {"s"}
        graph = sx.infer_shapes(erased(done.model), bind={"s": 1}).model.graph
        found.append([str(graph.type(value)) for value in graph.outputs])
    assert found[0] == found[1]


def test_scans_in_branches_of_a_scan_over_layers_are_inlined_and_the_outer_one_stays(shared: Path) -> None:
    model = prepared(shared / "corpus" / "mamba_layer_scan_nested.onnx")
    plain = sx.inline_single_trip_scan_bodies(model)
    assert plain.model is model
    done = sx.inline_single_trip_scan_bodies(model, assume_single_trip=True)
    assert {str(extent.dim) for one in done.inlined for extent in one.to_check} == {"s"}
    outer = "node 'n_Scan_212' (Scan).body > node 'layer_n_If_209' (If)"
    assert [one.where for one in done.inlined] == [f"{outer}.else_branch", f"{outer}.then_branch"]
    assert [(one.where, one.reason) for one in done.skipped] == [("", "control-flow-in-body")]
    check_sound(done.model)
    pytest.importorskip("onnxruntime")
    feeds = feeds_for(model, {"b": 2, "s": 1})
    for flip in (True, False):
        feeds["flip"] = np.array(flip)
        assert_same(outcome(model, feeds), outcome(done.model, feeds))
