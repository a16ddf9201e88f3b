"""Loops in loops: what each has to let go is found once, and a deep nest costs no more than its depth squared."""

from __future__ import annotations

import re

import pytest

from tests.infer.models import codes, infer, types

HEAD = "g (int64 m, float[n, 3] x, float[p] v)"
GIVEN = """e = SequenceEmpty () t = Constant <value = bool[1] {1}> () zero = Constant <value = int64[1] {0}> ()
    o = Optional <type = optional(float[1])> () f = Optional (x)"""
STATES = {
    "a tensor that grows": {"s": ("x", "so = Concat <axis = 0> (s, s)")},
    "a list that grows": {"s": ("e", "so = SequenceInsert (s, x)")},
    "a flag that flips": {"s": ("t", "so = Not (s)")},
    "an optional that is filled": {"s": ("o", "so = Optional (x)")},
    "an optional of what grows": {
        "s": ("f", "had = OptionalGetElement (s) has = Concat <axis = 0> (had, had) so = Optional (has)")
    },
    "a rank that grows": {"s": ("x", "so = Unsqueeze (s, zero)")},
    "an element type that changes": {"s": ("x", "so = Cast <to = 7> (s)")},
    "states that change each other": {
        "s": ("x", "so = Concat <axis = 0> (s, s)"),
        **{one: ("x", f"{one}o = Identity ({other})") for one, other in zip("hjklq", "shjkl", strict=True)},
    },
    "all of these": {
        "s": ("x", "so = Concat <axis = 0> (s, s)"),
        "h": ("e", "ho = SequenceInsert (h, s)"),
        "j": ("t", "jo = Not (j)"),
        "k": ("o", "ko = Optional (s)"),
        "l": ("x", "lo = Unsqueeze (l, zero)"),
        "q": ("x", "qo = Relu (q)"),
    },
}


def loops(depth, states, declared=""):
    """Return a model of loops in each other; the innermost changes the states, which may be `declared`."""
    text = ""
    for at in range(depth, 0, -1):
        own = ", ".join(f"{declared} {name}{at}" for name in states)
        made = ", ".join(f"{name}{at}o" for name in states)
        if at == depth:
            rules = "\n".join(rule for _, rule in states.values())
            inner = re.sub(rf"\b({'|'.join(states)})(o?)\b", rf"\g<1>{at}\2", rules)
        else:
            inner = f'{made} = Loop (m, "", {", ".join(f"{name}{at}" for name in states)}) <body = {text}>'
        text = f"""b{at} (int64 i{at}, bool c{at}, {own}) => (c{at}o, {made}) {{ c{at}o = Identity (c{at}) {inner} }}"""
    initial = ", ".join(first for first, _ in states.values())
    found = ", ".join(states)
    return f'{HEAD} => ({found}) {{ {GIVEN} {found} = Loop (m, "", {initial}) <body = {text}> }}'


def beginning_anew(depth):
    """Return loops in each other whose lists and flags begin the same in every pass of the loop around them."""
    text = ""
    for at in range(depth, 0, -1):
        if at == depth:
            inner = f"l{at}o = SequenceInsert (l{at}, s{at}) s{at}o = Concat <axis = 0> (s{at}, s{at})"
        else:
            inner = f"""e{at} = SequenceEmpty () s{at}o, q{at}, f{at} = Loop (m, "", s{at}, e{at}, t) <body = {text}>
                u{at} = ConcatFromSequence <axis = 0> (q{at}) l{at}o = SequenceInsert (l{at}, u{at})"""
        text = f"""b{at} (int64 i{at}, bool c{at}, s{at}, l{at}, t{at}) => (c{at}o, s{at}o, l{at}o, t{at}o) {{
            c{at}o = Identity (c{at}) t{at}o = Not (t{at}) {inner}
        }}"""
    return f'{HEAD} => (s, q, r) {{ {GIVEN} s, q, r = Loop (m, "", x, e, t) <body = {text}> }}'


def scans(depth, rule):
    """Return Scans in each other; the innermost changes the state `s`."""
    text = ""
    for at in range(depth, 0, -1):
        inner = rule if at == depth else f"Scan <num_scan_inputs = 1, body = {text}> (s, v)"
        text = f"b{at} (s{at}, w{at}) => (s{at}o) {{ s{at}o = {re.sub(r'[(]s,', f'(s{at},', inner)} }}"
    return f"{HEAD} => (s) {{ s = Scan <num_scan_inputs = 1, body = {text}> (x, v) }}"


def functions(depth):
    """Return a model of functions with a loop each, that calls the next function."""
    head = '<domain: "my", opset_import: ["" : 21, "my" : 1]>'
    lines = [f"{HEAD} => (s) {{ s = my.F0 (m, x) }}"]
    for at in range(depth):
        body = f"b (int64 i, bool c, a) => (d, b) {{ d = Identity (c) b = my.F{at + 1} (m, a) }}"
        lines.append(f'{head} F{at} (m, s) => (t) {{ t = Loop (m, "", s) <body = {body}> }}')
    lines.append(f"{head} F{depth} (m, s) => (t) {{ t = Concat <axis = 0> (s, s) }}")
    return "\n".join(lines)


def nameless(text):
    """Return a text without the numbers of anonymous symbols, and without how often a list grows."""
    return re.sub(r"\*.*", "*_", re.sub(r"\b(_[a-z]+)\d+", r"\1", text))


@pytest.mark.parametrize("what", STATES)
def test_forty_loops_in_each_other_know_what_two_do_and_take_few_passes(what):
    states = STATES[what]
    few, many = infer(loops(2, states)), infer(loops(40, states))
    assert codes(many) == []
    assert many.engine.frames < 2 * 40 * 40
    for name in states:
        assert nameless(types(many)[name]) == nameless(types(few)[name])


def test_an_axis_that_forty_loops_keep_stays_known():
    known = types(infer(loops(40, STATES["all of these"])))
    assert nameless(known["s"]) == "tensor(float)[_carried, 3]"
    assert nameless(known["h"]) == "seq(tensor(float)[_each, 3])*_"
    assert known["q"] == "tensor(float)[n, 3]"


def test_what_forty_bodies_declare_of_a_state_is_not_taken_where_it_changes():
    states = {"s": ("x", "has = Cast <to = 7> (s) so = Concat <axis = 0> (has, has)")}
    known = infer(loops(40, states, "float[2, 3]").replace("float[n, 3]", "float[2, 3]"))
    assert codes(known) == []
    assert known.constraints == ()
    assert known.engine.frames < 2 * 40 * 40
    innermost = types(known, (5, "body"), *[(1, "body")] * 39)
    assert nameless(innermost["s40"]) == "tensor()[_carried, 3]"


def test_lists_and_flags_that_begin_anew_in_every_pass_take_few_passes():
    few, many = infer(beginning_anew(3)), infer(beginning_anew(40))
    assert many.engine.frames < 20 * 40 * 40
    assert nameless(types(many)["q"]) == nameless(types(few)["q"]) == "seq(tensor(float)[_each, 3])*_"


def test_flags_that_begin_anew_in_every_pass_take_few_passes():
    text = ""
    for at in range(40, 0, -1):
        inner = f'r{at} = Loop (m, "", t) <body = {text}>' if text else ""
        text = f"""b{at} (int64 i{at}, bool c{at}, t{at}) => (c{at}o, t{at}o) {{
            c{at}o = Identity (c{at}) t{at}o = Not (t{at}) {inner}
        }}"""
    known = infer(f'{HEAD} => (r) {{ {GIVEN} r = Loop (m, "", t) <body = {text}> }}')
    assert known.engine.frames < 2 * 40 * 40


def test_scans_in_each_other_take_few_passes():
    grown = infer(scans(40, "Concat <axis = 0> (s, x)"))
    assert grown.engine.frames < 2 * 40 * 40
    assert nameless(types(grown)["s"]) == "tensor(float)[_carried, 3]"
    assert types(infer(scans(20, "Concat <axis = 0> (s, x)")))["s"] == "tensor(float)[n + n*p**20, 3]"


def test_loops_in_functions_take_few_passes():
    grown = infer(functions(40))
    assert grown.engine.frames < 20 * 40 * 40
    assert nameless(types(grown)["s"]) == "tensor(float)[_carried, 3]"


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_scan_that_changes_a_shape_is_told_of_however_deep_it_is(depth):
    text = scans(depth, "Concat <axis = 0> (s, h)").replace(HEAD, "g (float[n, 3] x, float[p] v, float[5, 3] h)")
    [issue] = infer(text).issues
    before = "n" if depth == 1 else "_carried"
    assert nameless(issue.message) == (
        f"state 0 is {before} on axis 0, and {before} + 5 after an iteration, so that a second one does not run"
    )


def test_what_one_call_lets_go_stays_known_in_another():
    inference = infer(
        """g (int64 m, float[n, 3] x) => (y, z) {
            y, z = Loop (m, "", x, x) <body = b (int64 i, bool c, s, t) => (d, u, w) {
                d = Identity (c)
                u = my.grown <axis = 0> (m, s)
                w = my.grown <axis = 1> (m, t)
            }>
        }
        <domain: "my", opset_import: ["" : 21]> grown <axis> (m, s) => (t) {
            t = Loop (m, "", s) <body = b (int64 j, bool e, a) => (f, b) {
                f = Identity (e)
                b = Concat <axis: int = @axis> (a, a)
            }>
        }"""
    )
    known = [types(inference, (0, "body"), (at, None), (0, "body"))["a"] for at in (1, 2)]
    assert [nameless(one) for one in known] == ["tensor(float)[_carried, 3]", "tensor(float)[n, _carried]"]


def test_a_nest_of_nodes_that_do_not_fit_their_operator_is_walked_once_and_each_reported_once():
    inference = infer(loops(20, {"s": ("x", "so = Relu (s)")}).replace("int64 m", "float m"))
    assert codes(inference) == ["bad-element-type"] * 20
    assert inference.engine.frames == 20


def test_a_state_that_no_iteration_changes_stays_known_where_a_long_chain_of_states_lets_all_dims_go():
    states = {**STATES["states that change each other"], "r": ("x", "ro = Relu (r)")}
    inference = infer(loops(1, states).replace("Identity (c1)", "Not (c1)"))  # nobody knows how often it runs
    assert nameless(types(inference, (5, "body"))["r1"]) == "tensor(float)[_carried, _carried]"
    assert types(inference)["r"] == "tensor(float)[n, 3]"
