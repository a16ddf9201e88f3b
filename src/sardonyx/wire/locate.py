"""Name the field that holds a byte."""

from __future__ import annotations

from sardonyx.errors import Place
from sardonyx.records import record
from sardonyx.wire.messages import ModelProto
from sardonyx.wire.pieces import read_varint, scan
from sardonyx.wire.schema import LENGTH, VARINT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from mmap import mmap

    from sardonyx.errors import Issue
    from sardonyx.wire.schema import Field, Message

    Buffer = bytes | mmap | memoryview


@record
class Spot:
    """What is at a byte of a file."""

    path: str
    """Field path, such as `ModelProto.graph.node[3].attribute[1].t`."""
    part: str
    """`key`, `length`, `value` (of a number) or `payload`; `message` when the byte is in no field."""
    owner: str
    """The message that the field is in, named as in onnx.proto."""
    owner_start: int
    owner_end: int
    number: int | None = None
    """The field's number; None when its key cannot be read."""
    field: Field | None = None
    """The field, when it is known."""
    wire: int | None = None
    start: int | None = None
    """Where the field's key starts."""
    payload: int | None = None
    """Where the field's value starts."""
    end: int | None = None
    """Where the field ends; the end of its message when it is damaged."""
    damage: str = ""
    """The part of the field that cannot be read: `key`, `length` or `value`."""


def locate(data: Buffer, offset: int, message_class: type[Message] = ModelProto) -> str:
    """Return the path of the field that holds the byte at `offset`; damaged input is followed up to the damage."""
    return spot(data, offset, message_class).path


def spot(
    data: Buffer, offset: int, message_class: type[Message] = ModelProto, start: int = 0, end: int | None = None
) -> Spot:
    """Return what is at the byte at `offset` of the message in `data[start:end]`."""
    return Walk(data, message_class, start, end).spot(offset)


def with_paths(issues: Iterable[Issue], data: Buffer) -> list[Issue]:
    """Return issues with the field paths of their offsets filled in, all in one walk through the file.

    An offset is the start of a message's payload here, so the byte before it belongs to that message's field. Warnings
    do without.
    """
    found = list(issues)
    missing = [at for at, one in enumerate(found) if needs_path(one)]
    missing.sort(key=lambda at: found[at].place.offset or 0)
    walk = Walk(data, ModelProto)
    for at in missing:
        offset = found[at].place.offset or 0
        path = walk.spot(offset - 1).path if offset > 0 else "ModelProto"
        found[at] = found[at].within(Place(path=path))
    return found


def needs_path(issue: Issue) -> bool:
    """Whether an issue is an error at a known offset whose path was not looked up yet."""
    return issue.severity == "error" and issue.place.offset is not None and issue.place.path is None


class Level:
    """A message that a walk is in, and how far it has come."""

    __slots__ = ("cls", "end", "path", "pos", "seen", "start")

    def __init__(self, path: str, cls: type[Message], start: int, end: int) -> None:
        self.path = path
        self.cls = cls
        self.start = self.pos = start
        self.end = end
        self.seen: dict[int, int] = {}
        """How often each field has come, by number."""


class Walk:
    """A walk through a message to one byte after the other; it starts anew only to go back.

    The walk goes from the outermost message inwards and looks at nothing but keys and lengths, so that its time is
    bounded by the number of fields in the messages around the bytes. A field that occurs more than once is indexed by
    occurrence, the numbers of a packed run each by their own index.
    """

    def __init__(self, data: Buffer, message_class: type[Message], start: int = 0, end: int | None = None) -> None:
        self.data = data
        self.outermost = (name_of(message_class), message_class, start, len(data) if end is None else end)
        self.levels = [Level(*self.outermost)]

    def spot(self, offset: int) -> Spot:
        """Return what is at a byte."""
        data, levels = self.data, self.levels
        while levels and not (levels[-1].pos <= offset < levels[-1].end):
            levels.pop()
        if not levels:
            levels.append(Level(*self.outermost))
        while True:
            level = levels[-1]
            cls, start, end, seen = level.cls, level.start, level.end, level.seen
            for piece in scan(data, level.pos, end):
                number, wire, at, begin, stop, damage = piece
                if offset < stop or damage:
                    break
                known = cls.by_number.get(number)
                seen[number] = seen.get(number, 0) + count(data, known, wire, begin, stop)
                level.pos = stop
            else:
                return Spot(level.path, "message", name_of(cls), start, end)
            if number == 0:
                return Spot(level.path, "key", name_of(cls), start, end, start=at, end=stop, damage=damage)

            known = cls.by_number.get(number)
            _, after_key = read_varint(data, at, end)
            if offset < after_key:
                part = "key"
            elif wire == LENGTH:
                part = "length" if offset < begin or begin == stop else "payload"
            else:
                part = "value"
            index = seen.get(number, 0)
            if known is not None and part == "payload" and known.repeated and known.wire != LENGTH:
                index += count(data, known, wire, begin, offset)
            inner = f"{level.path}.{known.name if known else f'<field {number}>'}"
            if known is not None and known.repeated:
                inner += f"[{index}]"
            nested = known is not None and known.kind == "message" and wire == LENGTH
            if known is None or not nested or part != "payload":
                return Spot(inner, part, name_of(cls), start, end, number, known, wire, at, begin, stop, damage)
            levels.append(Level(inner, known.message, begin, stop))


def count(data: Buffer, known: Field | None, wire: int, begin: int, stop: int) -> int:
    """Return how many occurrences of its field a piece holds: more than one in a packed run."""
    if wire != LENGTH or known is None or known.wire == LENGTH:
        return 1
    if known.wire == VARINT:
        return sum(1 for byte in data[begin:stop] if byte < 0x80)
    return (stop - begin) // (4 if known.kind == "float" else 8)


def name_of(cls: type[Message]) -> str:
    """Return the name that a message has in onnx.proto."""
    return NESTED.get(cls.__name__, cls.__name__)


NESTED = {
    "Dimension": "TensorShapeProto.Dimension",
    "TensorProtoSegment": "TensorProto.Segment",
    **{f"TypeProto{kind}": f"TypeProto.{kind}" for kind in ("Tensor", "Sequence", "Map", "Optional", "Opaque")},
    "TypeProtoSparseTensor": "TypeProto.SparseTensor",
}
