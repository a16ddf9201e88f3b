"""Rules for operators that prepare features: they scale, encode and pick, element by element or row by row."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.sizes import plus, product
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ops.call import Call

rules = Rules("ai.onnx.ml")


def same_as_first(call: Call) -> TensorType:
    """Return the type of the input."""
    return call.tensor(0)


rules.table(same_as_first, {"Binarizer": 1, "Imputer": 1})


def as_floats(call: Call) -> TensorType:
    """Return the shape of the input, with 32-bit floats in it."""
    return call.tensor(0).with_dtype(DType.FLOAT)


rules.table(as_floats, {"Normalizer": 1, "Scaler": 1})

OTHER = {DType.STRING: DType.INT64, DType.INT64: DType.STRING}


def strings_or_integers(call: Call) -> TensorType:
    """Turn strings into integers and integers into strings."""
    data = call.tensor(0)
    return data.with_dtype(None if data.dtype is None else OTHER.get(data.dtype))


rules.table(strings_or_integers, {"CategoryMapper": 1, "LabelEncoder": 1})

VALUES = (("values_strings", DType.STRING), ("values_int64s", DType.INT64), ("values_floats", DType.FLOAT))


@rules("LabelEncoder", since=2)
def label_encoder(call: Call) -> TensorType:
    """Map each element to a value; the element type is that of the attribute that lists the values."""
    tensor = call.tensor_attr("values_tensor")
    if tensor is not None:
        return call.tensor(0).with_dtype(tensor.dtype)
    given = [dtype for name, dtype in VALUES if name in call.node.attrs]
    return call.tensor(0).with_dtype(given[0] if len(given) == 1 else None)


@rules("OneHotEncoder")
def one_hot_encoder(call: Call) -> TensorType:
    """Append an axis with one place for each category."""
    count = len(call.ints("cats_int64s", ())) or len(call.strings("cats_strings", ()))
    shape = call.tensor(0).shape
    return TensorType(DType.FLOAT, None if shape is None else (*shape, count or call.fresh()))


@rules("ArrayFeatureExtractor")
def array_feature_extractor(call: Call) -> TensorType:
    """Pick elements along the last axis; a single row stays a matrix, as onnxruntime has it."""
    data, picked = call.tensor(0), call.tensor(1)
    if data.shape is None:
        return data
    if not data.shape:
        call.fail("rank-mismatch", "nothing can be picked from a scalar")
    count = call.fresh() if picked.shape is None else product(call, picked.shape)
    return data.with_shape((*(data.shape[:-1] or (1,)), count))


@rules("FeatureVectorizer")
def feature_vectorizer(call: Call) -> TensorType:
    """Lay the features of all inputs side by side; a vector is one row.

    onnxruntime cuts or pads each input to its entry of `inputdimensions`.
    """
    inputs = [call.peek(at) for at in range(call.count)]
    widths = call.ints("inputdimensions", ())
    shapes = [one.shape if isinstance(one, TensorType) else None for one in inputs]
    first = next((shape for shape in shapes if shape is not None), None)
    rows = call.fresh() if first is None else first[0] if len(first) > 1 else 1
    if widths:
        return TensorType(DType.FLOAT, (rows, plus(call, *widths)))
    known = [shape[-1] for shape in shapes if shape is not None and 1 <= len(shape) <= 2]
    return TensorType(DType.FLOAT, (rows, plus(call, *known) if len(known) == len(inputs) else call.fresh()))
