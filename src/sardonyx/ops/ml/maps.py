"""Rules for operators that make maps of tensors, and tensors of maps."""

from __future__ import annotations

from sardonyx.ir.types import DType, MapType, SequenceType, TensorType
from sardonyx.ops.ml.predictors import rows_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ops.call import Call

rules = Rules("ai.onnx.ml")

CAST = {"TO_FLOAT": DType.FLOAT, "TO_INT64": DType.INT64, "TO_STRING": DType.STRING}


def map_input(call: Call) -> MapType | None:
    """Return the type of the input, None when it is not known; refuse what is no map."""
    given = call.peek(0)
    if given is not None and not isinstance(given, MapType):
        call.fail("wrong-kind", f"input 0 is a {given.type_str}, not a map")
    return given


@rules("CastMap")
def cast_map(call: Call) -> TensorType:
    """Return the values as one row: `max_map` of them in the sparse form, else as many as the map has."""
    map_input(call)
    word = call.str("cast_to", "TO_FLOAT")
    if word not in CAST:
        call.fail("bad-attribute", f"{word!r} is no type to cast to", attr="cast_to")
    form = call.str("map_form", "DENSE")
    if form not in ("DENSE", "SPARSE"):
        call.fail("bad-attribute", f"{form!r} is no way to lay out a map", attr="map_form")
    width = call.int("max_map", 1)
    return TensorType(CAST[word], (1, width if form == "SPARSE" and width >= 0 else call.fresh("entries")))


@rules("DictVectorizer")
def dict_vectorizer(call: Call) -> TensorType:
    """Return the map's values in the order of the vocabulary: one row, as onnxruntime has it."""
    given = map_input(call)
    vocabulary = call.ints("int64_vocabulary", ()) or call.strings("string_vocabulary", ())
    value = given.value if given is not None else None
    dtype = value.dtype if isinstance(value, TensorType) else None
    return TensorType(dtype, (1, len(vocabulary) or call.fresh()))


@rules("ZipMap")
def zip_map(call: Call) -> SequenceType:
    """Return a map from the class labels to each row's numbers."""
    strings, integers = call.strings("classlabels_strings", ()), call.ints("classlabels_int64s", ())
    if strings and integers:
        call.fail("bad-attribute", "labels are given both as strings and as integers", attr="classlabels_strings")
    labels = len(strings) or len(integers)
    data = call.peek(0)
    shape = data.shape if isinstance(data, TensorType) else None
    if labels and shape and call.scope.equal(shape[-1], labels) is False:
        call.fail("dim-mismatch", f"there are {labels} labels for rows of {shape[-1]}")
    key = DType.STRING if strings else DType.INT64 if integers else None
    return SequenceType(MapType(key, TensorType(DType.FLOAT, ())), None, rows_of(call))
