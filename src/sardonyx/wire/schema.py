"""Declare a protobuf message as a table of fields.

A subclass of `Message` lists its fields as class attributes made by `field`; the class then carries the table
(`fields`, `by_number`) and, under each field's name, the value an absent field reads as. The decoder, the encoder and
`locate` all work from these tables and know no message by name.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar

MAX_FILE_BYTES = 2**31 - 1
"""The largest file that protobuf can express."""

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
"""The wire types in use; 3 and 4 are groups, which ONNX never uses, and 6 and 7 mean nothing."""

WIRE_TYPES = {
    "int64": VARINT, "uint64": VARINT, "int32": VARINT, "enum": VARINT,
    "float": FIXED32, "double": FIXED64,
    "string": LENGTH, "bytes": LENGTH, "message": LENGTH,
}  # fmt: skip
"""The wire type of one value of each kind (a packed run is `LENGTH` whatever its kind)."""

ZEROS = {"float": 0.0, "string": "", "bytes": b"", "message": None}


class Field:
    """One field of a message."""

    __slots__ = ("attribute", "child", "held", "kind", "name", "number", "oneof", "packed", "repeated")

    def __init__(
        self, number: int, kind: str, child: str | None, repeated: bool, packed: bool, held: str, oneof: str | None
    ) -> None:
        self.number = number
        self.kind = kind
        """A key of `WIRE_TYPES`."""
        self.child = child
        """Name of the message class, for kind `message`."""
        self.repeated = repeated
        self.packed = packed
        """Whether the encoder writes one packed run; the decoder accepts both forms of every repeated number."""
        self.held = held
        """What the decoder keeps: `value`, `shared`, `span`, `checked` or `runs` (see `field`)."""
        self.oneof = oneof
        self.name = ""
        """As in onnx.proto."""
        self.attribute = ""
        """As an attribute of the message: `name`, except where that is taken."""

    @property
    def wire(self) -> int:
        """The wire type of one value."""
        return WIRE_TYPES[self.kind]

    @property
    def message(self) -> type[Message]:
        """The message class of a field of kind `message`."""
        return MESSAGES[self.child or ""]

    @property
    def default(self) -> Any:
        """What the attribute reads as when the field is absent."""
        if self.held == "runs" or (self.held in ("span", "checked") and not self.repeated):
            return None
        if self.held == "checked":
            return 0
        return () if self.repeated else ZEROS.get(self.kind, 0)


def field(
    number: int,
    kind: str,
    child: str | None = None,
    *,
    repeated: bool = False,
    packed: bool = False,
    held: str = "value",
    oneof: str | None = None,
) -> Any:
    """Declare a field; `held` says what the decoder keeps of it.

    - `value`: the value itself; a list when repeated.
    - `shared`: a message, one object for all occurrences with the same (short) bytes.
    - `span`: the payload's `(start, end)` in the input, not looked at; a list of them when repeated.
    - `checked`: text that was checked to be UTF-8, as a span; or messages that were checked, as their count.
    - `runs`: numbers that were checked and counted, as `Runs`.
    """
    return Field(number, kind, child, repeated, packed, held, oneof)


class Message:
    """A decoded or hand-built message.

    Only fields that are present are in `__dict__`; the others read as their default. `start` and `end` are the
    message's payload in the input, -1 when it was built by hand. A decoded message may be shared and is never changed.
    """

    __slots__ = ("__dict__", "end", "start")

    fields: ClassVar[tuple[Field, ...]] = ()
    """In ascending order of their numbers."""
    by_number: ClassVar[dict[int, Field]] = {}

    unknown: Iterable[tuple[int, int]] = ()
    """What was skipped, keys included, as spans: unknown fields, and known ones with another wire type."""

    if TYPE_CHECKING:
        start: int
        end: int

    def __init__(self, **values: Any) -> None:
        self.start = self.end = -1
        for name in values:
            if name != "unknown" and not any(known.attribute == name for known in self.fields):
                raise TypeError(f"{type(self).__name__} has no field {name!r}")
        self.__dict__.update(values)

    def __init_subclass__(cls) -> None:
        found = []
        for attribute, value in list(vars(cls).items()):
            if isinstance(value, Field):
                value.attribute = attribute
                value.name = attribute.rstrip("_")
                found.append(value)
                setattr(cls, attribute, value.default)
        cls.fields = tuple(sorted(found, key=lambda known: known.number))
        cls.by_number = {known.number: known for known in cls.fields}
        MESSAGES[cls.__name__] = cls

    def has(self, name: str) -> bool:
        """Return whether the field is present, be it with its default value."""
        return name in self.__dict__

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({inside})"


MESSAGES: dict[str, type[Message]] = {}
"""Every message class by name, filled as the classes are defined."""


class Runs:
    """The numbers of one repeated field, checked and counted but not converted."""

    __slots__ = ("count", "spans")

    def __init__(self) -> None:
        self.count = 0
        """How many numbers there are."""
        self.spans: list[tuple[int, int, int]] = []
        """`(start, end, wire)` of each occurrence's payload: wire `LENGTH` for a packed run, else a single number."""

    def __repr__(self) -> str:
        return f"Runs(count={self.count}, spans={self.spans!r})"
