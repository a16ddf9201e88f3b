"""The one table of types that a function has: what all its calls agree on, saved and loaded again."""

from __future__ import annotations

import sardonyx as sx
from sardonyx.dims import Expr, Scope, Symbol
from sardonyx.infer.agreement import agreed
from sardonyx.ir.graph import Value
from sardonyx.ir.types import DType, MapType, OptionalType, SequenceType, SparseTensorType, TensorType
from tests.infer.models import infer, model

HEAD = '<ir_version: 10, opset_import: ["" : 21, "my" : 1]>\n'
A, B = Value("a"), Value("b")


def table(inference, name):
    """Return the types of a function's values by name; an unknown dim is a question mark."""
    body = inference.model.functions["my", name, ""].body
    return {value.name: shown(body.types.get(value)) for value in body.values if body.types.get(value) is not None}


def shown(kind):
    """Return a tensor type as text; an anonymous dim is a question mark."""
    dims = ", ".join("?" if isinstance(dim, Symbol) and dim.anonymous else str(dim) for dim in kind.shape or ())
    return kind.type_str if kind.shape is None else f"{kind.type_str}[{dims}]"


def joined(*kinds):
    """Return what calls agree on of one value."""
    return agreed(Scope(), [{A: kind} for kind in kinds]).get(A)


def unknown(dim):
    """Return whether nothing is known of a dim."""
    return isinstance(dim, Symbol) and dim.anonymous


def test_a_dim_in_which_calls_differ_is_unknown_and_the_others_stay():
    inference = infer(
        HEAD
        + """g (float[n, 4, 8] x, float[m, 5, 8] y) => (float[] a, float[] b) {
            a = my.turned (x)
            b = my.turned (y)
        }
        <domain: "my", opset_import: ["" : 21]> turned (x) => (y) {
            t = Transpose <perm = [2, 1, 0]> (x)
            y = Softmax (t)
        }"""
    )
    assert table(inference, "turned") == {
        "x": "tensor(float)[?, ?, 8]",
        "t": "tensor(float)[8, ?, ?]",
        "y": "tensor(float)[8, ?, ?]",
    }


def test_what_is_the_same_in_each_call_is_one_unknown_dim():
    body = (
        infer(
            HEAD
            + """g (float[4, 9] x, float[5, 9] y, float[4, 7] z) => (float[] a, float[] b, float[] c) {
            a = my.turned (x)
            b = my.turned (y)
            c = my.turned (z)
        }
        <domain: "my", opset_import: ["" : 21]> turned (x) => (y) { y = Transpose (x) }"""
        )
        .model.functions["my", "turned", ""]
        .body
    )
    x, y = [body.types[value].shape for value in (*body.inputs, *body.outputs)]
    assert x == (y[1], y[0])
    assert x[0] != x[1]


def test_element_types_and_ranks_in_which_calls_differ_are_unknown():
    float_, int_ = DType.FLOAT, DType.INT64
    assert joined(TensorType(float_, (2,)), TensorType(int_, (2,))) == TensorType(None, (2,))
    assert joined(TensorType(float_, (2,)), TensorType(float_, (2, 2))) == TensorType(float_, None)
    assert joined(TensorType(float_, (2,)), TensorType(float_, None)) == TensorType(float_, None)
    assert joined(TensorType(float_, (2,)), SparseTensorType(float_, (2,))) is None
    assert joined(TensorType(float_, (2,)), None) is None
    sparse = joined(SparseTensorType(float_, (2, 3)), SparseTensorType(float_, (2, 4)))
    assert type(sparse) is SparseTensorType
    assert sparse.shape[0] == 2
    assert unknown(sparse.shape[1])


def test_sequences_agree_on_their_elements_and_their_length():
    two, three = TensorType(DType.FLOAT, (2, 8)), TensorType(DType.FLOAT, (3, 8))
    found = joined(SequenceType(two, (two, two), 2), SequenceType(three, (three, three), 2))
    assert found.length == 2
    assert [one.shape[1] for one in found.elements] == [8, 8]
    assert all(unknown(one.shape[0]) for one in (found.elem, *found.elements))
    found = joined(SequenceType(two, (two, two), 2), SequenceType(two, (two,), 1))
    assert (found.elem, found.elements) == (two, None)
    assert unknown(found.length)
    assert joined(SequenceType(two, None, None), SequenceType(two, (two,), 1)) == SequenceType(two, None, None)


def test_optionals_and_maps_agree_on_what_is_in_them():
    two, three = TensorType(DType.FLOAT, (2, 8)), TensorType(DType.FLOAT, (3, 8))
    found = joined(OptionalType(two), OptionalType(three))
    assert unknown(found.elem.shape[0])
    assert found.elem.shape[1] == 8
    assert joined(OptionalType(two), OptionalType(None)) == OptionalType(None)
    found = joined(MapType(DType.STRING, two), MapType(DType.INT64, two))
    assert found == MapType(None, two)
    assert joined(MapType(DType.STRING, two), MapType(DType.STRING, TensorType(None, (2, 8)))).key is DType.STRING


def test_dims_of_two_values_are_one_only_where_they_are_in_every_call():
    four, five = TensorType(DType.FLOAT, (4,)), TensorType(DType.FLOAT, (5,))
    found = agreed(Scope(), [{A: four, B: four}, {A: five, B: five}, {A: five, B: four}])
    assert found[A].shape != found[B].shape
    found = agreed(Scope(), [{A: four, B: four}, {A: five, B: five}, {A: five, B: five}])
    assert found[A].shape == found[B].shape


def test_what_calls_agree_on_is_saved_and_loaded_again(tmp_path):
    inference = infer(
        HEAD
        + """g (float[n, 4] x, float[n, 5] y) => (float[] a, float[] b) {
            a = my.twice (x)
            b = my.twice (y)
        }
        <domain: "my", opset_import: ["" : 21]> twice (x) => (z) {
            h = Relu (x)
            s = SequenceConstruct (h, x)
            o = Optional (s)
            q = OptionalGetElement (o)
            z = ConcatFromSequence <axis = 0> (q)
        }"""
    )
    path = tmp_path / "twice.onnx"
    sx.save(inference.model, path)
    with sx.load(path) as again:
        body = again.functions["my", "twice", ""].body
        found = {value.name: body.types[value] for value in body.values if value in body.types}
    h, s, o, z = (found[name] for name in "hsoz")
    assert str(h.shape[0]) == "n"
    assert isinstance(h.shape[1], Expr)
    assert str(h.shape[1]) not in ("4", "5")
    assert z.shape == (2 * h.shape[0], h.shape[1])
    assert (s.elem.dtype, str(s.elem.shape[0]), len(s.elem.shape)) == (DType.FLOAT, "n", 2)
    assert type(o.elem) is SequenceType
    again = sx.infer_shapes(sx.load(path))
    assert [str(again.model.graph.type(value)) for value in again.model.graph.outputs] == [
        "tensor(float)[2*n, 4]",
        "tensor(float)[2*n, 5]",
    ]


def test_a_function_that_is_called_where_nobody_looked_keeps_what_the_file_says():
    text = (
        HEAD
        + """g (float[4] x, float[5] y) => (float[] a, float[] b) {
            a = my.outer (x)
            b = nobody.knows <body = t () => (p) { p = my.outer (y) }> (x)
        }
        <domain: "my", opset_import: ["" : 21, "my" : 1]> outer (x) => (y) { y = my.inner (x) }
        <domain: "my", opset_import: ["" : 21]> inner (x) => (y) { y = Relu (x) }"""
    )
    inference = infer(text)
    assert inference.frame((0, None), (0, None)).types["y"].shape == (4,)
    assert table(inference, "outer") == table(inference, "inner") == {}
    alone = infer(text.replace("b = nobody.knows <body = t () => (p) { p = my.outer (y) }> (x)", "b = Neg (y)"))
    assert table(alone, "inner") == {"x": "tensor(float)[4]", "y": "tensor(float)[4]"}


def test_a_function_whose_calls_were_left_out_keeps_what_the_file_says():
    text = (
        HEAD
        + """g (float[4] x, float[5] y) => (float[] a, float[] b) { a = my.one (x)  b = my.one (y) }
        <domain: "my", opset_import: ["" : 21]> one (x) => (y) { y = Relu (x) }"""
    )
    assert table(infer(text, limits=sx.Limits(max_frames=1)), "one") == {}
    assert table(infer(text), "one") == {"x": "tensor(float)[?]", "y": "tensor(float)[?]"}
    assert model(text).functions["my", "one", ""].body.types == {}
