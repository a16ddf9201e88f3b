"""Turn AttributeProto into attributes: find the kind, and read the value that the kind calls for.

The declared type rules; without one, the field that is set does. A value beside a reference is ignored.
"""

from __future__ import annotations

from sardonyx.errors import error
from sardonyx.io.origins import AttributeOrigin
from sardonyx.io.tensors import read_sparse, read_tensor
from sardonyx.ir.attrs import KINDS, Attr, AttrKind, AttrRef, Blob
from sardonyx.ir.source import Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sardonyx.io.context import Context
    from sardonyx.io.typing import Types
    from sardonyx.wire.messages import AttributeProto

FIELDS = (
    ("f", AttrKind.FLOAT),
    ("i", AttrKind.INT),
    ("s", AttrKind.STRING),
    ("t", AttrKind.TENSOR),
    ("g", AttrKind.GRAPH),
    ("sparse_tensor", AttrKind.SPARSE_TENSOR),
    ("tp", AttrKind.TYPE_PROTO),
    ("floats", AttrKind.FLOATS),
    ("ints", AttrKind.INTS),
    ("strings", AttrKind.STRINGS),
    ("tensors", AttrKind.TENSORS),
    ("graphs", AttrKind.GRAPHS),
    ("sparse_tensors", AttrKind.SPARSE_TENSORS),
    ("type_protos", AttrKind.TYPE_PROTOS),
)
"""The fields that give an attribute without a type its type; the first that is set counts."""
FIELD_OF = {kind: name for name, kind in FIELDS}
NEEDED = (AttrKind.TENSOR, AttrKind.GRAPH, AttrKind.SPARSE_TENSOR, AttrKind.TYPE_PROTO)
LONG = 4096
"""Strings of more bytes than this stay in the file until asked for."""


class Attributes:
    """Attributes of one model; messages that the decoder shares give one object, bodies excepted."""

    def __init__(self, context: Context, types: Types) -> None:
        self.context = context
        self.types = types
        self.known: dict[AttributeProto, Attr | AttrRef] = {}

    def kind(self, message: AttributeProto) -> AttrKind:
        """Find the kind of an attribute; UNDEFINED for a reference that does not say."""
        code = message.type
        if code:
            if 0 < code < len(KINDS):
                return KINDS[code]
            problem = error(
                "attribute-type-unknown",
                f"attribute type {code} is not one of 1 to {len(KINDS) - 1}",
                offset=message.start,
                attribute=message.name,
            )
            self.context.fault(problem)
            return AttrKind.UNDEFINED
        present = message.__dict__
        if "ref_attr_name" in present and message.ref_attr_name:
            return AttrKind.UNDEFINED
        for name, kind in FIELDS:
            if name in present:
                return kind
        self.context.fault(
            error(
                "attribute-empty",
                "the attribute has neither a type nor a value",
                offset=message.start,
                attribute=message.name,
            )
        )
        return AttrKind.UNDEFINED

    def read(self, message: AttributeProto) -> Attr | AttrRef:
        """Read an attribute that holds no graph."""
        known = self.known.get(message)
        if known is not None:
            return known
        context = self.context
        origin = AttributeOrigin(context.source, message.start, message.end)
        if context.limits.max_attribute_bytes is not None:
            context.limits.check(
                "max_attribute_bytes",
                message.end - message.start,
                "the size of an attribute",
                source=context.source.name,
                offset=message.start,
                attribute=message.name,
            )
        if not message.name:
            context.fault(error("attribute-unnamed", "an attribute has no name", offset=message.start))
        kind = self.kind(message)
        found: Attr | AttrRef
        if message.ref_attr_name:
            found = AttrRef(message.name, kind, message.ref_attr_name, origin)
        else:
            if kind in NEEDED and kind is not AttrKind.GRAPH and FIELD_OF[kind] not in message.__dict__:
                self.incomplete(message, kind)
            found = Attr(message.name, kind, self.content(message, kind), origin)
        self.known[message] = found
        return found

    def incomplete(self, message: AttributeProto, kind: AttrKind) -> None:
        """Report an attribute whose type calls for a message that is not there."""
        self.context.fault(
            error(
                "attribute-incomplete",
                f"the attribute has type {kind.name} but no field {FIELD_OF[kind]!r}",
                offset=message.start,
                attribute=message.name,
            )
        )

    def content(self, message: AttributeProto, kind: AttrKind) -> Any:
        """Read the value of an attribute of this kind; absent scalars are 0 or empty."""
        context = self.context
        if kind is AttrKind.INT:
            return message.i
        if kind is AttrKind.INTS:
            return tuple(message.ints)
        if kind is AttrKind.FLOAT:
            return message.f
        if kind is AttrKind.STRING:
            span = message.s
            if span is None:
                return b""
            start, stop = span
            if stop - start > LONG:
                return Blob(Origin(context.source, start, stop))
            return context.source.read(start, stop)
        if kind is AttrKind.TENSOR:
            return None if message.t is None else read_tensor(message.t, context)
        if kind is AttrKind.FLOATS:
            return tuple(message.floats)
        if kind is AttrKind.STRINGS:
            return tuple(message.strings)
        if kind is AttrKind.TENSORS:
            return tuple(read_tensor(one, context) for one in message.tensors)
        if kind is AttrKind.SPARSE_TENSOR:
            return None if message.sparse_tensor is None else read_sparse(message.sparse_tensor, context)
        if kind is AttrKind.SPARSE_TENSORS:
            return tuple(read_sparse(one, context) for one in message.sparse_tensors)
        if kind is AttrKind.TYPE_PROTO:
            return self.types.read(message.tp)
        if kind is AttrKind.TYPE_PROTOS:
            return tuple(self.types.read(one) for one in message.type_protos)
        return None
