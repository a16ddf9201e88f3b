"""Rules for optionals."""

from __future__ import annotations

import pytest

from sardonyx.ir.attrs import Attr, AttrKind
from sardonyx.ir.types import DType, SequenceType, TensorType
from tests.infer.models import codes, infer, shown
from tests.ops.cases import case, fails


def test_wrapping():
    case("Optional", "f32[a]", "opt(f32[a])")
    case("Optional", "seq(f32[a])*n", "opt(seq(f32[a])*n)")
    kind = Attr("type", AttrKind.TYPE_PROTO, SequenceType(TensorType(DType.FLOAT, None)))
    case("Optional", "", "opt(seq(f32))", type=kind, deeper=False)
    fails("Optional", "", "missing-attribute")
    fails("Optional", "opt(f32[a])", "wrong-kind")


def test_having():
    case("OptionalHasElement", "opt(f32[a])", "bool[]=?")
    case("OptionalHasElement", "f32[a]", "bool[]=[True]", opset=18)
    case("OptionalHasElement", "seq(f32[a])", "bool[]=[True]", opset=18)
    case("OptionalHasElement", "-", "bool[]=[False]", opset=18)
    fails("OptionalHasElement", "f32[a]", "wrong-kind", opset=17)
    fails("OptionalHasElement", "-", "missing-input", opset=17)


def test_getting():
    case("OptionalGetElement", "opt(f32[a])", "f32[a]")
    case("OptionalGetElement", "opt(seq(f32[a])*n)", "seq(f32[a])*n", opset=15)
    case("OptionalGetElement", "f32[a]", "f32[a]", opset=18)
    case("OptionalGetElement", "i64[2]=[a,3]", "i64[2]=[a,3]", opset=18)
    fails("OptionalGetElement", "f32[a]", "wrong-kind", opset=15)


def test_whether_something_is_there_decides_a_branch():
    text = """g (float[a] x) => (y) {{
        o = Optional {given}
        h = OptionalHasElement (o)
        y = If (h) <then_branch = t () => (p) {{ p = OptionalGetElement (o) }},
            else_branch = e () => (q) {{ q = Constant <value_floats = [1.0, 2.0]> () }}>
    }}"""
    assert shown(text.format(given="(x)"), "y") == "tensor(float)[a]"


FUNCTIONS = """
    <domain: "my", opset_import: ["" : 21]> wrap (w) => (v) { v = Optional (w) }
    <domain: "my", opset_import: ["" : 21]> pass (w) => (v) { v = Identity (w) }
    <domain: "my", opset_import: ["" : 21]> ask (w, x) => (y) {
        h = OptionalHasElement (w)
        y = If (h) <then_branch = t () => (p) { p = Relu (x) },
            else_branch = e () => (q) { q = ReduceSum <keepdims = 0> (x) }>
    }"""


@pytest.mark.parametrize(
    ("steps", "known"),
    [
        ("u = Optional (x)  o = Identity (u)", True),
        ("o = my.wrap (x)", True),
        ("u = Optional (x)  o = my.pass (u)", True),
        (
            """o = If (c) <then_branch = a () => (r) { r = Optional (x) },
            else_branch = b () => (s) { z = Neg (x)  s = Optional (z) }>""",
            True,
        ),
        (
            """o = If (c) <then_branch = a () => (r) { r = Optional (x) },
            else_branch = b () => (s) { s = Identity (given) }>""",
            False,
        ),
        (
            """u = Optional (x)
            o = Loop (m, "", u) <body = l (int64 i, bool g, s) => (g2, s2) { g2 = Identity (g)  s2 = Identity (s) }>""",
            True,
        ),
        (
            """u = Optional (x)
            o = Loop (m, "", u) <body = l (int64 i, bool g, s) => (g2, s2) { g2 = Identity (g)  s2 = Optional (x) }>""",
            True,
        ),
        (
            """u = Optional (x)
            o = Loop (m, "", u) <body = l (int64 i, bool g, s) => (g2, given) { g2 = Identity (g) }>""",
            False,
        ),
        (
            """u = Optional (x)
            o = Loop (m, "", u) <body = l (int64 i, bool g, s) => (g2, s2) {
                g2 = Identity (g)
                s2 = If (c) <then_branch = a () => (r) { r = Identity (s) },
                    else_branch = b () => (k) { k = Identity (given) }>
            }>""",
            False,
        ),
    ],
)
def test_whether_something_is_there_passes_through(steps, known):
    text = f"""g (float[a] x, bool c, int64 m, optional(float[a]) given) => (y) {{
        {steps}
        h = OptionalHasElement (o)
        y = If (h) <then_branch = t () => (p) {{ p = Relu (x) }},
            else_branch = e () => (q) {{ q = ReduceSum <keepdims = 0> (x) }}>
    }} {FUNCTIONS}"""
    assert shown(text, "y") == ("tensor(float)[a]" if known else "tensor(float)")


def test_a_function_asks_whether_its_input_is_there():
    text = """g (float[a] x, optional(float[a]) given) => (y, z) {
        u = Optional (x)
        y = my.ask (u, x)
        z = my.ask (given, x)
    }"""
    assert shown(text + FUNCTIONS, "y", "z") == ["tensor(float)[a]", "tensor(float)"]


def test_an_empty_optional_has_nothing_to_get():
    from sardonyx.dims import Scope
    from sardonyx.infer.inference import infer_shapes
    from sardonyx.ir.graph import Graph, Model, Node, Value

    o, y = Value("o"), Value("y")
    kind = Attr("type", AttrKind.TYPE_PROTO, TensorType(DType.FLOAT, (2,)))
    nodes = (Node("Optional", (), (o,), {"type": kind}), Node("OptionalGetElement", (o,), (y,)))
    inference = infer_shapes(Model(Graph("g", (), (y,), nodes), {"": 18}, scope=Scope()))
    assert codes(inference) == ["bad-input"]


def test_an_optional_input_is_a_type_of_its_own():
    inference = infer(
        "g (optional(seq(float[n])) o) => (s, h) { s = OptionalGetElement (o)  h = OptionalHasElement (o) }"
    )
    graph = inference.model.graph
    assert [graph.type(value).type_str for value in graph.outputs] == ["seq(tensor(float))", "tensor(bool)"]
