"""Turn TypeProto into types, and dim names into symbols.

A dim name is opaque unless it is arithmetic over plain dim names of the model's inputs, as exporters write (decision
S2). A dim of which nothing is known is a fresh symbol of its own, so two unknown dims never look equal.
"""

from __future__ import annotations

from sardonyx.errors import Place, error
from sardonyx.ir.types import (
    DTYPES,
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
    from collections.abc import Iterable, Sequence

    from sardonyx.dims import Dim, Symbol
    from sardonyx.io.context import Context
    from sardonyx.ir.types import Type
    from sardonyx.wire.messages import Dimension, TypeProto, TypeProtoSparseTensor, TypeProtoTensor, ValueInfoProto

OPERATORS = frozenset("+-*/%(")


class Types:
    """Types of one model; equal TypeProto messages give one object."""

    def __init__(self, context: Context, inputs: Iterable[ValueInfoProto]) -> None:
        self.context = context
        self.scope = context.scope
        self.dims: dict[str, Dim] = {}
        self.known: dict[TypeProto, Type | None] = {}
        inputs = tuple(inputs)
        self.plain = frozenset(name for info in inputs for name in dim_names(info.type) if name.isidentifier())
        self.fresh = False
        # The unnamed dims of inputs are the first symbols of a model, wherever in it bodies come; where an inference
        # was saved, other values have the names that they print with.
        self.inputs: list[list[Symbol]] = []
        self.nameless: dict[str, Symbol] = {}
        self.reserved: list[Symbol] = []
        for info in inputs:
            symbols = [self.scope.fresh() for dim in dim_messages(info.type) if is_unnamed(dim)]
            if not is_sequence(info.type):  # whose elements have each their own
                self.nameless.update({f"_d{one.number}": one for one in symbols if f"_d{one.number}" not in self.plain})
            self.inputs.append(symbols[::-1])
        self.inputs.reverse()

    def read(self, message: TypeProto | None) -> Type | None:
        """Return the type that a TypeProto declares, or None when it declares none."""
        if message is None:
            return None
        known = self.known
        if message in known:
            return known[message]
        self.fresh = False
        found = self.build(message)
        if not self.fresh:  # a type with a fresh dim is good for one value only
            known[message] = found
        return found

    def read_input(self, message: TypeProto | None) -> Type | None:
        """Return the type that the next input of the main graph declares."""
        self.reserved = self.inputs.pop()
        found = self.read(message)
        self.reserved = []
        return found

    def build(self, message: TypeProto) -> Type | None:
        """Read one TypeProto; the nesting of messages bounds the recursion."""
        tensor = message.tensor_type
        if tensor is not None:
            return TensorType(self.dtype(tensor.elem_type, message), self.shape(tensor))
        if message.sequence_type is not None:
            inner = message.sequence_type.elem_type
            return SequenceType(None if inner is None else self.build(inner))
        if message.map_type is not None:
            value = message.map_type.value_type
            key = self.dtype(message.map_type.key_type, message)
            return MapType(key, None if value is None else self.build(value))
        if message.optional_type is not None:
            inner = message.optional_type.elem_type
            return OptionalType(None if inner is None else self.build(inner))
        sparse = message.sparse_tensor_type
        if sparse is not None:
            return SparseTensorType(self.dtype(sparse.elem_type, message), self.shape(sparse))
        if message.opaque_type is not None:
            return OpaqueType(message.opaque_type.domain, message.opaque_type.name)
        return None

    def dtype(self, code: int, message: TypeProto) -> DType | None:
        """Read an element type; 0 is "not known"."""
        if 0 < code < len(DTYPES):
            return DTYPES[code]
        if code != 0:
            self.context.fault(
                error(
                    "element-type-unknown",
                    f"element type {code} is not one of 1 to {len(DTYPES) - 1}",
                    offset=message.start,
                    hint="the model may need a newer version of this library, or the file is damaged",
                )
            )
        return None

    def shape(self, message: TypeProtoTensor | TypeProtoSparseTensor) -> tuple[Dim, ...] | None:
        """Read a shape; without one the rank is unknown."""
        shape = message.shape
        if shape is None:
            return None
        found: list[Dim] = []
        for dim in shape.dim:
            present = dim.__dict__
            if "dim_value" in present:
                size = present["dim_value"]
                if size < 0:
                    self.fresh = True
                    self.context.warn(
                        "negative-dim",
                        f"a declared dimension of {size} is read as unknown",
                        Place(offset=dim.start),
                    )
                    size = self.unnamed()
                found.append(size)
            else:
                name = present.get("dim_param")
                if not name:
                    self.fresh = True
                    found.append(self.unnamed())
                else:
                    known = self.dims.get(name)
                    found.append(self.named(name) if known is None else known)
        return tuple(found)

    def unnamed(self) -> Symbol:
        """Return a symbol for a dim without a name."""
        return self.reserved.pop() if self.reserved else self.scope.fresh()

    def named(self, name: str) -> Dim:
        """Return the dim of a name, or of arithmetic over the inputs' names."""
        found: Dim
        if name in self.nameless:
            found = self.nameless[name]
        else:
            found = self.scope.symbol(name) if OPERATORS.isdisjoint(name) else self.scope.dim_param(name, self.plain)
        self.dims[name] = found
        return found


def dim_names(message: TypeProto | None) -> list[str]:
    """List the dim names anywhere in a type."""
    return [dim.dim_param for dim in dim_messages(message) if dim.dim_param]


def is_unnamed(dim: Dimension) -> bool:
    """Whether a dim has neither a size nor a name."""
    size = dim.__dict__.get("dim_value")
    return size < 0 if size is not None else not dim.dim_param


def is_sequence(message: TypeProto | None) -> bool:
    """Whether a type is, or may hold, a sequence."""
    while message is not None and message.optional_type is not None:
        message = message.optional_type.elem_type
    return message is not None and message.sequence_type is not None


def dim_messages(message: TypeProto | None) -> Sequence[Dimension]:
    """Return the dims of the tensor that is anywhere in a type."""
    while message is not None:
        tensor = message.tensor_type or message.sparse_tensor_type
        if tensor is not None:
            return () if tensor.shape is None else tensor.shape.dim
        wrapper = message.sequence_type or message.optional_type
        if wrapper is not None:
            message = wrapper.elem_type
        else:
            message = None if message.map_type is None else message.map_type.value_type
    return ()
