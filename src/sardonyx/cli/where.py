"""Say which field is at a byte of a model file."""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sardonyx.cli.command import DONE, command
from sardonyx.cli.options import AsJson

if TYPE_CHECKING:
    from sardonyx.cli.output import Page
    from sardonyx.ir.source import Buffer
    from sardonyx.wire.locate import Spot

MOST_BYTES = 32
"""Bytes of a text or payload that are shown."""


def offset_of(text: str) -> int:
    """Read an offset: decimal, or hexadecimal with `0x`."""
    try:
        offset = int(text, 0)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number of bytes such as 4096 or 0x1000") from None
    if offset < 0:
        raise typer.BadParameter("an offset counts from the start of the file; it cannot be negative")
    return offset


@command
def where(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="An ONNX model, damaged or not; [bold]-[/bold] reads standard input.")
    ],
    offset: Annotated[
        int, typer.Argument(metavar="OFFSET", parser=offset_of, help="Bytes from the start: 4096 or 0x1000.")
    ],
    as_json: AsJson = False,
) -> int:
    """Say which field of a model is at a byte. The file need not be valid: it is read up to the damage.

    [bold]sardonyx where[/bold] model.onnx 1048571
    """
    from sardonyx.cli.output import Page, print_json
    from sardonyx.io.files import open_source
    from sardonyx.ir.source import Source
    from sardonyx.wire.locate import spot

    source = Source(sys.stdin.buffer.read(), "<stdin>") if file == "-" else open_source(file)
    try:
        if offset >= source.size:
            last = f"so its last byte is at {source.size - 1}" if source.size else "so there is no byte in it"
            raise typer.BadParameter(f"{file} has {source.size} bytes, {last}", param_hint="OFFSET")
        fields = describe(source.data(), offset, spot(source.data(), offset))
    finally:
        source.close()
    if as_json:
        print_json("where", {"source": file, **fields})
    else:
        show(Page(), fields)
    return DONE


def describe(data: Buffer, offset: int, found: Spot) -> dict[str, Any]:
    """Return what is known of the byte, ready for JSON."""
    field = found.field
    kind = None if field is None else (field.child if field.kind == "message" else field.kind)
    return {
        "offset": offset,
        "byte": data[offset],
        "path": found.path,
        "part": found.part,
        "message": found.owner,
        "field": None if field is None else field.name,
        "number": found.number,
        "type": kind,
        "repeated": None if field is None else field.repeated,
        "start": found.start,
        "payload": found.payload,
        "end": found.end,
        "damage": found.damage or None,
        "value": None if found.damage or found.payload is None else preview(data, found),
    }


def preview(data: Buffer, found: Spot) -> str | None:
    """Write the field's value as far as it fits on a line; None for messages and for fields that are not known."""
    from sardonyx.wire.pieces import read_varint
    from sardonyx.wire.schema import FIXED32, FIXED64, VARINT

    begin, end, field = found.payload or 0, found.end or 0, found.field
    if found.wire == VARINT:
        value, _ = read_varint(data, begin, end)
        signed = field is not None and field.kind in ("int64", "int32", "enum") and value >> 63
        return str(value - (1 << 64) if signed else value)
    if found.wire in (FIXED32, FIXED64):
        if field is None:
            return "0x" + bytes(data[begin:end])[::-1].hex()
        return repr(struct.unpack("<f" if found.wire == FIXED32 else "<d", data[begin:end])[0])
    head = bytes(data[begin : min(end, begin + MOST_BYTES)])
    more = "..." if end - begin > MOST_BYTES else ""
    if field is not None and field.kind == "string":
        return ascii(head.decode(errors="backslashreplace"))[:-1] + more + "'"
    if field is not None and field.kind == "message":
        return None
    return (head.hex(" ") or "empty") + more


def show(page: Page, fields: dict[str, Any]) -> None:
    """Print it."""
    from sardonyx.cli.output import count

    page.title(f"byte {fields['offset']:,} (0x{fields['offset']:x}) is 0x{fields['byte']:02x}")
    article = {"key": "the key", "length": "the length", "value": "the value", "payload": "the content"}
    kind = f"{'repeated ' if fields['repeated'] else ''}{fields['type'] or ''}"
    span = "" if fields["start"] is None else f"bytes {fields['start']:,} to {fields['end']:,}"
    if fields["payload"] is not None:
        span += f", content from {fields['payload']:,} ({count(fields['end'] - fields['payload'], 'byte')})"
    rows = [
        ("path", fields["path"]),
        ("what", f"{article[fields['part']]} of a field" if fields["part"] in article else "in no field"),
        ("message", fields["message"]),
        ("field", f"{fields['field'] or 'unknown'}, number {fields['number']}" if fields["number"] else ""),
        ("type", kind),
        ("span", span),
        ("value", fields["value"] or ""),
        ("damage", f"the {fields['damage']} of this field cannot be read" if fields["damage"] else ""),
    ]
    page.rows([row for row in rows if row[1]])
