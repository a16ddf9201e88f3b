"""Hold the attributes of a node: a kind and a value, or a reference to a function's own attribute."""

from __future__ import annotations

from enum import IntEnum

from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sardonyx.ir.source import Origin


class AttrKind(IntEnum):
    """Kinds of attribute, named and numbered as AttributeProto.AttributeType."""

    UNDEFINED = 0
    FLOAT = 1
    INT = 2
    STRING = 3
    TENSOR = 4
    GRAPH = 5
    FLOATS = 6
    INTS = 7
    STRINGS = 8
    TENSORS = 9
    GRAPHS = 10
    SPARSE_TENSOR = 11
    SPARSE_TENSORS = 12
    TYPE_PROTO = 13
    TYPE_PROTOS = 14


KINDS = tuple(AttrKind)
"""Every member, indexed by its number."""


class Blob:
    """A string attribute too long to be worth copying before anybody asks for it."""

    __slots__ = ("origin",)

    def __init__(self, origin: Origin) -> None:
        self.origin = origin

    def read(self) -> bytes:
        """Return the bytes."""
        return self.origin.source.read(self.origin.start, self.origin.stop)


@record
class Attr:
    """An attribute with a value.

    `value` is, by kind: FLOAT float, INT int, STRING bytes, TENSOR Tensor, GRAPH Graph, SPARSE_TENSOR SparseTensor,
    TYPE_PROTO a type of ir/types.py (None for an empty TypeProto); the kinds in the plural hold tuples of these.
    """

    name: str
    kind: AttrKind
    content: Any
    """The value, or a `Blob` that stands for it."""
    origin: Origin | None = None
    """Where it was read from."""

    @property
    def value(self) -> Any:
        """The value; see the class for its type."""
        content = self.content
        return content.read() if type(content) is Blob else content


@record
class AttrRef:
    """An attribute in a function body that takes the value of the function's own attribute `ref`."""

    name: str
    kind: AttrKind
    """The declared kind, UNDEFINED when the file does not say."""
    ref: str
    """Name of the function's attribute (AttributeProto.ref_attr_name)."""
    origin: Origin | None = None
    """Where it was read from."""

    @property
    def value(self) -> None:
        """A reference has no value of its own."""
        return None
