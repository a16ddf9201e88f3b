"""Rules for If, Loop and Scan."""

from __future__ import annotations

import re

import pytest

import sardonyx as sx
from tests.infer.models import codes, infer, shown, types


def loop(body, *, m="m", go="go", states="x", outs="y", head="int64 m, float[a, 4] x", body_in="s", body_out="t"):
    """Return a model with one Loop."""
    formals = f", {body_in}" if body_in else ""
    actuals = f", {states}" if states else ""
    return f"""g ({head}) => ({outs}) <bool go = {{1}}, bool stop = {{0}}, int64 three = {{3}}, int64 none = {{0}},
        int64 less = {{-2}}, int64 endless = {{9223372036854775807}}> {{
        {outs} = Loop ({m}, {go}{actuals}) <body = b (int64 i, bool c{formals}) => (d, {body_out}) {{
            {body}
        }}>
    }}"""


# ---------------------------------------------------------------- If


def test_equal_parts_of_branches_stay_and_a_differing_dim_lies_between_them():
    inference = infer(
        """g (bool c, float[a, 3] x, float[b, 3] y) => (z, w) {
            z, w = If (c) <then_branch = t () => (p, p2) { p = Relu (x)  p2 = Neg (x) },
                else_branch = e () => (q, q2) { q = Relu (y)  q2 = Neg (y) }>
        }"""
    )
    known = types(inference)
    assert known["z"] == known["w"] == "tensor(float)[_if0, 3]"
    assert [str(one) for one in inference.constraints] == [
        "max(a, b) >= _if0 (node 0 (If))",
        "_if0 >= min(a, b) (node 0 (If))",
    ]


def test_branches_of_two_element_types_are_refused():
    inference = infer(
        """g (bool c, float[a] x) => (y) {
            y = If (c) <then_branch = t () => (p) { p = Relu (x) },
                else_branch = e () => (q) { q = Cast <to = 7> (x) }>
        }"""
    )
    assert [issue.message for issue in inference.issues] == [
        "output 0 is float in then_branch but int64 in else_branch"
    ]


def test_a_branch_that_never_runs_gets_types_but_counts_for_nothing():
    inference = infer(
        """g (float[a, 3] x, float[5, 4] w) => (y) {
            r = Shape (x)
            n = Size (r)
            two = Constant <value_int = 2> ()
            c = Equal (n, two)
            y = If (c) <then_branch = t () => (p) { p = Relu (x) }, else_branch = e () => (q) { q = MatMul (x, w) }>
        }""",
        mode="strict",
    )
    assert types(inference)["y"] == "tensor(float)[a, 3]"
    assert inference.frame((4, "else_branch")).graph.nodes[0].op_type == "MatMul"
    assert not inference.issues


def test_elements_pass_through_branches_that_agree():
    inference = infer(
        """g (bool c, float[a, b] x) => (y) {
            s = If (c) <then_branch = t () => (p) { p = Shape (x) },
                else_branch = e () => (q) { q = Shape (x) }>
            y = ConstantOfShape (s)
        }"""
    )
    assert types(inference)["y"] == "tensor(float)[a, b]"


def test_a_branch_that_returns_too_little_is_refused():
    text = """g (bool c, float[a] x) => (y, z) {
        y, z = If (c) <then_branch = t () => (p) { p = Relu (x) }, else_branch = e () => (q) { q = Neg (x) }>
    }"""
    assert codes(infer(text)) == ["body-interface"]


# ---------------------------------------------------------------- Loop


def test_a_loop_that_keeps_its_state_is_walked_once():
    inference = infer(loop("d = Identity (c)  t = Relu (s)"))
    assert types(inference)["y"] == "tensor(float)[a, 4]"
    assert types(inference, (0, "body"))["s"] == "tensor(float)[a, 4]"
    assert inference.engine.frames == 1


@pytest.mark.parametrize(
    ("m", "go", "rows"),
    [
        ("three", "go", "3"),
        ("three", '""', "3"),
        ("none", "go", "0"),
        ("less", "go", "0"),
        ("three", "stop", "0"),
        ("m", "go", r"max\(_\w+, 0\)"),
        ('""', "go", r"_trips\d+"),
        ("endless", "go", r"_trips\d+"),
    ],
)
def test_the_trip_count_is_m_or_zero(m, go, rows):
    known = shown(
        loop("d = Identity (c)  t = Identity (s)  r = Relu (s)", m=m, go=go, outs="y, z", body_out="t, r"), "z"
    )
    assert re.fullmatch(rf"tensor\(float\)\[{rows}, a, 4\]", known)


def test_a_state_that_always_comes_out_alike_is_so_after_the_first_iteration():
    body = "d = Identity (c)  k = Shape (s)  t = ConstantOfShape (two)"
    text = loop(body, m="three").replace(
        "int64 three", "int64[2] two = {{2, 4}}, int64 three".replace("{{", "{").replace("}}", "}")
    )
    assert shown(text, "y") == "tensor(float)[2, 4]"
    assert re.fullmatch(r"tensor\(float\)\[_carried\d+, 4\]", shown(text.replace("(three,", "(m,"), "y"))


def test_a_state_that_grows_by_the_same_each_time_has_an_exact_end():
    body = "d = Identity (c)  t = Concat <axis = 0> (s, s0)"
    head = "int64 m, float[a, 4] x, float[2, 4] s0"
    assert shown(loop(body, m="three", head=head), "y") == "tensor(float)[a + 6, 4]"
    known = shown(loop("d = Identity (c)  t = Concat <axis = 0> (s, s)", m="three"), "y")  # it doubles
    assert re.fullmatch(r"tensor\(float\)\[2\*_carried\d+, 4\]", known)


def test_a_state_that_grows_by_the_number_of_the_iteration_has_no_end_that_can_be_written():
    body = "d = Identity (c)  n = Unsqueeze (i, at)  o = ConstantOfShape (n)  t = Concat <axis = 0> (s, o)"
    text = loop(body, head="int64 m, float[a] x").replace("int64 none", "int64[1] at = {0}, int64 none")
    assert re.fullmatch(r"tensor\(float\)\[_carried\d+\]", shown(text, "y"))


def test_the_number_of_the_iteration_does_not_leave_the_loop():
    body = "d = Identity (c)  n = Unsqueeze (i, at)  t = ConstantOfShape (n)"
    inference = infer(loop(body, m="three", head="float[a] x").replace("int64 none", "int64[1] at = {0}, int64 none"))
    assert types(inference)["y"] != types(inference, (0, "body"))["t"]


def test_a_state_that_changes_its_rank_has_an_unknown_one():
    text = loop("d = Identity (c)  t = Unsqueeze (s, zero)").replace("int64 three", "int64[1] zero = {0}, int64 three")
    inference = infer(text)
    assert types(inference)["y"] == "tensor(float)"
    assert types(inference, (0, "body"))["s"] == "tensor(float)"


def test_states_that_change_each_other_settle():
    inference = infer(
        """g (int64 m, float[a] x, float[b] y, float[e] z) => (u, v, w) <bool go = {1}> {
            u, v, w = Loop (m, go, x, y, z) <body = b (int64 i, bool c, p, q, r) => (d, p2, q2, r2) {
                d = Identity (c)
                p2 = Identity (q)
                q2 = Identity (r)
                r2 = Identity (p)
            }>
        }"""
    )
    assert len({types(inference)[name] for name in "uvw"}) == 3
    assert all("_carried" in types(inference)[name] for name in "uvw")


def test_a_long_chain_of_states_ends():
    count = 60
    formals = ", ".join(f"s{at}" for at in range(count))
    outs = ", ".join(f"t{at}" for at in range(count))
    moves = "\n".join(f"t{at} = Identity (s{at - 1})" for at in range(1, count))
    actuals = ", ".join("x" for _ in range(count))
    results = ", ".join(f"y{at}" for at in range(count))
    inference = infer(
        f"""g (int64 m, float[a] x) => ({results}) <bool go = {{1}}> {{
            {results} = Loop (m, go, {actuals}) <body = b (int64 i, bool c, {formals}) => (d, {outs}) {{
                d = Identity (c)
                t0 = Concat <axis = 0> (s0, s0)
                {moves}
            }}>
        }}"""
    )
    assert inference.engine.frames < 12
    assert "_carried" in types(inference)[f"y{count - 1}"]


def test_the_number_of_the_iteration_is_a_value():
    body = """d = Identity (c)
        j = Reshape (i, flat)
        k = Add (j, flat2)
        t = Identity (s)
        r = Slice (s, j, k)
    """
    text = loop(body, m="three", outs="y, z", body_out="t, r", head="float[8, 4] x").replace(
        "int64 three", "int64[1] flat = {-1}, int64[1] flat2 = {1}, int64 three"
    )
    assert shown(text, "z") == "tensor(float)[3, 1, 4]"


@pytest.mark.parametrize(
    ("step", "m", "start", "sizes"),
    [
        ("t = Identity (i)", "three", "one", "2"),  # what it is in the last of the three
        ("t = Add (i, one)", "three", "one", "3"),
        ("t = Add (s, two)", "three", "one", "7"),
        ("t = Add (s, step)", "three", "one", "3*{step} + 1"),
        ("t = Identity (s)", "m", "one", "1"),
        ("t = Add (i, one)", "rows", "none", "a"),  # right even without any iteration
        ("t = Add (s, two)", "rows", "one", "2*a + 1"),
        ("t = Identity (i)", "rows", "one", None),  # a - 1, or 1 when there is none
        ("t = Mul (s, two)", "three", "one", None),
        ("t = Add (s, i)", "three", "one", None),
    ],
)
def test_a_number_that_an_iteration_makes_is_known_after_the_loop(step, m, start, sizes):
    inference = infer(
        f"""g (int64 m, int64 step, float[a, 4] x) => (y)
            <bool go = {{1}}, int64 three = {{3}}, int64 one = {{1}}, int64 two = {{2}}, int64 none = {{0}}> {{
            dims = Shape <start = 0, end = 1> (x)
            rows = Squeeze (dims)
            n = Loop ({m}, go, {start}) <body = b (int64 i, bool c, s) => (d, t) {{ d = Identity (c)  {step} }}>
            k = Reshape (n, flat)
            y = ConstantOfShape (k)
            z = Range (none, step, one)
        }}""".replace("int64 two", "int64[1] flat = {1}, int64 two")
    )
    known = types(inference)
    if sizes is None:
        assert re.fullmatch(r"tensor\(float\)\[_\w+\]", known["y"])
    else:
        step_symbol = re.search(r"_\w+", known["z"])[0] if "{step}" in sizes else ""
        assert known["y"] == f"tensor(float)[{sizes.format(step=step_symbol)}]"


def test_a_number_of_a_loop_that_may_end_early_is_not_known():
    text = """g (float[a] x, bool go) => (y) <int64 three = {3}, int64 one = {1}, int64[1] flat = {1}> {
        n = Loop (three, go, one) <body = b (int64 i, bool c, s) => (d, t) {
            d = Less (i, one)
            t = Add (s, one)
        }>
        k = Reshape (n, flat)
        y = ConstantOfShape (k)
    }"""
    assert re.fullmatch(r"tensor\(float\)\[_\w+\]", shown(text, "y"))


def test_a_number_that_would_wrap_around_is_not_known():
    text = """g (float[a] x) => (k) <bool go = {1}, int64 most = {200}, uint8 one = {1}, uint8 start = {100}> {
        n = Loop (most, go, start) <body = b (int64 i, bool c, s) => (d, t) { d = Identity (c)  t = Add (s, one) }>
        k = Cast <to = 7> (n)
    }"""
    inference = infer(text)
    (content,) = inference.frame().content(inference.model.graph.outputs[0]) or (None,)
    assert not isinstance(content, int)


@pytest.mark.parametrize(
    ("step", "kept"), [("t = Identity (s)", True), ("t = Not (s)", False), ("t = Identity (w)", False)]
)
def test_a_bool_that_every_iteration_leaves_as_it_is_stays_known(step, kept):
    text = f"""g (int64 m, float[a, 4] x, bool w) => (y) <bool go = {{1}}> {{
        f = Loop (m, go, go) <body = b (int64 i, bool c, s) => (d, t) {{ d = Identity (c)  {step} }}>
        y = If (f) <then_branch = t () => (p) {{ p = Relu (x) }},
            else_branch = e () => (q) {{ q = ReduceSum <keepdims = 0> (x) }}>
    }}"""
    assert shown(text, "y") == ("tensor(float)[a, 4]" if kept else "tensor(float)")


def test_loops_nest_and_see_values_of_every_level():
    inference = infer(
        """g (int64 m, float[a, 4] x, float[b] y) => (z) <bool go = {1}, int64 two = {2}, int64 three = {3}> {
            z = Loop (three, go) <body = b (int64 i, bool c) => (d, rows) {
                d = Identity (c)
                w = Relu (y)
                rows = Loop (two, go) <body = b2 (int64 j, bool e) => (f, row) {
                    f = Identity (e)
                    v = Neg (w)
                    row = Concat <axis = 0> (v, y)
                }>
            }>
        }"""
    )
    assert types(inference)["z"] == "tensor(float)[3, 2, 2*b]"
    assert types(inference, (0, "body"), (2, "body"))["v"] == "tensor(float)[b]"
    assert list(inference.frames) == [(), ((0, "body"),), ((0, "body"), (2, "body"))]


def test_what_the_data_decides_in_an_iteration_is_no_symbol_outside():
    inference = infer(
        loop("d = Identity (c)  t = Identity (s)  r = NonZero (s)", m="three", outs="y, z", body_out="t, r")
    )
    inner = types(inference, (0, "body"))["r"]
    outer = types(inference)["z"]
    assert inner.split(", ")[-1] != outer.split(", ")[-1]


def test_an_element_that_a_body_is_the_first_to_ask_for_is_no_iterations_own():
    inference = infer(
        """g (int64 n, float[a, 4] x) => (y, z) {
            y = Scan (x) <num_scan_inputs = 1, body = b (row) => (u) <int64[1] at = {0}> {
                k = Unsqueeze (n, at)
                u = ConstantOfShape (k)
            }>
            z = Range (zero, n, one)
        }""".replace("z) {", "z) <int64 zero = {0}, int64 one = {1}> {")
    )
    known = types(inference)
    assert re.fullmatch(r"tensor\(float\)\[a, (_d\d+)\]", known["y"])
    assert known["y"].split("[a, ")[1].rstrip("]") in known["z"]


def test_issues_of_a_pass_that_does_not_count_are_forgotten():
    body = """d = Identity (c)
        bad = Concat <axis = 1> (s, one)
        t = Concat <axis = 0> (s, s)
    """
    text = loop(body, head="int64 m, float[1, 4] x, float[1, 4] one")
    inference = infer(text, mode="strict")
    assert [one.kind for one in inference.assumptions] == ["joined-dims"]


def test_the_body_must_take_and_return_what_fits():
    assert codes(infer(loop("d = Identity (c)  t = Relu (x)", body_in=""))) == ["body-interface"]
    assert codes(infer(loop("d = Identity (c)  t = Relu (s)", outs="y, z"))) == ["body-interface"]


@pytest.mark.parametrize(
    "body",
    [
        "d = Identity (c)  t = Concat <axis = 0> (s, x)  r = SequenceInsert (q, s)",  # a state that grows
        "d = Identity (c)  t = Relu (s)  n = Unsqueeze (i, at)  o = ConstantOfShape (n)  r = SequenceInsert (q, o)",
    ],
)
def test_a_list_that_was_empty_has_elements_of_many_iterations(body):
    text = loop(body, head="int64 m, float[a] x", states="x, e", outs="y, z", body_in="s, q", body_out="t, r")
    text = text.replace("int64 none", "int64[1] at = {0}, int64 none").replace(
        "y, z = Loop", "e = SequenceEmpty () y, z = Loop"
    )
    inference = infer(text)
    assert re.fullmatch(r"seq\(tensor\(float\)\[_each\d+\]\)\*max\(_\w+, 0\)", types(inference)["z"])
    assert re.fullmatch(r"seq\(tensor\(float\)\[_each\d+\]\)\*_\w+", types(inference, (1, "body"))["q"])


def test_a_list_that_collects_one_element_an_iteration():
    text = """g (float[a] x) => (s, joined, n) <bool go = {1}, int64 three = {3}> {
        empty = SequenceEmpty ()
        s = Loop (three, go, empty) <body = b (int64 i, bool c, p) => (d, q) {
            d = Identity (c)
            q = SequenceInsert (p, x)
        }>
        joined = ConcatFromSequence <axis = 0, new_axis = 1> (s)
        n = SequenceLength (s)
    }"""
    inference = infer(text)
    assert types(inference)["s"] == "seq(tensor(float)[a])*3"
    assert types(inference)["joined"] == "tensor(float)[3, a]"
    assert inference.frame().contents["n"] == (3,)


# ---------------------------------------------------------------- Scan


def scan(body, outs="y", *, attrs="", inputs="x", head="float[t, 3] x", formals="e", returned="f", opset=21):
    """Return a model with one Scan."""
    return f"""<ir_version: 10, opset_import: ["" : {opset}]> g ({head}) => ({outs}) {{
        {outs} = Scan <{attrs}body = b ({formals}) => ({returned}) {{ {body} }}> ({inputs})
    }}"""


def test_slices_are_taken_and_stacked_along_the_axes_that_are_given():
    head = "float[2, t, 3] x"
    attrs = "num_scan_inputs = 1, scan_input_axes = [{}], scan_output_axes = [{}], scan_input_directions = [1], "
    for before, after, expected in ((1, 0, "t, 2, 3"), (-2, 1, "2, t, 3"), (1, -1, "2, 3, t"), (0, 0, "2, t, 3")):
        assert (
            shown(scan("f = Relu (e)", attrs=attrs.format(before, after), head=head), "y")
            == f"tensor(float)[{expected}]"
        )


def test_states_come_out_as_they_go_in_or_join():
    head = "float[h] s, float[t, h] x"
    body = "s2 = Add (s1, e)  f = Relu (s2)"
    text = scan(
        body, "last, y", attrs="num_scan_inputs = 1, ", inputs="s, x", head=head, formals="s1, e", returned="s2, f"
    )
    assert shown(text, "last", "y") == ["tensor(float)[h]", "tensor(float)[t, h]"]
    grown = text.replace("s2 = Add (s1, e)", "s2 = Concat <axis = 0> (s1, e)")
    inference = infer(grown)
    assert types(inference)["last"] == "tensor(float)[h + h*t]"
    assert "_carried" in types(inference, (0, "body"))["s1"]


@pytest.mark.parametrize(
    ("length", "body", "severity", "message"),
    [
        (3, "s2 = Concat <axis = 0> (s1, s1)", "error", "state 0 is 2 on axis 0, and 4 after an iteration"),
        (3, "s2 = Unsqueeze (s1, at)", "error", "state 0 has 1 dims, and 2 after an iteration"),
        (
            "t",
            "s2 = Concat <axis = 0> (s1, s1)",
            "warning",
            "state 0 is 2 on axis 0, and 4 after an iteration, so that a second one does not run",
        ),
        (1, "s2 = Concat <axis = 0> (s1, s1)", None, None),
        (0, "s2 = Concat <axis = 0> (s1, s1)", None, None),
        (3, "s2 = Concat <axis = 0> (s1, e)", None, None),  # e may be empty
        (3, "s2 = Relu (s1)", None, None),
    ],
)
def test_a_state_that_changes_its_shape_is_refused(length, body, severity, message):
    inference = infer(
        scan(
            f"{body} f = Neg (e)",
            "last, y",
            attrs="num_scan_inputs = 1, ",
            inputs="s, x",
            head=f"float[2] s, float[{length}, h] x",
            formals="s1, e",
            returned="s2, f",
        ).replace("body = b (s1, e) => (s2, f)", "body = b (s1, e) => (s2, f) <int64[1] at = {0}>")
    )
    assert [(one.severity, one.message) for one in inference.issues] == ([(severity, message)] if severity else [])
    if severity is None and length:
        assert "y" in types(inference)


def test_no_runtime_lets_a_state_change_its_shape_twice():
    runtime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    import numpy as np

    text = """<ir_version: 9, opset_import: ["" : 18]>
    g (float[a] s, float[L] x) => (last, y) {
        last, y = Scan <num_scan_inputs = 1, body = b (s1, e) => (s2, f) {
            s2 = Concat <axis = 0> (s1, s1)
            f = Neg (e)
        }> (s, x)
    }"""
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(onnx.parser.parse_model(text).SerializeToString(), options)
    with pytest.raises(Exception, match="while running Scan node"):
        session.run(None, {"s": np.ones(2, np.float32), "x": np.ones(3, np.float32)})


def test_the_form_of_opset_8_has_a_batch_axis():
    text = scan(
        "s2 = Add (s1, e)  f = Concat <axis = 0> (e, e)",
        "last, y",
        attrs="num_scan_inputs = 1, ",
        inputs='"", s, x',
        head="float[n, h] s, float[n, t, h] x",
        formals="s1, e",
        returned="s2, f",
        opset=8,
    )
    assert shown(text, "last", "y") == ["tensor(float)[n, h]", "tensor(float)[n, t, 2*h]"]


@pytest.mark.parametrize(
    ("attrs", "code"),
    [
        ("num_scan_inputs = 1, scan_input_axes = [2], ", "axis-out-of-range"),
        ("num_scan_inputs = 1, scan_output_axes = [2], ", "axis-out-of-range"),
        ("num_scan_inputs = 1, scan_input_axes = [0, 1], ", "bad-attribute"),
        ("num_scan_inputs = 1, scan_input_directions = [2], ", "bad-attribute"),
        ("num_scan_inputs = 2, ", "bad-attribute"),
        ("num_scan_inputs = 0, ", "bad-attribute"),
        ("", "missing-attribute"),
    ],
)
def test_attributes_of_a_scan_must_fit(attrs, code):
    assert codes(infer(scan("f = Relu (e)", attrs=attrs))) == [code]


def test_bodies_beyond_the_limit_stay_unknown():
    text = """g (bool c, float[a] x) => (y) {
        y = If (c) <then_branch = t () => (p) { p = Relu (x) }, else_branch = e () => (q) { q = Neg (x) }>
    }"""
    inference = infer(text, limits=sx.Limits(max_frames=1))
    assert codes(inference) == ["limit-exceeded"]
    assert "y" not in types(inference)
