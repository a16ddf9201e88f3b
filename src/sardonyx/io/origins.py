"""Read the parts of a message that the graph does not model, when somebody asks for them.

An origin is a range of the input; its class says which message lies there. It doubles as the part's `Details`, so that
a part of a loaded model costs one object for both.
"""

from __future__ import annotations

from sardonyx.ir.graph import NOTHING, Details
from sardonyx.ir.source import Origin
from sardonyx.wire.locate import with_paths
from sardonyx.wire.messages import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    SparseTensorProto,
    StringStringEntryProto,
    TensorProto,
    ValueInfoProto,
)
from sardonyx.wire.pieces import entries, pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ClassVar

    from sardonyx.errors import Issue
    from sardonyx.wire.schema import Message


class Read(Origin, Details):
    """An origin whose documentation and metadata can be asked for."""

    __slots__ = ()

    message: ClassVar[type[Message]]
    """What lies there."""

    def locate(self, issue: Issue) -> Issue:
        """Fill in the field path of the issue's offset, while the file is open."""
        return issue if self.source.closed else with_paths([issue], self.source.data())[0]

    @property
    def doc_string(self) -> str:
        """The message's doc_string, decoded now (load checked that it is UTF-8)."""
        number = number_of(self.message, "doc_string")
        text = ""
        if number:
            data = self.source.data()
            for found, wire, _, start, stop in pieces(data, self.start, self.stop):
                if found == number and wire == 2:
                    text = bytes(data[start:stop]).decode()
        return text

    @property
    def metadata(self) -> Mapping[str, str]:
        """The message's metadata_props, decoded now; of a key that occurs twice, the last."""
        number = number_of(self.message, "metadata_props")
        if not number:
            return {}
        found = entries(self.source.data(), self.start, self.stop, number, StringStringEntryProto)
        return {entry.key: entry.value for entry in found}


def number_of(message: type[Message], name: str) -> int:
    """Return the number of a field, or 0 when the message has no such field."""
    for field in message.fields:
        if field.name == name:
            return field.number
    return 0


class ModelOrigin(Read):
    """A ModelProto."""

    __slots__ = ()
    message = ModelProto


class GraphOrigin(Read):
    """A GraphProto."""

    __slots__ = ()
    message = GraphProto


class FunctionOrigin(Read):
    """A FunctionProto."""

    __slots__ = ()
    message = FunctionProto


class NodeOrigin(Read):
    """A NodeProto."""

    __slots__ = ()
    message = NodeProto


class ValueOrigin(Read):
    """A ValueInfoProto."""

    __slots__ = ()
    message = ValueInfoProto


class TensorOrigin(Read):
    """A TensorProto."""

    __slots__ = ()
    message = TensorProto


class SparseOrigin(Read):
    """A SparseTensorProto."""

    __slots__ = ()
    message = SparseTensorProto


class AttributeOrigin(Read):
    """An AttributeProto."""

    __slots__ = ()
    message = AttributeProto


def details_of(origin: Read, message: Message) -> Details:
    """Return the origin as details when the message has any, else the empty details."""
    present = message.__dict__
    return origin if "metadata_props" in present or "doc_string" in present else NOTHING
