"""Write protobuf bytes by hand: the words that the tests of this folder are written in."""

from __future__ import annotations

from sardonyx.errors import OnnxError
from sardonyx.wire import header, key, varint


def number(field: int, value: int) -> bytes:
    """A varint field."""
    return key(field, 0) + varint(value)


def payload(field: int, body: bytes = b"") -> bytes:
    """A field with a length: text, bytes, a message or a packed run."""
    return header(field, len(body)) + body


def fixed32(field: int, body: bytes) -> bytes:
    return key(field, 5) + body


def fixed64(field: int, body: bytes) -> bytes:
    return key(field, 1) + body


def graph(body: bytes) -> bytes:
    """A model that is nothing but a graph."""
    return payload(7, body)


def tensor(body: bytes) -> bytes:
    """A model whose graph is nothing but an initializer."""
    return graph(payload(5, body))


def attribute(body: bytes) -> bytes:
    """A model whose graph is nothing but a node with one attribute."""
    return graph(payload(1, payload(5, body)))


def fault(decode, data: bytes, *message_class, **options) -> tuple[str, str, int, str]:
    """Return kind, code, offset and path of the error that the bytes give; an AssertionError when they give none."""
    try:
        decode(data, *message_class, **options)
    except OnnxError as error:
        return error.kind.value, error.code, error.offset, error.path
    raise AssertionError("decoded without an error")
