"""Inlining by execution: every operator that ONNX defines by a function, put into a function, and the shared corpus."""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.checker
import pytest

import sardonyx as sx
from tests.passes.functions import assert_same, assert_sound, load, run

DOMAIN = "of.schema"
CASES_EACH = 3
"""Node tests that are tried for each version of an operator."""


def schemas() -> list[onnx.defs.OpSchema]:
    """Return every version of every operator that has a function body, or one that depends on the node."""
    found = [
        one
        for one in onnx.defs.get_all_schemas_with_history()
        if one.has_function or one.has_context_dependent_function
    ]
    return sorted(found, key=lambda one: (one.domain, one.name, one.since_version))


@cache
def node_tests() -> dict[str, list[Any]]:
    """Return the node tests of the onnx package by operator, those with one node only."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    found: dict[str, list[Any]] = {}
    for case in cases:
        if len(case.model.graph.node) == 1 and "expanded" not in case.name:
            found.setdefault(case.model.graph.node[0].op_type, []).append(case)
    return found


def body_of(schema: onnx.defs.OpSchema, node: onnx.NodeProto, types: list[onnx.TypeProto]) -> list[onnx.FunctionProto]:
    """Return the functions that define a node, one for each opset that the schema writes it in."""
    made = []
    if schema.has_function:
        texts = [schema.get_function_with_opset_version(version) for version in schema.function_opset_versions]
    else:
        inputs = [one.SerializeToString() for one in types]
        texts = [
            schema.get_context_dependent_function_with_opset_version(version, node.SerializeToString(), inputs)
            for version in schema.context_dependent_function_opset_versions
        ]
    for text in texts:
        if text:
            function = onnx.FunctionProto.FromString(text)
            function.domain, function.name = DOMAIN, schema.name
            made.append(function)
    return made


def called(schema: onnx.defs.OpSchema, case: Any) -> list[onnx.ModelProto]:
    """Turn the model of a node test into calls of the operator's function."""
    node, found = case.model.graph.node[0], []
    by_name = {one.name: one.type for one in case.model.graph.input}
    types = [by_name.get(name, onnx.TypeProto()) for name in node.input]
    for function in body_of(schema, node, types):
        defaults = {name: one.default_value for name, one in schema.attributes.items() if one.default_value.type}
        defaults = {name: one for name, one in defaults.items() if name in function.attribute}
        rest = [name for name in function.attribute if name not in defaults]
        del function.attribute[:]
        function.attribute.extend(rest)
        function.attribute_proto.extend(defaults.values())
        del function.output[len(node.output) :]  # a body that depends on the node defines only what the node asks for
        if all(one.domain for one in function.opset_import):
            function.opset_import.extend(one for one in case.model.opset_import if not one.domain)
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        model.ir_version = 10
        model.graph.node[0].domain = DOMAIN
        del model.opset_import[:]
        model.opset_import.extend(function.opset_import)
        model.opset_import.add(domain=DOMAIN, version=1)
        function.opset_import.add(domain=DOMAIN, version=1)
        model.functions.append(function)
        found.append(model)
    return found


@pytest.mark.parametrize("schema", schemas(), ids=lambda one: f"{one.domain or 'onnx'}-{one.name}-{one.since_version}")
def test_the_function_of_an_operator_gives_the_results_of_the_call(schema: onnx.defs.OpSchema) -> None:
    ran: Counter[str] = Counter()
    for case in node_tests().get(schema.name, []):
        if ran["done"] == CASES_EACH:
            break
        for model in called(schema, case):
            after = sx.inline_functions(load(model), missing_attributes="omit")
            made = onnx.load_from_string(sx.to_bytes(after))
            assert_sound(model, made)
            inputs, wanted = case.data_sets[0] if case.data_sets else ([], [])
            feeds = dict(zip([one.name for one in model.graph.input], inputs, strict=True))
            if (
                has_same_results(model, made, feeds, wanted, case.rtol)
                if schema.name != "Bernoulli"
                else runs(made, feeds)
            ):
                ran["done"] += 1
    if not ran["done"]:
        pytest.skip("no engine runs the function, inlined or not")


def has_same_results(
    model: onnx.ModelProto, made: onnx.ModelProto, feeds: dict[str, Any], wanted: list[Any], rtol: float
) -> bool:
    """Compare with the results of the call, exactly; where no engine runs that, with those of the node test."""
    for engine in ("ort", "reference"):
        try:
            before = run(model, feeds, engine)
        except Exception:  # an engine without this function, type or opset
            continue
        assert_same(run(made, feeds, engine), before)
        return True
    for engine in ("ort", "reference"):
        try:
            after = run(made, feeds, engine)
        except Exception:  # as above
            continue
        for one, other in zip(after, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=max(rtol, 1e-3), atol=1e-5)
        return True
    return False


def runs(model: onnx.ModelProto, feeds: dict[str, Any]) -> bool:
    """Run a model whose results are random."""
    return bool(run(model, feeds, "reference"))


def manifest(shared: Path) -> dict[str, Any]:
    """Return what is known of the corpus models, by name."""
    listed = json.loads((shared / "corpus" / "MANIFEST.json").read_text())["models"]
    return {one["name"]: one for one in listed}


@pytest.mark.parametrize("name", ["functions_nested", "hop_functions_dynamo", "hybrid_gdn_prefill_l24_fn"])
def test_a_corpus_model_gives_the_same_results(name: str, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.syspath_prepend(str(shared / "tools"))
    sys.modules.pop("oracle", None)
    import oracle

    path = shared / "corpus" / f"{name}.onnx"
    before = onnx.load(str(path), load_external_data=False)
    after = sx.inline_functions(sx.load(path, external_data="lazy"))
    made = onnx.load_from_string(sx.to_bytes(after))
    assert len(made.functions) == 0
    assert_sound(before, made)
    entry = manifest(shared)[name]
    for sizes in entry["sizes"][:2]:
        hints = entry.get("hints")
        try:
            wanted = oracle.outputs(before, sizes, hints, src=path)
        except Exception as problem:  # older versions refuse a model as it was written: nothing to compare with
            assert oracle.outputs(made, sizes, hints, src=path), "the inlined model runs all the same"
            pytest.skip(f"this onnxruntime does not run the model with its functions: {problem}"[:200])
        assert oracle.same(oracle.outputs(made, sizes, hints, src=path), wanted, rtol=0, atol=0) is None


def test_the_corpus_has_no_other_models_with_functions(shared: Path) -> None:
    named = {name for name, one in manifest(shared).items() if one["functions"]}
    assert named == {"functions_nested", "hop_functions_dynamo", "hybrid_gdn_prefill_l24_fn"}
