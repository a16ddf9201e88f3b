"""Rules for sequences: each element's type is kept while the elements are known one by one (decision S11)."""

from __future__ import annotations

from sardonyx.dims import Expr
from sardonyx.ir.types import DType, SequenceType, TensorType
from sardonyx.ops.call import Fact
from sardonyx.ops.common.join import EACH, Renewal, common
from sardonyx.ops.common.sequences import MOST_SINGLE, differs, element_dtype, length_of, one_of, sequence_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ir.graph import Graph
    from sardonyx.ir.types import Shape, Type
    from sardonyx.ops.call import Call

rules = Rules("")

MOST_NESTED = 2
"""Maps inside each other that run their body for single elements: each more would multiply the work."""


@rules("SequenceEmpty", since=11)
def sequence_empty(call: Call) -> SequenceType:
    """Return a sequence without elements; it says nothing of the shapes that may come."""
    return SequenceType(TensorType(call.dtype("dtype", DType.FLOAT), None), (), 0)


@rules("SequenceConstruct", since=11)
def sequence_construct(call: Call) -> SequenceType:
    """Return the inputs as a sequence."""
    if not call.count:
        call.missing(0)
    kinds = [call.peek(at) for at in range(call.count)]
    known = [kind for kind in kinds if kind is not None]
    dtype = None
    for kind in known:
        dtype = same_dtype(call, dtype, kind)
    if len(known) < len(kinds):
        return SequenceType(None if dtype is None else TensorType(dtype, None), None, len(kinds))
    return sequence_of(call, known)


def same_dtype(call: Call, dtype: DType | None, kind: Type) -> DType | None:
    """Return the element type that elements share; refuse an element of another."""
    if not isinstance(kind, TensorType):
        call.fail("wrong-kind", f"a {kind.type_str} cannot be an element, only a tensor")
    if dtype is not None and kind.dtype is not None and kind.dtype is not dtype:
        call.fail("bad-element-type", f"elements of one sequence are {dtype.text} and {kind.dtype.text}")
    return kind.dtype if dtype is None else dtype


@rules("SequenceLength", since=11)
def sequence_length(call: Call) -> Fact:
    """Return the number of elements."""
    kind = call.peek(0)
    length = length_of(call.sequence(0)) if kind is not None else None
    return Fact(TensorType(DType.INT64, ()), None if length is None else (length,))


def position(call: Call, at: int, count: Dim | None, last: int) -> int | None:
    """Return a known position counted from the front, None when it is not known; refuse one that is out of range.

    `last` is 0 where the position after the last element counts too, else 1.
    """
    found = call.scalar(at)
    if not isinstance(found, int) or not isinstance(count, int):
        return None
    if not -count <= found <= count - last:
        call.fail("bad-input", f"position {found} is out of range for a sequence of {count} elements")
    return found + count if found < 0 else found


@rules("SequenceAt", since=11)
def sequence_at(call: Call) -> Type | None:
    """Return the element at a position, negative ones counted from the end."""
    sequence = call.sequence(0)
    count = length_of(sequence)
    at = position(call, 1, count, 1)
    if sequence.elements is not None and at is not None:
        return sequence.elements[at]
    if count == 0:
        call.fail("bad-input", "the sequence is empty")
    return one_of(call, sequence)


@rules("SequenceInsert", since=11)
def sequence_insert(call: Call) -> SequenceType:
    """Return the sequence with one more element, at the end or before a position."""
    sequence, tensor = call.sequence(0), call.peek(1)
    dtype = element_dtype(sequence)
    if tensor is not None:
        dtype = same_dtype(call, dtype, tensor)
    count = length_of(sequence)
    at = position(call, 2, count, 0) if call.has(2) else count
    if sequence.elements is not None and tensor is not None:
        elements = [*sequence.elements]
        if isinstance(at, int) or all(one == tensor for one in elements):
            elements.insert(at if isinstance(at, int) else 0, tensor)
            return sequence_of(call, elements)
        return SequenceType(common(call.scope, [*elements, tensor]), None, len(elements) + 1)
    if tensor is None or sequence.elem is None:
        elem: Type | None = None if dtype is None else TensorType(dtype, None)
    else:
        elem = common(call.scope, (sequence.elem, tensor))
    return SequenceType(elem, None, None if count is None else count + 1)


@rules("SequenceErase", since=11)
def sequence_erase(call: Call) -> SequenceType:
    """Return the sequence without the last element, or without that at a position."""
    sequence = call.sequence(0)
    count = length_of(sequence)
    if count == 0:
        call.fail("bad-input", "the sequence is empty, so that nothing can be erased")
    at = position(call, 1, count, 1) if call.has(1) else count - 1 if isinstance(count, int) else None
    if sequence.elements is not None:
        elements = [*sequence.elements]
        if at is not None or all(one == elements[0] for one in elements):
            del elements[at or 0]
            return sequence_of(call, elements, sequence.elem)
        return SequenceType(common(call.scope, elements), None, len(elements) - 1)
    return SequenceType(sequence.elem, None, None if count is None else count - 1)


@rules("SplitToSequence", since=11)
def split_to_sequence(call: Call) -> SequenceType:
    """Split a tensor along an axis: into pieces of 1, of one size with a shorter last one, or of the sizes given."""
    tensor = call.tensor(0)
    keep = call.int("keepdims", 1)
    axis = call.int("axis", 0)
    shape = tensor.shape
    if shape is None:
        return SequenceType(tensor.with_shape(None))
    if not shape:
        call.fail("rank-mismatch", "a scalar cannot be split")
    axis = call.axis(axis, len(shape), attr="axis")
    if not call.has(1):
        piece = pieces(tensor, shape, axis, [1])[0]
        if not keep:
            piece = tensor.with_shape(shape[:axis] + shape[axis + 1 :])
        return repeated(call, piece, shape[axis])
    sizes = call.content(1)
    kind = call.peek(1)
    rank = kind.rank if isinstance(kind, TensorType) else None
    if sizes is None or rank is None or not all(isinstance(size, (int, Expr)) for size in sizes):
        return SequenceType(pieces(tensor, shape, axis, [call.fresh(EACH)])[0])
    known: list[Dim] = list(sizes)  # type: ignore[arg-type]
    if rank == 0:
        return split_evenly(call, tensor, shape, axis, known[0])
    total: Dim = 0
    for size in known:
        if isinstance(size, int) and size < 0:
            call.fail("bad-input", f"a piece of size {size} is asked for")
        total = total + size
    if call.scope.equal(total, shape[axis]) is False:
        call.fail("dim-mismatch", f"the pieces have {total} in all, but axis {axis} is {shape[axis]}")
    return sequence_of(call, pieces(tensor, shape, axis, known), tensor.with_shape(None))


def split_evenly(call: Call, tensor: TensorType, shape: Shape, axis: int, size: Dim) -> SequenceType:
    """Split into pieces of one size; the last one may be shorter."""
    whole = shape[axis]
    if call.scope.at_least(size, 1) is False:
        call.fail("bad-input", f"the size of the pieces is {size}, it must be positive")
    if isinstance(size, int) and isinstance(whole, int) and -(-whole // size) <= MOST_SINGLE:
        sizes: list[Dim] = [size] * (whole // size)
        if whole % size:
            sizes.append(whole % size)
        return sequence_of(call, pieces(tensor, shape, axis, sizes), tensor.with_shape(None))
    if not isinstance(size, int) and not call.scope.is_positive(size):
        return SequenceType(pieces(tensor, shape, axis, [call.fresh(EACH)])[0])
    count = call.scope.ceildiv(whole, size)
    even = call.scope.mod(whole, size) == 0
    return SequenceType(pieces(tensor, shape, axis, [size if even else call.fresh(EACH)])[0], None, count)


def pieces(tensor: TensorType, shape: Shape, axis: int, sizes: list[Dim]) -> list[TensorType]:
    """Return the type of a tensor with each of some sizes along one axis."""
    return [tensor.with_shape((*shape[:axis], size, *shape[axis + 1 :])) for size in sizes]


def repeated(call: Call, piece: TensorType, count: Dim) -> SequenceType:
    """Return a sequence of `count` elements of one type."""
    if isinstance(count, int) and count <= MOST_SINGLE:
        return sequence_of(call, [piece] * count, piece)
    return SequenceType(piece, None, count)


@rules("ConcatFromSequence", since=11)
def concat_from_sequence(call: Call) -> TensorType:
    """Join the elements along an axis that they have, or with `new_axis` along one of its own."""
    sequence = call.sequence(0)
    axis: int = call.int("axis")
    stack: int = call.int("new_axis", 0)
    if stack not in (0, 1):
        call.fail("bad-attribute", f"{stack} is neither 0 nor 1", attr="new_axis")
    dtype = element_dtype(sequence)
    shapes: list[Shape] = []
    for kind in sequence.elements or (sequence.elem,):
        if not isinstance(kind, TensorType) or kind.shape is None:
            return TensorType(dtype, None)
        shapes.append(kind.shape)
    rank = len(shapes[0])
    if any(len(shape) != rank for shape in shapes):
        call.fail("rank-mismatch", f"elements have {rank} and other numbers of dims")
    if not stack and rank == 0:
        call.fail("rank-mismatch", "scalars cannot be joined along an axis of theirs; use new_axis=1")
    axis = call.axis(axis, rank + stack, attr="axis")
    count = length_of(sequence)
    dims = [joined(call, [shape[at] for shape in shapes], at) if stack or at != axis else 0 for at in range(rank)]
    if stack:
        return TensorType(dtype, (*dims[:axis], call.fresh() if count is None else count, *dims[axis:]))
    if sequence.elements is not None:
        total: Dim = 0
        for shape in shapes:
            total = total + shape[axis]
        dims[axis] = total if sequence.elements else call.fresh()
    elif count is None or differs(shapes[0][axis]):
        dims[axis] = call.fresh()
    else:
        dims[axis] = count * shapes[0][axis]
    return TensorType(dtype, tuple(dims))


def joined(call: Call, dims: list[Dim], axis: int) -> Dim:
    """Return the dim that all elements share: a number where one is known, else the first."""
    found = dims[0]
    for dim in dims[1:]:
        if dim == found:
            continue
        if call.scope.equal(found, dim) is False:
            call.fail("dim-mismatch", f"axis {axis} is {found} in one element and {dim} in another")
        call.assume("joined-dims", found, dim)
        if isinstance(dim, int):
            found = dim
    return call.fresh() if differs(found) else found


@rules("SequenceMap", since=17)
def sequence_map(call: Call) -> tuple[SequenceType | None, ...]:
    """Run the body for each element of the first sequence; further sequences give one element, tensors all of them."""
    body = call.graph("body")
    if len(body.inputs) != call.count or len(body.outputs) < call.outputs:
        call.fail(
            "body-interface",
            f"the body takes {len(body.inputs)} values and returns {len(body.outputs)}; it must take {call.count} and "
            f"return at least {call.outputs}",
            attr="body",
        )
    call.sequence(0)
    kinds = [call.peek(at) for at in range(call.count)]
    length: Dim | None = None
    for kind in kinds:
        if isinstance(kind, SequenceType):
            length = shared(call, length, length_of(kind))
    start = call.scope.pool.numbers
    single = one_by_one(call, body, kinds, length, start)
    whole = [one_of(call, kind) if isinstance(kind, SequenceType) else kind for kind in kinds]
    contents = [None if isinstance(kind, SequenceType) else call.known(at) for at, kind in enumerate(kinds)]
    certain = length is not None and call.scope.is_positive(length)
    facts = call.run_body(body, whole, contents, certain=certain)
    found: list[SequenceType | None] = []
    for at, fact in enumerate(facts):
        inner = None if fact is None else fact.type
        if single is not None:
            elements = [one[at] for one in single]
            types = [kind for kind in elements if kind is not None]
            if len(types) == len(elements):
                found.append(sequence_of(call, types, inner))
                continue
        elem = None if inner is None else each(call, inner, start)
        found.append(SequenceType(elem, None, length))
    return tuple(found)


def shared(call: Call, one: Dim | None, other: Dim | None) -> Dim | None:
    """Return the length that sequences share: a number where one is known, else the first."""
    if one is None or other is None or one == other:
        return other if one is None else one
    if call.scope.equal(one, other) is False:
        call.fail("dim-mismatch", f"the sequences have {one} and {other} elements")
    call.assume("joined-dims", one, other)
    return other if isinstance(other, int) and not isinstance(one, int) else one


def one_by_one(
    call: Call, body: Graph, kinds: list[Type | None], length: Dim | None, start: int
) -> list[list[Type | None]] | None:
    """Return what the body makes of each single element, None where elements are not known one by one."""
    if not isinstance(length, int) or length > MOST_SINGLE or call.service.singly >= MOST_NESTED:
        return None
    columns: list[list[Type | None]] = []
    for kind in kinds:
        if not isinstance(kind, SequenceType):
            columns.append([kind] * length)
        elif kind.elements is not None:
            columns.append(list(kind.elements))
        else:
            return None
    known: dict[tuple[Type | None, ...], list[Type | None]] = {}
    found = []
    for row in zip(*columns, strict=True):
        outs = known.get(row)
        if outs is None:
            mark = call.service.begin()  # only the pass over all elements together counts
            call.service.singly += 1
            contents = [None if isinstance(kind, SequenceType) else call.known(at) for at, kind in enumerate(kinds)]
            outs = known[row] = [None if fact is None else fact.type for fact in call.run_body(body, row, contents)]
            call.service.singly -= 1
            call.service.undo(mark)
        renewal = Renewal(call.scope, start)
        found.append([None if kind is None else renewal.type(kind) for kind in outs])
    return found


def each(call: Call, kind: Type, start: int) -> Type:
    """Return what the body makes of an element as the element type of a sequence: its own symbols differ in each."""
    if not isinstance(kind, TensorType) or kind.shape is None:
        return kind
    own = Renewal(call.scope, start)
    return kind.with_shape(
        dim if isinstance(dim, int) or not any(own.is_old(symbol) for symbol in dim.symbols) else call.fresh(EACH)
        for dim in kind.shape
    )
