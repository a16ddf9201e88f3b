"""Rules for products of matrices."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.broadcast import broadcast
from sardonyx.ops.common.sizes import joined
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call

rules = Rules("")


@rules("MatMul", since=1)
def matmul(call: Call) -> TensorType:
    """Multiply matrices as numpy.matmul does: a 1-D operand gains an axis that the result lacks."""
    a, b = call.tensor(0), call.tensor(1)
    return TensorType(a.dtype or b.dtype, product_shape(call, a.shape, b.shape))


@rules("MatMulInteger", since=10)
def matmul_integer(call: Call) -> TensorType:
    """Multiply matrices of 8-bit integers into 32-bit ones."""
    return TensorType(DType.INT32, product_shape(call, call.tensor(0).shape, call.tensor(1).shape))


def product_shape(call: Call, a: Shape | None, b: Shape | None) -> Shape | None:
    """Return the shape of a product of matrices."""
    if a is None or b is None:
        if a == () or b == ():
            call.fail("rank-mismatch", "a scalar cannot be multiplied as a matrix")
        return None
    rank_a, rank_b = len(a), len(b)
    if not rank_a or not rank_b:
        call.fail("rank-mismatch", "a scalar cannot be multiplied as a matrix")
    inner = a[-1]
    other = b[-2] if rank_b > 1 else b[0]
    if inner is not other and inner != other:
        joined(call, inner, other, f"last axis of A is {inner} but first matrix axis of B is {other}")
    if rank_b == 2 and rank_a > 1:  # the common form
        return (*a[:-1], b[1])
    batch = broadcast(call, a[:-2], b[:-2]) or ()
    rows = (a[-2],) if rank_a > 1 else ()
    columns = (b[-1],) if rank_b > 1 else ()
    return (*batch, *rows, *columns)


@rules("Gemm", since=1)
def gemm(call: Call) -> TensorType:
    """Multiply two matrices, each transposed if asked; C must broadcast to the result and does not change it."""
    a, b = call.tensor(0), call.tensor(1)
    rows, inner = matrix(call, a.shape, "A", call.int("transA", 0))
    other, columns = matrix(call, b.shape, "B", call.int("transB", 0))
    if a.shape is not None and b.shape is not None and inner is not other and inner != other:
        joined(call, inner, other, f"A has {inner} columns but B has {other} rows")
    return TensorType(a.dtype or b.dtype, (rows, columns))


def matrix(call: Call, shape: Shape | None, name: str, transposed: object) -> tuple[Dim, Dim]:
    """Return rows and columns of a matrix."""
    if shape is None:
        return call.fresh(), call.fresh()
    if len(shape) != 2:
        call.fail("rank-mismatch", f"{name} has {len(shape)} dims; it must be a matrix")
    return (shape[1], shape[0]) if transposed else (shape[0], shape[1])


@rules("Det", since=11)
def determinant(call: Call) -> TensorType:
    """Return one number for each square matrix in the last two axes."""
    x = call.tensor(0)
    if x.shape is None:
        return x
    if len(x.shape) < 2:
        call.fail("rank-mismatch", f"the input has {len(x.shape)} dims; matrices have 2")
    joined(call, x.shape[-2], x.shape[-1], f"a matrix of {x.shape[-2]} x {x.shape[-1]} is not square")
    return x.with_shape(x.shape[:-2])


@rules("Einsum", since=12)
def einsum(call: Call) -> TensorType:
    """Sum over products as the equation says: one letter is one size, `...` broadcasts."""
    kinds = [call.tensor(at) for at in range(call.count)]
    if not kinds:
        call.missing(0)
    equation: str = call.str("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(kinds):
        call.fail("bad-attribute", f"{equation!r} has {len(terms)} terms for {len(kinds)} inputs", attr="equation")
    sizes: dict[str, Dim | None] = {}
    spread: Shape | None = ()
    for term, kind in zip(terms, kinds, strict=True):
        before, dots, after = term.partition("...")
        check_letters(call, before + after, equation)
        if kind.shape is None:
            for letter in before + after:
                sizes[letter] = unless_one(call, sizes.get(letter))
            if dots:
                spread = None
            continue
        inner = len(kind.shape) - len(before) - len(after)
        if inner < 0 or (inner and not dots):
            call.fail("rank-mismatch", f"{term!r} in {equation!r} is a tensor of {len(kind.shape)} dims")
        if dots and spread is not None:
            spread = broadcast(call, spread, kind.shape[len(before) : len(before) + inner])
        dims = [*kind.shape[: len(before)], *kind.shape[len(before) + inner :]]
        for letter, dim in zip(before + after, dims, strict=True):
            sizes[letter] = join_letter(call, sizes[letter], dim) if letter in sizes else dim
    dtype = next((kind.dtype for kind in kinds if kind.dtype is not None), None)
    if not arrow:
        once = sorted(letter for letter in sizes if left.count(letter) == 1)
        right = ("..." if "..." in left else "") + "".join(once)
    before, dots, after = right.partition("...")
    check_letters(call, before + after, equation)
    unknown = [letter for letter in before + after if letter not in sizes]
    if unknown:
        call.fail("bad-attribute", f"{unknown[0]!r} stands in no input of {equation!r}", attr="equation")
    if dots and spread is None:
        return TensorType(dtype, None)
    dims = [call.fresh() if sizes[letter] is None else sizes[letter] for letter in before + after]  # type: ignore[misc]
    middle = (spread or ()) if dots else ()
    return TensorType(dtype, (*dims[: len(before)], *middle, *dims[len(before) :]))


def check_letters(call: Call, letters: str, equation: str) -> None:
    """Refuse an equation with anything but letters in a term."""
    if letters and not letters.isalpha():
        call.fail("bad-attribute", f"{equation!r} has {letters!r} where letters are expected", attr="equation")


def join_letter(call: Call, known: Dim | None, dim: Dim) -> Dim | None:
    """Return the one size of a letter; a 1 broadcasts, as runtimes allow, also to a size that is not known."""
    if known is None:
        return unless_one(call, dim)
    return broadcast(call, (known,), (dim,))[0]  # type: ignore[index]


def unless_one(call: Call, dim: Dim | None) -> Dim | None:
    """Return a size that stays what it is beside one that is not known: it is never 1."""
    if dim is None:
        return None
    low = call.scope.lower(dim)
    return dim if dim == 0 or (low is not None and low > 1) else None
