"""Hold exact integer expressions over symbols, each in one normal form.

An expression is a sum of terms, a term is a number times a product of atoms, and an atom is a symbol or an operation
that a polynomial cannot express (`floor`, `exact`, `max`, `min`, `broadcast`, `select`). A sum that cancels to a number
*is* that number: constants are plain `int`, so sizes that are known cost nothing.

Every expression is kept once (`pool`), therefore equality is identity: `==` means "the same normal form" and nothing
else. Whether two different forms have the same value is a question for the scope, which answers True, False or None.
Nothing in this module knows a bound.
"""

from __future__ import annotations

from operator import attrgetter

from sardonyx.dims.pool import Pool, inner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

    Monomial: TypeAlias = "tuple[Atom, ...]"

DIM_MAX = 2**63 - 1
"""The largest size a dim can have (decisions S3); what is above it is not a dim."""

MAX_TERMS = 128
MAX_DEGREE = 32
MAX_DEPTH = 16
MAX_SIZE = 1024
MAX_NUMBER = 2**127


class TooLarge(ArithmeticError):
    """An expression outgrew the limits of this module; the caller keeps a fresh symbol instead."""


class Expr:
    """An integer expression; immutable, hashable, equal to itself only.

    Build expressions with a scope's symbols and `+ - * // % **`; each returns an `int` or an `Expr`, or raises
    `TooLarge`. `str(expr)` is Python syntax over the names of its symbols.
    """

    __slots__ = ("depth", "divided", "pool", "size", "terms")

    pool: Pool
    """Where it is kept: the innermost pool among those of its symbols."""
    terms: Mapping[Monomial, int]
    """Product of atoms -> coefficient, never 0; the empty product stands for the constant."""
    size: int
    """How many atoms and terms the written-out form has; bounded by `MAX_SIZE`."""
    depth: int
    """How deep operations nest; bounded by `MAX_DEPTH`."""
    divided: bool
    """Whether a term holds a division, whose sums have rules of their own (see `divide.settle`)."""

    def __add__(self, other: Dim) -> Dim:
        if isinstance(other, int):
            return shift(self, other) if other else self
        return combine(self, other, 1) if isinstance(other, Expr) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Dim) -> Dim:
        if isinstance(other, int):
            return shift(self, -other) if other else self
        return combine(self, other, -1) if isinstance(other, Expr) else NotImplemented

    def __rsub__(self, other: Dim) -> Dim:
        return scale(self, -1) + other

    def __neg__(self) -> Dim:
        return scale(self, -1)

    def __pos__(self) -> Dim:
        return self

    def __mul__(self, other: Dim) -> Dim:
        if isinstance(other, int):
            return scale(self, other)
        return product(self, other) if isinstance(other, Expr) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, power: int) -> Dim:
        if not isinstance(power, int):
            return NotImplemented
        if power < 0:
            raise ValueError(f"a dim cannot have the negative power {power}")
        if power > MAX_DEGREE:
            raise TooLarge(f"power {power} is above {MAX_DEGREE}")
        result: Dim = 1
        for _ in range(power):
            result = result * self
        return result

    def __floordiv__(self, other: Dim) -> Dim:
        return quotient(self, other) if isinstance(other, (int, Expr)) else NotImplemented

    def __rfloordiv__(self, other: Dim) -> Dim:
        return quotient(other, self) if isinstance(other, int) else NotImplemented

    def __mod__(self, other: Dim) -> Dim:
        return self - other * quotient(self, other) if isinstance(other, (int, Expr)) else NotImplemented

    def __rmod__(self, other: Dim) -> Dim:
        return other - self * quotient(other, self) if isinstance(other, int) else NotImplemented

    def __bool__(self) -> bool:
        raise TypeError(f"the truth of {self} is not known; compare with ==, or ask the scope")

    def __str__(self) -> str:
        from sardonyx.dims.text import write

        return write(self)

    def __repr__(self) -> str:
        return f"<dim {self}>"

    @property
    def constant(self) -> int:
        """The number in the sum."""
        return self.terms.get((), 0)

    @property
    def is_symbol(self) -> bool:
        """Whether this is a bare symbol."""
        return isinstance(self, Symbol)

    @property
    def symbol(self) -> Symbol | None:
        """This expression if it is a bare symbol, else None."""
        return self if isinstance(self, Symbol) else None

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols that occur anywhere in it, each once, in order of first use."""
        found: dict[Symbol, None] = {}
        queue: list[Expr] = [self]
        for expr in queue:  # grows as it is read; bounded by `size`
            for monomial in expr.terms:
                for atom in monomial:
                    if isinstance(atom, Symbol):
                        found[atom] = None
                    else:
                        queue += [arg for arg in atom.args if isinstance(arg, Expr)]
        return tuple(found)


class Atom(Expr):
    """An expression that is no sum or product: a symbol, or one operation on expressions."""

    __slots__ = ("args", "kind", "serial")

    kind: str
    """`symbol`, `floor`, `exact`, `max`, `min`, `broadcast` or `select`."""
    args: tuple[Dim, ...]
    """The operands; a set for `max`, `min` and `broadcast`, whose order says nothing."""
    serial: int
    """Order of creation in the model: the order of atoms in a product."""

    def __init__(self, pool: Pool, kind: str, args: tuple[Dim, ...]) -> None:
        size, depth = 1, 0
        for arg in args:
            if isinstance(arg, Expr):
                size += arg.size
                depth = max(depth, arg.depth)
        if size > MAX_SIZE or depth >= MAX_DEPTH:
            raise TooLarge(f"an expression of size {size} and depth {depth + 1}")
        self.pool = pool
        self.kind = kind
        self.args = args
        self.serial = next(pool.serials)
        self.size = size
        self.depth = depth + 1
        self.divided = kind in ("floor", "exact")
        self.terms = {(self,): 1}


class Symbol(Atom):
    """A size that has a name: declared by the model's author, or anonymous."""

    __slots__ = ("anonymous", "given", "hint", "number", "signed")

    anonymous: bool
    """Whether inference made it: equal to itself, to nothing else, and nameless until it is printed."""
    signed: bool
    """Whether it may be negative; sizes never are, elements of integer tensors may be."""

    def __init__(self, pool: Pool, name: str | None, *, hint: str = "d", number: int = 0, signed: bool = False) -> None:
        super().__init__(pool, "symbol", ())
        self.given = name
        self.anonymous = name is None
        self.hint = hint
        self.number = number
        self.signed = signed

    @property
    def name(self) -> str:
        """The author's name; for an anonymous symbol one such as `_d0` that no declared name has."""
        if self.given is None:
            self.given = self.pool.unused_name(self)
        return self.given


Dim = int | Expr
"""A dimension or an integer that shapes are made of: a number where it is known."""


SERIAL = attrgetter("serial")


def shift(expr: Expr, number: int) -> Dim:
    """Return `expr + number`."""
    sums = expr.pool.sums
    found = sums.get((expr, number))
    if found is None:
        terms = dict(expr.terms)
        total = terms.get((), 0) + number
        if total:
            terms[()] = total
        else:
            del terms[()]
        found = sums[expr, number] = collect(terms)
    return found


def combine(left: Expr, right: Expr, factor: int) -> Dim:
    """Return `left + factor*right`; `factor` is not 0."""
    sums = (left.pool if left.pool is right.pool else inner(left.pool, right.pool)).sums
    found = sums.get((left, right, factor))
    if found is None:
        terms = dict(left.terms)
        for monomial, coefficient in right.terms.items():
            total = terms.get(monomial, 0) + factor * coefficient
            if total:
                terms[monomial] = total
            else:
                del terms[monomial]
        found = sums[left, right, factor] = settled(terms) if left.divided or right.divided else collect(terms)
    return found


def scale(expr: Expr, factor: int) -> Dim:
    """Return `expr * factor`."""
    if factor == 1:
        return expr
    if factor == 0:
        return 0
    products = expr.pool.products
    found = products.get((expr, factor))
    if found is None:
        terms = {monomial: coefficient * factor for monomial, coefficient in expr.terms.items()}
        found = products[expr, factor] = settled(terms) if expr.divided else collect(terms)
    return found


def product(left: Expr, right: Expr) -> Dim:
    """Return `left * right`, multiplied out."""
    products = (left.pool if left.pool is right.pool else inner(left.pool, right.pool)).products
    found = products.get((left, right))
    if found is None:
        if len(left.terms) * len(right.terms) > 4 * MAX_TERMS:
            raise TooLarge(f"a product of {len(left.terms)} and {len(right.terms)} terms")
        terms: dict[Monomial, int] = {}
        for a, m in left.terms.items():
            for b, n in right.terms.items():
                monomial = tuple(sorted(a + b, key=SERIAL)) if a and b else a or b
                total = terms.get(monomial, 0) + m * n
                if total:
                    terms[monomial] = total
                else:
                    del terms[monomial]
        found = settled(terms) if left.divided or right.divided else collect(terms)
        products[left, right] = found
    return found


def quotient(left: Dim, right: Dim) -> Dim:
    """Return `left // right` as far as it simplifies without knowing a bound; one of the two is an `Expr`."""
    quotients = (left if isinstance(left, Expr) else right).pool.quotients  # type: ignore[union-attr]
    found = quotients.get((left, right))
    if found is None:
        from sardonyx.dims.divide import floordiv

        found = quotients[left, right] = floordiv(left, right)
    return found


def settled(terms: dict[Monomial, int]) -> Dim:
    """Collect terms that hold divisions."""
    from sardonyx.dims.divide import settle

    return settle(terms)


def collect(terms: dict[Monomial, int]) -> Dim:
    """Return the one `Expr` (or the number) that has these terms; the mapping is kept, no coefficient is 0."""
    if len(terms) < 2:
        if not terms:
            return 0
        for monomial, coefficient in terms.items():
            if not monomial:
                return coefficient
            if coefficient == 1 and len(monomial) == 1:
                return monomial[0]
    pool = home(terms)
    key = frozenset(terms.items())
    found = pool.sums_kept.get(key)
    if found is None:
        found = Expr()
        found.pool = pool
        found.terms = terms
        measure(found)
        found = pool.sums_kept.setdefault(key, found)
    return found


def measure(expr: Expr) -> None:
    """Set size, depth and `divided`, or refuse an expression beyond the limits."""
    size, depth, divided = len(expr.terms), 0, False
    for monomial, coefficient in expr.terms.items():
        if not -MAX_NUMBER < coefficient < MAX_NUMBER:
            raise TooLarge("a coefficient above 2^127")
        if len(monomial) > MAX_DEGREE:
            raise TooLarge(f"a product of {len(monomial)} factors")
        for atom in monomial:
            size += atom.size
            depth = max(depth, atom.depth)
            divided = divided or atom.divided
    if len(expr.terms) > MAX_TERMS or size > MAX_SIZE:
        raise TooLarge(f"an expression of {len(expr.terms)} terms and size {size}")
    expr.size, expr.depth, expr.divided = size, depth, divided


def home(terms: Iterable[Monomial]) -> Pool:
    """Return the innermost pool among those of the atoms; there is at least one atom."""
    pool: Pool | None = None
    for monomial in terms:
        for atom in monomial:
            if pool is not atom.pool:
                pool = atom.pool if pool is None else inner(pool, atom.pool)
    if pool is None:
        raise ValueError("a constant has no pool")
    return pool


def operation(kind: str, args: tuple[Dim, ...], key: object = None) -> Atom:
    """Return the one atom for this operation; `key` stands for the operands where their order says nothing."""
    pool = home(monomial for arg in args if isinstance(arg, Expr) for monomial in arg.terms)
    handle = (kind, args if key is None else key)
    found = pool.atoms.get(handle)
    if found is None:
        found = pool.atoms.setdefault(handle, Atom(pool, kind, args))
    return found


def total(dims: Iterable[Dim]) -> Dim:
    """Return the sum of dims, without keeping the sums on the way."""
    terms: dict[Monomial, int] = {}
    divided = False
    for dim in dims:
        if isinstance(dim, int):
            parts: Mapping[Monomial, int] = {(): dim}
        else:
            parts = dim.terms
            divided = divided or dim.divided
        for monomial, coefficient in parts.items():
            terms[monomial] = terms.get(monomial, 0) + coefficient
    terms = {monomial: coefficient for monomial, coefficient in terms.items() if coefficient}
    return settled(terms) if divided and terms else collect(terms)
