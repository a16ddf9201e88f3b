"""Read types and tensors of the text syntax."""

from __future__ import annotations

import re
import struct

from sardonyx.errors import error
from sardonyx.ir.source import Source
from sardonyx.ir.tensor import External, Stored, Strings, Tensor
from sardonyx.ir.types import (
    DType,
    MapType,
    OpaqueType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.dims import Dim
    from sardonyx.ir.text.lexer import Reader
    from sardonyx.ir.types import Type

    Dims = Callable[[str | None], Dim]

ELEMENTS: dict[str, DType | None] = {one.text: one for one in DType if one} | {"undefined": None}
"""Element types by the names that the syntax gives them."""
CONTAINERS = frozenset(("seq", "map", "optional", "sparse_tensor", "opaque"))
SPECIAL_FLOAT = re.compile(r"inf|infinity|nan", re.IGNORECASE)
MAX_DEPTH = 64
"""How deep graphs, or types, may nest."""

UNITS = {
    DType.FLOAT: "f", DType.DOUBLE: "d", DType.COMPLEX64: "f", DType.COMPLEX128: "d",
    DType.INT8: "b", DType.INT16: "h", DType.INT32: "i", DType.INT64: "q",
    DType.UINT16: "H", DType.UINT32: "I", DType.UINT64: "Q", DType.FLOAT16: "H", DType.BFLOAT16: "H",
}  # fmt: skip
"""What one number in braces is: as in the typed fields of TensorProto, narrow floats stand as their bits, and types of
4 and 2 bits as packed bytes; all that is not listed is a byte."""
SIX_BITS = (DType.FLOAT6E2M3, DType.FLOAT6E3M2)
"""Types whose numbers in braces are single elements, though their data is packed four to three bytes."""


def begins_type(reader: Reader) -> bool:
    """Tell whether the current token begins a type."""
    return reader.kind == "identifier" and (reader.value in ELEMENTS or reader.value in CONTAINERS)


def read_type(reader: Reader, dims: Dims, depth: int = 0) -> Type | None:
    """Read a type; None where the parentheses of a container hold nothing.

    `dims` gives the dim of a name, and of None a new one that nothing is known of.
    """
    if depth > MAX_DEPTH:
        reader.fail(f"types nest more than {MAX_DEPTH} deep", code="nesting-too-deep")
    at = reader.start
    word = reader.identifier("a type")
    if word in ELEMENTS:
        return TensorType(ELEMENTS[word], read_shape(reader, dims))
    if word not in CONTAINERS:
        reader.fail(f"{word!r} is not a type", at=at)
    reader.expect("(")
    if word == "opaque":
        return read_opaque(reader)
    found: Type
    if word == "map":
        key = read_element(reader, "the type of the keys")
        reader.expect(",")
        found = MapType(key, read_inner(reader, dims, depth))
    elif word == "sparse_tensor":
        found = SparseTensorType(read_element(reader, "an element type"), read_shape(reader, dims))
    elif word == "seq":
        found = SequenceType(read_inner(reader, dims, depth))
    else:
        found = OptionalType(read_inner(reader, dims, depth))
    reader.expect(")")
    return found


def read_inner(reader: Reader, dims: Dims, depth: int) -> Type | None:
    """Read the type inside a container, which may be left out."""
    return None if reader.at(")") else read_type(reader, dims, depth + 1)


def read_element(reader: Reader, what: str) -> DType | None:
    """Read the name of an element type."""
    at = reader.start
    word = reader.identifier(what)
    if word not in ELEMENTS:
        reader.fail(f"expected {what}, found {word!r}", at=at)
    return ELEMENTS[word]


def read_opaque(reader: Reader) -> OpaqueType:
    """Read the rest of `opaque(name)` or `opaque(domain, name)`."""
    words = []
    while not reader.at(")"):
        words.append(reader.name("a name"))
        while reader.take("."):
            words[-1] += "." + reader.identifier("a name")
        if not reader.take(","):
            break
    reader.expect(")")
    return OpaqueType(*["", *words][-2:]) if words else OpaqueType()


def read_shape(reader: Reader, dims: Dims) -> tuple[Dim, ...] | None:
    """Read what follows an element type: nothing is a scalar, `[]` an unknown rank, `[2, N, ?]` three dims."""
    if not reader.take("["):
        return ()
    if reader.take("]"):
        return None
    found: list[Dim] = []
    while True:
        if reader.take("?"):
            found.append(dims(None))
        elif reader.kind == "number":
            found.append(reader.integer("a dim"))
            if found[-1] < 0:  # type: ignore[operator]
                reader.fail(f"a dim cannot be {found[-1]}")
        else:
            found.append(dims(reader.name("a dim")))
        if not reader.take(","):
            break
    reader.expect("]")
    return tuple(found)


def read_tensor(reader: Reader, kind: Type | None, name: str, at: int) -> Tensor:
    """Read the numbers or strings of a tensor whose type was read before, at position `at`."""
    if type(kind) is not TensorType or kind.dtype is None or kind.shape is None:
        reader.fail("a tensor needs an element type and a shape", at=at)
    shape = tuple(dim for dim in kind.shape if isinstance(dim, int))
    if len(shape) != len(kind.shape):
        reader.fail("the dims of a tensor are numbers", at=at)
    tensor = Tensor(kind.dtype, shape, Strings(tuple), name)
    if reader.take("["):
        entries = read_entries(reader, "]")
        return tensor.replace(content=External(tuple(entries.items()), tensor.nbytes, no_folder(name)))  # type: ignore[no-any-return, attr-defined]
    if kind.dtype is DType.STRING:
        strings = read_strings(reader)
        check_count(reader, len(strings), tensor.size, at)
        return Tensor(kind.dtype, shape, Strings(lambda: strings), name)
    unit = UNITS.get(kind.dtype, "B")
    data = read_numbers(reader, unit)
    if kind.dtype in SIX_BITS:
        check_count(reader, len(data), tensor.size, at)
        data = pack_sixes(data)
    check_count(reader, len(data) // struct.calcsize(unit), tensor.nbytes // struct.calcsize(unit), at)
    return Tensor(kind.dtype, shape, Stored(Source(data, "<text>"), 0, len(data)), name)


def check_count(reader: Reader, found: int, needed: int, at: int) -> None:
    """Refuse a tensor with another number of elements than its shape says."""
    if found != needed:
        reader.fail(f"the shape needs {needed} values, the braces hold {found}", at=at)


def no_folder(name: str) -> Callable[[], Stored]:
    """Refuse to look for external data: a text lies in no folder."""

    def locate() -> Stored:
        raise error("external-no-folder", "the model was read from a text, which has no folder", value=name)

    return locate


def read_strings(reader: Reader) -> tuple[bytes, ...]:
    """Read strings in braces."""
    found: list[bytes] = []
    if reader.take("{"):
        while not reader.at("}"):
            found.append(to_bytes(reader.string("a string")))
            if not reader.take(","):
                break
        reader.expect("}")
    return tuple(found)


def read_numbers(reader: Reader, unit: str) -> bytes:
    """Read numbers in braces and pack them; `unit` is a format of `struct`."""
    found: list[float] = []
    whole = unit not in "fd"
    at = reader.start
    if reader.take("{"):
        while not reader.at("}"):
            at = reader.start
            found.append(reader.integer("a number") if whole else read_float(reader))
            if not reader.take(","):
                break
        reader.expect("}")
    try:
        return struct.pack(f"<{len(found)}{unit}", *found)
    except (struct.error, OverflowError):
        reader.fail("a number does not fit the element type", at=at)


def pack_sixes(elements: bytes) -> bytes:
    """Pack elements of 6 bits, one to a byte, four to three bytes; the first has the lowest bits."""
    packed = bytearray()
    for at in range(0, len(elements), 4):
        group = sum((one & 63) << 6 * i for i, one in enumerate(elements[at : at + 4]))
        packed += group.to_bytes(3, "little")
    return bytes(packed[: (len(elements) * 6 + 7) // 8])


def unpack_sixes(packed: bytes, count: int) -> bytes:
    """Undo `pack_sixes`."""
    elements = bytearray()
    for at in range(0, len(packed), 3):
        group = int.from_bytes(packed[at : at + 3], "little")
        elements += bytes(group >> shift & 63 for shift in (0, 6, 12, 18))
    return bytes(elements[:count])


def read_float(reader: Reader) -> float:
    """Read a number, infinity or NaN, in either case with a minus sign before it."""
    if reader.kind == "number":
        return float(reader.read(("number",), "a number"))
    sign = -1.0 if reader.take("-") else 1.0
    if reader.kind != "identifier" or not SPECIAL_FLOAT.fullmatch(reader.value):
        reader.fail(f"expected a number, found {reader.found()}")
    return sign * float(reader.read(("identifier",), "a number"))


def single(reader: Reader, number: float, at: int) -> float:
    """Round a number to 32 bits, as attributes hold it."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        reader.fail(f"{number} does not fit a 32-bit float", at=at)
    return rounded


def read_entries(reader: Reader, close: str) -> dict[str, str]:
    """Read pairs of strings, `"key": "value"`, up to a closing mark."""
    found: dict[str, str] = {}
    while not reader.at(close):
        key = reader.string("a key")
        reader.expect(":")
        found[key] = reader.string("a value")
        if not reader.take(","):
            break
    reader.expect(close)
    return found


def to_bytes(text: str) -> bytes:
    """Encode a string; what was no UTF-8 when it was printed is the same bytes again."""
    return text.encode("utf-8", "surrogateescape")
