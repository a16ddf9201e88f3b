"""Frames: what was found in each activation, reached by steps."""

from __future__ import annotations

import pytest

from tests.infer.models import infer, types

NESTED = """<ir_version: 10, opset_import: ["" : 21, "my" : 1]>
g (bool c, float[a, 4] x, map(string, float) m) => (y) {
    s = SequenceConstruct (x, x)
    o = Optional (x)
    y = If (c) <then_branch = t () => (p) {
        h = Relu (x)
        p = If (c) <then_branch = t2 () => (p2) { p2 = my.twice (h) }, else_branch = e2 () => (q2) { q2 = Neg (h) }>
    }, else_branch = e () => (q) { q = my.twice (x) }>
}
<domain: "my", opset_import: ["" : 21]> twice (x) => (y) { k = Shape (x)  z = ConstantOfShape (k)  y = Add (z, z) }
"""


def test_frames_are_listed_with_their_paths():
    assert list(infer(NESTED).frames) == [
        (),
        ((2, "then_branch"),),
        ((2, "then_branch"), (1, "then_branch")),
        ((2, "then_branch"), (1, "then_branch"), (0, None)),
        ((2, "then_branch"), (1, "else_branch")),
        ((2, "else_branch"),),
        ((2, "else_branch"), (0, None)),
    ]


def test_a_frame_lists_its_values_by_kind_and_name():
    inference = infer(NESTED)
    main = inference.frame()
    assert list(main.sequences) == ["s"]
    assert list(main.optionals) == ["o"]
    assert list(main.maps) == ["m"]
    assert list(main.tensors) == ["c", "x", "y"]
    call = inference.frame((2, "then_branch"), (1, "then_branch"), (0, None))
    assert {name: str(kind) for name, kind in call.types.items()} == {
        "x": "tensor(float)[a, 4]",
        "k": "tensor(int64)[2]",
        "z": "tensor(float)[a, 4]",
        "y": "tensor(float)[a, 4]",
    }
    assert [str(one) for one in call.contents["k"]] == ["a", "4"]


def test_a_step_may_name_the_node_itself():
    inference = infer(NESTED)
    node = inference.model.graph.nodes[2]
    frame = inference.frame((node, "then_branch"))
    assert frame.path == ((2, "then_branch"),)
    assert frame.parent.path == ()
    assert inference.frames[((2, "then_branch"),)].graph is frame.graph


@pytest.mark.parametrize("steps", [((9, "body"),), ((0, "body"),), ((0, None),), ((2, "then_branch"), (7, None))])
def test_a_step_that_leads_nowhere_says_so(steps):
    with pytest.raises(KeyError):
        infer(NESTED).frame(*steps)


def test_issues_belong_to_their_frame():
    inference = infer(
        """g (bool c, float[3] x, float[4] w) => (y) {
            y = If (c) <then_branch = t () => (p) { p = Add (x, w) }, else_branch = e () => (q) { q = Neg (x) }>
        }"""
    )
    assert [issue.code for issue in inference.issues] == ["dim-mismatch"]
    assert [issue.code for issue in inference.frame((0, "then_branch")).issues] == ["dim-mismatch"]
    assert inference.frame().issues == ()
    assert str(inference.issues[0].place).endswith("node 0 (If).then_branch, node 0 (Add)")


def test_names_that_claims_give_reach_every_frame():
    inference = infer(
        """<ir_version: 10, opset_import: ["" : 21, "my" : 1]>
        g (bool c, float[a] x) => (int64[1, found] y, z) {
            y = NonZero (x)
            z = If (c) <then_branch = t () => (p) { p = my.same (y) }, else_branch = e () => (q) { q = Identity (y) }>
        }
        <domain: "my", opset_import: ["" : 21]> same (x) => (y) { k = Shape (x)  y = Identity (x) }"""
    )
    assert types(inference, (1, "then_branch"), (0, None))["y"] == "tensor(int64)[1, found]"
    assert str(inference.frame((1, "then_branch"), (0, None)).contents["k"][1]) == "found"


def test_coverage_counts_values_ranks_and_dims():
    coverage = infer(
        """g (float[a, 2] x, int64[1] n) => (y, z, w) {
            y = Relu (x)
            z = NonZero (x)
            w = my.Strange (x)
            u = ConstantOfShape (n)
        }"""
    ).coverage()
    assert (coverage.values, coverage.typed, coverage.ranked, coverage.expressed) == (6, 5, 5, 3)
    assert [name for name, _ in coverage.unknown] == ["z", "w", "u"]
    assert str(coverage).startswith("6 values: 83.3% typed, 83.3% ranked, 50.0% with every dim expressed; 1 distinct")


def test_equal_calls_have_elements_of_their_own_where_the_outcome_does_not_ask():
    inference = infer(
        """g (float[a, b] x) => (y, z) <int64 zero = {0}, int64 one = {1}> {
            s = Shape (x)
            m = Gather (s, zero)
            n = Gather (s, one)
            y = my.f (m, x)
            z = my.f (n, x)
        }
        <domain: "my", opset_import: ["" : 21]> f (k, p) => (r) { r = Relu (p) }"""
    )
    frames = [inference.frame((at, None)) for at in (3, 4)]
    assert frames[0].activation is frames[1].activation
    assert [[str(one) for one in frame.contents["k"]] for frame in frames] == [["a"], ["b"]]


def test_functions_may_call_each_other_deeper_than_python_recurses():
    head = '<domain: "my", opset_import: ["" : 21, "my" : 1]>'
    lines = ["g (float[n] x) => (float[] y) { y = my.F1500 (x) }", f"{head} F0 (a) => (b) {{ b = Relu (a) }}"]
    lines += [f"{head} F{at + 1} (a) => (b) {{ b = my.F{at} (a) }}" for at in range(1500)]
    inference = infer("\n".join(lines))
    assert max(map(len, inference.frames)) == 1501
    assert "the graph's input declares it" in str(inference.explain("y"))
