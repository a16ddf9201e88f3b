"""Our reading of the text syntax against that of the onnx package, and our texts read by it."""

from __future__ import annotations

from pathlib import Path

import pytest

import sardonyx as sx
from sardonyx.errors import OnnxError
from sardonyx.ir.text import parse_model, to_text

parser = pytest.importorskip("onnx.parser")
import onnx  # noqa: E402
import onnx.printer  # noqa: E402

HEAD = '<ir_version: 10, opset_import: ["" : 21, "d" : 1]> '
TEXTS = [
    "g () => () {}",
    'g (float[2, N, "a b"] x, float[] y, float z) => (float[N] k) <float[1] k = {1}> {}',
    "g (seq(float[2]) s, map(int64, string) m, optional(seq(int8[])) o, sparse_tensor(float[3]) t) => () {}",
    "g (opaque(a, b) x, opaque(c) y) => () {}",
    'g ("x y", "1") => (z) { z = Add("x y", "1") }',
    'g (x) => (a) { a, "", b = A(x, "", x,) c = B(, x) = C() }',
    """g (float[2] x = {1, 2}, y) => (z) <float[1] w = {3}, float[N] z, int64[2, 2] k = {1, 2, 3, 4}> {
        z = A(x, w, k)
    }""",
    r"""g (x) => (y) {
        y = A <a = 1, b = -2.5, c = "s\"\\", d = [1, 2], e = [0.5, 1], f = ["p", "q"], g: floats = []> (x)
    }""",
    "g (x) => (y) { y = A <a: float = 3, b: floats = [1, 2], c = inf, d = -inf, e = 1e-3, f = 1.> (x) }",
    """g (x) => (y) {
        y = A <a = float[2] {1, 2}, b = int8 {3}, c = string[1] n = {"s"}, d = uint64 {18446744073709551615}> (x)
    }""",
    "g (x) => (y) { y = A <a = float[2], b = seq(float), c: type_proto = int64[N]> (x) }",
    """g (x) => (y) {
        y = A <a = float16[2] {15360, 0}, b = bfloat16 {16256}, c = bool[2] {1, 0}, d = complex64[1] {1, 2}> (x)
    }""",
    """g (x) => (y) {
        y = A <a = int4[3] {33, 3}, b = uint2[4] {228}, c = float8e4m3fn {56}, d = float6e3m2[2] {1, 63}> (x)
    }""",
    "g (x) => (y) { y = A <a = float4e2m1[2] {33}, b = float8e8m0 {127}, c = double[2] {0.1, -inf}> (x) }",
    """g (c, x) => (y) {
        [n] y = If (c) <
            then_branch = t () => (p) <float[1] w = {1}> { p = Add(x, w) },
            else_branch = e () => (q) { q = Neg(x) }
        >
    }""",
    """g (x) => (y) { y = d.f:o<a = 1>(x) }
    <domain: "d", overload: "o", opset_import: ["": 21]>
    f <a, b: float = 1.5, c = [1, 2]> (float[N] p) => (q) <float[N] t> {
        t = Neg <axis: int = @a, r = @b> (p)
        q = Abs(t)
    }""",
]


def reading(text: str) -> str:
    """Return the dump of what the onnx package reads."""
    return sx.dump(sx.load(onnx.parser.parse_model(text).SerializeToString(), external_data="lazy"))


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_means_what_the_onnx_package_reads(text: str) -> None:
    ours = parse_model(HEAD + text)
    assert sx.dump(sx.load(sx.to_bytes(ours))) == reading(HEAD + text)


@pytest.mark.parametrize("text", TEXTS)
def test_the_onnx_package_reads_what_is_printed(text: str) -> None:
    assert reading(to_text(parse_model(HEAD + text))) == reading(HEAD + text)


@pytest.mark.parametrize("text", TEXTS)
def test_what_the_onnx_package_prints_is_read(text: str) -> None:
    proto = onnx.parser.parse_model(HEAD + text)
    printed = onnx.printer.to_text(proto)
    if "..." in printed or proto.functions:
        pytest.skip("the onnx package prints neither elements of these types nor all of a function")
    assert to_text(parse_model(printed)) == to_text(parse_model(HEAD + text))


def test_unknown_dims_are_read_alike() -> None:
    text = HEAD + "g (float[?, 2, ?] x) => (float[?] y) { y = A(x) }"
    assert to_text(sx.load(onnx.parser.parse_model(text).SerializeToString())) == to_text(parse_model(text))


@pytest.mark.parametrize(
    "text",
    [
        "g (x) => (y) { y = A(x }",
        "g (x) = (y) {}",
        "g (float[N x) => () {}",
        "g (flot[2] x) => () {}",
        "g () => () { = A <a = []> () }",
        "g () => () { = A <a: int = 1.5> () }",
        "g () => () { = A <a = [1, 2.5]> () }",
        "g () => () {} trailing",
        "<ir_vers: 1> g () => () {}",
    ],
)
def test_neither_reads_a_text_that_is_wrong(text: str) -> None:
    with pytest.raises(OnnxError):
        parse_model(text)
    with pytest.raises(parser.ParseError):
        parser.parse_model(text)


def test_models_of_the_corpus_survive_a_printing(shared: Path) -> None:
    for path in sorted((shared / "corpus").glob("*.onnx")):
        if path.stat().st_size > 100_000 or path.stem == "proto_corners":  # which has a sparse initializer
            continue
        text = to_text(sx.load(path, external_data="lazy"))
        assert to_text(parse_model(text)) == text, path.name
        again = sx.load(onnx.parser.parse_model(text).SerializeToString(), external_data="lazy")
        assert to_text(again) == text, path.name
