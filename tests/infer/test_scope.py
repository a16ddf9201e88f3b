"""What is recorded in passes that do not count is forgotten, and names become one where the caller asks for it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.infer.models import infer, shown

POOL = "AveragePool <kernel_shape = [7]> (x)"
LATER = """five = Constant <value_ints = [5]> ()
            shape = Shape <start = 2> (x)
            size = Max (shape, five)
            z = ConstantOfShape (size)"""


def test_a_branch_that_never_runs_says_nothing_of_sizes():
    text = f"""g (float[n, c, h] x) => (float[n, c, h] y, float[k] z) <bool go = {{1}}> {{
            y = If (go) <then_branch = t () => (t) {{ t = Identity (x) }}, else_branch = e () => (e) {{ e = {POOL} }}>
            {LATER}
        }}"""
    assert shown(text, "z") == "tensor(float)[max(h, 5)]"
    assert shown(text.replace("{1}", "{0}"), "z") == "tensor(float)[h]"  # that branch always runs, with h >= 7


IF = "then_branch = t () => (t) {{ t = Identity (x) }}, else_branch = e () => (e) {{ e = {pool} }}"


@pytest.mark.parametrize(
    ("inputs", "node"),
    [
        ("bool go", f"If (go) <{IF.format(pool=POOL)}>"),
        ("int64 n", f"Loop (n, ) <body = b (int64 i, bool go) => (on, s) {{ on = Identity (go)  s = {POOL} }}>"),
        ("bool go", f"Loop (, go) <body = b (int64 i, bool on) => (off, s) {{ off = Not (on)  s = {POOL} }}>"),
        (
            "float[steps] w",
            f"Scan <num_scan_inputs = 1, body = b (float v) => (s) {{ s = {POOL} }}> (w)",
        ),
        (
            "seq(float[k]) w",
            f"SequenceMap (w, x) <body = b (float[k] v, float[a, b, c] x) => (s) {{ s = {POOL} }}>",
        ),
    ],
)
def test_a_body_that_may_not_run_says_nothing_of_sizes_outside(inputs, node):
    inference = infer(f"g (float[n, c, h] x, {inputs}) => (float[l] z) {{ y = {node}  {LATER} }}")
    assert str(inference.frame().tensors["z"]) == "tensor(float)[max(h, 5)]"
    assert any(one.kind == "window-fits" for one in inference.assumptions)


def test_a_body_that_runs_says_what_it_needs():
    text = f"""g (float[n, c, h] x, bool b) => (float[l] z) <int64 most = {{2}}, bool go = {{1}}> {{
            y = Loop (most, go) <body = b (int64 i, bool on) => (on2, s) {{ on2 = Identity (b)  s = {POOL} }}>
            {LATER}
        }}"""
    assert shown(text, "z") == "tensor(float)[h]"


def test_a_window_outside_says_again_what_one_in_a_branch_said():
    text = f"""g (float[n, c, h] x, bool go) => (float[l] z) {{
            y = If (go) <{IF.format(pool=POOL)}>
            p = {POOL}
            {LATER}
        }}"""
    assert shown(text, "z") == "tensor(float)[h]"


def test_what_a_call_in_a_branch_came_to_is_not_the_outcome_of_one_outside():
    text = f"""<ir_version: 10, opset_import: ["" : 21, "my" : 1]>
        g (float[n, c, h] x, bool go) => (float[l] z) {{
            y = If (go) <
                then_branch = t () => (t) {{ p = {POOL}  t = my.later (x) }},
                else_branch = e () => (e) {{ e = Identity (x) }}
            >
            z = my.later (x)
        }}
        <domain: "my", opset_import: ["" : 21]> later (x) => (z) {{ {LATER} }}"""
    assert shown(text, "z") == "tensor(float)[max(h, 5)]"
    body = infer(text).frame((0, "then_branch"))
    assert str(body.types["t"]) == "tensor(float)[h]"


def test_definitions_in_a_branch_stay_known():
    text = """g (float[n] x, bool go) => (float[k] z) {
            y = If (go) <
                then_branch = t () => (t) { i = NonZero (x)  t = Shape <start = 1> (i) },
                else_branch = e () => (e) { f = NonZero (x)  e = Shape <start = 1> (f) }
            >
            s = Shape (x)
            size = Max (y, s)
            z = ConstantOfShape (size)
        }"""
    assert shown(text, "z") == "tensor(float)[n]"


def test_a_loop_that_never_runs_says_nothing_of_sizes():
    text = f"""g (float[n, c, h] x) => (float[k, n, c, j] y, float[l] z) <int64 most = {{0}}> {{
            y = Loop (most, ) <body = b (int64 i, bool go) => (on, s) {{ on = Identity (go)  s = {POOL} }}>
            {LATER}
        }}"""
    assert shown(text, "z") == "tensor(float)[max(h, 5)]"


def test_a_pass_over_a_body_that_is_not_the_last_says_nothing_of_sizes():
    inference = infer(
        f"""g (float[n, c, h] x, int64 most) => (float[n, c, j] y, float[l] z) {{
            y = Loop (most, , x) <body = b (int64 i, bool go, float[p, q, r] s) => (on, t) {{
                on = Identity (go)
                p = AveragePool <kernel_shape = [7]> (s)
                t = Concat <axis = 2> (p, s)
            }}>
            {LATER}
        }}"""
    )
    assert str(inference.frame().tensors["z"]) == "tensor(float)[max(h, 5)]"
    assert not any("h" in str(one) for one in inference.assumptions if one.kind == "window-fits")


def test_names_that_are_merged_in_a_branch_that_never_runs_stay_two():
    text = """g (float[n] x, float[m] w) => (float[k] y, float[l] z) <bool go = {1}> {
            y = If (go) <then_branch = t () => (t) { t = Identity (x) }, else_branch = e () => (e) { e = Add (x, w) }>
            z = Relu (w)
        }"""
    assert shown(text, "z", assume="unify") == "tensor(float)[m]"


def test_a_chain_of_merged_names_is_followed_once():
    count = 300
    inputs = ", ".join(f"float[s{at}] x{at}" for at in range(count))
    adds = "  ".join(f"y{at} = Add (x{at}, x{at + 1})" for at in reversed(range(count - 1)))
    inference = infer(f"g ({inputs}) => (float[k] y0) {{ {adds} }}", assume="unify")
    assert str(inference.frame().tensors["y298"]) == "tensor(float)[s0]"
    scope, steps = inference.engine.scope, 0
    last = scope.symbol(f"s{count - 1}")
    while last in scope.merged:
        last, steps = scope.merged[last], steps + 1
    assert steps < 5


def test_sizes_may_be_numpy_integers_but_not_larger_than_a_dim():
    text = "g (float[n] x) => (float[n] y) { y = Relu (x) }"
    assert shown(text, "y", bind={"n": np.int64(3)}) == "tensor(float)[3]"
    for size in (2**63, -1, True, 2.0):
        with pytest.raises(ValueError, match="is no size"):
            infer(text, bind={"n": size})


def test_a_declared_dim_that_no_run_has_is_unknown():
    text = 'g (float[n] x, float[m] w, float["{}"] v) => (float[k] y) {{ y = Relu (v) }}'
    for dim in ("5//n", "broadcast(n, m)"):
        found = shown(text.format(dim), "y", bind={"n": 0, "m": 4})
        assert found in ("tensor(float)[_d0]", "tensor(float)[k]")
