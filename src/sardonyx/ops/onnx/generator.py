"""Rules for what makes tensors out of nothing, out of a shape, or out of chance."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isfinite

from sardonyx.dims import Expr, TooLarge
from sardonyx.errors import OnnxError
from sardonyx.ir.attrs import Attr, AttrKind
from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.call import FLOATS, INTEGERS, MOST_ELEMENTS, Fact, Ratio
from sardonyx.ops.common import floats
from sardonyx.ops.common.contents import count_of, numbers
from sardonyx.ops.common.elements import read_elements
from sardonyx.ops.common.sizes import as_size
from sardonyx.ops.onnx.tensor_index import coordinates
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ir.tensor import Tensor
    from sardonyx.ir.types import Shape, Type
    from sardonyx.ops.call import Call, Content, Element

rules = Rules("")


# ---------------------------------------------------------------- constants


@rules("Constant", since=1)
def constant(call: Call) -> Type | Fact:
    """Return the type and the elements of whichever value attribute is given."""
    given = call.node.attrs.get("value")
    if given is not None:
        tensor = given.content if type(given) is Attr and given.kind is AttrKind.TENSOR else call.tensor_attr("value")
        if tensor is not None:
            kind = TensorType(tensor.dtype or None, tensor.shape)
            try:
                content = read_elements(tensor)
            except OnnxError:  # its bytes cannot be read
                return kind
            return kind if content is None else Fact(kind, content)
    sparse = call.attr("sparse_value", AttrKind.SPARSE_TENSOR, None)
    if sparse is not None:
        return TensorType(sparse.dtype, sparse.shape)
    for name, dtype, one, many in (
        ("value_int", DType.INT64, AttrKind.INT, AttrKind.INTS),
        ("value_float", DType.FLOAT, AttrKind.FLOAT, AttrKind.FLOATS),
        ("value_string", DType.STRING, AttrKind.STRING, AttrKind.STRINGS),
    ):
        value = call.attr(name, one, None)
        if value is not None:
            return Fact(TensorType(dtype, ()), (value,))
        values = call.attr(name + "s", many, None)
        if values is not None:
            kind = TensorType(dtype, (len(values),))
            return Fact(kind, tuple(values) if len(values) <= MOST_ELEMENTS else None)
    return call.fail("missing-attribute", "a constant has no value")


def elements_of(tensor: Tensor) -> Content | None:
    """Return the elements of a small constant, None when its bytes cannot be read."""
    try:
        return read_elements(tensor)
    except OnnxError:
        return None


@rules("ConstantOfShape", since=9)
def constant_of_shape(call: Call) -> TensorType | Fact:
    """Fill a tensor, whose shape the input holds, with one value: by default 0.0."""
    value = call.tensor_attr("value")
    dtype = DType.FLOAT if value is None else value.dtype
    target = call.content(0)
    if target is None:
        return TensorType(dtype, None)
    shape = tuple([size_from(call, one, "dim") for one in target])
    kind = TensorType(dtype, shape)
    count = count_of(shape)
    if count is None:
        return kind
    content: Content | None = (0.0,) if value is None else elements_of(value)
    return kind if content is None or len(content) != 1 else Fact(kind, content * count)


def size_from(call: Call, one: Element, what: str) -> Dim:
    """Return an element as a size; one of unknown sign is taken as it is, as a negative one would not run."""
    if isinstance(one, int):
        if one < 0:
            call.fail("bad-input", f"a {what} cannot be {one}")
        return as_size(call, one)
    return one if isinstance(one, Expr) else call.fresh()


# ---------------------------------------------------------------- Range


@rules("Range", since=11)
def numbers_in_range(call: Call) -> TensorType | Fact:
    """Count from `start` to `limit`, exclusive, by `delta`: `max(ceil((limit - start)/delta), 0)` numbers."""
    kinds = [call.peek(at) for at in range(3)]
    dtype = next((kind.dtype for kind in kinds if isinstance(kind, TensorType) and kind.dtype is not None), None)
    start, limit, delta = call.scalar(0), call.scalar(1), call.scalar(2)
    if start is None or limit is None or delta is None or dtype is None:
        return TensorType(dtype, (call.fresh(),))
    if delta == 0:
        call.fail("bad-input", "the step of a range is 0")
    if isinstance(start, float) or isinstance(limit, float) or isinstance(delta, float) or dtype in FLOATS:
        return TensorType(dtype, (float_count(call, dtype, start, limit, delta),))
    count = whole_count(call, start, limit, delta)
    kind = TensorType(dtype, (count,))
    if not isinstance(count, int) or count > MOST_ELEMENTS or dtype not in INTEGERS:
        return kind
    return Fact(kind, tuple([start + at * delta for at in range(count)]))  # type: ignore[arg-type,operator]


def whole_count(call: Call, start: Element, limit: Element, delta: Element) -> Dim:
    """Return how many integers a range has, without counting them."""
    if not isinstance(start, (int, Expr)) or not isinstance(limit, (int, Expr)) or not isinstance(delta, (int, Expr)):
        return call.fresh()
    scope = call.scope
    try:
        distance: Dim = limit - start
        if isinstance(delta, int):
            return as_size(call, scope.maximum(scope.ceildiv(distance if delta > 0 else -distance, abs(delta)), 0))
        if isinstance(delta, Expr) and scope.is_positive(delta):
            return scope.maximum(scope.ceildiv(distance, delta), 0)
    except TooLarge:
        pass
    return call.fresh()


def float_count(call: Call, dtype: DType, start: Element, limit: Element, delta: Element) -> Dim:
    """Return how many floats a range has, where every way to calculate it agrees."""
    if isinstance(start, float) and isinstance(limit, float) and isinstance(delta, float):
        if not (isfinite(start) and isfinite(delta) and isfinite((limit - start) / delta)):
            return call.fresh()
        exactly = ceil((Fraction(limit) - Fraction(start)) / Fraction(delta))
        distance = floats.rounded(limit - start, dtype)
        if not isfinite(floats.rounded(distance / delta, dtype)):
            return call.fresh()
        runs = {exactly, ceil(distance / delta), ceil(floats.rounded(distance / delta, dtype))}
        runs.add(ceil((limit - start) / delta))
        return as_size(call, max(exactly, 0)) if len(runs) == 1 else call.fresh()
    if isinstance(delta, float) and delta.is_integer():
        distance_dim = floats.subtract(call, dtype, limit, start)
        if isinstance(distance_dim, Ratio) and distance_dim.divisor == 1:
            return whole_count(call, 0, distance_dim.expr, int(delta))
    return call.fresh()


# ---------------------------------------------------------------- EyeLike, chance


@rules("EyeLike", since=9)
def eye_like(call: Call) -> TensorType | Fact:
    """Return a matrix with ones on one diagonal, as large as the input."""
    data = call.peek(0)
    shape = data.shape if isinstance(data, TensorType) else None
    old = data.dtype if isinstance(data, TensorType) else None
    dtype = call.dtype("dtype") if "dtype" in call.node.attrs else old
    if shape is None:
        return TensorType(dtype, (call.fresh(), call.fresh()))
    if len(shape) != 2:
        call.fail("rank-mismatch", f"the input has {len(shape)} dims; it must be a matrix")
    kind = TensorType(dtype, shape)
    if dtype not in INTEGERS or count_of(shape) is None:
        return kind
    shift = call.int("k", 0)
    return Fact(kind, tuple([int(column - row == shift) for row, column in coordinates(numbers(shape))]))


def random(call: Call) -> TensorType:
    """Return a tensor of the shape in the attribute."""
    shape: Shape = tuple([size_from(call, one, "dim") for one in call.ints("shape")])
    return TensorType(call.dtype("dtype", DType.FLOAT), shape)


rules.table(random, {"RandomNormal": 1, "RandomUniform": 1})


def random_like(call: Call) -> TensorType:
    """Return a tensor of the input's shape, and of its element type unless another is given."""
    data = call.peek(0)
    shape = data.shape if isinstance(data, TensorType) else None
    old = data.dtype if isinstance(data, TensorType) else None
    return TensorType(call.dtype("dtype") if "dtype" in call.node.attrs else old, shape)


rules.table(random_like, {"RandomNormalLike": 1, "RandomUniformLike": 1, "Bernoulli": 15})


@rules("Multinomial", since=7)
def multinomial(call: Call) -> TensorType:
    """Draw `sample_size` classes for each row."""
    data = call.peek(0)
    shape = data.shape if isinstance(data, TensorType) else None
    if shape is not None and len(shape) != 2:
        call.fail("rank-mismatch", f"the input has {len(shape)} dims; it must have 2")
    rows = call.fresh() if shape is None else shape[0]
    return TensorType(call.dtype("dtype", DType.INT32), (rows, size_from(call, call.int("sample_size", 1), "size")))
