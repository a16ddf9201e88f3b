"""Rules for comparisons, for bools, and for the bits of integers."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.call import FLOATS, INTEGERS, UNSIGNED, Fact
from sardonyx.ops.common import integers, predicates
from sardonyx.ops.common.broadcast import broadcast
from sardonyx.ops.common.contents import count_of, elementwise, useful
from sardonyx.ops.onnx.math import legacy
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call, Content, Element
    from sardonyx.ops.rules import Rule

    Comparison = Callable[[Call, Element, Element], Element]

rules = Rules("")


def compared(function: Comparison) -> Rule:
    """Return the rule of a comparison of two tensors that broadcast."""

    def rule(call: Call) -> TensorType | Fact:
        a, b = call.tensor(0), call.tensor(1)
        shape = a.shape if a.shape is b.shape else broadcast(call, a.shape, b.shape)
        kind = TensorType(DType.BOOL, shape)
        if count_of(shape) is None or a.dtype is not b.dtype:
            return kind
        return Fact(kind, elementwise(call, (a, b), shape, lambda x, y: function(call, x, y)))

    return rule


def before_broadcasting(call: Call) -> TensorType:
    """Before opset 7 B broadcasts to A when `broadcast` says so, from an `axis` on."""
    return legacy(call, call.tensor(0), call.tensor(1), DType.BOOL)


def greater(call: Call, a: Element, b: Element) -> Element:
    """Return whether `a > b`."""
    return predicates.less(call, b, a)


def less_or_equal(call: Call, a: Element, b: Element) -> Element:
    """Return whether `a <= b`."""
    return predicates.at_least(call, b, a)


COMPARISONS: dict[str, tuple[int, Comparison]] = {
    "Equal": (7, predicates.equals),
    "Less": (7, predicates.less),
    "Greater": (7, greater),
    "LessOrEqual": (12, less_or_equal),
    "GreaterOrEqual": (12, predicates.at_least),
    "And": (7, lambda call, a, b: predicates.conjunction(a, b)),
    "Or": (7, lambda call, a, b: predicates.disjunction(a, b)),
    "Xor": (7, lambda call, a, b: predicates.difference(a, b)),
}
"""Operator to the opset from which it broadcasts as numpy does, and what it does to two elements."""

for name, (since, function) in COMPARISONS.items():
    rules.add(name, since, compared(function))
    if since > 1 and name not in ("LessOrEqual", "GreaterOrEqual"):
        rules.add(name, 1, before_broadcasting)


@rules("Not", since=1)
def opposite(call: Call) -> TensorType | Fact:
    """Negate a bool tensor."""
    x = call.tensor(0)
    content = call.known(0) if count_of(x.shape) is not None else None
    return x if content is None else Fact(x, tuple(map(predicates.negation, content)))


def tested(function: Callable[[float], bool]) -> Rule:
    """Return the rule of a question about each float."""

    def rule(call: Call) -> TensorType | Fact:
        x = call.tensor(0)
        kind = TensorType(DType.BOOL, x.shape)
        content = call.known(0) if x.dtype in FLOATS and count_of(x.shape) is not None else None
        if content is None:
            return kind
        return Fact(kind, useful(tuple(function(one) if isinstance(one, float) else None for one in content)))

    return rule


rules.add("IsNaN", 9, tested(lambda one: one != one))


@rules("IsInf", since=10)
def is_infinite(call: Call) -> TensorType:
    """Ask of each float whether it is infinite."""
    return TensorType(DType.BOOL, call.tensor(0).shape)


# ---------------------------------------------------------------- bits


def bitwise(function: Callable[[int, int], int]) -> Rule:
    """Return the rule of an operation on the bits of two integers."""

    def rule(call: Call) -> TensorType | Fact:
        a, b = call.tensor(0), call.tensor(1)
        shape = broadcast(call, a.shape, b.shape)
        dtype = a.dtype or b.dtype
        kind = TensorType(dtype, shape)
        if dtype not in INTEGERS or count_of(shape) is None:
            return kind
        return Fact(kind, bits(call, (a, b), kind, function))

    return rule


def bits(
    call: Call, kinds: tuple[TensorType, ...], kind: TensorType, function: Callable[[int, int], int]
) -> Content | None:
    """Return what an operation makes of the bits of known integers."""
    dtype = kind.dtype

    def calculate(a: Element, b: Element) -> Dim:
        known = isinstance(a, int) and isinstance(b, int)
        if dtype is None or not known:
            return integers.unknown(call, dtype or DType.INT64)
        return integers.fit(call, function(a, b), dtype)  # type: ignore[arg-type]

    return elementwise(call, kinds, kind.shape, calculate)


rules.add("BitwiseAnd", 18, bitwise(lambda a, b: a & b))
rules.add("BitwiseOr", 18, bitwise(lambda a, b: a | b))
rules.add("BitwiseXor", 18, bitwise(lambda a, b: a ^ b))


@rules("BitwiseNot", since=18)
def bitwise_not(call: Call) -> TensorType | Fact:
    """Flip every bit."""
    x = call.tensor(0)
    content = call.known(0) if x.dtype in INTEGERS and count_of(x.shape) is not None else None
    if content is None or x.dtype is None:
        return x
    most = integers.LIMITS[x.dtype][1] if x.dtype in UNSIGNED else -1
    return Fact(x, tuple([most - one if isinstance(one, int) else integers.unknown(call, x.dtype) for one in content]))


@rules("BitShift", since=11)
def shift(call: Call) -> TensorType | Fact:
    """Shift integers; what is shifted out is lost, and a signed number keeps its sign to the right."""
    a, b = call.tensor(0), call.tensor(1)
    shape = broadcast(call, a.shape, b.shape)
    dtype = a.dtype or b.dtype
    kind = TensorType(dtype, shape)
    direction = call.str("direction")
    if direction not in ("LEFT", "RIGHT"):
        call.fail("bad-attribute", f"direction is {direction!r}, must be 'LEFT' or 'RIGHT'", attr="direction")
    if dtype not in INTEGERS or dtype is None or count_of(shape) is None:
        return kind
    width, (least, most) = dtype.bits, integers.LIMITS[dtype]

    def shifted(x: int, y: int) -> int:
        if not 0 <= y < width:  # before opset 28 a run may do anything
            return most + 1
        if direction == "RIGHT":
            return x >> y
        found = (x << y) & ((1 << width) - 1)
        return found - (1 << width) if least < 0 and found > most else found

    return Fact(kind, bits(call, (a, b), kind, shifted))


# ---------------------------------------------------------------- Where


@rules("Where", since=9)
def where(call: Call) -> TensorType | Fact:
    """Take X where the condition holds, else Y; all three broadcast."""
    condition, x, y = call.tensor(0), call.tensor(1), call.tensor(2)
    shape = broadcast(call, condition.shape, x.shape, y.shape)
    kind = TensorType(x.dtype or y.dtype, shape)
    if shape is None or (shape and type(shape[0]) is not int) or count_of(shape) is None:
        return kind
    if x.dtype is not y.dtype or condition.dtype is not DType.BOOL:
        return kind
    content = elementwise(call, (condition, x, y), shape, lambda c, a, b: predicates.choose(call, c, a, b))
    if content is None:
        return kind
    if kind.dtype in INTEGERS:
        dtype = kind.dtype or DType.INT64
        content = tuple([integers.unknown(call, dtype) if one is None else one for one in content])
    return Fact(kind, content)
