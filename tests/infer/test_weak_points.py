"""What a public relative of this inference gets wrong or leaves out, one test for each of its 26 known weak points."""

from __future__ import annotations

import re

import pytest

import sardonyx as sx
from sardonyx.errors import OnnxError
from sardonyx.infer.inference import infer_shapes
from sardonyx.ir.types import MapType, SequenceType, TensorType
from tests.infer.models import codes, infer, model, shown, types


def anonymous(text):
    """Whether a type is written in symbols that inference made."""
    return re.search(r"\b_\w+\d", text) is not None


def test_01_an_unknown_rank_is_no_scalar():
    known = shown(
        """g (float[2] a, float[2, 2] b, float[3, 4] c, int64 at) => (float[] y) {
            s = SequenceConstruct (a, b)
            e = SequenceAt (s, at)
            y = Add (e, c)
        }""",
        "e",
        "y",
    )
    assert known == ["tensor(float)", "tensor(float)"]


def test_02_a_reshape_to_an_unknown_number_of_dims_has_an_unknown_rank():
    assert shown("g (float[a] x, int64[n] to) => (float[] y) { y = Reshape (x, to) }", "y") == "tensor(float)"


def test_03_unrelated_unknown_dims_share_no_symbol():
    x, y = shown(
        """g (float[a] x, float[b] y, int64[2] p, int64[2] q) => (float[] u, float[] v) {
            u = Reshape (x, p)
            v = Reshape (y, q)
        }""",
        "u",
        "v",
    )
    assert anonymous(x)
    assert anonymous(y)
    assert x != y


def test_04_arithmetic_on_shapes_broadcasts():
    known = shown(
        """g (float[N, C] x) => (float[] y) <int64[1] two = {2}> {
            s = Shape (x)
            t = Add (s, two)
            y = ConstantOfShape (t)
        }""",
        "y",
    )
    assert known == "tensor(float)[N + 2, C + 2]"


COUNTER = """g (int64 m, float[a] x) => (int64 last, float[] rows) <int64 zero = {0}, bool go = {1}> {
    last, rows = Loop (m, go, zero) <body = b (int64 i, bool c, int64 n) => (bool d, int64 next, float[] row)
    <int64 one = {1}, int64[1] flat = {-1}> {
        d = Identity (c)
        next = Add (n, one)
        size = Reshape (n, flat)
        row = ConstantOfShape (size)
    }>
}"""


def test_05_a_carried_number_is_no_constant():
    inference = infer(COUNTER)
    assert anonymous(types(inference, (0, "body"))["row"])
    assert types(inference)["last"] == "tensor(int64)[]"


GROWING = """g (int64 m, float[a, 4] x) => (float[] out, float[] rows) <bool go = {1}> {
    out, rows = Loop (m, go, x) <body = b (int64 i, bool c, float[p, 4] s) => (bool d, float t, float[] row) {
        d = Identity (c)
        t = Concat <axis = 0> (s, x)
        row = Relu (t)
    }>
}"""


def test_06_a_growing_state_makes_every_dim_that_depends_on_it_fresh():
    inference = infer(GROWING)
    body = types(inference, (0, "body"))
    assert re.fullmatch(r"tensor\(float\)\[_carried\d+, 4\]", body["s"])
    assert body["t"] == body["s"].replace(",", " + a,", 1)
    rows = inference.model.graph.type(inference.model.graph.outputs[1])
    made = [symbol.name for symbol in rows.shape[1].symbols if symbol.anonymous]
    assert rows.shape[2] == 4
    assert made
    assert made[0] not in body["s"]
    assert types(inference)["out"] == "tensor(float)[a + a*max(_d1, 0), 4]"  # each iteration adds the same


def test_07_the_trip_count_counts_only_where_the_condition_provably_stays_true():
    text = """g (int64 m, bool[n] flags, float[4] x) => (float[] rows) <bool go = {{1}}> {{
        k = Shape (flags)
        n = Squeeze (k)
        rows = Loop (n, go) <body = b (int64 i, bool c) => (bool d, float[4] row) {{
            d = {condition}
            row = Identity (x)
        }}>
    }}"""
    assert shown(text.format(condition="Identity (c)"), "rows") == "tensor(float)[n, 4]"
    inference = infer(text.format(condition="Gather (flags, i)"))
    (trips, width) = inference.model.graph.type(inference.model.graph.outputs[0]).shape
    assert trips.anonymous
    assert width == 4
    assert any(str(one).startswith(f"n >= {trips}") for one in inference.constraints)
    absent = shown(
        """g (bool c0, float[4] x) => (float[] rows) {
            rows = Loop ("", c0) <body = b (int64 i, bool c) => (bool d, float[4] row) {
                d = Identity (c)
                row = Identity (x)
            }>
        }""",
        "rows",
    )
    assert anonymous(absent)


SCANS = """g (float[{one}, 3] x, float[{other}, 5] y) => (float[] z) {{
    z = Scan <num_scan_inputs = 2, body = b (float[3] a, float[5] b) => (float[8] c) {{
        c = Concat <axis = 0> (a, b)
    }}> (x, y)
}}"""


def test_08_all_scanned_inputs_have_one_length():
    assert shown(SCANS.format(one="n", other=7), "z") == "tensor(float)[7, 8]"
    assert shown(SCANS.format(one="n", other="m"), "z") == "tensor(float)[n, 8]"
    assert codes(infer(SCANS.format(one=6, other=7))) == ["dim-mismatch"]


def test_09_sequences_optionals_and_maps_pass_through_bodies():
    accumulated = infer(
        """g (int64 m, float[a, 4] x) => (seq(float[]) out) <bool go = {1}> {
            empty = SequenceEmpty ()
            out = Loop (m, go, empty) <body = b (int64 i, bool c, seq(float[]) s) => (bool d, seq(float[]) t) {
                d = Identity (c)
                t = SequenceInsert (s, x)
            }>
        }"""
    )
    out = accumulated.model.graph.type(accumulated.model.graph.outputs[0])
    assert str(out.elem) == "tensor(float)[a, 4]"
    assert re.fullmatch(r"max\(_\w+, 0\)", str(out.length))
    chosen = shown(
        """g (bool c, float[a] x, float[b] y) => (optional(float[n]) o, seq(float[]) s) {
            o, s = If (c) <then_branch = t () => (optional(float[n]) p, seq(float[]) q) {
                p = Optional (x)
                q = SequenceConstruct (x, x)
            }, else_branch = e () => (optional(float[n]) p2, seq(float[]) q2) {
                p2 = Optional (y)
                q2 = SequenceConstruct (y)
            }>
        }""",
        "o",
        "s",
    )
    assert chosen[0].startswith("optional(tensor(float)[")
    assert chosen[1].startswith("seq(tensor(float)[_each")
    maps = shown(
        """<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 3]>
        g (bool c, float[n, 2] x) => (seq(map(int64, float)) z) {
            z = If (c) <then_branch = t () => (seq(map(int64, float)) p) {
                p = ai.onnx.ml.ZipMap <classlabels_int64s = [1, 2]> (x)
            }, else_branch = e () => (seq(map(int64, float)) q) {
                q = ai.onnx.ml.ZipMap <classlabels_int64s = [1, 2]> (x)
            }>
        }""",
        "z",
    )
    assert maps == "seq(map(int64, tensor(float)[]))*n"


def test_10_branches_of_different_rank_give_an_unknown_rank_and_a_constant_condition_takes_its_branch():
    text = """g (bool c, float[a] x) => (float[] y) <bool yes = {{1}}> {{
        y = If ({condition}) <then_branch = t () => (float[] p) {{ p = Identity (x) }},
            else_branch = e () => (float[] q) {{
                r = Shape (x)
                q = ConstantOfShape (r)
                s = Unsqueeze (q, r)
            }}>
    }}"""
    ranks = """g (bool c, float[a] x) => (float[] y) <bool yes = {{1}}, int64[1] zero = {{0}}> {{
        y = If ({condition}) <then_branch = t () => (float[] p) {{ p = Identity (x) }},
            else_branch = e () => (float[] q) {{ q = Unsqueeze (x, zero) }}>
    }}"""
    assert shown(ranks.format(condition="c"), "y") == "tensor(float)"
    assert shown(ranks.format(condition="yes"), "y") == "tensor(float)[a]"
    assert not infer(text.format(condition="yes")).issues


def test_11_an_inner_initializer_or_formal_shadows_an_outer_name():
    inference = infer(
        """g (float[2] a, float[n] w, float[m] i, bool c) => (float[] y) {
            y = If (c) <then_branch = t () => (float[] p) <float[5] w = {1, 2, 3, 4, 5}> { p = Identity (w) },
                else_branch = e () => (float[] q) { q = Identity (w) }>
        }"""
    )
    assert types(inference, (0, "then_branch"))["p"] == "tensor(float)[5]"
    assert types(inference, (0, "else_branch"))["q"] == "tensor(float)[n]"


def test_12_an_inner_node_output_may_reuse_an_outer_name_and_siblings_may_reuse_names():
    inference = infer(
        """g (float[2, 3] x, bool c) => (float[] y, float[] after) {
            h = Relu (x)
            y = If (c) <then_branch = t () => (float[] p) { h = Transpose (x)  p = Relu (h) },
                else_branch = e () => (float[] p) { h = Flatten (x)  p = Transpose (h) }>
            after = Neg (h)
        }"""
    )
    assert types(inference)["after"] == "tensor(float)[2, 3]"
    assert types(inference, (1, "then_branch"))["p"] == "tensor(float)[3, 2]"


def test_13_constraints_found_in_a_body_surface_with_their_place():
    inference = infer(
        """g (bool c, float[a] x) => (float[] y) {
            y = If (c) <then_branch = t () => (float[] p) { i = NonZero (x)  p = Cast <to = 1> (i) },
                else_branch = e () => (float[] q) { q = Identity (x) }>
        }"""
    )
    assert [str(one) for one in inference.constraints if "then_branch" in one.place]


def test_14_functions_have_defaults_required_attributes_overloads_and_no_recursion():
    text = """<ir_version: 10, opset_import: ["" : 21, "my" : 1]>
    g (float[a, b, c] x) => (float[] y, float[] z) {{
        y = my.turn (x)
        z = {call} (x)
    }}
    <domain: "my", opset_import: ["ai.onnx" : 21]> turn <perm: ints = [2, 1, 0]> (x) => (y) {{
        y = Transpose <perm: ints = @perm> (x)
    }}
    <domain: "my", opset_import: ["" : 21], overload: "flat"> turn (x) => (y) {{ y = Flatten (x) }}
    <domain: "my", opset_import: ["" : 21]> need <axis> (x) => (y) {{ y = Flatten <axis: int = @axis> (x) }}
    <domain: "my", opset_import: ["" : 21, "my" : 1]> one (x) => (y) {{ y = my.two (x) }}
    <domain: "my", opset_import: ["" : 21, "my" : 1]> two (x) => (y) {{ y = my.one (x) }}
    """
    assert shown(text.format(call="my.turn:flat"), "y", "z") == ["tensor(float)[c, b, a]", "tensor(float)[a, b*c]"]
    assert codes(infer(text.format(call="my.need"))) == ["attribute-not-given"]
    circle = infer(text.format(call="my.one"))
    assert [issue.message for issue in circle.issues] == [
        "functions call each other in a circle: my::one -> my::two -> my::one"
    ]
    with pytest.raises(OnnxError, match="circle"):
        infer(text.format(call="my.one"), mode="strict")


def test_15_constant_positions_keep_each_element_and_lengths_are_values():
    known = shown(
        """g (float[a] x, float[b, 2] y, seq(float[c]) more) => (p, q, n, m, v)
        <int64 one = {1}, int64 zero = {0}> {
            s = SequenceConstruct (x, y)
            t = SequenceInsert (s, y, zero)
            p = SequenceAt (t, one)
            u = SequenceErase (t, one)
            q = SequenceAt (u, one)
            longer = SequenceInsert (more, x)
            shorter = SequenceErase (longer)
            m = SequenceMap (shorter) <body = b (float[k] e) => (float f) { f = Relu (e) }>
            n = SequenceLength (m)
            n1 = Unsqueeze (n, flat)
            v = ConstantOfShape (n1)
        }""".replace("int64 zero = {0}>", "int64 zero = {0}, int64[1] flat = {0}>"),
        "p",
        "q",
        "longer",
        "m",
        "v",
    )
    assert known[:2] == ["tensor(float)[a]", "tensor(float)[b, 2]"]
    assert known[2].endswith(")*_length0 + 1")
    assert known[3].endswith(")*_length0")
    assert known[4] == "tensor(float)[_length0]"


def test_16_a_dict_vectorizer_gives_the_maps_value_type_and_the_key_type_survives():
    inference = infer(
        """<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 3]>
        g (map(string, float) m) => (float[] y) {
            y = ai.onnx.ml.DictVectorizer <string_vocabulary = ["a", "b"]> (m)
        }"""
    )
    graph = inference.model.graph
    kind = graph.type(graph.inputs[0])
    assert isinstance(kind, MapType)
    assert kind.key is sx.DType.STRING
    assert graph.type(graph.outputs[0]).dtype is sx.DType.FLOAT


def test_17_names_are_put_in_everywhere_while_the_walk_goes_on():
    inference = infer(
        """g (float[a] x) => (float[found] y, seq(float[]) s) {
            n = NonZero (x)
            f = Cast <to = 1> (n)
            t = Transpose (f)
            y = Squeeze (t, last)
            s = SequenceConstruct (t, y)
            e = Add (y, y)
        }""".replace("} {", "}").replace("s) {", "s) <int64[1] last = {1}> {")
    )
    assert types(inference)["n"] == "tensor(int64)[1, found]"
    assert types(inference)["s"] == "seq[tensor(float)[found, 1], tensor(float)[found]]"
    assert types(inference)["e"] == "tensor(float)[found]"


def test_17_a_number_is_put_in_everywhere():
    inference = infer(
        """g (float[a] x) => (int64[1, 8] n, seq(float[]) s) {
            n = NonZero (x)
            f = Cast <to = 1> (n)
            s = SequenceConstruct (f, f)
        }"""
    )
    assert types(inference)["s"] == "seq[tensor(float)[1, 8], tensor(float)[1, 8]]"
    assert [one.kind for one in inference.assumptions] == ["claim-taken"]


def test_18_operators_of_old_opsets_have_their_attribute_forms():
    known = shown(
        """<ir_version: 3, opset_import: ["" : 1]> g (float[a, 6] x) => (float[] y, float[] z) {
            y = Unsqueeze <axes = [0]> (x)
            z = Slice <axes = [1], starts = [1], ends = [-1]> (x)
        }""",
        "y",
        "z",
    )
    assert known == ["tensor(float)[1, a, 6]", "tensor(float)[a, 4]"]


def test_19_an_unknown_operator_leaves_its_outputs_unknown_and_never_ends_the_run():
    text = """g (float[a] x) => (float[] y) {
        u = my.Strange (x)
        v = my.Strange (u)
        w = Add (u, x)
        y = Relu (x)
    }"""
    for mode in ("permissive", "strict"):
        inference = infer(text, mode=mode)
        assert codes(inference) == ["no-rule"]
        assert "u" not in types(inference)
        assert types(inference)["y"] == "tensor(float)[a]"


def test_20_types_are_written_into_bodies_and_functions_and_as_what_they_are():
    text = """<ir_version: 10, opset_import: ["" : 21, "my" : 1]>
    g (bool c, float[a] x) => (optional(float[a]) o) {
        s = SequenceConstruct (x, x)
        o = Optional (x)
        z = If (c) <then_branch = t () => (float[] p) { h = Relu (x)  p = Neg (h) },
            else_branch = e () => (float[] q) { q = my.twice (x) }>
    }
    <domain: "my", opset_import: ["" : 21]> twice (x) => (y) { m = Add (x, x)  y = Identity (m) }
    """
    again = sx.load(sx.to_bytes(infer(text).model))
    graph = again.graph
    named = {value.name: str(kind) for value, kind in graph.types.items()}
    assert named["s"] == "seq(tensor(float)[a])"
    assert named["o"] == "optional(tensor(float)[a])"
    assert named["h"] == "tensor(float)[a]"
    (function,) = again.functions.values()
    assert {value.name: str(kind) for value, kind in function.body.types.items()}["m"] == "tensor(float)[a]"


def test_21_events_have_the_whole_path_and_calls_of_functions_keep_their_frames():
    text = """<ir_version: 10, opset_import: ["" : 21, "my" : 1]>
    g (bool c, float[a] x) => (float[] z) {
        z = If (c) <then_branch = t () => (p) { p = my.listed (x) }, else_branch = e () => (q) { q = Neg (x) }>
    }
    <domain: "my", opset_import: ["" : 21]> listed (x) => (y) { s = SequenceConstruct (x, x)
        y = ConcatFromSequence <axis = 0> (s) }
    """
    inference = infer(text, events=True)
    inner = [event for event in inference.events if event.path == ((0, "then_branch"), (0, None))]
    assert [event.value.name for event in inner if event.kind == "typed"] == ["s", "y"]
    assert isinstance(inference.frame((0, "then_branch"), (0, None)).sequences["s"], SequenceType)


def test_22_a_body_costs_what_is_in_it_not_what_is_around_it():
    branches = "".join(
        f"""y{at} = If (c) <then_branch = t{at} () => (float p{at}) {{ p{at} = Relu (x{at}) }},
            else_branch = e{at} () => (float q{at}) {{ q{at} = Neg (x{at}) }}>\n"""
        for at in range(200)
    )
    chain = "x0 = Relu (x)\n" + "".join(f"x{at + 1} = Relu (x{at})\n" for at in range(2000))
    found = infer(f"g (bool c, float[a] x) => (float y0) {{ {chain} {branches} }}")
    frame = found.frame((2001, "then_branch"))
    assert frame.activation is found.frame().activation  # a frame has no table that could be a copy
    assert len(found.frames) == 401
    assert types(found)["y199"] == "tensor(float)[a]"


def test_23_everything_that_is_listed_has_one_order():
    texts = set()
    for _ in range(3):
        inference = infer(GROWING)
        texts.add(
            "\n".join([*map(str, inference.constraints), *map(str, inference.assumptions), str(types(inference))])
        )
    assert len(texts) == 1


@pytest.mark.parametrize("name", ["onnx::Shape_12", "batch size", "unk__3", "?", "Layer:0", "a+", "2x"])
def test_24_a_dim_name_that_is_no_expression_is_a_name(name):
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("Concat", ["x", "x"], ["y"], axis=0), helper.make_node("Relu", ["x"], ["z"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [name, 2])],
        [helper.make_tensor_value_info(one, TensorProto.FLOAT, None) for one in "yz"],
    )
    loaded = sx.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString())
    inference = infer_shapes(loaded)
    doubled, same = [inference.model.graph.type(value).shape[0] for value in inference.model.graph.outputs]
    given = inference.model.graph.type(inference.model.graph.inputs[0]).shape[0]
    assert same is given
    assert doubled == 2 * given
    assert str(given) == name


def test_25_a_dim_over_itself_is_one_only_where_it_is_known_not_to_be_zero():
    text = """g (float[n, 2] x) => (float[] y) <int64 at = {0}, int64[1] flat = {0}> {
        s = Shape (x)
        d = Gather (s, at)
        q = Div (d, d)
        t = Unsqueeze (q, flat)
        y = ConstantOfShape (t)
    }"""
    inference = infer(text)
    assert types(inference)["y"] == "tensor(float)[1]"
    assert [str(one) for one in inference.assumptions] == ["n is not 0 (node 2 (Div))"]
    scope = sx.Scope()
    n = scope.symbol("n")
    assert str(scope.floordiv(n, n)) == "n//n"
    assert scope.floordiv(n + 1, n + 1) == 1


def test_26_a_rank_above_sixteen_works():
    dims = ", ".join(["1"] * 19 + ["n"])
    known = shown(f"g (float[{dims}] x) => (float[] y) {{ y = Transpose (x) }}", "y")
    assert known == f"tensor(float)[{', '.join(['n'] + ['1'] * 19)}]"


def test_the_results_are_tensor_types_of_the_public_kind():
    inference = infer("g (float[a] x) => (float[] y) { y = Relu (x) }")
    assert isinstance(inference.model.graph.type(inference.model.graph.outputs[0]), TensorType)
    assert model("g (float[a] x) => (float[] y) { y = Relu (x) }").graph.type is not None
