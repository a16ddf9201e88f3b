"""Why a value has the type it has, in sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sardonyx as sx
from sardonyx.infer.frames import Frame
from tests.infer.models import infer

KEPT = Path(__file__).parent / "data" / "explanations.txt"
"""Explanations of values of real models, each read and found clear; `== model value axis` begins one."""


def kept():
    """Return (model, value, axis, text) for every kept explanation."""
    found = []
    for block in KEPT.read_text().split("== ")[1:]:
        head, _, text = block.partition("\n")
        name, value, axis = head.split(" ")
        found.append(pytest.param(name, value, int(axis), text.strip(), id=f"{name}-{value}-{axis}"))
    return found


def numberless(text):
    """Return a text without the numbers of anonymous symbols: how many there are before is not the point."""
    return re.sub(r"\b(_[a-z]+)\d+", r"\1", text)


@pytest.mark.parametrize(("name", "value", "axis", "text"), kept())
def test_explanations_of_real_values_stay_as_they_were_read(shared, name, value, axis, text):
    with sx.load(shared / "corpus" / f"{name}.onnx", external_data="lazy") as loaded:
        assert numberless(str(sx.infer_shapes(loaded).explain(value, axis))) == numberless(text)


def test_a_joined_dim_names_what_was_joined():
    inference = infer(
        """g (float[b, past, 8] past_key, float[b, seq, 8] x) => (y) {
            k = Relu (x)
            k_all = Concat <axis = 1> (past_key, k)
            y = Neg (k_all)
        }"""
    )
    assert str(inference.explain("k_all", 1)).splitlines() == [
        "dim 1 of 'k_all' is past + seq because node 1 (Concat) joined 'past_key' (past) and 'k' (seq) on axis 1",
        "dim 1 of 'past_key' is past: the graph's input declares it",
        "dim 1 of 'k' is seq, as is dim 1 of 'x': Relu keeps it",
        "dim 1 of 'x' is seq: the graph's input declares it",
    ]
    reasons = inference.explain("k_all", 1).steps
    assert reasons[0].node is inference.model.graph.nodes[1]
    assert [one.axis for one in reasons] == [1, 1, 1, 1]


def test_an_unknown_dim_names_the_first_loss_and_what_was_needed():
    inference = infer(
        """g (float[a, 4] x, int64[2] to) => (y) {
            h = Relu (x)
            r = Reshape (h, to)
            t = Neg (r)
            y = Concat <axis = 0> (t, t)
        }"""
    )
    explanation = inference.explain("y", 0)
    loss = explanation.first_loss
    assert loss.node.op_type == "Reshape"
    assert loss.text.endswith(
        "because node 1 (Reshape) lost it: the elements of its shape input are not known there; "
        "needed would be a constant there, or a value that is computed from shapes"
    )


def test_an_unknown_type_leads_to_the_operator_that_nothing_is_known_of():
    inference = infer("g (float[a] x) => (y) { u = my.Strange (x)  v = Relu (u)  y = Neg (v) }")
    assert inference.explain("y").first_loss.text == (
        "'u' is not known because node 0 (Strange) lost it: nothing is known of operator my::Strange"
    )


def test_elements_are_followed_through_bodies_and_functions():
    inference = infer(
        """<ir_version: 10, opset_import: ["" : 21, "my" : 1]>
        g (bool c, float[a, b] x) => (y) {
            s = If (c) <then_branch = t () => (p) { p = my.shape (x) }, else_branch = e () => (q) { q = Shape (x) }>
            y = ConstantOfShape (s)
        }
        <domain: "my", opset_import: ["" : 21]> shape (v) => (k) { k = Shape (v) }"""
    )
    steps = str(inference.explain("y", 1)).splitlines()
    assert steps[0].startswith("dim 1 of 'y' is b, as is dim 1 of 'x': kept by")
    assert steps[-1] == "dim 1 of 'x' is b: the graph's input declares it"


def test_a_growing_state_is_said_to_change():
    inference = infer(
        """g (int64 m, float[a, 4] x) => (y) <bool go = {1}> {
            y = Loop (m, go, x) <body = b (i, c, s) => (d, t) { d = Identity (c)  t = Concat <axis = 0> (s, s) }>
        }"""
    )
    explanation = inference.explain("t", 0)
    assert "it changes from one iteration of Loop to the next" in explanation.first_loss.text


def test_a_value_or_axis_that_is_not_there_is_refused():
    inference = infer("g (float[a] x) => (y) { y = Relu (x) }")
    with pytest.raises(ValueError, match="the model has no value 'nope'"):
        inference.explain("nope")
    with pytest.raises(ValueError, match="'y' has no axis 1"):
        inference.explain("y", 1)


def test_functions_that_pass_on_a_dim_a_million_times_are_explained_within_a_limit(monkeypatch):
    monkeypatch.setattr("sardonyx.infer.explain.MOST_POINTS", 1000)
    lines = ["g (float[n] x) => (float[] y) { y = my.F20 (x) }"]
    head = '<domain: "my", opset_import: ["" : 21, "my" : 1]>'
    lines.append(f"{head} F0 (a) => (b) {{ b = Relu (a) }}")
    lines += [f"{head} F{at + 1} (a) => (b) {{ t = my.F{at} (a)  b = my.F{at} (t) }}" for at in range(20)]
    assert str(infer("\n".join(lines)).explain("y", 0)).splitlines() == [
        "dim 0 of 'y' is n, as is dim 0 of 'a': kept by my::F20, my::F19, my::F18 and 19 other operators",
        "the rest is left out: an explanation looks at no more than 1000 dims and elements",
    ]


def test_an_explanation_with_too_many_steps_says_that_it_is_cut_short(monkeypatch):
    nodes = "".join(f"x{at + 1} = Concat <axis = 0> (x{at}, x)\n" for at in range(20))
    inference = infer(f"g (float[n] x0, float[n] x) => (y) {{ {nodes} y = Neg (x20) }}")
    whole = inference.explain("y", 0)
    assert whole.cut is None
    assert "left out" not in str(whole)
    monkeypatch.setattr("sardonyx.infer.explain.MOST_STEPS", 5)
    short = inference.explain("y", 0)
    assert [step.text for step in short.steps] == [step.text for step in whole.steps[:5]]
    assert str(short).splitlines()[5:] == ["the rest is left out: an explanation has no more than 5 steps"]
    monkeypatch.setattr("sardonyx.infer.explain.MOST_STEPS", len(whole.steps))
    assert inference.explain("y", 0).cut is None


def test_a_dim_is_followed_through_a_thousand_functions_in_few_steps_of_python(monkeypatch):
    asked = []
    path = Frame.path.fget
    monkeypatch.setattr(Frame, "path", property(lambda frame: asked.append(frame) or path(frame)))
    head = '<domain: "my", opset_import: ["" : 21, "my" : 1]>'
    lines = ["g (float[n] x) => (y) { y = my.F999 (x) }", f"{head} F0 (a) => (b) {{ b = Relu (a) }}"]
    lines += [f"{head} F{at + 1} (a) => (b) {{ b = my.F{at} (a) }}" for at in range(999)]
    explanation = infer("\n".join(lines)).explain("y", 0)
    assert str(explanation).splitlines() == [
        "dim 0 of 'y' is n, as is dim 0 of 'x': kept by my::F999, my::F998, my::F997 and 998 other operators",
        "dim 0 of 'x' is n: the graph's input declares it",
    ]
    assert len(asked) == 2  # a path is as long as the chain: one for each step that is told


def test_the_elements_of_a_constant_are_looked_up_once_for_all_of_them(monkeypatch):
    asked = []
    content = Frame.content
    monkeypatch.setattr(Frame, "content", lambda frame, value: asked.append(value.name) or content(frame, value))
    inference = infer(
        """g (float[n, 600] x) => (float[n, 600] y) <int64[1] k = {600}> {
            w = ConstantOfShape (k)
            y = Add (x, w)
        }"""
    )
    assert "declares it" in str(inference.explain("y", 0))
    assert asked.count("w") == 1
