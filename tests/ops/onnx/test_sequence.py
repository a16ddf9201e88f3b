"""Rules for sequences."""

from __future__ import annotations

import pytest

from tests.infer.models import codes, infer, shown, types
from tests.ops.cases import case, fails


def test_construction():
    case("SequenceEmpty", "", "seq[]")
    case("SequenceConstruct", "f32[a] f32[b,2]", "seq[f32[a], f32[b,2]]")
    case("SequenceConstruct", "f32[a] f32[a]", "seq[f32[a], f32[a]]")
    fails("SequenceConstruct", "f32[a] i64[a]", "bad-element-type")
    fails("SequenceConstruct", "f32[a] seq(f32[a])", "wrong-kind")


def test_length():
    case("SequenceLength", "seq(f32[a])*n", "i64[]=[n]")
    case("SequenceLength", "seq[f32[a], f32[b]]", "i64[]=[2]")
    case("SequenceLength", "seq[]", "i64[]=[0]")
    case("SequenceLength", "seq(f32[a])", "i64[]=?")


def test_element_at():
    case("SequenceAt", "seq[f32[a], f32[b,2]] i64[]=[1]", "f32[b,2]")
    case("SequenceAt", "seq[f32[a], f32[b,2]] i64[]=[-2]", "f32[a]")
    case("SequenceAt", "seq[f32[a], f32[b,2]] i64[]", "f32")
    case("SequenceAt", "seq[f32[a,2], f32[b,2]] i64[]", "f32[?,2]")
    case("SequenceAt", "seq(f32[a])*n i64[]=[0]", "f32[a]")
    fails("SequenceAt", "seq[f32[a]] i64[]=[1]", "bad-input")
    fails("SequenceAt", "seq[f32[a]] i64[]=[-2]", "bad-input")
    fails("SequenceAt", "seq[] i64[]", "bad-input")


def test_insertion():
    case("SequenceInsert", "seq[f32[a], f32[b]] f32[c]", "seq[f32[a], f32[b], f32[c]]")
    case("SequenceInsert", "seq[f32[a], f32[b]] f32[c] i64[]=[0]", "seq[f32[c], f32[a], f32[b]]")
    case("SequenceInsert", "seq[f32[a], f32[b]] f32[c] i64[]=[-1]", "seq[f32[a], f32[c], f32[b]]")
    case("SequenceInsert", "seq[f32[a], f32[b]] f32[c] i64[]=[2]", "seq[f32[a], f32[b], f32[c]]")
    case("SequenceInsert", "seq[f32[a], f32[a]] f32[a] i64[]", "seq[f32[a], f32[a], f32[a]]")
    case("SequenceInsert", "seq[] f32[a]", "seq[f32[a]]")
    case("SequenceInsert", "seq(f32[a,2])*n f32[a,2]", "seq(f32[a,2])*n+1")
    case("SequenceInsert", "seq(f32[a,2])*n f32[b,2]", "seq(f32[?,2])*n+1")
    fails("SequenceInsert", "seq[f32[a]] f32[c] i64[]=[2]", "bad-input")
    fails("SequenceInsert", "seq[f32[a]] i64[c]", "bad-element-type")


def test_removal():
    case("SequenceErase", "seq[f32[a], f32[b]]", "seq[f32[a]]")
    case("SequenceErase", "seq[f32[a], f32[b]] i64[]=[0]", "seq[f32[b]]")
    case("SequenceErase", "seq[f32[a], f32[b]] i64[]=[-2]", "seq[f32[b]]")
    case("SequenceErase", "seq[f32[a], f32[a]] i64[]", "seq[f32[a]]")
    case("SequenceErase", "seq(f32[a])*n", "seq(f32[a])*n-1", least={"n": 1})
    fails("SequenceErase", "seq[]", "bad-input")
    fails("SequenceErase", "seq[f32[a]] i64[]=[1]", "bad-input")


def test_an_unknown_position_forgets_the_order_of_elements_that_differ():
    case("SequenceInsert", "seq[f32[a], f32[b]] f32[c] i64[]", "seq(f32[?])*3")
    case("SequenceErase", "seq[f32[a], f32[b]] i64[]", "seq(f32[?])*1")


def test_split_to_pieces_of_one():
    case("SplitToSequence", "f32[3,a]", "seq[f32[1,a], f32[1,a], f32[1,a]]")
    case("SplitToSequence", "f32[3,a]", "seq[f32[a], f32[a], f32[a]]", keepdims=0)
    case("SplitToSequence", "f32[n,a]", "seq(f32[1,a])*n")
    case("SplitToSequence", "f32[a,n]", "seq(f32[a])*n", axis=-1, keepdims=0)
    fails("SplitToSequence", "f32[n,a]", "axis-out-of-range", axis=2)


def test_split_to_pieces_of_one_size():
    case("SplitToSequence", "f32[5,a] i64[]=[2]", "seq[f32[2,a], f32[2,a], f32[1,a]]")
    case("SplitToSequence", "f32[4,a] i64[]=[2]", "seq[f32[2,a], f32[2,a]]", keepdims=0)
    case("SplitToSequence", "f32[3*n-1,a] i64[]=[3]", "seq(f32[?,a])*n", least={"n": 1})
    case("SplitToSequence", "f32[2*n,a] i64[]=[2]", "seq(f32[2,a])*n")
    case("SplitToSequence", "f32[n,a] i64[]=[1]", "seq(f32[1,a])*n")
    fails("SplitToSequence", "f32[n,a] i64[]=[0]", "bad-input")
    fails("SplitToSequence", "f32[n,a] i64[]=[-1]", "bad-input")


def test_split_to_given_sizes():
    case("SplitToSequence", "f32[5,a] i64[2]=[2,3]", "seq[f32[2,a], f32[3,a]]")
    case("SplitToSequence", "f32[5,a] i64[3]=[2,0,3]", "seq[f32[2,a], f32[0,a], f32[3,a]]")
    case("SplitToSequence", "f32[n,a] i64[2]=[k,n-k]", "seq[f32[k,a], f32[n-k,a]]")
    fails("SplitToSequence", "f32[5,a] i64[2]=[2,2]", "dim-mismatch")
    fails("SplitToSequence", "f32[5,a] i64[2]=[6,-1]", "bad-input")


def test_joining_along_an_axis():
    case("ConcatFromSequence", "seq[f32[a,2], f32[b,2]]", "f32[a+b,2]", axis=0)
    case("ConcatFromSequence", "seq[f32[2,a], f32[2,b]]", "f32[2,a+b]", axis=-1)
    case("ConcatFromSequence", "seq(f32[a,2])*n", "f32[a*n,2]", axis=0)
    case("ConcatFromSequence", "seq(f32[a,2])", "f32[?,2]", axis=0)
    fails("ConcatFromSequence", "seq[f32[2,3], f32[4,5]]", "dim-mismatch", axis=0)
    fails("ConcatFromSequence", "seq[f32[2,3], f32[4]]", "rank-mismatch", axis=0)
    fails("ConcatFromSequence", "seq[f32[2,3]]", "axis-out-of-range", axis=2)
    fails("ConcatFromSequence", "seq[f32[2,3]]", "missing-attribute")


def test_joining_along_a_new_axis():
    case("ConcatFromSequence", "seq[f32[a,2], f32[a,2]]", "f32[2,a,2]", axis=0, new_axis=1)
    case("ConcatFromSequence", "seq[f32[a,2], f32[a,2]]", "f32[a,2,2]", axis=2, new_axis=1)
    case("ConcatFromSequence", "seq(f32[a,2])*n", "f32[a,n,2]", axis=1, new_axis=1)
    case("ConcatFromSequence", "seq[f32[], f32[]]", "f32[2]", axis=-1, new_axis=1)
    fails("ConcatFromSequence", "seq[f32[2,3], f32[2,3]]", "axis-out-of-range", axis=3, new_axis=1)
    fails("ConcatFromSequence", "seq[f32[2,3]]", "bad-attribute", axis=0, new_axis=2)


def test_a_map_keeps_the_length_and_takes_elements_one_by_one():
    text = """g (float[a] x, float[b, 2] y) => (m) {
        s = SequenceConstruct (x, y)
        m = SequenceMap <body = b (e) => (f) { f = Shape (e)  }> (s)
    }"""
    assert shown(text, "m") == "seq[tensor(int64)[1], tensor(int64)[2]]"
    turned = "g (seq(float[n, 2]) s) => (m) { m = SequenceMap <body = b (e) => (f) { f = Transpose (e) }> (s) }"
    assert shown(turned, "m") == "seq(tensor(float)[2, n])*_length0"


def test_a_map_takes_further_sequences_by_element_and_tensors_whole():
    text = """g (seq(float[n, 2]) s, seq(float[n, 2]) t, float[2] w) => (m) {
        m = SequenceMap <body = b (e, f, g) => (h) { i = Add (e, f)  h = Add (i, g) }> (s, t, w)
    }"""
    inference = infer(text)
    assert types(inference)["m"].startswith("seq(tensor(float)[n, 2])*_length")
    assert [one.kind for one in inference.assumptions] == ["joined-dims"]
    assert types(inference, (0, "body"))["g"] == "tensor(float)[2]"


def test_what_the_data_decides_differs_in_each_element_of_a_map():
    text = """g (float[4] x, int64 at) => (c) {
        s = SequenceConstruct (x, x)
        m = SequenceMap <body = b (e) => (f) { f = NonZero (e) }> (s)
        c = ConcatFromSequence <axis = 1> (m)
    }"""
    inference = infer(text)
    graph = inference.model.graph
    kind = next(inference.model.graph.type(value) for value in graph.values if value.name == "m")
    first, second = [one.shape[1] for one in kind.elements]
    assert first is not second
    assert graph.type(graph.outputs[0]).shape[1] == first + second


@pytest.mark.parametrize("formals", ["", "e, f"])
def test_the_body_of_a_map_must_take_what_it_is_given(formals):
    body = f"b ({formals}) => (y) {{ y = Constant <value_int = 1> () }}"
    text = f"g (seq(float[n]) s) => (m) {{ m = SequenceMap <body = {body}> (s) }}"
    assert codes(infer(text)) == ["body-interface"]


def test_a_long_sequence_is_known_as_a_whole():
    case("SplitToSequence", "f32[300,a]", "seq(f32[1,a])*300")


def test_nested_maps_over_single_elements_do_not_multiply():
    depth, body = 12, "y = Relu (e)"
    for at in range(depth):
        inner = f"<body = b (float[a] x, float[c] e) => (y) {{ {body} }}>"
        body = f"q{at} = SequenceMap (s{at}, e) {inner}  y = SequenceAt (q{at}, zero)"
    inputs = "".join(f", float[n] a{at}, float[m, m] b{at}" for at in range(depth))
    made = "".join(f"s{at} = SequenceConstruct (a{at}, b{at}) " for at in range(depth))
    inference = infer(f"g (float[k] e, int64 zero{inputs}) => (float[k] y) {{ {made} {body} }}")
    assert not inference.issues
    assert depth < inference.engine.frames < depth**3
    assert str(inference.frame().types["y"]) == "tensor(float)[k]"
