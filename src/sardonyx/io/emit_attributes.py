"""Turn attributes into AttributeProto, bodies included."""

from __future__ import annotations

from struct import pack

from sardonyx.io.chunks import Chunks
from sardonyx.io.emit_tensors import integers, put_sparse, put_tensor
from sardonyx.io.rebuild import copy, rebuild
from sardonyx.ir.attrs import Attr, AttrKind, AttrRef, Blob
from sardonyx.wire.writer import header, key, varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sardonyx.io.emit import Emission
    from sardonyx.ir.graph import Graph
    from sardonyx.ir.tensor import SparseTensor, Tensor

NAME, TYPE, REFERENCE = 1, 20, 21

FIELD = {
    AttrKind.FLOAT: 2, AttrKind.INT: 3, AttrKind.STRING: 4, AttrKind.TENSOR: 5, AttrKind.GRAPH: 6, AttrKind.FLOATS: 7,
    AttrKind.INTS: 8, AttrKind.STRINGS: 9, AttrKind.TENSORS: 10, AttrKind.GRAPHS: 11, AttrKind.TYPE_PROTO: 14,
    AttrKind.TYPE_PROTOS: 15, AttrKind.SPARSE_TENSOR: 22, AttrKind.SPARSE_TENSORS: 23,
}  # fmt: skip
"""The field of AttributeProto that holds the value of each kind."""

BODIES = (AttrKind.GRAPH, AttrKind.GRAPHS)
TENSORS = (AttrKind.TENSOR, AttrKind.TENSORS, AttrKind.SPARSE_TENSOR, AttrKind.SPARSE_TENSORS)
PLURAL = (
    AttrKind.FLOATS, AttrKind.INTS, AttrKind.STRINGS, AttrKind.TENSORS, AttrKind.GRAPHS, AttrKind.TYPE_PROTOS,
    AttrKind.SPARSE_TENSORS,
)  # fmt: skip


def put_attribute(out: Chunks, number: int, attr: Attr | AttrRef, emission: Emission) -> None:
    """Append a field that holds an AttributeProto.

    An attribute as it was read is copied, but for bodies and for tensors whose bytes move; one that was made or changed
    is encoded, and keeps the documentation of what it was made from.
    """
    origin = attr.origin
    exact = origin is not None and origin.exact
    if (
        origin is not None
        and exact
        and (isinstance(attr, AttrRef) or not (attr.kind in BODIES or emission.moves(attr)))
    ):
        copy(out, number, origin)
        return
    fresh: dict[int, Chunks] = {}
    if not exact:
        fresh = {field: Chunks() for field in (NAME, TYPE, REFERENCE, *FIELD.values())}
        fresh[NAME].text(NAME, attr.name)
        if attr.kind is not AttrKind.UNDEFINED:
            fresh[TYPE].put(key(TYPE, 0) + varint(attr.kind))
    if isinstance(attr, AttrRef):
        fresh[REFERENCE].text(REFERENCE, attr.ref)
    elif attr.kind in FIELD:
        field = FIELD[attr.kind]
        fresh[field] = Chunks()
        put_value(fresh[field], field, attr, emission)
    out.message(number, rebuild(origin, fresh))


def put_value(out: Chunks, field: int, attr: Attr, emission: Emission) -> None:
    """Append the value of an attribute."""
    put = PUT[attr.kind]
    content = attr.content
    if type(content) is Blob:
        out.span(field, content.origin.source, content.origin.start, content.origin.stop)
        return
    for value in content if attr.kind in PLURAL else (content,):
        put(out, field, value, emission)


def put_float(out: Chunks, field: int, value: float, emission: Emission) -> None:
    """Append a float of 32 bits."""
    out.put(key(field, 5) + pack("<f", value))


def put_int(out: Chunks, field: int, value: int, emission: Emission) -> None:
    """Append an integer."""
    out.add(integers(field, (value,)))


def put_string(out: Chunks, field: int, value: bytes, emission: Emission) -> None:
    """Append bytes."""
    out.put(header(field, len(value)))
    out.put(value)


def put_one_tensor(out: Chunks, field: int, value: Tensor | None, emission: Emission) -> None:
    """Append a tensor; one that is missing (a model read in collecting mode) stays so."""
    if value is not None:
        put_tensor(out, field, value, value.name, emission.placement)


def put_one_sparse(out: Chunks, field: int, value: SparseTensor | None, emission: Emission) -> None:
    """Append a sparse tensor."""
    if value is not None:
        put_sparse(out, field, value, value.name, emission.placement)


def put_body(out: Chunks, field: int, value: Graph | None, emission: Emission) -> None:
    """Append a body."""
    if value is not None:
        out.message(field, emission.graph(value))


def put_type(out: Chunks, field: int, value: Any, emission: Emission) -> None:
    """Append a type, or an empty TypeProto for no type."""
    out.blob(field, b"" if value is None else emission.types.encode(value, is_claim=False))


PUT: dict[AttrKind, Callable[[Chunks, int, Any, Emission], None]] = {
    AttrKind.FLOAT: put_float,
    AttrKind.FLOATS: put_float,
    AttrKind.INT: put_int,
    AttrKind.INTS: put_int,
    AttrKind.STRING: put_string,
    AttrKind.STRINGS: put_string,
    AttrKind.TENSOR: put_one_tensor,
    AttrKind.TENSORS: put_one_tensor,
    AttrKind.SPARSE_TENSOR: put_one_sparse,
    AttrKind.SPARSE_TENSORS: put_one_sparse,
    AttrKind.GRAPH: put_body,
    AttrKind.GRAPHS: put_body,
    AttrKind.TYPE_PROTO: put_type,
    AttrKind.TYPE_PROTOS: put_type,
}
