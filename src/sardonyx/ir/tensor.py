"""Hold a constant tensor without touching its bytes until somebody asks."""

from __future__ import annotations

from sardonyx.errors import OnnxError, error
from sardonyx.ir.types import BITS, DType
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from sardonyx.ir.source import Origin, Source

    class Content(Protocol):
        """How a tensor gets at its bytes."""

        def view(self, what: str) -> memoryview: ...


class Stored:
    """Bytes that lie in a source, in the raw layout."""

    __slots__ = ("length", "offset", "source")

    def __init__(self, source: Source, offset: int, length: int) -> None:
        self.source = source
        self.offset = offset
        self.length = length

    def view(self, what: str) -> memoryview:
        """Return them as a read-only view."""
        return self.source.view(self.offset, self.offset + self.length, what)


class Converted:
    """Bytes that a typed field (int32_data and so on) yields when it is first asked for."""

    __slots__ = ("length", "made", "make", "source")

    def __init__(self, length: int, make: Callable[[], bytes], source: Source | None = None) -> None:
        self.length = length
        self.make = make
        self.source = source
        """Where the field lies, if anywhere; once it is closed, what was made of it is out of reach as well."""
        self.made: bytes | None = None

    def view(self, what: str) -> memoryview:
        """Convert on the first call; return the raw layout as a read-only view."""
        if self.source is not None:
            self.source.data(what)
        if self.made is None:
            self.made = self.make()
        return memoryview(self.made)


class External:
    """Bytes in another file, found and checked as section 5 of the import document says.

    `locate` finds the file and the range in it; it is called once, on first access.
    """

    __slots__ = ("digest", "entries", "found", "length", "locate", "location", "offset")

    def __init__(
        self,
        entries: tuple[tuple[str, str], ...],
        length: int,
        locate: Callable[[], Stored],
        location: str = "",
        offset: int = 0,
        digest: Callable[[], str] | None = None,
    ) -> None:
        self.entries = entries
        """The key-value pairs as written."""
        self.length = length
        """Bytes of the tensor, from its dims."""
        self.locate = locate
        self.location = location
        """The file, relative to the model's folder, as written."""
        self.offset = offset
        """Where the bytes start in the file."""
        self.digest = digest
        """Computes the SHA-1 of the whole file, in lower-case hex; reads all of it."""
        self.found: Stored | None = None

    def stored(self) -> Stored:
        """Return the range in the opened file.

        Raises:
            OnnxError: kind ExternalData or Io when the file is not there or not as the tensor says.
        """
        if self.found is None:
            self.found = self.locate()
        return self.found

    def view(self, what: str) -> memoryview:
        """Open the file when this is the first call; return the bytes as a read-only view."""
        return self.stored().view(what)


class Strings:
    """The entries of a string tensor, sliced from the file when first asked for."""

    __slots__ = ("made", "make", "source")

    def __init__(self, make: Callable[[], tuple[bytes, ...]], source: Source | None = None) -> None:
        self.make = make
        self.source = source
        """Where the entries lie; None for strings that belong to no file."""
        self.made: tuple[bytes, ...] | None = None

    def view(self, what: str) -> memoryview:
        """Refuse: strings have no raw layout."""
        raise TypeError(f"tensor {what!r} holds strings, which have no raw bytes; use tensor.strings")

    def strings(self, what: str = "") -> tuple[bytes, ...]:
        """Return the entries in row-major order."""
        if self.source is not None:
            self.source.data(what)
        if self.made is None:
            self.made = self.make()
        return self.made


class Unreadable:
    """The content of a tensor that the file does not describe rightly; collecting mode goes on with it."""

    __slots__ = ("problem",)

    def __init__(self, problem: OnnxError) -> None:
        self.problem = problem
        """What is wrong."""

    def view(self, what: str) -> memoryview:
        """Raise what is wrong, every time."""
        raise OnnxError(self.problem.issue)


@record
class Tensor:
    """A constant: element type, shape, and bytes in the raw little-endian layout of TensorProto.raw_data."""

    dtype: DType
    shape: tuple[int, ...]
    content: Content
    """How the bytes are got: Stored, Converted, External, Strings or Unreadable."""
    name: str = ""
    origin: Origin | None = None
    """Where the TensorProto was read from."""
    _elements: tuple[Any, ...] | None = None
    """The elements of a very small one, once they were read."""

    @property
    def size(self) -> int:
        """Number of elements."""
        if 0 in self.shape:
            return 0
        count = 1
        for dim in self.shape:
            count *= dim
        return count

    @property
    def nbytes(self) -> int:
        """Length of `data` in bytes: ceil(size * bits / 8); 0 for strings."""
        return (self.size * BITS[self.dtype] + 7) // 8

    @property
    def data(self) -> memoryview:
        """The bytes as a read-only view, not copied (typed fields are converted once, on first use).

        Raises:
            OnnxError: Io `source-closed` after `model.close()`; ExternalData when a lazily loaded file is not right.
            TypeError: for a string tensor.
        """
        return self.content.view(self.name)

    @property
    def strings(self) -> tuple[bytes, ...]:
        """The entries of a STRING tensor in row-major order, as bytes (they need not be UTF-8)."""
        if not isinstance(self.content, Strings):
            if isinstance(self.content, Unreadable):
                self.content.view(self.name)
            raise TypeError(f"tensor {self.name!r} holds {self.dtype.text}, not strings; use tensor.data")
        return self.content.strings(self.name)

    @property
    def is_external(self) -> bool:
        """Whether the bytes lie in a file of their own."""
        return isinstance(self.content, External)

    def numpy(self) -> Any:
        """Return a read-only numpy array of this shape; no copy for whole-byte types.

        bfloat16, the 8-bit floats and everything below a byte come as the dtypes of ml_dtypes, one element per byte
        where the tensor packs several; strings come as an object array of `bytes`.

        Raises:
            OnnxError: as `data` does.
            ImportError: when the installed ml_dtypes does not know the element type.
        """
        from sardonyx.ir.arrays import to_numpy

        return to_numpy(self)

    def copy(self) -> Tensor:
        """Return a tensor whose bytes are its own, so that it outlives `model.close()`: the one step that copies them.

        The copy keeps name, element type and shape; documentation and metadata stay with the file.
        """
        from sardonyx.ir.arrays import owned

        return owned(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        from sardonyx.ir.arrays import as_array

        return as_array(self, dtype, copy)

    def __dlpack__(self, **options: Any) -> Any:
        from sardonyx.ir.arrays import to_dlpack

        return to_dlpack(self, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU


@record
class SparseTensor:
    """A sparse constant as the file gives it: never made dense, its counts not compared."""

    values: Tensor
    """The values that are not default, 1-D; carries the name."""
    indices: Tensor
    """Their positions: linear `[n]` or coordinates `[n, rank]`."""
    shape: tuple[int, ...]
    """Dims of the dense form."""
    origin: Origin | None = None
    """Where the SparseTensorProto was read from."""

    @property
    def name(self) -> str:
        """The name, which SparseTensorProto keeps on `values`."""
        return self.values.name

    @property
    def dtype(self) -> DType:
        """Element type of the values."""
        return self.values.dtype


def tensor_of(array: Any, name: str = "") -> Tensor:
    """Make a tensor from a numpy array (or anything `numpy.asarray` takes), copying its bytes."""
    from sardonyx.ir.arrays import from_numpy

    return from_numpy(array, name)


def element_count(shape: tuple[int, ...], name: str) -> int:
    """Multiply the dims.

    Raises:
        OnnxError: InvalidModel `negative-dim`, or `too-many-elements` when the product exceeds 2^60.
    """
    for dim in shape:
        if dim < 0:
            raise error("negative-dim", f"dimension {dim} of a tensor is negative", value=name)
    if 0 in shape:
        return 0
    count = 1
    for dim in shape:
        count *= dim
        if count > 1 << 60:  # at once: the product of all of a hostile file's dims may have millions of digits
            raise error("too-many-elements", "the dims multiply to more than 2^60 elements", value=name)
    return count
