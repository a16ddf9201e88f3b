"""What a file declares against what is inferred: facts, claims, names, contradictions."""

from __future__ import annotations

import re

import pytest

import sardonyx as sx
from sardonyx.errors import OnnxError
from sardonyx.ir.types import DType, TensorType
from tests.infer.models import codes, infer, model, shown, types


def kinds(inference):
    """Return the kinds of the assumptions."""
    return [one.kind for one in inference.assumptions]


def test_a_claim_never_replaces_an_inferred_expression_but_is_a_constraint():
    inference = infer("g (float[p] a, float[s] b) => (float[total] c) { c = Concat <axis = 0> (a, b) }")
    assert types(inference)["c"] == "tensor(float)[p + s]"
    assert [str(one) for one in inference.constraints] == ["p + s == total (value 'c')"]
    assert not inference.issues


def test_a_claim_names_an_unknown_dim_everywhere():
    inference = infer(
        """g (float[n] x) => (int64[1, found] y) {
            y = NonZero (x)
            z = Concat <axis = 1> (y, y)
        }"""
    )
    assert types(inference)["y"] == "tensor(int64)[1, found]"
    assert types(inference)["z"] == "tensor(int64)[1, 2*found]"


def test_a_claim_about_an_expression_of_an_unknown_dim_names_the_dim():
    inference = infer(
        """g (float[n] x) => (int64[1, twice] z) {
            y = NonZero (x)
            z = Concat <axis = 1> (y, y)
        }"""
    )
    assert types(inference)["y"] == "tensor(int64)[1, twice/2]"
    assert types(inference)["z"] == "tensor(int64)[1, twice]"


def test_a_name_that_says_nothing_is_no_claim():
    inference = infer(
        """g (float[n] x, float[m] w) => (int64[1, "?"] y, int64[1, "?"] z) { y = NonZero (x)  z = NonZero (w) }"""
    )
    known = types(inference)
    assert known["y"] != known["z"]


def test_a_contradiction_names_value_axis_and_both():
    inference = infer("g (float[n, 4] x) => (float[n, 5] y) { y = Relu (x) }")
    assert [issue.message for issue in inference.issues] == ["'y' is declared as 5 on axis 1, but it is 4 there"]


def test_contradictions_of_kind_element_type_and_rank():
    text = "g (float[n, 4] x) => ({kind} y) {{ y = Relu (x) }}"
    messages = [
        infer(text.format(kind=kind)).issues[0].message for kind in ("int64[n, 4]", "float[n]", "seq(float[n])")
    ]
    assert messages == [
        "'y' is declared as int64, but it is float",
        "'y' is declared with 1 dims, but it has 2",
        "'y' is declared as seq(tensor(float)), but it is a tensor(float)",
    ]


def test_strict_mode_raises_the_first_contradiction():
    with pytest.raises(OnnxError) as caught:
        infer("g (float[n, 4] x) => (float[n, 5] y) { y = Relu (x) }", mode="strict")
    assert caught.value.code == "claim-contradicted"


def test_what_was_not_inferred_is_taken_and_says_so():
    inference = infer("g (float[n] x) => (float[n, 3] y) { y = my.Strange (x)  z = Relu (y) }")
    assert types(inference)["z"] == "tensor(float)[n, 3]"
    assert kinds(inference) == ["claim-taken"]


def test_a_number_that_is_claimed_for_an_unknown_dim_is_an_assumption():
    inference = infer("g (float[n] x) => (int64[1, 7] y) { y = NonZero (x) }")
    assert types(inference)["y"] == "tensor(int64)[1, 7]"
    assert kinds(inference) == ["claim-taken"]


def test_in_a_body_names_are_the_bodys_own():
    inference = infer(
        """g (float[n, 4] x, int64 m) => (float[] y) <bool go = {1}> {
            y = Loop (m, go, x) <body = b (int64 i, bool c, float[n, 4] s) => (bool d, float[n, 4] t) {
                d = Identity (c)
                t = Concat <axis = 0> (s, s)
            }>
        }"""
    )
    body = types(inference, (0, "body"))
    assert body["s"].startswith("tensor(float)[_carried")
    assert not inference.issues


def test_a_claim_of_an_unknown_value_in_a_body_has_names_of_one_activation():
    inference = infer(
        """g (bool c, float[n] x) => (float[] y) {
            y = If (c) <then_branch = t () => (float[] p) <float[n, k] u, float[n, k] v> {
                    u = my.Strange (x)  v = my.Strange (x)  p = Add (u, v) },
                else_branch = e () => (float[] q) <float[n, k] u> { u = my.Strange (x)  q = Relu (u) }>
        }"""
    )
    then, other = types(inference, (0, "then_branch")), types(inference, (0, "else_branch"))
    assert then["u"] == then["v"] == then["p"]
    assert other["u"] != then["u"]
    assert "_n" in then["u"]


def test_an_initializer_that_is_an_input_has_the_declared_type_and_keeps_its_default():
    text = """<ir_version: {ir}, opset_import: ["" : 21]>
    g (float[a] x, int64[1] by = {{3}}) => (float[] y) {{ y = Tile (x, by) }}"""
    kept = infer(text.format(ir=10))
    assert types(kept)["y"] == "tensor(float)[3*a]"
    assert kinds(kept) == ["default-kept"]
    open_ = infer(text.format(ir=10), defaults="open")
    assert types(open_)["y"] != "tensor(float)[3*a]"
    assert kinds(open_) == []
    assert kinds(infer(text.format(ir=3), defaults="open")) == []
    assert types(infer(text.format(ir=3), defaults="open"))["y"] == "tensor(float)[3*a]"


def test_sizes_are_bound_before_anything_is_inferred():
    text = 'g (float[batch, s] x, float[b, 4] z) => (float[batch, "2*s"] y) { y = Concat <axis = 1> (x, x) }'
    inference = infer(text, bind={"batch": 8, "s": 3})
    assert types(inference)["x"] == "tensor(float)[8, 3]"
    assert types(inference)["y"] == "tensor(float)[8, 6]"
    assert not inference.issues
    with pytest.raises(ValueError, match="no input has a dim named 'bach'; those that are named: b, batch, s"):
        infer(text, bind={"bach": 8})
    with pytest.raises(ValueError, match="is no size"):
        infer(text, bind={"batch": -1})


def test_names_are_never_merged_unless_asked():
    text = "g (float[a, k] x, float[b, k] y, float[c, d] w) => (z, v) { z = Add (x, y)  v = MatMul (x, w) }"
    assert shown(text, "z", "v") == ["tensor(float)[broadcast(a, b), k]", "tensor(float)[a, d]"]
    inference = infer(text, assume="unify")
    assert types(inference)["z"] == "tensor(float)[a, k]"
    assert types(inference)["w"] == "tensor(float)[k, d]"
    assert [one.kind for one in inference.assumptions if one.kind != "joined-dims"] == []


@pytest.mark.parametrize("given", [{"mode": "loose"}, {"assume": "all"}, {"defaults": "maybe"}])
def test_arguments_that_mean_nothing_are_refused(given):
    with pytest.raises(ValueError, match="is none of"):
        infer("g (float[a] x) => (float[] y) { y = Relu (x) }", **given)


def test_the_input_stays_and_the_result_shares_its_nodes():
    loaded = model("g (float[a] x) => (float[] y) { y = Relu (x) }")
    before = dict(loaded.graph.types)
    inference = sx.infer_shapes(loaded)
    assert dict(loaded.graph.types) == before
    assert inference.model.graph.nodes is loaded.graph.nodes
    again = sx.infer_shapes(inference.model)
    assert types(again) == types(inference)


def test_inferring_again_from_a_saved_result_changes_nothing():
    text = """g (float[n] x, bool c) => (float[] y) {
        i = NonZero (x)
        f = Cast <to = 1> (i)
        y = If (c) <then_branch = t () => (p) { p = Relu (f) }, else_branch = e () => (q) { q = Neg (f) }>
    }"""
    first = infer(text)
    again = sx.infer_shapes(first.model)
    assert not again.issues
    reread = sx.infer_shapes(sx.load(sx.to_bytes(first.model)))
    assert not reread.issues
    assert types(reread)["x"] == types(first)["x"]


def test_a_size_above_the_largest_is_unknown_with_an_issue():
    inference = infer("""g (float[4611686018427387904, 4] x) => (float[] y) { y = Flatten <axis = 0> (x) }""")
    (one, size) = inference.model.graph.type(inference.model.graph.outputs[0]).shape
    assert one == 1
    assert not isinstance(size, int)
    assert codes(inference) == ["size-too-large"]


def test_a_rule_that_fails_is_an_issue_and_not_the_end():
    from sardonyx.ops.rules import OVERLAY, rules

    def broken(call):
        raise KeyError("oops")

    rules("my.broken")("Bad")(broken)
    try:
        inference = infer(
            """<ir_version: 10, opset_import: ["" : 21, "my.broken" : 1]>
            g (float[n] x) => (float[] y) { z = my.broken.Bad (x)  y = Relu (x) }"""
        )
    finally:
        del OVERLAY["my.broken"]
    assert codes(inference) == ["rule-failed"]
    assert inference.issues[0].message.startswith("the operator's rule failed: KeyError: 'oops'")
    assert types(inference)["y"] == "tensor(float)[n]"


def with_rule(rule, text):
    """Infer with a rule for `my.own.Op`."""
    from sardonyx.ops.rules import OVERLAY, rules

    rules("my.own")("Op")(rule)
    try:
        return infer(f'<ir_version: 10, opset_import: ["" : 21, "my.own" : 1]> {text}')
    finally:
        del OVERLAY["my.own"]


def test_a_rule_that_gives_impossible_sizes_is_not_believed():
    inference = with_rule(
        lambda call: TensorType(DType.FLOAT, (2**64, -3, 5)), "g (float[n] x) => (y) { y = my.own.Op (x) }"
    )
    assert [issue.message for issue in inference.issues] == [
        "'y' has a dim of 18446744073709551616, which no tensor has",
        "'y' has a dim of -3, which no tensor has",
    ]
    assert types(inference)["y"].endswith(", 5]")


def test_a_rule_whose_dim_outgrows_expressions_is_asked_again_with_simpler_dims():
    def grown(call):
        return TensorType(DType.FLOAT, (call.tensor(0).shape[0] ** 32, 2))

    text = """g (float[a, 2] x) => (y) {
        u = my.own.Op (x)
        y = my.own.Op (u)
    }"""
    inference = with_rule(grown, text)
    assert codes(inference) == []
    assert re.fullmatch(r"tensor\(float\)\[_d\d+\*\*32, 2\]", types(inference)["y"])


def test_a_rule_that_never_fits_leaves_its_outputs_unknown():
    def grown(call):
        return TensorType(DType.FLOAT, (call.tensor(0).shape[0] ** 33,))

    inference = with_rule(grown, "g (float[a] x) => (y) { y = my.own.Op (x) }")
    assert codes(inference) == ["dim-too-large"]
    assert "y" not in types(inference)


def test_nodes_are_compared_with_their_signatures():
    text = "g (float[n] x, int64[n] i) => (y) {{ y = {node} }}"
    assert codes(infer(text.format(node="Add (x, i)"))) == ["bad-element-type"]
    assert codes(infer(text.format(node="Relu (x, x)"))) == ["wrong-count"]
    assert codes(infer(text.format(node="Sin (i)"))) == ["bad-element-type"]
    assert infer(text.format(node="Add (x, i)")).issues[0].message == (
        "input 'B' is a tensor(int64) but input 'A', which must be alike, is a tensor(float)"
    )
