"""Decode a message, or say what is wrong with it in a sentence that names the field."""

from __future__ import annotations

import gc
from mmap import mmap

from sardonyx.errors import error
from sardonyx.wire import codec
from sardonyx.wire.schema import MESSAGES, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Generic, TypeVar

    from sardonyx.errors import OnnxError

    Buffer = bytes | mmap | memoryview
    M = TypeVar("M", bound=Message)

    class Decoded(Generic[M]):
        message: M
        replaced: bool

        def __init__(self, message: M, replaced: bool) -> None: ...

else:

    class Decoded:
        """A message, and whether something in its bytes did not count.

        `replaced` says that a singular field or a oneof occurred more than once somewhere, so that only the last one
        is in the message, and its bytes say more than it does.
        """

        __slots__ = ("message", "replaced")

        def __init__(self, message, replaced):
            self.message = message
            self.replaced = replaced


LEAST_NESTING, MOST_NESTING = 8, 250


def check_max_nesting(max_nesting: int) -> int:
    """Return `max_nesting`, or raise ValueError when it is outside 8 to 250."""
    if not LEAST_NESTING <= max_nesting <= MOST_NESTING:
        raise ValueError(f"max_nesting is {max_nesting}; it must be between {LEAST_NESTING} and {MOST_NESTING}")
    return max_nesting


TABLES: dict[Any, list[Any]] = {}


def decode(
    data: Buffer,
    message_class: type[M],
    start: int = 0,
    end: int | None = None,
    *,
    max_nesting: int = 128,
    source: str = "<bytes>",
) -> Decoded[M]:
    """Decode `data[start:end]` as a message of the given class.

    `data` is bytes, a read-only map, or a view of bytes. It is never copied as a whole (but for a view of other things
    in the interpreted build), and what is held as a span is not read. Raises OnnxError (kinds Malformed, and
    Unsupported for nesting beyond `max_nesting`) with the offset from the start of `data` and the field path;
    ValueError when `max_nesting` is not in 8 to 250.
    """
    check_max_nesting(max_nesting)
    if end is None:
        end = len(data)
    return decode_with(codec, TABLES, data, message_class, start, end, max_nesting, source)


def decode_with(
    build: Any,
    tables: dict[Any, list[Any]],
    data: Buffer,
    message_class: type[M],
    start: int,
    end: int,
    max_nesting: int,
    source: str,
) -> Decoded[M]:
    """Do what `decode` does with the given build of the codec and its tables."""
    if isinstance(data, memoryview) and not build.is_compiled:
        whole: Any = data.obj
        same = type(whole) in (bytes, mmap) and len(whole) == len(data) and data.contiguous
        data = whole if same else bytes(data)  # a slice of a view is another view, and slow to hash
    table = tables.get(message_class) or build.table_of(message_class, tables)
    shared = (MESSAGES["AttributeProto"], MESSAGES["TypeProto"], MESSAGES["StringStringEntryProto"])
    root = object.__new__(message_class)
    collecting = gc.isenabled()
    gc.disable()  # a decoder makes many containers and no cycles; collections would cost as much as the work
    try:
        replaced = build.run(data, start, end, root, table, shared, max_nesting)
    except build.Fault as fault:
        raise explain(fault, data, message_class, start, end, max_nesting, source) from None
    finally:
        if collecting:
            gc.enable()
    return Decoded(root, replaced)


CUT_HINT = "the file looks cut short; compare its size with the original"
WIRE_NAMES = {3: "3 (start of a group)", 4: "4 (end of a group)", 6: "6", 7: "7"}


def explain(
    fault: Any, data: Buffer, message_class: type[Message], start: int, end: int, max_nesting: int, source: str
) -> OnnxError:
    """Turn a fault of the codec into an error that names the field."""
    from sardonyx.wire.locate import spot  # only on error

    code, offset = fault.code, fault.offset
    probe = offset - 1 if code == "cut-short" and fault.size else offset
    found = spot(data, probe, message_class, start, end)
    owner = found.owner
    hint = None
    if code == "length-past-end":
        over = fault.size - fault.room
        message = f"length {fault.size} runs {over} byte{'' if over == 1 else 's'} past the end of {owner}"
        hint = CUT_HINT
    elif code == "cut-short":
        message = f"{owner} ends in the middle of a {found.damage}"
        hint = CUT_HINT
    elif code == "bad-varint":
        message = "a varint has more than 64 bits"
    elif code == "bad-key":
        message = "a field key has more than 32 bits"
    elif code == "bad-field-number":
        message = f"a field of {owner} has the number 0, which protobuf does not allow"
    elif code == "bad-wire-type":
        message = f"a field of {owner} has wire type {WIRE_NAMES[fault.size]}, which ONNX never uses"
    elif code == "bad-utf8":
        message = f"the text is not UTF-8: byte 0x{data[offset]:02x} does not belong there"
    elif code == "ragged-packed":
        message = f"a packed run of {fault.size} bytes is not a whole number of {fault.room}-byte values"
    else:
        message = f"messages nest more than {max_nesting} deep"
        hint = f"raise max_nesting (now {max_nesting}, at most {MOST_NESTING}) if this model is meant to be so"
    if hint is None and code in ("bad-key", "bad-field-number", "bad-wire-type"):
        hint = "the file is damaged here, or it is not an ONNX model"
    return error(code, message, hint=hint, source=source, offset=offset, path=found.path)
