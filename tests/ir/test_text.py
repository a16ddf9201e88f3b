"""The ONNX text syntax: what is read, what is written, and what is wrong with the rest."""

from __future__ import annotations

import math

import pytest

from sardonyx.errors import OnnxError
from sardonyx.ir.attrs import Attr, AttrKind, AttrRef
from sardonyx.ir.graph import Graph, Model, Node, Value, body_list
from sardonyx.ir.tensor import SparseTensor, Tensor, tensor_of
from sardonyx.ir.text import parse_function, parse_graph, parse_model, to_text
from sardonyx.ir.types import (
    DType,
    MapType,
    OpaqueType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Type,
)

WHOLE = """<
   ir_version: 9,
   opset_import: ["" : 18, "my.ops" : 1],
   producer_name: "a \\"quoted\\" name",
   producer_version: "1",
   domain: "d",
   doc_string: "two
lines",
   model_version: 3,
   metadata_props: ["k": "v", "": ""]
>
main (bool c, float[batch, 3] x, float[1] "odd name" = {1.0}) => (float[batch, 3] y)
<
   float[1] "odd name" = {1.0},
   int64[2] shape = {-1, 3}
>
{
   [first] a, "", b = my.ops.Thing:variant <axis = -1, ratio = 0.5, mode = "x\\\\y"> (x, "", "odd name")
   y = If (c) <then_branch = t () => (p)
   <
      float[2] w = {1.5, 2.0}
   >
   {
      p = Add (a, w)
   }, else_branch = e () => (q) {
      q = Reshape (b, shape)
   }>
}

<
   domain: "my.ops",
   opset_import: ["" : 18],
   overload: "variant",
   doc_string: "help"
>
Thing <axis, mode, ratio = 1.0> (float[n] p, q, r) => (s, t, float[n] u) {
   s = Op <axis: int = @axis, mode: string = @mode> (p)
   t = Neg (q)
   u = Abs (r)
}
"""


def only_attr(text: str) -> Attr | AttrRef:
    """Return the attribute of a node that is written with it."""
    return parse_graph(f"g () => () {{ y = Op <{text}> () }}").nodes[0].attrs["a"]


def only_type(text: str) -> Type | None:
    """Return a type that is written before an input."""
    graph = parse_graph(f"g ({text} x) => () {{}}")
    return graph.type(graph.inputs[0])


def tensor(text: str) -> Tensor:
    """Return a tensor that is written as an attribute."""
    return only_attr(f"a = {text}").value


def refused(text: str, read: object = parse_graph) -> str:
    """Return what is said about a text that is not read, without the kind and code."""
    with pytest.raises(OnnxError) as caught:
        read(text)
    assert caught.value.code == "bad-text"
    return caught.value.message


# --- whole models


def test_a_model_has_all_that_the_syntax_can_say() -> None:
    model = parse_model(WHOLE.replace('"odd name" = {1.0})', '"odd name")'))
    assert (model.ir_version, model.model_version, model.domain) == (9, 3, "d")
    assert (model.producer_name, model.producer_version) == ('a "quoted" name', "1")
    assert (model.doc_string, dict(model.metadata)) == ("two\nlines", {"k": "v", "": ""})
    assert dict(model.opset_imports) == {"": 18, "my.ops": 1}
    thing, choice = model.graph.nodes
    assert (thing.domain, thing.op_type, thing.overload, thing.name) == ("my.ops", "Thing", "variant", "first")
    assert [value and value.name for value in thing.outputs] == ["a", None, "b"]
    assert [value and value.name for value in thing.inputs] == ["x", None, "odd name"]
    assert {name: attr.value for name, attr in thing.attrs.items()} == {"axis": -1, "ratio": 0.5, "mode": b"x\\y"}
    then_branch = body_list(choice)[0]
    assert then_branch.nodes[0].inputs[0] is thing.outputs[0]
    assert then_branch.captures == (thing.outputs[0],)
    function = model.function(thing)
    assert function is not None
    assert (function.inputs, function.outputs) == (("p", "q", "r"), ("s", "t", "u"))
    assert (function.attributes, function.doc_string) == (("axis", "mode"), "help")
    assert function.defaults["ratio"].value == 1.0
    reference = function.graph.nodes[0].attrs["axis"]
    assert isinstance(reference, AttrRef)
    assert (reference.kind, reference.ref) == (AttrKind.INT, "axis")


def test_what_is_printed_is_what_was_read() -> None:
    text = WHOLE.replace('"odd name" = {1.0})', '"odd name")')
    assert to_text(parse_model(text)) == text
    assert to_text(parse_model(WHOLE.replace('\n   float[1] "odd name" = {1.0},', ""))) == text, (
        "a default by its input"
    )


def test_a_model_without_a_header_imports_nothing() -> None:
    model = parse_model("g () => () {}")
    assert (dict(model.opset_imports), model.ir_version) == ({}, Model(model.graph, {}).ir_version)


def test_a_function_may_be_read_alone() -> None:
    function = parse_function("f (x) => (y) <float[2] t> { t = Neg(x) y = Neg(t) }")
    assert function.label == "ai.onnx::f"
    assert [str(kind) for kind in function.graph.types.values()] == ["tensor(float)[2]"]
    head, body = '<\n   domain: "",\n   opset_import: []\n>\n', "{\n   t = Neg (x)\n   y = Neg (t)\n}\n"
    assert to_text(function) == f"{head}f (x) => (y)\n<\n   float[2] t\n>\n{body}"


def test_comments_and_blanks_mean_nothing() -> None:
    assert to_text(parse_graph("g(x)=>(y){y=A(x)}")) == to_text(
        parse_graph("# one\n g (x) # two\n => (y) {\n\ty = A (x)}#")
    )


# --- types


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("float", TensorType(DType.FLOAT, ())),
        ("float[]", TensorType(DType.FLOAT, None)),
        ("bfloat16[2, 3]", TensorType(DType.BFLOAT16, (2, 3))),
        ("undefined[2]", TensorType(None, (2,))),
        ("seq(int64[0])", SequenceType(TensorType(DType.INT64, (0,)))),
        ("seq()", SequenceType(None)),
        ("optional(seq(string[]))", OptionalType(SequenceType(TensorType(DType.STRING, None)))),
        ("map(int64, float)", MapType(DType.INT64, TensorType(DType.FLOAT, ()))),
        ("sparse_tensor(double[4])", SparseTensorType(DType.DOUBLE, (4,))),
        ("opaque(my.domain, thing)", OpaqueType("my.domain", "thing")),
        ("opaque(thing)", OpaqueType("", "thing")),
        ("opaque()", OpaqueType()),
        ("", None),
    ],
)
def test_types(text: str, known: Type | None) -> None:
    assert only_type(text) == known
    graph = parse_graph(f"g ({text} x) => () {{}}")
    again = parse_graph(to_text(graph))
    assert again.type(again.inputs[0]) == known


def test_every_element_type_has_a_name() -> None:
    for dtype in DType:
        if dtype is not DType.UNDEFINED:
            assert only_type(f"{dtype.text}[1]") == TensorType(dtype, (1,))


def test_a_dim_name_is_one_symbol_everywhere_and_an_unknown_one_is_never_another() -> None:
    graph = parse_graph("g (float[N, ?] x, float[?, N] y) => () {}")
    (n, first), (second, same) = (graph.type(value).shape for value in graph.inputs)
    assert n is same
    assert str(n) == "N"
    assert first is not second


def test_a_quoted_dim_is_arithmetic_over_the_names_of_the_inputs() -> None:
    graph = parse_graph('g (float["2*N + 1"] x, float[N] y) => (float["M - 1"] x) <float["a b"] y> {}')
    n = graph.type(graph.inputs[1]).shape[0]
    assert graph.type(graph.inputs[0]).shape == (2 * n + 1,)
    opaque = parse_graph('g () => (float["M - 1"] k) <float[1] k = {1}> {}')
    assert str(opaque.type(opaque.outputs[0]).shape[0]) == "M - 1"


def test_the_first_declaration_of_a_value_counts() -> None:
    graph = parse_graph(
        "g (float[1] x) => (float[2] x, float[3] y) <float[4] y, float[5] k, float[6] k = {1,2,3,4,5,6}> {y = A()}"
    )
    assert [str(graph.type(value)) for value in graph.values] == [
        "tensor(float)[1]",
        "tensor(float)[5]",
        "tensor(float)[3]",
    ]
    assert to_text(parse_graph(to_text(graph))) == to_text(graph)


def test_a_declaration_for_nothing_is_passed_over() -> None:
    assert not parse_graph("g () => () <float ghost> {}").types


def test_an_anonymous_dim_is_a_question_mark_unless_it_says_that_two_dims_are_equal() -> None:
    graph = parse_graph("g (float[?] x, float[?] y) => (z) { z = Neg(x) }")
    (d,) = graph.type(graph.inputs[0]).shape
    shared = graph.replace(types=graph.types | {graph.outputs[0]: TensorType(DType.FLOAT, (d,))})
    assert to_text(graph).splitlines()[0] == "g (float[?] x, float[?] y) => (z) {"
    assert to_text(shared).splitlines()[0] == f"g (float[{d}] x, float[?] y) => (float[{d}] z) {{"


# --- attributes


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("a = 3", AttrKind.INT, 3),
        ("a = -9223372036854775808", AttrKind.INT, -(1 << 63)),
        ("a = 1.5", AttrKind.FLOAT, 1.5),
        ("a = 1e2", AttrKind.FLOAT, 100.0),
        ("a: float = 2", AttrKind.FLOAT, 2.0),
        ("a = -inf", AttrKind.FLOAT, -math.inf),
        ("a = Infinity", AttrKind.FLOAT, math.inf),
        ('a = "s"', AttrKind.STRING, b"s"),
        ('a = "\\"\\\\\\n"', AttrKind.STRING, b'"\\n'),
        ('a = "é"', AttrKind.STRING, "é".encode()),
        ("a = [1, -2]", AttrKind.INTS, (1, -2)),
        ("a = [1.0, 2]", AttrKind.FLOATS, (1.0, 2.0)),
        ("a: floats = [1, 2]", AttrKind.FLOATS, (1.0, 2.0)),
        ('a = ["x", ""]', AttrKind.STRINGS, (b"x", b"")),
        ("a: ints = []", AttrKind.INTS, ()),
        ("a: graphs = []", AttrKind.GRAPHS, ()),
        ("a = float[2]", AttrKind.TYPE_PROTO, TensorType(DType.FLOAT, (2,))),
        (
            "a = [float, seq(int32)]",
            AttrKind.TYPE_PROTOS,
            (TensorType(DType.FLOAT, ()), SequenceType(TensorType(DType.INT32, ()))),
        ),
    ],
)
def test_attributes(text: str, kind: AttrKind, value: object) -> None:
    attr = only_attr(text)
    assert (attr.kind, attr.value) == (kind, value)
    assert type(attr.value) is type(value)
    written = to_text(Graph("g", (), (), (Node("Op", attrs={"a": attr}),)))
    again = parse_graph(written).nodes[0].attrs["a"]
    assert (again.kind, again.value) == (kind, value)


def test_floats_are_rounded_to_32_bits_and_written_as_short_as_can_be() -> None:
    attr = only_attr("a = 0.1")
    assert attr.value == 0.10000000149011612
    assert to_text(Graph("g", (), (), (Node("Op", attrs={"a": attr}),))) == "g () => () {\n   = Op <a = 0.1> ()\n}\n"


@pytest.mark.parametrize("number", [0.1, 1 / 3, 1e-45, 3.4028234663852886e38, -0.0, 16777216.0, 123456.79, math.nan])
def test_a_written_float_reads_back_with_the_same_bits(number: float) -> None:
    import struct

    attr = Attr("a", AttrKind.FLOAT, struct.unpack("<f", struct.pack("<f", number))[0])
    again = parse_graph(to_text(Graph("g", (), (), (Node("Op", attrs={"a": attr}),)))).nodes[0].attrs["a"]
    assert struct.pack("<f", again.value) == struct.pack("<f", number)


def test_references_may_leave_out_the_kind() -> None:
    for text, kind in (("a = @b", AttrKind.UNDEFINED), ("a: ints = @b", AttrKind.INTS)):
        attr = only_attr(text)
        assert isinstance(attr, AttrRef)
        assert (attr.kind, attr.ref) == (kind, "b")


def test_attributes_may_stand_after_the_inputs() -> None:
    graph = parse_graph("g (x) => (y) { y = A(x) <a = 1> [n] z = B(y) }")
    assert graph.nodes[0].attrs["a"].value == 1
    assert graph.nodes[1].name == "n"


def test_graphs_and_lists_of_graphs_are_bodies() -> None:
    bodies = 'one = b () => (x) {}, two: graph = "odd name" () => () {}, many = [c () => () {}, d () => () {}]'
    text = f"g (x) => (y) {{ y = A(x) <{bodies}> }}"
    node = parse_graph(text).nodes[0]
    assert [body.name for body in body_list(node)] == ["b", "odd name", "c", "d"]
    assert to_text(parse_graph(to_text(parse_graph(text)))) == to_text(parse_graph(text))


def test_lists_of_tensors_keep_their_elements() -> None:
    tensors = only_attr("a = [float {1}, int8[2] named = {1, 2}]").value
    assert [(one.dtype, one.shape, one.name, bytes(one.data)) for one in tensors] == [
        (DType.FLOAT, (), "", b"\0\0\x80?"),
        (DType.INT8, (2,), "named", b"\1\2"),
    ]


def test_names_that_are_no_identifiers_or_begin_a_type_are_quoted() -> None:
    text = 'g ("float", "a b") => ("") {\n   "0" = "my-domain"."Op.1":"v 1" <"a b" = 1> ("float", "a b")\n}\n'
    graph = parse_graph(text.replace('("") {', "() {"))
    node = graph.nodes[0]
    assert (node.domain, node.op_type, node.overload) == ("my-domain", "Op.1", "v 1")
    assert to_text(graph) == text.replace('("") {', "() {")


# --- tensors


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("int8[3] {-1, 0, 127}", b"\xff\0\x7f"),
        ("uint8[1] {255}", b"\xff"),
        ("bool[2] {1, 0}", b"\1\0"),
        ("int16[1] {-2}", b"\xfe\xff"),
        ("int64 {9223372036854775807}", b"\xff" * 7 + b"\x7f"),
        ("uint64[1] {18446744073709551615}", b"\xff" * 8),
        ("float[2] {1, -inf}", b"\0\0\x80?\0\0\x80\xff"),
        ("double[1] {0.1}", b"\x9a\x99\x99\x99\x99\x99\xb9?"),
        ("float16[1] {15360}", b"\0<"),
        ("bfloat16[1] {16256}", b"\x80?"),
        ("float8e4m3fn[1] {56}", b"8"),
        ("complex64[1] {1, 2}", b"\0\0\x80?\0\0\0@"),
        ("int4[3] {33, 3}", b"\x21\x03"),
        ("uint2[5] {228, 1}", b"\xe4\x01"),
        ("float6e2m3[5] {1, 2, 3, 63, 5}", b"\x81\x30\xfc\x05"),
        ("float[0] {}", b""),
        ("float[2, 0]  = {}", b""),
    ],
)
def test_tensors_are_packed_as_raw_data(text: str, data: bytes) -> None:
    found = tensor(text)
    assert bytes(found.data) == data
    again = parse_graph(to_text(Graph("g", (), (), (Node("Op", attrs={"a": Attr("a", AttrKind.TENSOR, found)}),))))
    read = again.nodes[0].attrs["a"].value
    assert (read.dtype, read.shape, bytes(read.data)) == (found.dtype, found.shape, data)


def test_strings_keep_bytes_that_are_not_utf_8() -> None:
    value, found = Value("s"), tensor('string[2] {"a\\"", "é"}')
    assert found.strings == (b'a"', "é".encode())
    odd = Tensor(DType.STRING, (1,), type(found.content)(lambda: (b"\xff\x00",)))
    graph = Graph("g", (), (value,), (), {value: odd})
    (again,) = parse_graph(to_text(graph)).initializers.values()
    assert again.strings == (b"\xff\x00",)


def test_external_data_keeps_its_entries_and_is_found_nowhere() -> None:
    text = 'g () => ()\n<\n   float[2] w = ["location": "w.bin", "offset": "8"]\n>\n{\n}\n'
    graph = parse_graph(text)
    (found,) = graph.initializers.values()
    assert found.is_external
    assert found.content.entries == (("location", "w.bin"), ("offset", "8"))
    assert to_text(graph) == text
    with pytest.raises(OnnxError, match="external-no-folder"):
        _ = found.data


def test_a_text_to_look_at_may_leave_elements_out() -> None:
    value = Value("w")
    graph = Graph("g", (), (value,), (), {value: tensor_of([1, 2, 3, 4])})
    assert "int64[4] w = {1, 2, ...}" in to_text(graph, max_elements=2)
    assert "{1, 2, 3, 4}" in to_text(graph, max_elements=4)


@pytest.mark.parametrize(
    "graph",
    [
        Graph("g", (), (), (), {}, {Value("s"): SparseTensor(tensor_of([1.0]), tensor_of([0]), (2,))}),
        Graph("g", (), (), (Node("A", attrs={"s": Attr("s", AttrKind.SPARSE_TENSOR, object())}),)),
        Graph("g", (), (), (Node("A", attrs={"s": Attr("s", AttrKind.TYPE_PROTO, None)}),)),
        Graph("g", (Value(""),), (), ()),
    ],
    ids=["sparse initializer", "sparse attribute", "empty type", "no name"],
)
def test_what_the_syntax_cannot_say_is_refused(graph: Graph) -> None:
    with pytest.raises(OnnxError) as caught:
        to_text(graph)
    assert caught.value.code == "not-in-text"


# --- faults


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected the name of a graph, found the end of the text"),
        ("g (x) => (y)\n{ y = A(x }", "line 2, column 11: expected ')', found '}'"),
        ("g (x) => (y) { y = A(x)", "line 1, column 24: expected a name, found the end of the text"),
        ("g (x) = (y) {}", "line 1, column 7: expected '=>', found '='"),
        ('g (x) => ("y) {}', "line 1, column 11: a string without a closing quote"),
        ("g (x) => (y) { y = A(x) ; }", "line 1, column 25: ';' begins nothing"),
        ("g () => () {} h", "line 1, column 15: expected the end of the text, found 'h'"),
        ("g (float[N x) => () {}", "line 1, column 12: expected ']', found 'x'"),
        ("g (float[-1] x) => () {}", "line 1, column 12: a dim cannot be -1"),
        ("g (float[1.5] x) => () {}", "line 1, column 10: expected a dim, a whole number; found 1.5"),
        ("g (seq(flot) x) => () {}", "line 1, column 8: 'flot' is not a type"),
        ("g (map(seq(float), float) x) => () {}", "line 1, column 8: expected the type of the keys, found 'seq'"),
        ('g ("") => () {}', "line 1, column 4: a value needs a name"),
        ("g (x = {1}) => () {}", "line 1, column 4: a tensor needs an element type and a shape"),
        ("g (float[N] x = {1}) => () {}", "line 1, column 13: the dims of a tensor are numbers"),
        ("g () => () <float[2] w = {1}> {}", "line 1, column 22: the shape needs 2 values, the braces hold 1"),
        ("g () => () <string[1] w = {}> {}", "line 1, column 23: the shape needs 1 values, the braces hold 0"),
        ("g () => () <float6e2m3[2] w = {1}> {}", "line 1, column 27: the shape needs 2 values, the braces hold 1"),
        ("g () => () <int8[1] w = {128}> {}", "line 1, column 26: a number does not fit the element type"),
        ("g () => () <float[1] w = {1e39}> {}", "line 1, column 27: a number does not fit the element type"),
        ("g () => () <float[1] w = {x}> {}", "line 1, column 27: expected a number, found 'x'"),
        ("g () => () <int64[1] w = {1.5}> {}", "line 1, column 27: expected a number, a whole number; found 1.5"),
        ("g () => () { = A <a = 1, a = 2> () }", "line 1, column 26: attribute 'a' is given twice"),
        ("g () => () { = A <a: bools = 1> () }", "line 1, column 22: 'bools' is not a kind of attribute"),
        ("g () => () { = A <a = []> () }", "line 1, column 24: an empty list needs a kind, as in a: ints = []"),
        ("g () => () { = A <a: int = [1]> () }", "line 1, column 29: int is not a list"),
        ("g () => () { = A <a: int = 1.5> () }", "line 1, column 28: expected a value of kind int, found float"),
        ("g () => () { = A <a = [1, 2.5]> () }", "line 1, column 27: expected a value of kind int, found float"),
        ("g () => () { = A <a: ints = 3> () }", "line 1, column 29: expected a value of kind ints, found int"),
        (
            "g () => () { = A <a = 9223372036854775808> () }",
            "line 1, column 23: 9223372036854775808 does not fit 64 bits",
        ),
        ("g () => () { = A <a = 1e39> () }", "line 1, column 23: 1e+39 does not fit a 32-bit float"),
        ("g () => () { = A <a = )> () }", "line 1, column 23: expected a value, found ')'"),
        ("g () => () { = A <a = -b> () }", "line 1, column 24: expected a number, found 'b'"),
    ],
)
def test_a_fault_is_told_with_line_and_column(text: str, message: str) -> None:
    assert refused(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<ir_vers: 3> g () => () {}", "line 1, column 2: 'ir_vers' is none of ir_version, "),
        ('<overload: "o"> g () => () {}', "line 1, column 2: 'overload' is none of ir_version, "),
        ('<ir_version: 3 domain: "d"> g () => () {}', "line 1, column 16: expected '>', found 'domain'"),
        ('<ir_version: "3"> g () => () {}', "line 1, column 14: expected ir_version, found '\"3\"'"),
        ("<opset_import: 3> g () => () {}", "line 1, column 16: expected '[', found '3'"),
        ("g () => () {} <ir_version: 3> f () => () {}", "line 1, column 16: 'ir_version' is none of domain, "),
    ],
)
def test_a_fault_of_a_header_is_told_likewise(text: str, message: str) -> None:
    assert refused(text, parse_model).startswith(message)


FUNCTION_TWICE = "line 2, column 1: ai.onnx::f is defined twice"
UNDEFINED_P = "line 2, column 5: 'p' is not defined up to here"


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("g (x, x) => () {}", "value-twice", "line 1, column 7: 'x' is defined twice"),
        ("g (x) => () { y, x = A() }", "value-twice", "line 1, column 18: 'x' is defined twice"),
        ("g () => () <float k = {1}, float k = {1}> {}", "value-twice", "line 1, column 34: 'k' is defined twice"),
        ("g () => (y) {}", "value-undefined", "line 1, column 10: 'y' is not defined up to here"),
        ("g () => () { = A(b) b = B() }", "value-undefined", "line 1, column 18: 'b' is not defined up to here"),
        ("g () => () { = A() <a=h () => (p) { p = B() }>\n= C(p) }", "value-undefined", UNDEFINED_P),
        ("g () => () {} f () => () {}\nf () => () {}", "function-twice", FUNCTION_TWICE),
    ],
)  # fmt: skip
def test_names_are_defined_once_and_before_they_are_read(text: str, code: str, message: str) -> None:
    with pytest.raises(OnnxError) as caught:
        parse_model(text)
    assert (caught.value.code, caught.value.message) == (code, message)


@pytest.mark.parametrize("opening", ["seq(", "optional("])
def test_types_nest_to_a_limit(opening: str) -> None:
    only_type(opening * 64 + "float" + ")" * 64)
    with pytest.raises(OnnxError, match="types nest more than 64 deep"):
        only_type(opening * 65 + "float" + ")" * 65)


def test_graphs_nest_to_a_limit() -> None:
    def nested(levels: int) -> str:
        return "g () => () { = A() <b = " * (levels - 1) + "g () => () {}" + "> }" * (levels - 1)

    assert parse_graph(nested(64)).nodes
    with pytest.raises(OnnxError) as caught:
        parse_graph(nested(65))
    assert caught.value.code == "nesting-too-deep"
    with pytest.raises(OnnxError, match="graphs nest more than 64 deep"):
        parse_graph(nested(5000))
