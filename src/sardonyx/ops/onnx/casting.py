"""Rules for conversions of element types."""

from __future__ import annotations

from sardonyx.dims import Expr
from sardonyx.ir.types import DTYPES, DType, TensorType
from sardonyx.ops.call import FLOATS, INTEGERS, Fact, Quotient, Ratio, Test
from sardonyx.ops.common import floats, integers, predicates
from sardonyx.ops.common.contents import count_of, useful
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call, Content, Element

rules = Rules("")


@rules("Cast", since=1)
def cast_by_name(call: Call) -> TensorType | Fact:
    """Convert to the type whose name `to` is: the form of opset 1 to 5."""
    name = call.str("to")
    for dtype in DTYPES[1:]:
        if dtype.name == name.upper():
            return converted(call, dtype)
    return call.fail("bad-element-type", f"{name!r} is not an element type", attr="to")


@rules("Cast", since=6)
def cast(call: Call) -> TensorType | Fact:
    """Convert to the element type `to`."""
    return converted(call, call.dtype("to"))


@rules("CastLike", since=15)
def cast_like(call: Call) -> TensorType | Fact:
    """Convert to the element type of the second input."""
    like = call.peek(1)
    dtype = like.dtype if isinstance(like, TensorType) else None
    return converted(call, dtype)


def converted(call: Call, dtype: DType | None) -> TensorType | Fact:
    """Return the input's type with another element type, and its elements converted."""
    kind = call.peek(0)
    if kind is None:
        return TensorType(dtype, None)
    if not isinstance(kind, TensorType):
        call.fail("wrong-kind", f"input 0 is a {kind.type_str}, not a tensor")
    shape = kind.shape
    result = TensorType(dtype, shape)
    if shape is None or dtype is None or (shape and type(shape[0]) is not int) or count_of(shape) is None:
        return result
    content = call.content(0) if kind.dtype in INTEGERS and is_few(shape) else call.known(0)
    if content is None or kind.dtype is None:
        return result
    if dtype is kind.dtype:
        return Fact(result, content)
    return Fact(result, convert(call, content, kind.dtype, dtype))


def is_few(shape: Shape) -> bool:
    """Return whether a tensor is a number or a short list of them."""
    return not shape or (len(shape) == 1 and isinstance(shape[0], int) and shape[0] <= 16)


def convert(call: Call, content: Content, old: DType, new: DType) -> Content | None:
    """Return elements of one type as elements of another; None when nothing is known of them."""
    if new in INTEGERS:
        return tuple([to_integer(call, one, old, new) for one in content])
    if new in FLOATS:
        return useful(tuple([to_float(call, one, old, new) for one in content]))
    if new is DType.BOOL:
        return useful(tuple([to_bool(call, one) for one in content]))
    return None


def to_integer(call: Call, one: Element, old: DType, new: DType) -> Element:
    """Return an element as an integer; one that wraps around in a run is unknown."""
    if isinstance(one, Test):
        return predicates.selected(call, one, 1, 0)
    if isinstance(one, bool):
        return int(one)
    if isinstance(one, (int, Expr)):
        return integers.fit(call, one, new)
    if isinstance(one, (float, Ratio, Quotient)):
        return floats.to_integer(call, new, one)
    return integers.unknown(call, new)


def to_float(call: Call, one: Element, old: DType, new: DType) -> Element:
    """Return an element as a float."""
    if isinstance(one, bool):
        return float(one)
    if isinstance(one, (int, Expr)):
        return floats.from_integer(call, new, one)
    if isinstance(one, (float, Ratio)) and old in FLOATS:
        return floats.reround(call, new, one)
    return None


def to_bool(call: Call, one: Element) -> Element:
    """Return whether an element is not 0."""
    if isinstance(one, (Ratio, Quotient)):
        one = one.expr
    if isinstance(one, (int, Expr)):
        return predicates.negation(predicates.equals(call, one, 0))
    return one != 0 if isinstance(one, float) else None


@rules("BitCast", since=26)
def bit_cast(call: Call) -> TensorType:
    """Read the bits of each element as another type of the same width."""
    dtype = call.dtype("to")
    kind = call.tensor(0)
    if kind.dtype is not None and kind.dtype.bits != dtype.bits:
        call.fail(
            "bad-element-type",
            f"{kind.dtype.text} has {kind.dtype.bits} bits, {dtype.text} has {dtype.bits}",
            attr="to",
        )
    return kind.with_dtype(dtype)
