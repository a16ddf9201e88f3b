"""Read TensorProto: decide what a tensor is and where its bytes lie, and touch none of them.

The rules are section 3 of the import document. Every rule that counts is settled here, at load; the bytes are viewed,
converted or mapped when somebody asks for them.
"""

from __future__ import annotations

from sardonyx.errors import ErrorKind, OnnxError, Place, error
from sardonyx.io.origins import SparseOrigin, TensorOrigin
from sardonyx.io.typed import FIELD_OF, convert, entry_count
from sardonyx.ir.tensor import Converted, SparseTensor, Stored, Strings, Tensor, Unreadable, element_count
from sardonyx.ir.types import DTYPES, DType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.io.context import Context
    from sardonyx.ir.source import Source
    from sardonyx.ir.tensor import Content
    from sardonyx.wire.messages import SparseTensorProto, TensorProto
    from sardonyx.wire.schema import Runs

NUMBER_FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")
NO_NUMBERS = frozenset(NUMBER_FIELDS).isdisjoint
DEFAULT, EXTERNAL = 0, 1
"""TensorProto.DataLocation."""


def read_tensor(message: TensorProto, context: Context) -> Tensor:
    """Read a tensor.

    When the context collects faults, a faulty tensor is reported once and returned with what is known of it; asking
    for its bytes raises what was reported.

    Raises:
        OnnxError: InvalidModel, Unsupported, ExternalData or Io; the value it names is the tensor.
    """
    code = message.data_type
    dtype = DTYPES[code] if 0 <= code < len(DTYPES) else DType.UNDEFINED
    shape = tuple(message.dims)
    origin = TensorOrigin(context.source, message.start, message.end)
    content: Content
    try:
        content = read_content(message, dtype, shape, context)
    except OnnxError as problem:
        located = OnnxError(problem.issue.within(Place(offset=message.start, value=message.name)))
        context.fault(located)
        shape = tuple([max(dim, 0) for dim in shape])  # nobody downstream expects less
        content = Unreadable(located)
    return Tensor(dtype, shape, content, message.name, origin)


def read_content(message: TensorProto, dtype: DType, shape: tuple[int, ...], context: Context) -> Content:
    """Find where the bytes of a tensor come from: an external file, raw_data, or the field of its element type."""
    name = message.name
    count = element_count(shape, name)
    if dtype is DType.UNDEFINED:
        check_type(message.data_type, count)
    length = dtype.nbytes(count)
    if context.limits.max_tensor_bytes is not None:
        context.limits.check("max_tensor_bytes", length, "the size of the tensor in bytes")
    if message.segment is not None:
        raise error("segment", "the tensor is one segment of a larger one, which is not supported")
    place = message.data_location
    if place not in (DEFAULT, EXTERNAL):
        raise error("data-location", f"data_location is {place}; only 0 (DEFAULT) and 1 (EXTERNAL) have a meaning")

    raw, typed = message.raw_data, number_fields(message)
    if place == EXTERNAL and raw is None and not typed and not message.string_data and dtype is not DType.STRING:
        return context.files.content(message, length, context)
    sources = [*typed]
    if message.string_data:
        sources.append("string_data")
    if raw is not None:
        sources.append("raw_data")
    if place == EXTERNAL:
        sources.append("external_data")
    elif message.external_data:
        context.warn(
            "external-unused",
            "the tensor has external_data entries but its data_location is not EXTERNAL; they are ignored",
            Place(offset=message.start, value=name),
        )
    if len(sources) > 1:
        raise error("data-sources", f"the values are given more than once, in {' and '.join(sources)}")
    if sources and dtype is DType.STRING and sources[0] != "string_data":
        raise error("wrong-field", f"a string tensor has its values in {sources[0]}; only string_data can hold them")
    if raw is not None:
        start, stop = raw
        if stop - start != length:
            raise error("data-length", f"raw_data has {stop - start} bytes, but {shape_needs(dtype, shape)} {length}")
        return Stored(context.source, start, length)
    if not sources:
        if count:
            raise error("no-data", f"the tensor has {count} elements and no values")
        return Stored(context.source, max(message.start, 0), 0) if dtype is not DType.STRING else Strings(tuple)
    field = sources[0]
    if FIELD_OF.get(dtype) != field:
        raise error("wrong-field", wrong_field(dtype, field))
    if dtype is DType.STRING:
        return strings(message, count, shape, context.source)
    runs, needed = typed[field], entry_count(dtype, count)
    if runs.count != needed:
        raise error("data-length", f"{field} has {runs.count} entries, but {shape_needs(dtype, shape)} {needed}")
    source = context.source
    return Converted(length, lambda: convert(source.data(name), runs, dtype), source)


def check_type(code: int, count: int) -> None:
    """Refuse an element type that is not known; a tensor without elements need not have one."""
    if code >= len(DTYPES):
        raise error(
            "element-type-unknown",
            f"element type {code} is above {len(DTYPES) - 1}, the last one that is known",
            hint="the model was written by a newer version of ONNX",
        )
    if code < 0:
        raise error("element-type-unknown", f"element type {code} is negative", also=ErrorKind.InvalidModel)
    if code == 0 and count:
        raise error("no-element-type", f"the tensor has {count} elements but no element type")


def number_fields(message: TensorProto) -> dict[str, Runs]:
    """Return the typed fields that hold numbers; an empty packed run is the same as no field."""
    present = message.__dict__
    if NO_NUMBERS(present):
        return {}
    return {field: present[field] for field in NUMBER_FIELDS if field in present and present[field].count}


def strings(message: TensorProto, count: int, shape: tuple[int, ...], source: Source) -> Strings:
    """Read string_data: one entry per element, any bytes."""
    spans = message.string_data
    if len(spans) != count:
        raise error(
            "data-length", f"string_data has {len(spans)} entries, but {shape_needs(DType.STRING, shape)} {count}"
        )
    name = message.name
    return Strings(lambda: tuple([source.read(start, stop, name) for start, stop in spans]), source)


def shape_needs(dtype: DType, shape: tuple[int, ...]) -> str:
    """Begin the sentence that says how much a tensor needs."""
    return f"{dtype.text}{list(shape)} needs"


def wrong_field(dtype: DType, field: str) -> str:
    """Word the error for values in a field that belongs to another element type."""
    right = FIELD_OF.get(dtype)
    return f"values of type {dtype.text} cannot be in {field}" + ("" if right is None else f", they belong in {right}")


def read_sparse(message: SparseTensorProto, context: Context) -> SparseTensor:
    """Read a sparse tensor as written: never made dense, its counts not compared (`sx.check` does that).

    Raises:
        OnnxError: as `read_tensor`, and InvalidModel `sparse-incomplete` without values or indices.
    """
    origin = SparseOrigin(context.source, message.start, message.end)
    parts = []
    name = "" if message.values is None else message.values.name
    for part, found in (("values", message.values), ("indices", message.indices)):
        if found is None:
            problem = error("sparse-incomplete", f"a sparse tensor has no {part}", offset=message.start, value=name)
            context.fault(problem)
            parts.append(Tensor(DType.UNDEFINED, (0,), Unreadable(problem), name))
        else:
            parts.append(read_tensor(found, context))
    shape = tuple(message.dims)
    if any(dim < 0 for dim in shape):
        context.fault(
            error(
                "negative-dim",
                f"the dims {list(shape)} of a sparse tensor have a negative one",
                offset=message.start,
                value=name,
            )
        )
        shape = tuple([max(dim, 0) for dim in shape])
    return SparseTensor(parts[0], parts[1], shape, origin)
