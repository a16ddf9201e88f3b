"""A model that was saved with what is known of it: the next inference finds the same, and nothing to remark."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx")

import sardonyx as sx
from tests.infer.corpus import SHARED, entries
from tests.infer.generated_bodies import Maker, weaker
from tests.infer.models import infer, model


def known(inference):
    """Return what an inference says, as text: the type of every value of every frame, what it remarks."""
    types = {
        (path, value.name): str(kind)
        for path, frame in inference.frames.items()
        for value in frame.graph.values
        if (kind := frame.type(value)) is not None
    }
    issues = [(issue.code, issue.message) for issue in inference.issues]
    return types, issues, {bare(one) for one in inference.assumptions}, {bare(one) for one in inference.constraints}


def bare(one):
    """Return an assumption or constraint without its place: what is written is read at another value first."""
    return str(one).rpartition(" (")[0]


def assert_stays(first, **options):
    """Assert that saving, loading and inferring again changes nothing; what a file claimed may be gone."""
    types, issues, assumed, constrained = known(first)
    again = sx.infer_shapes(sx.load(sx.to_bytes(first.model), **options))
    new_types, new_issues, new_assumed, new_constrained = known(again)
    assert new_types == types
    assert new_issues == issues
    assert new_assumed == assumed
    assert new_constrained <= constrained
    return again


@pytest.mark.parametrize("name", [entry["name"] for entry in entries()])
def test_a_corpus_model(name: str, shared) -> None:
    folder = SHARED / "corpus"
    loaded = sx.load(folder / f"{name}.onnx", external_data="lazy")
    again = assert_stays(sx.infer_shapes(loaded), external_data="lazy", external_data_dir=folder)
    assert_stays(again, external_data="lazy", external_data_dir=folder)


@pytest.mark.parametrize("block", range(6))
def test_models_with_bodies(block: int) -> None:
    for seed in range(block * 20, block * 20 + 20):
        maker = Maker(seed)
        for proto in (maker.model(), maker.model(weaker(maker.chance))):
            assert_stays(sx.infer_shapes(sx.load(proto.SerializeToString())))


@pytest.mark.parametrize(
    "text",
    [
        # a claim names an unknown size, and sizes that follow from it
        """g (float[n] x) => (int64[1, found] y) { y = NonZero (x)  z = Concat <axis = 1> (y, y) }""",
        """g (float[n] x) => (int64[1, twice] z) { y = NonZero (x)  z = Concat <axis = 1> (y, y) }""",
        """g (float[n] x) => (int64[1, 8] z) { y = NonZero (x)  z = Concat <axis = 1> (y, y) }""",
        """g (float[n] x) => (int64[1, "top(k)+1"] y) { y = NonZero (x)  z = Concat <axis = 1> (y, y) }""",
        # unnamed dims of inputs, and what is made of them
        """g (float[?, 3] x, float[n, ?] y) => (z) { w = Relu (x)  z = Concat <axis = 0> (w, w) v = NonZero (y) }""",
        # other declarations that say nothing come before
        """g (float[?] x) => (float[?, ?] y) <float[?, ?, ?] w> {
            y = my.Strange (x)
            w = my.Strange (x)
            z = Concat <axis = 0> (y, y)
        }""",
        # names of a body that is taken at its word
        """g (bool c, float[n] x) => (y) {
            y = If (c) <then_branch = t () => (float[] p) <float[n, k2] u, float[n, k2] v> {
                    u = my.Strange (x)  v = my.Strange (x)  p = Add (u, v) },
                else_branch = e () => (float[] q) { q = Relu (x) }>
        }""",
        # sequences, their lengths and elements
        """g (seq(float[?, 3]) given, float[n, 4] x, int64 at) => (y, z, k, m) {
            y = SequenceInsert (given, x)
            z = SplitToSequence <axis = 0> (x, at)
            k = ConcatFromSequence <axis = 0> (given)
            l = SequenceEmpty ()
            m = Loop (at, "", l) <body = b (int64 i, bool c, s) => (d, t) {
                d = Identity (c)
                t = SequenceInsert (s, x)
            }>
        }""",
        """g (optional(seq(float[?])) given, map(string, float[?]) named) => (y) {
            y = OptionalGetElement (given)
            z = Optional (y)
        }""",
        # a function of two calls
        """g (float[?, n] x, float[m, 2] y) => (z, w) { z = my.f (x)  w = my.f (y) }
        <domain: "my", opset_import: ["" : 21]> f (a) => (b) { i = NonZero (a)  b = Concat <axis = 1> (i, i) }""",
    ],
)
def test_what_inference_writes_is_no_claim(text: str) -> None:
    again = assert_stays(infer(text))
    assert_stays(again)
    if not isinstance(again.model, str):
        assert_stays(sx.infer_shapes(infer(text).model))


def test_a_dim_that_differs_between_elements_is_not_written_as_one() -> None:
    first = infer("g (seq(float[?, 3]) given) => (y) { y = ConcatFromSequence <axis = 0> (given) }")
    again = sx.infer_shapes(sx.load(sx.to_bytes(first.model)))
    kind = again.model.graph.type(again.model.graph.outputs[0])
    assert kind.shape[0].is_symbol  # not a multiple of the first element's
    written = sx.load(sx.to_bytes(first.model)).graph
    assert written.type(written.inputs[0]).elem.shape[0].anonymous


def test_an_unnamed_dim_of_an_input_is_the_one_that_other_values_are_declared_with() -> None:
    from onnx import TensorProto, helper

    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (None, 3)), helper.make_empty_tensor_value_info("y")]
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    proto = helper.make_model(helper.make_graph(nodes, "g", infos[:1], infos[1:]))
    first = sx.infer_shapes(sx.load(proto.SerializeToString()))
    graph = sx.load(sx.to_bytes(first.model)).graph
    x, y = graph.type(graph.inputs[0]), graph.type(graph.outputs[0])
    assert x.shape[0] is y.shape[0]
    assert x.shape[0].anonymous


def test_names_do_not_depend_on_what_a_file_leaves_open() -> None:
    texts = [
        f"g (float[?] x) => (y) {said} {{ y = NonZero (x)  z = Relu (x) }}"
        for said in ("", "<float[?] z>", "<int64[1, ?] y>")
    ]
    assert len({str(known(infer(text))) for text in texts}) == 1
    loaded = model(texts[1])
    for kind in loaded.graph.types.values():
        str(kind)  # printing gives names
    assert known(sx.infer_shapes(loaded)) == known(infer(texts[0]))
