"""Maps, optionals and sequences inside each other: as inputs and outputs, through bodies and functions, and written."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx")

import onnx

import sardonyx as sx
from sardonyx.ir.types import DType
from tests.infer.models import codes, infer, types
from tests.infer.test_saved_again import assert_stays

HEAD = '<ir_version: 10, opset_import: ["" : 18, "ai.onnx.ml" : 3, "my" : 1]>\n'
FUNCTIONS = """
<domain: "my", opset_import: ["" : 18, "ai.onnx.ml" : 3]> zip (x) => (z) {
    z = ai.onnx.ml.ZipMap <classlabels_strings = ["a", "b"]> (x)
}
<domain: "my", opset_import: ["" : 18, "ai.onnx.ml" : 3]> vector (m) => (v) {
    v = ai.onnx.ml.DictVectorizer <string_vocabulary = ["a", "b", "c"]> (m)
}
<domain: "my", opset_import: ["" : 18]> pass (o) => (p) { p = Identity (o) }
<domain: "my", opset_import: ["" : 18]> first (s) => (e) {
    zero = Constant <value_int = 0> ()
    e = SequenceAt (s, zero)
}
<domain: "my", opset_import: ["" : 18]> held (o) => (e) { e = OptionalGetElement (o) }
"""

MAPS = {
    "the map of an input becomes a row": (
        "map(string, float[]) m",
        "v = ai.onnx.ml.DictVectorizer <string_vocabulary = ['a', 'b']> (m)",
        "tensor(float)[1, 2]",
    ),
    "rows become maps": (
        "float[n, 2] x",
        "v = ai.onnx.ml.ZipMap <classlabels_int64s = [7, 8]> (x)",
        "seq(map(int64, tensor(float)[]))*n",
    ),
    "a branch reads a map from outside": (
        "bool c, map(int64, float[]) m",
        """v = If (c) <then_branch = t () => (p) { p = ai.onnx.ml.CastMap (m) },
            else_branch = e () => (q) { q = ai.onnx.ml.DictVectorizer <int64_vocabulary = [4]> (m) }>""",
        "tensor(float)[1, _if1]",
    ),
    "branches return maps": (
        "bool c, float[n, 2] x, float[m, 2] y",
        """v = If (c) <then_branch = t () => (p) { p = ai.onnx.ml.ZipMap <classlabels_int64s = [7, 8]> (x) },
            else_branch = e () => (q) { q = ai.onnx.ml.ZipMap <classlabels_int64s = [7, 8]> (y) }>""",
        "seq(map(int64, tensor(float)[]))*_if0",
    ),
    "an iteration reads a map from outside": (
        "int64 k, map(string, float[]) m",
        """v = Loop (k, "") <body = b (int64 i, bool c) => (d, r) {
            d = Identity (c)
            r = ai.onnx.ml.DictVectorizer <string_vocabulary = ['a', 'b']> (m)
        }>""",
        "tensor(float)[max(_d0, 0), 1, 2]",
    ),
    "a function takes a map": ("map(string, float[]) m", "v = my.vector (m)", "tensor(float)[1, 3]"),
    "a function returns maps": ("float[n, 2] x", "v = my.zip (x)", "seq(map(string, tensor(float)[]))*n"),
}

NESTED = {
    "an optional list of an input is taken out": (
        "optional(seq(float[a])) o",
        "v = OptionalGetElement (o)",
        "seq(tensor(float)[a])*_length0",
    ),
    "a list is wrapped": (
        "seq(float[a, 3]) s",
        "v = Optional (s)",
        "optional(seq(tensor(float)[a, 3])*_length0)",
    ),
    "a function passes an optional list on": (
        "optional(seq(float[a])) o",
        "u = my.pass (o)  w = my.held (u)  v = my.first (w)",
        "tensor(float)[a]",
    ),
    "branches return optional lists": (
        "bool c, seq(float[a]) s, seq(float[b]) r",
        """v = If (c) <then_branch = t () => (p) { p = Optional (s) }, else_branch = e () => (q) {
            q = Optional (r)
        }>""",
        "optional(seq(tensor(float)[_each3])*_if2)",
    ),
    "an iteration keeps an optional list": (
        "int64 k, optional(seq(float[a])) o",
        """v = Loop (k, "", o) <body = b (int64 i, bool c, s) => (d, r) { d = Identity (c)  r = Identity (s) }>""",
        "optional(seq(tensor(float)[a])*_length0)",
    ),
    "an iteration makes a longer one": (
        "int64 k, float[a] x, optional(seq(float[a])) o",
        """v = Loop (k, "", o) <body = b (int64 i, bool c, s) => (d, r) {
            d = Identity (c)
            e = OptionalGetElement (s)
            f = SequenceInsert (e, x)
            r = Optional (f)
        }>""",
        None,
    ),
}


@pytest.mark.parametrize("name", [*MAPS, *NESTED])
def test_values_of_every_kind(name: str) -> None:
    inputs, body, kind = (MAPS | NESTED)[name]
    body = body.replace("'", '"')
    first = infer(f"{HEAD}g ({inputs}) => (v) {{ {body} }}{FUNCTIONS if 'my.' in body else ''}")
    assert first.issues == ()
    known = types(first)["v"]
    if kind is None:
        assert known.startswith("optional(seq(tensor(float)[a])*")
    else:
        assert known == kind
    assert_stays(first)
    data = sx.to_bytes(first.model)
    onnx.checker.check_model(onnx.load_from_string(data))
    again = sx.load(data)
    values = [(*graph.inputs, *graph.outputs) for graph in (first.model.graph, again.graph)]
    for value, back in zip(*values, strict=True):
        assert again.graph.type(back).type_str == first.model.graph.type(value).type_str


def test_a_state_that_is_no_kind_of_value_for_a_loop_is_said_to_be() -> None:
    inference = infer(
        f"""{HEAD}g (int64 k, float[n, 2] x, float[m, 2] y) => (v) {{
            u = ai.onnx.ml.ZipMap <classlabels_int64s = [7, 8]> (x)
            v = Loop (k, "", u) <body = b (int64 i, bool c, s) => (d, r) {{
                d = Identity (c)
                r = ai.onnx.ml.ZipMap <classlabels_int64s = [7, 8]> (y)
            }}>
        }}"""
    )
    assert codes(inference) == ["wrong-kind"]  # ONNX has loops of tensors, sequences of tensors, optionals
    assert types(inference)["v"].startswith("seq(map(int64, tensor(float)[]))*_carried")


RUNS = {
    "the map of an input becomes a row": {"m": {"a": 1.5}},
    "rows become maps": {"x": [[1, 2], [3, 4], [5, 6]]},
    "a branch reads a map from outside": {"c": True, "m": {4: 1.5, 5: 2.5}},
    "an iteration reads a map from outside": {"k": 3, "m": {"b": 2.0}},
    "a function takes a map": {"m": {"b": 2.0}},
    "a function returns maps": {"x": [[1, 2]]},
}


@pytest.mark.parametrize("name", RUNS)
def test_maps_are_as_onnxruntime_makes_them(name: str) -> None:
    runtime = pytest.importorskip("onnxruntime")
    import numpy as np

    inputs, body, _ = MAPS[name]
    body = body.replace("'", '"')
    inference = infer(f"{HEAD}g ({inputs}) => (v) {{ {body} }}{FUNCTIONS if 'my.' in body else ''}")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(sx.to_bytes(inference.model), options)
    graph = inference.model.graph
    feeds = {}
    for value in graph.inputs:
        given = RUNS[name][value.name]
        kind = graph.type(value)
        feeds[value.name] = given if isinstance(given, dict) else np.asarray(given, NUMPY[kind.dtype])
    (found,) = session.run(None, feeds)
    assert session.get_outputs()[0].type == graph.type(graph.outputs[0]).type_str
    if isinstance(found, list):
        sizes = {"n": len(feeds["x"])}
        assert len(found) == sizes[str(graph.type(graph.outputs[0]).length)]
        assert isinstance(found[0], dict)
    else:
        shape = graph.type(graph.outputs[0]).shape
        assert len(shape) == found.ndim
        assert all(dim == size for dim, size in zip(shape, found.shape, strict=True) if isinstance(dim, int))


NUMPY = {DType.FLOAT: "float32", DType.INT64: "int64", DType.BOOL: "bool"}
