"""Build and read sequence types: element by element while the elements are known one by one, else as a whole."""

from __future__ import annotations

from sardonyx.dims import Symbol
from sardonyx.ir.types import SequenceType, TensorType
from sardonyx.ops.common.join import EACH, common, mapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sardonyx.dims import Dim
    from sardonyx.ir.types import DType, Type
    from sardonyx.ops.call import Call

MOST_SINGLE = 256
"""Elements of a sequence that are known one by one; a longer one is known as a whole."""


def sequence_of(call: Call, elements: Sequence[Type], elem: Type | None = None) -> SequenceType:
    """Return the type of a sequence whose elements have these types; `elem` is that of an empty one."""
    whole = tuple(elements)
    if whole:
        elem = common(call.scope, whole)
    return SequenceType(elem, whole if len(whole) <= MOST_SINGLE else None, len(whole))


def one_of(call: Call, sequence: SequenceType) -> Type | None:
    """Return the type of some element of a sequence: what differs between elements is a symbol of this one."""
    kind = sequence.elem
    if sequence.elements:
        kind = common(call.scope, sequence.elements)
    if kind is None:
        return None
    known: dict[Symbol, Dim] = {}

    def own(dim: Dim) -> Dim:
        if isinstance(dim, int) or not any(symbol.hint is EACH for symbol in dim.symbols):
            return dim
        if not isinstance(dim, Symbol):
            return call.fresh()
        return known.setdefault(dim, call.fresh())

    return mapped(kind, own)


def differs(dim: Dim) -> bool:
    """Whether a dim of an element type may be another number in each element."""
    return not isinstance(dim, int) and any(symbol.hint is EACH for symbol in dim.symbols)


def element_dtype(sequence: SequenceType) -> DType | None:
    """Return the element type of the tensors of a sequence, None when it is not known or they are no tensors."""
    return sequence.elem.dtype if isinstance(sequence.elem, TensorType) else None


def length_of(sequence: SequenceType) -> Dim | None:
    """Return the number of elements, None when nothing is known of it."""
    return len(sequence.elements) if sequence.elements is not None else sequence.length
