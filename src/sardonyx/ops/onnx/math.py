"""Rules for elementwise arithmetic, of every opset, with what it does to known elements."""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.call import FLOATS, INTEGERS, Fact
from sardonyx.ops.common import floats, integers
from sardonyx.ops.common.broadcast import broadcast
from sardonyx.ops.common.contents import columns, count_of, elementwise, lanes, useful
from sardonyx.ops.common.sizes import joined
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.dims import Dim
    from sardonyx.ir.types import DType, Shape
    from sardonyx.ops.call import Call, Content, Element
    from sardonyx.ops.rules import Rule

rules = Rules("")


def same_as_first(call: Call) -> TensorType:
    """Return the type of the first input: elementwise functions of one tensor."""
    return call.tensor(0)


rules.table(
    same_as_first,
    {
        "Acos": 7, "Acosh": 9, "Asin": 7, "Asinh": 9, "Atan": 7, "Atanh": 9, "Celu": 12, "Cos": 7, "Cosh": 9, "Elu": 1,
        "Erf": 9, "Exp": 1, "Gelu": 20, "HardSigmoid": 1, "HardSwish": 14, "LeakyRelu": 1, "Log": 1, "Mish": 18,
        "Selu": 1, "Shrink": 9, "Sigmoid": 1, "Sin": 7, "Sinh": 9, "Softplus": 1, "Softsign": 1,
        "Swish": 24, "Tan": 7, "Tanh": 1, "ThresholdedRelu": 1,
    },
)  # fmt: skip


# ---------------------------------------------------------------- of one tensor


def unary(whole: Callable[[Call, Dim], Dim] | None, real: floats.Unary) -> Rule:
    """Return the rule of a function of one tensor that is known for integer and for float elements."""

    def rule(call: Call) -> TensorType | Fact:
        kind = call.tensor(0)
        shape = kind.shape
        if shape is None or len(shape) > 2 or count_of(shape) is None:
            return kind
        content = call.known(0)
        dtype = kind.dtype
        if content is None or dtype is None:
            return kind
        if dtype in FLOATS:
            return Fact(kind, useful(tuple(map(floats.apply1(call, real, dtype), content))))
        if dtype in INTEGERS and whole is not None:
            operation = whole
            calculate = integers.apply(call, lambda call, a, _: operation(call, a), dtype)
            return Fact(kind, tuple([calculate(one, 0) for one in content]))  # type: ignore[arg-type]
        return kind

    return rule


def negative(call: Call, a: Dim) -> Dim:
    """Return `-a`."""
    return -a


def positive_part(call: Call, a: Dim) -> Dim:
    """Return `max(a, 0)`."""
    return call.scope.maximum(a, 0)


def sign(call: Call, a: Dim) -> Dim:
    """Return 1, 0 or -1."""
    if isinstance(a, int):
        return (a > 0) - (a < 0)
    if call.scope.at_least(a, 1):
        return 1
    return -1 if call.scope.at_least(-1, a) else integers.unknown(call)


def positive_part_of_float(call: Call, dtype: DType, a: Element) -> Element:
    """Return `max(a, 0)`."""
    return floats.larger(call, dtype, a, 0.0)


def sign_of_float(call: Call, dtype: DType, a: Element) -> Element:
    """Return 1, 0 or -1."""
    return float((a > 0) - (a < 0)) if isinstance(a, float) and a == a else None


for name, whole, real in (
    ("Abs", integers.absolute, floats.absolute),
    ("Neg", negative, floats.negative),
    ("Relu", positive_part, positive_part_of_float),
    ("Sign", sign, sign_of_float),
    ("Ceil", None, floats.round_up),
    ("Floor", None, floats.round_down),
    ("Round", None, floats.round_even),
    ("Sqrt", None, floats.square_root),
    ("Reciprocal", None, floats.reciprocal),
):
    rules.add(name, 1, unary(whole, real))


# ---------------------------------------------------------------- of two tensors and more


def arithmetic(whole: integers.Operation, real: floats.Binary | None) -> Rule:
    """Return the rule of a function of two tensors that broadcast, known for integer and for float elements."""

    def rule(call: Call) -> TensorType | Fact:
        a, b = call.tensor(0), call.tensor(1)
        shape = a.shape
        if shape is not b.shape and shape != b.shape:
            shape = broadcast(call, shape, b.shape)
        dtype = a.dtype or b.dtype
        kind = a if shape is a.shape and dtype is a.dtype else TensorType(dtype, shape)
        if shape is None or (shape and type(shape[0]) is not int):
            return kind
        content = calculated(call, (a, b), dtype, shape, whole, real)
        return kind if content is None else Fact(kind, content)

    return rule


def calculated(
    call: Call,
    kinds: tuple[TensorType, ...],
    dtype: DType | None,
    shape: Shape | None,
    whole: integers.Operation,
    real: floats.Binary | None,
) -> Content | None:
    """Return the elements of an operation on two tensors of one element type."""
    for kind in kinds:
        if kind.dtype is not dtype:
            return None
    if dtype in INTEGERS:
        return elementwise(call, kinds, shape, integers.apply(call, whole, dtype))
    if dtype in FLOATS and real is not None:
        return elementwise(call, kinds, shape, floats.apply2(call, real, dtype))
    return None


def before_broadcasting(call: Call) -> TensorType:
    """Before opset 7 B broadcasts to A when `broadcast` says so, from an `axis` on."""
    a, b = call.tensor(0), call.tensor(1)
    return legacy(call, a, b, a.dtype or b.dtype)


def legacy(call: Call, a: TensorType, b: TensorType, dtype: DType | None) -> TensorType:
    """Return the type that a binary operator before opset 7 gives: the shape of A, into which B must fit."""
    if a.shape is None or b.shape is None:
        return TensorType(dtype, a.shape)
    left, right = a.shape, b.shape
    if not call.int("broadcast", 0):
        if len(left) != len(right):
            call.fail("rank-mismatch", f"A has {len(left)} dims and B has {len(right)}, and broadcast is not set")
        return TensorType(
            dtype,
            tuple(
                joined(call, mine, other, f"axis {axis} is {mine} in A and {other} in B, and broadcast is not set")
                for axis, (mine, other) in enumerate(zip(left, right, strict=True))
            ),
        )
    axis = call.int("axis", None)
    start = len(left) - len(right) if axis is None else call.axis(axis, len(left), attr="axis")
    if start < 0 or start + len(right) > len(left):
        call.fail("rank-mismatch", f"B has {len(right)} dims, which do not fit into the {len(left)} of A")
    for mine, other in zip(left[start:], right, strict=False):
        if isinstance(mine, int) and isinstance(other, int) and mine != other and other != 1:
            call.fail("dim-mismatch", f"B has a dim {other} where A has {mine}")
    return TensorType(dtype, left)


BINARY: dict[str, Rule] = {
    "Add": arithmetic(integers.add, floats.add),
    "Sub": arithmetic(integers.subtract, floats.subtract),
    "Mul": arithmetic(integers.multiply, floats.multiply),
    "Div": arithmetic(integers.divide, floats.divide),
}
for name, rule in BINARY.items():
    rules.add(name, 7, rule)
    rules.add(name, 1, before_broadcasting)


@rules("Pow", since=7)
def power(call: Call) -> TensorType | Fact:
    """Raise X to Y, broadcast; the element type is that of X, Y may have another."""
    x, y = call.tensor(0), call.tensor(1)
    shape = broadcast(call, x.shape, y.shape)
    kind = TensorType(x.dtype, shape)
    if count_of(shape) is None or x.dtype is None:
        return kind
    found = columns(call, (x, y), shape) if x.dtype in INTEGERS or x.dtype in FLOATS else None
    if found is None:
        return kind
    base, exponent = found
    if x.dtype in INTEGERS:
        calculate = integers.apply(call, integers.power, x.dtype)
        exponent = tuple([int(one) if isinstance(one, float) and one.is_integer() else one for one in exponent])
        return Fact(
            kind,
            tuple(
                calculate(a, b) if isinstance(b, int) else integers.unknown(call, x.dtype)  # type: ignore[arg-type]
                for a, b in zip(base, exponent, strict=True)
            ),
        )
    exponent = tuple([float(one) if type(one) is int else one for one in exponent])
    return Fact(kind, useful(tuple(map(floats.apply2(call, floats.power, x.dtype), base, exponent))))


rules.add("Pow", 1, before_broadcasting)


def variadic(whole: integers.Operation | None, real: floats.Binary | None, *, exact: bool) -> Rule:
    """Return the rule of a function of one or more tensors that broadcast.

    `exact` says that the order of operations does not matter for floats, as it does for a sum of more than two.
    """

    def rule(call: Call) -> TensorType | Fact:
        kinds = [call.tensor(at) for at in range(call.count)]
        if not kinds:
            call.missing(0)
        dtype = kinds[0].dtype
        shape = kinds[0].shape
        for kind in kinds[1:]:
            dtype = dtype or kind.dtype
            shape = broadcast(call, shape, kind.shape)
        result = TensorType(dtype, shape)
        if dtype is None or count_of(shape) is None or any(kind.dtype is not dtype for kind in kinds):
            return result
        if dtype in INTEGERS and whole is not None:
            calculate: Callable[..., Element] = integers.apply(call, whole, dtype)
        elif dtype in FLOATS and real is not None and (exact or len(kinds) < 3):
            calculate = floats.apply2(call, real, dtype)
        else:
            return result
        found = columns(call, kinds, shape)
        if found is None:
            return result
        content = found[0]
        for other in found[1:]:
            content = tuple(map(calculate, content, other))
        return Fact(result, useful(content))

    return rule


def unified(call: Call) -> TensorType:
    """Return the one type of all inputs: the variadic operators before opset 8 do not broadcast."""
    kinds = [call.tensor(at) for at in range(call.count)]
    if not kinds:
        call.missing(0)
    shape = kinds[0].shape
    for kind in kinds[1:]:
        if shape is None or kind.shape is None:
            shape = shape or kind.shape
            continue
        if len(shape) != len(kind.shape):
            call.fail("rank-mismatch", f"inputs have {len(shape)} and {len(kind.shape)} dims")
        shape = tuple(
            joined(call, a, b, f"axis {axis} is {a} in one input and {b} in another")
            for axis, (a, b) in enumerate(zip(shape, kind.shape, strict=True))
        )
    return TensorType(kinds[0].dtype, shape)


VARIADIC: dict[str, Rule] = {
    "Max": variadic(integers.larger, floats.larger, exact=True),
    "Min": variadic(integers.smaller, floats.smaller, exact=True),
    "Sum": variadic(integers.add, floats.add, exact=False),
    "Mean": variadic(None, None, exact=False),
}
for name, rule in VARIADIC.items():
    rules.add(name, 8, rule)
    rules.add(name, 1, unified)


@rules("Mod", since=10)
def modulo(call: Call) -> TensorType | Fact:
    """Take the remainder, broadcast: Python's `%`, or C's `fmod` with fmod=1."""
    a, b = call.tensor(0), call.tensor(1)
    shape = broadcast(call, a.shape, b.shape)
    dtype = a.dtype or b.dtype
    truncated = call.int("fmod", 0)
    whole = integers.truncated_modulo if truncated else integers.floor_modulo
    content = calculated(call, (a, b), dtype, shape, whole, floats.remainder if truncated else None)
    return Fact(TensorType(dtype, shape), content)


# ---------------------------------------------------------------- the rest


@rules("PRelu", since=1)
def leaky(call: Call) -> TensorType:
    """Return the type of X: the slope broadcasts to it in one direction only, whatever runtimes do beyond that."""
    x, slope = call.tensor(0), call.peek(1)
    if not isinstance(slope, TensorType) or not slope.shape or x.shape is None:
        return x
    start = len(x.shape) - len(slope.shape)
    if start < 0:
        call.fail("rank-mismatch", f"the slope has {len(slope.shape)} dims, more than the {len(x.shape)} of X")
    for axis, other in enumerate(slope.shape, start):
        mine = x.shape[axis]
        if isinstance(mine, int) and isinstance(other, int) and other not in (1, mine):
            call.fail("dim-mismatch", f"axis {axis} is {mine} in X but {other} in the slope, which must fit into X")
    return x


rules.add("Clip", 1, same_as_first)


@rules("Clip", since=11)
def clip(call: Call) -> TensorType | Fact:
    """Return `min(max(x, low), high)`; either bound may be absent."""
    x = call.tensor(0)
    if x.dtype is None or count_of(x.shape) is None or (x.dtype not in INTEGERS and x.dtype not in FLOATS):
        return x
    content = call.known(0)
    if content is None:
        return x
    dtype = x.dtype
    for at, whole, real in ((1, integers.larger, floats.larger), (2, integers.smaller, floats.smaller)):
        if not call.has(at):
            continue
        bound = call.scalar(at)
        if bound is None or call.tensor(at).dtype is not dtype:
            return x
        calculate: Callable[..., Element] = (
            integers.apply(call, whole, dtype) if dtype in INTEGERS else floats.apply2(call, real, dtype)
        )
        content = tuple([calculate(one, bound) for one in content])
    return Fact(x, useful(content))


@rules("SwiGLU", since=28)
def gated(call: Call) -> TensorType:
    """Join two tensors of one shape."""
    return unified(call)


def running(whole: integers.Operation, real: floats.Binary, first: int) -> Rule:
    """Return the rule of an operation carried along an axis."""

    def rule(call: Call) -> TensorType | Fact:
        x = call.tensor(0)
        if x.dtype is None or x.shape is None or count_of(x.shape) is None:
            return x
        content = call.known(0)
        axis = call.scalar(1)
        if content is None or type(axis) is not int or not x.shape:
            return x
        if x.dtype in INTEGERS:
            calculate: Callable[..., Element] = integers.apply(call, whole, x.dtype)
            start: Element = first
        elif x.dtype in FLOATS and all(isinstance(one, float) and one.is_integer() for one in content):
            calculate, start = floats.apply2(call, real, x.dtype), float(first)
        else:
            return x
        lines = lanes([dim for dim in x.shape if isinstance(dim, int)], call.axis(axis, len(x.shape)))
        exclusive, reverse = call.int("exclusive", 0), call.int("reverse", 0)
        found: list[Element] = list(content)
        for line in lines:
            carried = start
            for at in reversed(line) if reverse else line:
                after = calculate(carried, content[at])
                found[at] = carried if exclusive else after
                carried = after
        return Fact(x, useful(tuple(found)))

    return rule


rules.add("CumSum", 11, running(integers.add, floats.add, 0))
rules.add("CumProd", 26, running(integers.multiply, floats.multiply, 1))
