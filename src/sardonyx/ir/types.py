"""Name what a value can be: tensors, sequences, optionals, maps, and what is known of each.

Element type, rank and every dim are known independently: `dtype is None` is an unknown element type, `shape is None` an
unknown rank, and a dim is an `int` or an expression over symbols. A scalar has shape `()`. A value of which nothing is
known has no type at all.
"""

from __future__ import annotations

from enum import IntEnum

from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sardonyx.dims import Dim

    Shape = tuple[Dim, ...]


class DType(IntEnum):
    """Element types, numbered as TensorProto.DataType numbers them."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16
    FLOAT8E4M3FN = 17
    FLOAT8E4M3FNUZ = 18
    FLOAT8E5M2 = 19
    FLOAT8E5M2FNUZ = 20
    UINT4 = 21
    INT4 = 22
    FLOAT4E2M1 = 23
    FLOAT8E8M0 = 24
    UINT2 = 25
    INT2 = 26
    FLOAT6E2M3 = 27
    FLOAT6E3M2 = 28

    @property
    def bits(self) -> int:
        """Width of one element in bits; 0 for strings, which have none."""
        return BITS[self]

    @property
    def text(self) -> str:
        """The element type as ONNX type strings spell it: `float`, `int64`, `bfloat16`."""
        return self.name.lower()

    def nbytes(self, count: int) -> int:
        """Return how many bytes `count` packed elements take: ceil(count * bits / 8)."""
        return (count * BITS[self] + 7) // 8


BITS = (0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2, 6, 6)
DTYPES = tuple(DType)
"""Every member, indexed by its number: quicker than calling the enum."""


@record
class TensorType:
    """A dense tensor."""

    dtype: DType | None = None
    """Element type, or None when unknown."""
    shape: Shape | None = None
    """Dims, or None when not even the rank is known."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.dtype == self.dtype and other.shape == self.shape

    def __hash__(self) -> int:
        return hash((type(self), self.dtype, self.shape))

    @property
    def rank(self) -> int | None:
        """Number of dims, or None when unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def type_str(self) -> str:
        """The type without its shape, as onnxruntime prints it: `tensor(float)`."""
        return f"tensor({'' if self.dtype is None else self.dtype.text})"

    def with_shape(self, shape: Iterable[Dim] | None) -> TensorType:
        """Return this type with another shape."""
        return type(self)(self.dtype, None if shape is None else tuple(shape))

    def with_dtype(self, dtype: DType | None) -> TensorType:
        """Return this type with another element type."""
        return type(self)(dtype, self.shape)

    def __str__(self) -> str:
        return self.type_str + shape_text(self.shape)


@record
class SparseTensorType(TensorType):
    """A sparse tensor: the element type and shape of its dense form."""

    @property
    def type_str(self) -> str:
        """The type without its shape: `sparse_tensor(float)`."""
        return f"sparse_tensor({'' if self.dtype is None else self.dtype.text})"


@record
class SequenceType:
    """A list of values of one type."""

    elem: Type | None = None
    """What all elements have in common."""
    elements: tuple[Type, ...] | None = None
    """Each element's own type, while they are known one by one."""
    length: Dim | None = None
    """Number of elements, or None when nothing is known; `len(elements)` when those are known."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SequenceType)
            and other.elem == self.elem
            and other.elements == self.elements
            and other.length == self.length
        )

    def __hash__(self) -> int:
        return hash((SequenceType, self.elem, self.elements, self.length))

    @property
    def type_str(self) -> str:
        """The type as onnxruntime prints it: `seq(tensor(float))`."""
        return f"seq({inner_text(self.elem)})"

    def __str__(self) -> str:
        if self.elements is not None:
            return f"seq[{', '.join(map(str, self.elements))}]"
        return f"seq({'' if self.elem is None else self.elem})" + ("" if self.length is None else f"*{self.length}")


@record
class OptionalType:
    """A value that may be absent."""

    elem: Type | None = None
    """What it is when present."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OptionalType) and other.elem == self.elem

    def __hash__(self) -> int:
        return hash((OptionalType, self.elem))

    @property
    def type_str(self) -> str:
        """The type as onnxruntime prints it: `optional(seq(tensor(float)))`."""
        return f"optional({inner_text(self.elem)})"

    def __str__(self) -> str:
        return f"optional({'' if self.elem is None else self.elem})"


@record
class MapType:
    """A dictionary from integers or strings to values of one type."""

    key: DType | None = None
    """Type of the keys: an integer type or STRING."""
    value: Type | None = None
    """What all values have in common."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MapType) and other.key == self.key and other.value == self.value

    def __hash__(self) -> int:
        return hash((MapType, self.key, self.value))

    @property
    def type_str(self) -> str:
        """The type as onnxruntime prints it: `map(string,tensor(float))`."""
        return f"map({'' if self.key is None else self.key.text},{inner_text(self.value)})"

    def __str__(self) -> str:
        return f"map({'' if self.key is None else self.key.text}, {'' if self.value is None else self.value})"


@record
class OpaqueType:
    """A type that only its own domain knows."""

    domain: str = ""
    name: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueType) and other.domain == self.domain and other.name == self.name

    def __hash__(self) -> int:
        return hash((OpaqueType, self.domain, self.name))

    @property
    def type_str(self) -> str:
        """The type as ONNX type strings spell it: `opaque(domain,name)`."""
        return f"opaque({self.domain},{self.name})"

    def __str__(self) -> str:
        return self.type_str


Type = TensorType | SequenceType | OptionalType | MapType | OpaqueType
"""Everything a value can be."""


def inner_text(elem: Type | None) -> str:
    """Return the type string of a part, empty when the part is not known."""
    return "" if elem is None else elem.type_str


def shape_text(shape: Shape | None) -> str:
    """Print a shape: `[b, s, 16]`, `[]` for a scalar, nothing for an unknown rank."""
    return "" if shape is None else f"[{', '.join(map(str, shape))}]"
