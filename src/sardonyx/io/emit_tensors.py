"""Turn tensors into TensorProto: copied as they stand, renamed, or with their bytes in another place."""

from __future__ import annotations

from sardonyx.io.chunks import Chunks
from sardonyx.io.rebuild import copy, rebuild
from sardonyx.ir.tensor import Converted, External, Stored, Strings
from sardonyx.records import record
from sardonyx.wire.writer import header, key, varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sardonyx.ir.tensor import SparseTensor, Tensor

NAME, RAW, STRINGS, ENTRIES, LOCATION = 8, 9, 6, 13, 14
DATA = (4, 5, STRINGS, 7, RAW, 10, 11, ENTRIES, LOCATION)
"""The fields of TensorProto that hold or point at the values."""


@record
class Outside:
    """The place of a tensor's bytes in a data file beside the model."""

    location: str
    offset: int
    length: int


@record
class Inside:
    """The model file itself, for a tensor whose bytes were in a data file."""


INSIDE = Inside()

if TYPE_CHECKING:
    Placement = Mapping[Tensor, Outside | Inside]


def put_tensor(out: Chunks, number: int, tensor: Tensor, name: str, placement: Placement) -> None:
    """Append a field that holds a TensorProto of the given name; tensors in `placement` have their bytes moved.

    Raises:
        OnnxError: Io or ExternalData when bytes are needed that are not there.
    """
    origin, place = tensor.origin, placement.get(tensor)
    exact = origin is not None and origin.exact
    if origin is not None and exact and place is None and name == tensor.name:
        copy(out, number, origin)
        return
    fresh: dict[int, Chunks] = {}
    optional = []
    if not exact:
        fresh[1] = integers(1, tensor.shape)
        fresh[2] = Chunks()
        fresh[2].put(key(2, 0) + varint(tensor.dtype))
    if not exact or name != tensor.name:
        fresh[NAME] = Chunks()
        fresh[NAME].text(NAME, name)
        if not name:
            optional.append(NAME)
    if not exact or place is not None:
        fresh.update({field: Chunks() for field in DATA})
        put_values(fresh, tensor, place)
    out.message(number, rebuild(origin, fresh, optional))


def put_values(fresh: Mapping[int, Chunks], tensor: Tensor, place: Outside | Inside | None) -> None:
    """Fill in the field that holds a tensor's values, or the two that say where they are."""
    content = tensor.content
    if isinstance(place, Outside):
        entries: Iterable[tuple[str, str]] = (
            ("location", place.location),
            ("offset", str(place.offset)),
            ("length", str(place.length)),
        )
        refer(fresh, entries)
    elif isinstance(content, External) and place is None:
        refer(fresh, content.entries)
    elif isinstance(content, Strings):
        for text in content.strings():
            fresh[STRINGS].blob(STRINGS, text)
    else:
        stored = stored_range(tensor)
        if stored is None:
            fresh[RAW].blob(RAW, bytes(tensor.data))
        else:
            fresh[RAW].put(header(RAW, stored.length))
            fresh[RAW].copy(stored.source, stored.offset, stored.offset + stored.length)


def refer(fresh: Mapping[int, Chunks], entries: Iterable[tuple[str, str]]) -> None:
    """Fill in external_data and data_location."""
    for entry in entries:
        one = Chunks()
        one.text(1, entry[0])
        one.text(2, entry[1])
        fresh[ENTRIES].message(ENTRIES, one)
    fresh[LOCATION].put(key(LOCATION, 0) + varint(1))


def stored_range(tensor: Tensor) -> Stored | None:
    """Return where the raw bytes of a tensor lie, opening its data file; None when they must be made first.

    Raises:
        OnnxError: ExternalData or Io when the data file is not there or not as the tensor says.
    """
    content = tensor.content
    if isinstance(content, Stored):
        return content
    return content.stored() if isinstance(content, External) else None


def made_bytes(tensor: Tensor) -> memoryview:
    """Return raw bytes that must be made, without keeping them: a conversion is done again when somebody asks."""
    content = tensor.content
    if isinstance(content, Converted) and content.made is None:
        return memoryview(content.make())
    return tensor.data


def put_sparse(out: Chunks, number: int, sparse: SparseTensor, name: str, placement: Placement) -> None:
    """Append a field that holds a SparseTensorProto."""
    origin = sparse.origin
    exact = origin is not None and origin.exact
    still = sparse.values not in placement and sparse.indices not in placement
    if origin is not None and exact and still and name == sparse.name:
        copy(out, number, origin)
        return
    fresh = {1: Chunks(), 2: Chunks()}
    put_tensor(fresh[1], 1, sparse.values, name, placement)
    put_tensor(fresh[2], 2, sparse.indices, sparse.indices.name, placement)
    if not exact:
        fresh[3] = integers(3, sparse.shape)
    out.message(number, rebuild(origin, fresh))


def integers(number: int, values: Sequence[int]) -> Chunks:
    """Return a repeated int64 field, one key per value as onnx.proto has it."""
    out = Chunks()
    head = key(number, 0)
    if values:
        out.put(b"".join([head + varint(value) for value in values]))
    return out
