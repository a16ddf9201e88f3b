"""Read and print types and elements in the short form that operator cases are written in.

f32[b,2*s+1]            a tensor; f32[] is a scalar, f32 has an unknown rank, ?[2] an unknown element type
i64[3]=[b,-1,?]         with its elements, row by row; `?` is an element, or a dim, that is not known
bool[2]=[True,b-4>=0]   a comparison that is not decided; also `x==0`, and `not` before either
f32[1]=[s/4]            an exact fraction; f32[1]=[0.5] a number; str[2]=["a","b"]
i64[2]=?                elements of which nothing is known (in an expected output)
seq(f32[2,n])*3         a sequence, its length if known; seq[f32[2], f32[3]] one whose elements are known each
opt(f32[2])  map(str,f32[])  sparse(f32[3,3])
-                       an input that is omitted; `?` alone is a value of which nothing is known
"""

from __future__ import annotations

from sardonyx.dims import Expr, Symbol
from sardonyx.ir.types import (
    DType,
    MapType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
)
from sardonyx.ops.call import Fact, Quotient, Ratio, Test

SHORT = {
    "f32": DType.FLOAT, "f64": DType.DOUBLE, "f16": DType.FLOAT16, "bf16": DType.BFLOAT16, "i64": DType.INT64,
    "i32": DType.INT32, "i16": DType.INT16, "i8": DType.INT8, "u64": DType.UINT64, "u32": DType.UINT32,
    "u16": DType.UINT16, "u8": DType.UINT8, "i4": DType.INT4, "u4": DType.UINT4, "i2": DType.INT2, "u2": DType.UINT2,
    "bool": DType.BOOL, "str": DType.STRING, "c64": DType.COMPLEX64, "c128": DType.COMPLEX128,
    "f8e4m3fn": DType.FLOAT8E4M3FN, "f8e4m3fnuz": DType.FLOAT8E4M3FNUZ, "f8e5m2": DType.FLOAT8E5M2,
    "f8e5m2fnuz": DType.FLOAT8E5M2FNUZ, "f8e8m0": DType.FLOAT8E8M0, "f4": DType.FLOAT4E2M1, "?": None,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in SHORT.items()}
FLOATS = (DType.FLOAT, DType.DOUBLE, DType.FLOAT16, DType.BFLOAT16)
OMITTED = object()
"""Stands for an input that is not given."""


def pieces(text, separator=","):
    """Split a text where no bracket or quote is open; whitespace separates when `separator` is None."""
    found, depth, start, quoted = [], 0, 0, False
    for at, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif depth == 0 and (char.isspace() if separator is None else char == separator):
            found.append(text[start:at])
            start = at + 1
    found.append(text[start:])
    return [piece.strip() for piece in found if piece.strip()]


class Reader:
    """Reads words in one scope; unknown dims become fresh symbols, or None with `wildcards`."""

    def __init__(self, scope, wildcards=False):
        self.scope = scope
        self.wildcards = wildcards

    def facts(self, text):
        """Return the facts of a list of inputs or outputs."""
        return [self.fact(word) for word in pieces(text, None)]

    def fact(self, word):
        """Return what one word says: a `Fact`, or `OMITTED`."""
        if word == "-":
            return OMITTED
        if word == "?":
            return Fact(None, None)
        text, equals, elements = word.partition("]=")
        if not equals:
            return Fact(self.type(word), None)
        kind = self.type(text + "]")
        if elements == "?":
            return Fact(kind, ())  # an expectation only: `()` for a tensor that has elements means none is known
        return Fact(kind, tuple(self.element(one, kind.dtype) for one in pieces(elements[1:-1])))

    def type(self, text):
        """Return the type that a text stands for."""
        if text == "?":
            return None
        for word, make in (("opt", OptionalType), ("sparse", None), ("map", None), ("seq", None)):
            if text.startswith((word + "(", word + "[")):
                return self.container(word, text, make)
        name, bracket, dims = text.partition("[")
        shape = tuple(self.dim(dim) for dim in pieces(dims[:-1])) if bracket else None
        return TensorType(SHORT[name], shape)

    def container(self, word, text, make):
        if text.startswith("seq["):
            elements = tuple(self.type(one) for one in pieces(text[4:-1]))
            dtypes = {one.dtype for one in elements}
            same = all(one == elements[0] for one in elements)
            elem = elements[0] if elements and same else TensorType(dtypes.pop(), None) if len(dtypes) == 1 else None
            return SequenceType(elem, elements, len(elements))
        close = text.rindex(")")
        inside, length = text[len(word) + 1 : close], text[close + 2 :]
        if word == "seq":
            return SequenceType(self.type(inside) if inside else None, None, self.dim(length) if length else None)
        if word == "map":
            key, value = pieces(inside)
            return MapType(SHORT[key], self.type(value))
        if word == "sparse":
            dense = self.type(inside)
            return SparseTensorType(dense.dtype, dense.shape)
        return make(self.type(inside) if inside else None)

    def dim(self, text, signed=False):
        """Return a dim or an integer element."""
        if text == "?":
            return None if self.wildcards else self.scope.fresh(signed=signed)
        try:
            return int(text)
        except ValueError:
            return self.scope.simplify(self.scope.parse(text))

    def element(self, text, dtype):
        """Return one element of a tensor."""
        if dtype is DType.STRING:
            return None if text == "?" else text.strip('"').encode()
        if dtype is DType.BOOL:
            return self.test(text)
        if dtype in FLOATS:
            if text == "?":
                return None
            try:
                return float(text)
            except ValueError:
                whole, slash, divisor = text.rpartition("/")
                return (
                    fraction(self.dim(whole), int(divisor))
                    if slash and divisor.isdigit() and not whole.endswith("/")
                    else Ratio(self.dim(text))
                )
        return self.dim(text, signed=True)

    def test(self, text):
        if text in ("True", "False", "?"):
            return {"True": True, "False": False, "?": None}[text]
        negated = text.startswith("not ")
        text = text.removeprefix("not ")
        for sign in (">=", "=="):
            left, found, right = text.partition(sign)
            if found:
                return Test(self.dim(left) - self.dim(right), sign == "==", negated)
        raise ValueError(text)


def fraction(expr, divisor):
    """Return `expr / divisor` as an element: exact by a power of two, else what a run rounds it to."""
    return (Quotient if divisor & (divisor - 1) else Ratio)(expr, divisor)


def write(fact):
    """Print a fact as a case would spell it."""
    if fact is OMITTED:
        return "-"
    text = write_type(fact.type)
    if fact.content is not None:
        text += f"=[{','.join(write_element(one) for one in fact.content)}]"
    return text


def write_type(kind):
    if kind is None:
        return "?"
    if isinstance(kind, SparseTensorType):
        return f"sparse({write_type(TensorType(kind.dtype, kind.shape))})"
    if isinstance(kind, TensorType):
        return NAMES.get(kind.dtype, str(kind.dtype)) + (
            "" if kind.shape is None else f"[{','.join(map(write_element, kind.shape))}]"
        )
    if isinstance(kind, SequenceType):
        if kind.elements is not None:
            return f"seq[{', '.join(map(write_type, kind.elements))}]"
        length = "" if kind.length is None else f"*{write_element(kind.length)}"
        return f"seq({'' if kind.elem is None else write_type(kind.elem)}){length}"
    if isinstance(kind, OptionalType):
        return f"opt({'' if kind.elem is None else write_type(kind.elem)})"
    if isinstance(kind, MapType):
        return f"map({NAMES[kind.key]},{write_type(kind.value)})"
    return str(kind)


def write_element(one):
    if one is None or (isinstance(one, Symbol) and one.anonymous):
        return "?"
    if isinstance(one, Test):
        return f"{'not ' if one.negated else ''}{one.expr}{'==' if one.equal else '>='}0"
    if isinstance(one, (Ratio, Quotient)):
        return f"{one.expr}" + ("" if one.divisor == 1 else f"/{one.divisor}")
    if isinstance(one, bytes):
        return f'"{one.decode()}"'
    if isinstance(one, Expr):
        return str(one).replace(" ", "")
    return str(one)
