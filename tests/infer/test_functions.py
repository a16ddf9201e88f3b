"""Model-local functions, inferred where they are called."""

from __future__ import annotations

import pytest

import sardonyx as sx
from sardonyx.errors import OnnxError
from tests.infer.models import codes, infer, model, types

HEAD = '<ir_version: 10, opset_import: ["" : 21, "my" : 1]>\n'


def same_after_inlining(text):
    """Assert that the outputs have the types that they have after inlining; return them."""
    loaded = model(text)
    mine = sx.infer_shapes(loaded)
    flat = sx.infer_shapes(sx.inline_functions(loaded))
    assert not codes(mine)
    ours = [str(mine.model.graph.type(value)) for value in mine.model.graph.outputs]
    theirs = [str(flat.model.graph.type(value)) for value in flat.model.graph.outputs]
    assert ours == theirs
    return ours


def test_elements_pass_into_a_function_and_out_of_it():
    found = same_after_inlining(
        HEAD
        + """g (float[b, s, 8] x) => (float[] y, float[] z) <int64[2] heads = {2, 4}> {
            k = Shape (x)
            t = my.target (k, heads)
            y = Reshape (x, t)
            z = my.fold (x, heads)
        }
        <domain: "my", opset_import: ["" : 21]> target (shape, heads) => (to) {
            zero = Constant <value_ints = [0]> ()
            two = Constant <value_ints = [2]> ()
            front = Slice (shape, zero, two)
            to = Concat <axis = 0> (front, heads)
        }
        <domain: "my", opset_import: ["" : 21, "my" : 1]> fold (x, heads) => (y) {
            shape = Shape (x)
            to = my.target (shape, heads)
            y = Reshape (x, to)
        }"""
    )
    assert found == ["tensor(float)[b, s, 2, 4]"] * 2


def test_inputs_and_outputs_that_are_left_out_stay_out():
    found = same_after_inlining(
        HEAD
        + """g (float[n] x) => (float[] y, float[] z) {
            y = my.limited (x)
            z, "" = my.two (x)
        }
        <domain: "my", opset_import: ["" : 21]> limited (x, low, high) => (y) { y = Clip (x, low, high) }
        <domain: "my", opset_import: ["" : 21]> two (x) => (a, b) { a = Neg (x)  b = Abs (x) }"""
    )
    assert found == ["tensor(float)[n]"] * 2


def test_attributes_are_passed_on_renamed_and_into_bodies():
    found = same_after_inlining(
        HEAD
        + """g (float[a, b, c] x, bool go) => (float[] y) { y = my.outer <by: ints = [0, 2, 1]> (x, go) }
        <domain: "my", opset_import: ["" : 21, "my" : 1]> outer <by> (x, go) => (y) {
            y = If (go) <then_branch = t () => (p) { p = my.inner <perm: ints = @by> (x) },
                else_branch = e () => (q) { q = Transpose <perm: ints = @by> (x) }>
        }
        <domain: "my", opset_import: ["" : 21]> inner <perm> (x) => (y) { y = Transpose <perm: ints = @perm> (x) }"""
    )
    assert found == ["tensor(float)[a, c, b]"]


def test_a_function_has_opset_imports_of_its_own():
    inference = infer(
        """<ir_version: 10, opset_import: ["" : 21, "my" : 1]>
        g (float[a, b] x) => (float[] y, float[] z) <int64[1] one = {1}> {
            y = my.old (x)
            z = Squeeze (y, one)
        }
        <domain: "my", opset_import: ["" : 11]> old (x) => (y) { y = Unsqueeze <axes = [1]> (x) }"""
    )
    assert types(inference)["y"] == "tensor(float)[a, 1, b]"
    assert types(inference)["z"] == "tensor(float)[a, b]"


def test_equal_calls_share_an_outcome_but_not_what_the_data_decides():
    inference = infer(
        HEAD
        + """g (float[n] x, float[n] y) => (int64[] a, int64[] b, int64[] c) {
            a = my.found (x)
            b = my.found (y)
            c = Concat <axis = 1> (a, b)
        }
        <domain: "my", opset_import: ["" : 21]> found (x) => (y) { y = NonZero (x) }"""
    )
    known = types(inference)
    assert known["a"] != known["b"]
    first, second = [inference.frame((at, None)) for at in (0, 1)]
    assert first.activation is second.activation
    assert [str(first.types["y"]), str(second.types["y"])] == [known["a"], known["b"]]


def test_an_outcome_is_shared_only_where_the_elements_that_it_depends_on_are_equal():
    inference = infer(
        HEAD
        + """g (float[n] x) => (float[] a, float[] b, float[] c) <int64[1] two = {2}, int64[1] three = {3}> {
            a = my.tiled (x, two)
            b = my.tiled (x, three)
            c = my.tiled (x, two)
        }
        <domain: "my", opset_import: ["" : 21]> tiled (x, by) => (y) { y = Tile (x, by) }"""
    )
    known = types(inference)
    assert [known[name] for name in "abc"] == ["tensor(float)[2*n]", "tensor(float)[3*n]", "tensor(float)[2*n]"]
    frames = [inference.frame((at, None)) for at in range(3)]
    assert frames[0].activation is frames[2].activation is not frames[1].activation


def test_an_unknown_element_is_the_same_one_in_every_call():
    found = same_after_inlining(
        HEAD
        + """g (float[1] x, int64[1] n) => (float[] c) {
            a = my.grown (x, n)
            b = my.grown (x, n)
            c = Add (a, b)
        }
        <domain: "my", opset_import: ["" : 21]> grown (x, n) => (y) { e = Expand (x, n)  y = Relu (e) }"""
    )
    assert "broadcast" not in found[0]


def doubling(levels, between="m = Relu (h)", leaf="y = Relu (x)", more=""):
    """Return functions that each call the previous one twice, with something between the two calls."""
    text = f'<domain: "my", opset_import: ["" : 21]> f0 (x) => (y) {{ {leaf} }}\n'
    for at in range(1, levels):
        text += f"""<domain: "my", opset_import: ["" : 21, "my" : 1]> f{at} (x) => (y) {{
            h = my.f{at - 1} (x)  {between}  y = my.f{at - 1} (m) }}\n"""
    return HEAD + f"g (float[n] x) => (float[] y) {{ {more} y = my.f{levels - 1} (x) }}\n{text}"


def test_thirty_functions_that_call_each_other_twice_take_thirty_activations():
    inference = infer(doubling(30))
    assert types(inference)["y"] == "tensor(float)[n]"
    assert inference.engine.frames == 30
    assert inference.frame((0, None), (2, None), (0, None), (2, None)).types["y"] is not None


def test_a_chain_of_many_functions_needs_no_deep_stack():
    text = '<domain: "my", opset_import: ["" : 21]> f0 (x) => (y) { y = Relu (x) }\n'
    for at in range(1, 1500):
        text += f'<domain: "my", opset_import: ["" : 21, "my" : 1]> f{at} (x) => (y) {{ y = my.f{at - 1} (x) }}\n'
    inference = infer(HEAD + f"g (float[n] x) => (float[] y) {{ y = my.f1499 (x) }}\n{text}")
    assert types(inference)["y"] == "tensor(float)[n]"


def test_calls_beyond_the_limit_stay_unknown():
    inference = infer(doubling(30), limits=sx.Limits(max_frames=10))
    assert codes(inference) == ["limit-exceeded"]
    assert inference.issues[0].hint == "raise Limits(max_frames=...) if you trust this model"
    assert types(inference)["y"] == "tensor(float)"  # as declared


GROWING = {
    "the second argument is the first result twice": {"between": "m = Concat <axis = 0> (h, h)"},
    "the second argument is both argument and result": {"between": "m = Concat <axis = 0> (x, h)"},
    "every result is longer": {"leaf": "o = Constant <value_floats = [1.]> () y = Concat <axis = 0> (x, o)"},
    "every result has a size of its own": {"leaf": "c = Cast <to = 9> (x) y = Compress <axis = 0> (x, c)"},
}  # fmt: skip


@pytest.mark.parametrize("kind", GROWING)
def test_thirty_functions_whose_calls_are_all_different_end_soon_with_one_warning(kind):
    inference = infer(doubling(30, **GROWING[kind], more="z = my.f3 (x)"))
    assert codes(inference) == ["limit-exceeded"]
    assert inference.issues[0].message == (
        "a call of my::f29 comes to 1073741823 calls, too few of which are alike to walk no more than 100000; what is "
        "left of it stays unknown"
    )
    assert inference.issues[0].hint == "raise Limits(max_frames=...) if you trust this model"
    assert inference.engine.frames < 3000
    assert types(inference)["y"] == "tensor(float)"  # as declared
    assert inference.frame((0, None)).types["y"].shape is not None


def test_what_comes_after_a_call_that_was_given_up_is_inferred():
    growing = doubling(30, **GROWING["the second argument is the first result twice"])
    inference = infer(growing.replace("y = my.f29 (x)", "a = my.f29 (x)  b = my.f29 (x)  y = my.f2 (x)"))
    assert codes(inference) == ["limit-exceeded"]
    assert inference.engine.frames < 3000  # the second call repeats what the first one came to
    assert types(inference)["y"] == "tensor(float)[8*n]"
    assert "a" not in types(inference)
    assert "b" not in types(inference)


@pytest.mark.parametrize("kind", GROWING)
def test_many_different_calls_within_the_limit_are_all_walked(kind):
    inference = infer(doubling(12, **{**GROWING[kind], "between": "m = Relu (h)"}))
    assert not codes(inference)
    assert inference.engine.frames <= 4095


def test_different_calls_before_many_equal_ones_are_no_reason_to_give_up():
    more = "x0 = Identity (x)\n" + "".join(
        f"x{at + 1} = Concat <axis = 0> (x{at}, x)  y{at} = my.f0 (x{at})\n" for at in range(1500)
    )
    inference = infer(doubling(40, more=more))
    assert not codes(inference)
    assert types(inference)["y"] == "tensor(float)[n]"


def test_a_long_way_down_to_equal_calls_is_no_reason_to_give_up():
    inference = infer(doubling(2500))
    assert not codes(inference)
    assert inference.engine.frames == 2500
    assert types(inference)["y"] == "tensor(float)[n]"


def test_as_many_calls_are_walked_as_the_limit_allows():
    text = doubling(13, between="m = Concat <axis = 0> (x, h)", leaf="y = Concat <axis = 0> (x, x)")
    inference = infer(text, limits=sx.Limits(max_frames=8191))
    assert not [issue for issue in inference.issues if issue.code == "limit-exceeded"]
    inference = infer(text, limits=sx.Limits(max_frames=None))
    assert not [issue for issue in inference.issues if issue.code == "limit-exceeded"]
    inference = infer(text, limits=sx.Limits(max_frames=1000))
    assert [issue.code for issue in inference.issues if issue.code == "limit-exceeded"] == ["limit-exceeded"]


def test_functions_that_call_each_other_in_bodies_end_too():
    text = (
        HEAD
        + """g (float[n] x, bool c) => (float[] y) { y = my.one (x, c) }
    <domain: "my", opset_import: ["" : 21, "my" : 1]> one (x, c) => (y) {
        y = If (c) <then_branch = t () => (p) { p = my.one (x, c) }, else_branch = e () => (q) { q = Neg (x) }>
    }"""
    )
    assert codes(infer(text)) == ["function-recursive"]
    with pytest.raises(OnnxError) as caught:
        infer(text, mode="strict")
    assert caught.value.place.graph == "call of node 0 (one) > node 0 (If).then_branch"


def test_too_many_actuals_are_refused():
    text = (
        HEAD
        + """g (float[n] x) => (float[] y) { y = my.one (x, x) }
    <domain: "my", opset_import: ["" : 21]> one (x) => (y) { y = Neg (x) }"""
    )
    inference = infer(text)
    assert codes(inference) == ["too-many-actuals"]
    assert inference.issues[0].message == "2 inputs are given, but my::one has 1"


def test_sequences_optionals_and_maps_pass_through_calls():
    inference = infer(
        HEAD
        + """g (float[a] x, float[b] y, map(string, float) m) => (float[] p, float[] q, map(string, float) n, bool h) {
            s = SequenceConstruct (x, y)
            t = my.last (s)
            p = Identity (t)
            o = Optional (s)
            q, h = my.opened (o)
            n = my.same (m)
        }
        <domain: "my", opset_import: ["" : 21]> last (s) => (e) {
            at = Constant <value_int = -1> ()
            e = SequenceAt (s, at)
        }
        <domain: "my", opset_import: ["" : 21]> opened (o) => (e, h) {
            h = OptionalHasElement (o)
            s = OptionalGetElement (o)
            at = Constant <value_int = 0> ()
            e = SequenceAt (s, at)
        }
        <domain: "my", opset_import: ["" : 21]> same (m) => (n) { n = Identity (m) }"""
    )
    known = types(inference)
    assert [known["p"], known["q"]] == ["tensor(float)[b]", "tensor(float)[a]"]
    assert inference.frame().contents["h"] == (True,)
    assert known["n"] == "map(string, tensor(float)[])"


def test_a_body_that_the_caller_passes_sees_the_callers_values():
    from sardonyx.ir.attrs import Attr, AttrKind, AttrRef
    from sardonyx.ir.graph import Function, Graph, Model, Node, Value

    x, c, p, q, y = (Value(name) for name in ("x", "c", "p", "q", "y"))
    then = Graph("t", (), (p,), (Node("Transpose", (x,), (p,)),))
    other = Graph("e", (), (q,), (Node("Transpose", (x,), (q,)),))
    given = {"one": Attr("one", AttrKind.GRAPH, then), "two": Attr("two", AttrKind.GRAPH, other)}
    call = Node("chosen", (c,), (y,), given, domain="my")
    d, z = Value("d"), Value("z")
    branch = Node("If", (d,), (z,), {
        "then_branch": AttrRef("then_branch", AttrKind.GRAPH, "one"),
        "else_branch": AttrRef("else_branch", AttrKind.GRAPH, "two"),
    })  # fmt: skip
    function = Function(
        "my", "chosen", "", ("d",), ("z",), ("one", "two"), {}, {"": 21}, Graph("", (d,), (z,), (branch,))
    )
    base = model("g (float[a, b] x, bool c) => (float[] y) { y = Neg (x) }")
    kinds = dict(zip((x, c), [base.graph.type(value) for value in base.graph.inputs], strict=True))
    graph = Graph("g", (x, c), (y,), (call,), types=kinds)
    inference = sx.infer_shapes(Model(graph, {"": 21, "my": 1}, {function.key: function}, scope=base.scope))
    assert str(inference.model.graph.type(y)) == "tensor(float)[b, a]"
    assert str(inference.frame((0, None), (0, "then_branch")).types["p"]) == "tensor(float)[b, a]"


def test_the_functions_of_a_model_are_looked_through_a_few_times_however_many_they_are():
    class Watched(dict):
        looks = 0

        def __iter__(self):
            Watched.looks += 1
            return super().__iter__()

    head = '<domain: "my", opset_import: ["" : 21, "my" : 1]>'
    calls = "".join(f"{head} F{at} (a) => (b) {{ b = my.F{at + 1} (a) }}\n" for at in range(50))
    loaded = model(f"g (float[n] x) => (y) {{ y = my.F0 (x) }}\n{calls}{head} F50 (a) => (b) {{ b = Relu (a) }}")
    watched = loaded.replace(functions=Watched(loaded.functions))
    assert types(sx.infer_shapes(watched))["y"] == "tensor(float)[n]"
    assert 0 < Watched.looks < 10
