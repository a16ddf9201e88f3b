"""Against `onnx.shape_inference` with data propagation: wherever it knows something, the same is known here."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx")

import onnx

import sardonyx as sx
from sardonyx.ir.types import MapType, OptionalType, SequenceType, TensorType
from tests.infer.corpus import SHARED, entries
from tests.infer.node_tests import RUNS, collect, erase


def compare(data: bytes) -> list[str]:
    """Infer one model both ways, all but its inputs' types erased; return what onnx knows and we do not say."""
    model = onnx.load_model_from_string(data)
    erase(model.graph, main=True)
    try:
        theirs = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception as problem:  # it refuses some models that run
        return [] if "InferenceError" in type(problem).__name__ else [f"{type(problem).__name__}: {problem}"]
    inference = sx.infer_shapes(sx.load(model.SerializeToString(), external_data="lazy"))
    names = {dim.dim_param for info in model.graph.input for dim in info.type.tensor_type.shape.dim if dim.dim_param}
    found = []
    waiting = [(inference.frame(), theirs.graph, "")]
    while waiting:
        frame, graph, way = waiting.pop()
        known = {info.name: info.type for info in [*graph.value_info, *graph.output] if info.type.WhichOneof("value")}
        mine = frame.types
        for name, kind in known.items():
            if way and name not in mine:
                continue  # a branch that a known condition rules out, where what cannot run ends the rule
            found += (f"{way}{name}: {one}" for one in less(mine.get(name), kind, names))
        bodies = {}
        for index, node in enumerate(graph.node):
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    bodies[index, attribute.name] = attribute.g
        inner = {(one.level.index, one.level.attribute): one for one in frame.steps()}
        order = not inference.model.graph.nodes_were_reordered
        for key, body in bodies.items():
            if order and key in inner:
                waiting.append((inner[key], body, f"{way}{key[0]}.{key[1]}: "))
    return found


def less(mine, theirs, names):
    """Yield what a TypeProto says that a type does not."""
    which = theirs.WhichOneof("value")
    if which == "sequence_type":
        if not isinstance(mine, SequenceType):
            yield f"{mine} but a sequence"
        elif theirs.sequence_type.elem_type.WhichOneof("value"):
            inner = mine.elem
            if mine.elements is not None:  # known one by one, which says more
                return
            yield from less(inner, theirs.sequence_type.elem_type, names)
    elif which == "optional_type":
        if not isinstance(mine, OptionalType):
            yield f"{mine} but an optional"
        elif theirs.optional_type.elem_type.WhichOneof("value"):
            yield from less(mine.elem, theirs.optional_type.elem_type, names)
    elif which == "map_type":
        if not isinstance(mine, MapType):
            yield f"{mine} but a map"
    elif which in ("tensor_type", "sparse_tensor_type"):
        yield from less_tensor(mine, getattr(theirs, which), names)


def less_tensor(mine, theirs, names):
    if not isinstance(mine, TensorType):
        yield f"{mine} but a tensor"
        return
    if theirs.elem_type and mine.dtype != theirs.elem_type:
        yield f"{mine} but element type {theirs.elem_type}"
    if not theirs.HasField("shape"):
        return
    if mine.shape is None or len(mine.shape) != len(theirs.shape.dim):
        yield f"{mine} but {len(theirs.shape.dim)} dims"
        return
    for axis, (dim, said) in enumerate(zip(mine.shape, theirs.shape.dim, strict=True)):
        if said.HasField("dim_value"):
            if dim != said.dim_value:
                yield f"dim {axis} of {mine} but {said.dim_value}"
        elif said.dim_param in names and str(dim) != said.dim_param:
            yield f"dim {axis} of {mine} but {said.dim_param}"


@pytest.mark.parametrize("name", [entry["name"] for entry in entries()])
def test_what_onnx_knows_of_a_corpus_model_is_known(name: str) -> None:
    assert compare((SHARED / "corpus" / f"{name}.onnx").read_bytes()) == []


@pytest.fixture(scope="module")
def differences():
    """Each node test about which onnx says more, or something else: (name, operator, run, what)."""
    made = ((case, run, compare(case.models[run])) for case in collect() for run in RUNS)
    return [(case.name, case.operator, run, found) for case, run, found in made if found]


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_what_onnx_knows_of_a_node_test_is_known(run: str, differences) -> None:
    excepted = {**WRONG_THERE, **(SYMBOLS_DIFFER if run in ("symbols", "both") else {})}
    assert {name: found for name, operator, one, found in differences if one == run and operator not in excepted} == {}


WRONG_THERE = {
    "Loop": "the elements of the sequence that grows are said to be as those of the first, and have other ranks",
    "STFT": "16 bins are said where onesided gives 9",
}
"""Operator to what onnx says that a run refutes."""

SYMBOLS_DIFFER = {
    "Attention": "the last dim of qk_matmul_output is said to be 0",
    "BatchNormalization": "mean and variance are as long as X has channels: we say it by their own names",
    "CausalConvWithState": "the state is as long as the kernel less one: we say it by the kernel's",
    "Einsum": "dims under one letter are equal: we say broadcast of the two",
    "LinearAttention": "the state has the sizes of the heads: we say it by those of the inputs",
    "LinearAttention (expanded)": "the loop's state is said to keep its first shape, whatever the body makes of it",
    "MaxUnpool": "X and I have one shape: we say it by that of X",
    "NegativeLogLikelihoodLoss": "input and target have dims in common: we say them by the input's",
    "Scan": "the state is said to keep its first shape, whatever the body makes of it",
    "SoftmaxCrossEntropyLoss": "scores and labels have dims in common: we say them by the scores'",
}
"""Operator to how its answer differs where each input dim has a name of its own: both are true, or onnx is not."""


@pytest.mark.slow
def test_each_exception_is_needed(differences) -> None:
    assert {*WRONG_THERE, *SYMBOLS_DIFFER} - {operator for _, operator, _, _ in differences} == set()
