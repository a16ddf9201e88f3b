"""Encode types as TypeProto, and dims as dim_value or dim_param.

An anonymous symbol gets the name it prints with, which nothing else in its scope has. A dim_param means one thing in
the whole file: where the name of a symbol is taken by another symbol, or the text by another dim, nothing is written
for the dim, since "unknown" is true of every dim and a wrong name is not.
"""

from __future__ import annotations

from sardonyx.ir.types import MapType, OpaqueType, OptionalType, SequenceType, SparseTensorType, TensorType
from sardonyx.wire.writer import header, key, varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sardonyx.dims import Dim, Expr, Symbol
    from sardonyx.ir.types import Type

MEMBER = {TensorType: 1, SequenceType: 4, MapType: 5, OpaqueType: 7, SparseTensorType: 8, OptionalType: 9}
"""The field of TypeProto that holds each kind of type."""


class TypeWriter:
    """Types of one model on their way out; remembers which dim each dim_param stands for."""

    def __init__(self) -> None:
        self.owners: dict[str, Symbol] = {}
        self.texts: dict[str, Expr] = {}
        self.known: dict[Type, bytes] = {}

    def encode(self, kind: Type, denotations: Sequence[str] = (), is_claim: bool = True) -> bytes:
        """Return the payload of a TypeProto; `denotations` are those of the dims of a tensor.

        A type that is no claim about a value (an attribute) says "unknown" where a claim would use an anonymous name.
        """
        if denotations or not is_claim:
            return self.build(kind, denotations, is_claim)
        made = self.known.get(kind)
        if made is None:
            made = self.known[kind] = self.build(kind, (), True)
        return made

    def build(self, kind: Type | None, denotations: Sequence[str], is_claim: bool) -> bytes:
        """Encode one type; types nest no deeper than `max_nesting` lets a file say."""
        if kind is None:
            return b""
        if isinstance(kind, TensorType):
            body = b"" if kind.dtype is None else key(1, 0) + varint(kind.dtype)
            if kind.shape is not None:
                named = [*denotations, *[""] * len(kind.shape)]
                dims = [self.dim(dim, name, is_claim) for dim, name in zip(kind.shape, named, strict=False)]
                body += payload(2, b"".join([payload(1, dim) for dim in dims]))
        elif isinstance(kind, (SequenceType, OptionalType)):
            body = b"" if kind.elem is None else payload(1, self.build(kind.elem, (), is_claim))
        elif isinstance(kind, MapType):
            body = b"" if kind.key is None else key(1, 0) + varint(kind.key)
            body += b"" if kind.value is None else payload(2, self.build(kind.value, (), is_claim))
        else:
            body = b"".join([payload(i, text.encode()) for i, text in ((1, kind.domain), (2, kind.name)) if text])
        return payload(MEMBER[type(kind)], body)

    def dim(self, dim: Dim, denotation: str, is_claim: bool) -> bytes:
        """Encode one Dimension."""
        if isinstance(dim, int):
            body = key(1, 0) + varint(dim)
        elif is_claim or not any(symbol.anonymous for symbol in dim.symbols):
            text = self.name(dim)
            body = payload(2, text.encode()) if text else b""
        else:
            body = b""
        return body + payload(3, denotation.encode()) if denotation else body

    def name(self, dim: Expr) -> str:
        """Return the text of a dim that is no number, empty when it would say something else."""
        text = str(dim)
        for symbol in dim.symbols:
            if symbol.anonymous and symbol.hint == "each":  # another number in each element of a sequence
                return ""
            if self.owners.setdefault(str(symbol), symbol) is not symbol:
                return ""
        return text if self.texts.setdefault(text, dim) is dim else ""


def is_complete(kind: Type | None) -> bool:
    """Whether a type says enough to be written as a value_info: the ONNX checker wants every element type."""
    while isinstance(kind, (SequenceType, OptionalType, MapType)):
        if isinstance(kind, MapType):
            if kind.key is None:
                return False
            kind = kind.value
        else:
            kind = kind.elem
    if isinstance(kind, TensorType):
        return kind.dtype is not None
    return kind is not None


def payload(number: int, data: bytes) -> bytes:
    """Return a field that holds `data`."""
    return header(number, len(data)) + data
