"""Own the symbols of one model, what is known about them, and the proofs that follow."""

from __future__ import annotations

from sardonyx.dims import bounds as proofs
from sardonyx.dims import choose, divide
from sardonyx.dims.expr import Expr, Symbol, TooLarge
from sardonyx.dims.pool import Pool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from sardonyx.dims.expr import Atom, Dim, Monomial

PARAM = 512
"""Characters of a `dim_param` beyond which it is a name, whatever it looks like."""
ARITHMETIC = 200_000
"""Characters of arithmetic that one scope reads; in a file that has more, the rest are names."""


class Scope:
    """The symbols of a model (filled by `load`, then closed), or of one inference, whose scope is a child of it.

    A child sees its parent's symbols and facts; nothing that is added to it reaches the parent. Sizes are at least 0
    unless more is known (decisions S3). Questions answer True or False where there is a proof, else None.
    """

    __slots__ = (
        "answers", "arithmetic", "closed", "compared", "facts", "highs", "lowest", "lowest_alone", "lows", "names",
        "parent", "pool", "simplified", "spans", "unread",
    )  # fmt: skip

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.closed = False
        self.names: dict[str, Symbol] = {}
        if parent is None:
            self.pool = Pool()
        else:  # bodies and calls of one inference mix their dims freely; two inferences never do
            self.pool = Pool(parent.pool) if parent.closed else parent.pool
        self.lows: dict[Atom, int] = {}
        self.highs: dict[Atom, int] = {}
        # Expressions known not to be negative, by each product in them that is subtracted.
        self.facts: dict[Monomial, list[Expr]] = {}
        # What was answered from the facts so far; new facts sharpen answers, they never turn them round.
        self.answers: dict[object, Dim] = {}
        self.compared: dict[tuple[Dim, Dim], bool | None] = {}
        self.simplified: dict[Atom, Dim] = {}
        self.lowest: dict[Expr, int | None] = {}
        self.lowest_alone: dict[Expr, int | None] = {}
        self.spans: dict[Atom, tuple[int | None, int | None]] = {}
        self.arithmetic: dict[str, Dim] = {}
        self.unread = ARITHMETIC

    def child(self) -> Scope:
        """Return a scope that sees this one and adds nothing to it."""
        return Scope(self)

    # --- symbols

    def symbol(self, name: str) -> Symbol:
        """Return the symbol of this name, the same one every time; a new name is declared here.

        Raises:
            ValueError: The scope is closed and neither it nor a parent has the name.
        """
        found = self.names.get(name)
        if found is None:
            found = self.find(name)
            if found is None:
                if self.closed:
                    raise ValueError(f"{name!r} is not a dim of this model, whose scope is closed")
                self.pool.declare(name)
                found = self.names[name] = Symbol(self.pool, name)
        return found

    def find(self, name: str) -> Symbol | None:
        """Return the declared symbol of this name, here or in a parent, or None."""
        up: Scope | None = self
        while up is not None:
            if name in up.names:
                return up.names[name]
            up = up.parent
        return None

    def fresh(self, hint: str | None = None, *, signed: bool = False) -> Symbol:
        """Return a new anonymous symbol, equal to nothing but itself; `hint` becomes part of its name."""
        pool = self.pool
        return Symbol(pool, None, hint=hint or "d", number=pool.number(), signed=signed)

    def close(self) -> None:
        """Refuse further names; anonymous symbols, children and facts are still welcome."""
        self.closed = True

    # --- facts and questions

    def lower(self, dim: Dim) -> int | None:
        """Return a number that `dim` is never below, or None when none is known."""
        return dim if isinstance(dim, int) else proofs.lower(self, dim)

    def upper(self, dim: Dim) -> int | None:
        """Return a number that `dim` is never above, or None when none is known."""
        return dim if isinstance(dim, int) else proofs.upper(self, dim)

    def bounds(self, dim: Dim) -> tuple[int | None, int | None]:
        """Return numbers that `dim` is never below and never above, each None when none is known."""
        return self.lower(dim), self.upper(dim)

    def reaches(self, dim: Dim, number: int) -> bool:
        """Whether `dim >= number` is known; quicker than to ask for the bound."""
        return dim >= number if isinstance(dim, int) else proofs.reaches(self, dim, number)

    def at_least(self, a: Dim, b: Dim) -> bool | None:
        """Whether `a >= b` in every run, in no run, or not known."""
        if isinstance(a, int) and isinstance(b, int):
            return a >= b
        try:
            difference = a - b
            return True if self.reaches(difference, 0) else False if self.reaches(-difference, 1) else None
        except TooLarge:
            return None

    def equal(self, a: Dim, b: Dim) -> bool | None:
        """Whether `a` and `b` are the same number in every run, in no run, or not known."""
        if a is b:
            return True
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        known = self.compared
        key = (a, b)
        if key not in known:
            known[key] = self.compare(a, b)
        return known[key]

    def compare(self, a: Dim, b: Dim) -> bool | None:
        """Answer `equal` for two dims that are not both numbers."""
        try:
            difference = a - b
        except TooLarge:
            return None
        if isinstance(difference, int):
            return difference == 0
        constant = difference.constant
        if constant % divide.content(difference - constant):
            return False
        factors = () if constant else divide.common_factors(list(difference.terms))
        if factors:  # a product is 0 only where a factor is
            difference = divide.shrink(divide.drop(difference, factors), divide.content(difference))
        low, high = self.bounds(difference)
        if low == 0 == high:
            return True
        if (low is not None and low > 0) or (high is not None and high < 0):
            return False if all(self.reaches(factor, 1) for factor in factors) else None
        return None

    def same(self, a: Dim, b: Dim) -> bool:
        """Whether `a` and `b` are known to be the same number in every run; quicker than `equal`."""
        if a is b:
            return True
        if isinstance(b, int) and not self.reaches(a, b):
            return False
        try:
            return self.reaches(a - b, 0) and self.reaches(b - a, 0)
        except TooLarge:
            return False

    def differs(self, a: Dim, b: Dim) -> bool:
        """Whether `a` and `b` are plainly different numbers in every run: nothing but bounds of atoms is looked at."""
        try:
            difference = a - b
            if isinstance(difference, int):
                return difference != 0
            constant = difference.constant
            if constant % divide.content(difference - constant):
                return True
            for side in (difference, -difference):
                low = side if isinstance(side, int) else proofs.direct(self, side)
                if low is not None and low > 0:
                    return True
        except TooLarge:
            pass
        return False

    def is_positive(self, dim: Dim) -> bool:
        """Whether `dim >= 1` is known."""
        return self.reaches(dim, 1)

    def assume_at_least(self, a: Dim, b: Dim) -> bool:
        """Record `a >= b`; return False, recording nothing, when that is provably wrong."""
        known = self.at_least(a, b)
        return self.note_at_least(a, b) if known is None else known

    def note_at_least(self, a: Dim, b: Dim) -> bool:
        """Record `a >= b` without asking whether it is known, or wrong: for a symbol that was just made."""
        difference = a - b
        if isinstance(difference, int):
            return difference >= 0
        constant = difference.constant
        rest = difference - constant
        if isinstance(rest, Expr) and len(rest.terms) == 1:
            [(monomial, coefficient)] = rest.terms.items()
            if len(monomial) == 1:  # coefficient*atom >= -constant
                atom = monomial[0]
                if coefficient > 0:
                    low = -(constant // coefficient)
                    self.lows[atom] = max(low, self.lows.get(atom, low))
                else:
                    high = constant // -coefficient
                    self.highs[atom] = min(high, self.highs.get(atom, high))
                self.forget()
                return True
        for monomial, coefficient in difference.terms.items():
            if coefficient < 0 and monomial:
                self.facts.setdefault(monomial, []).append(difference)
        self.forget()
        return True

    def forget(self) -> None:
        """Drop the answers given so far: with a new fact there may be better ones."""
        self.answers.clear()
        self.compared.clear()
        self.simplified.clear()
        self.lowest.clear()
        self.lowest_alone.clear()
        self.spans.clear()

    def assume_equal(self, a: Dim, b: Dim) -> bool:
        """Record `a == b`; return False when that is provably wrong. Neither takes the other's place in a text."""
        return self.equal(a, b) is not False and self.assume_at_least(a, b) and self.assume_at_least(b, a)

    # --- operations that ask for bounds

    def floordiv(self, a: Dim, b: Dim) -> Dim:
        """Return `a // b`; `x // x` is 1 where `x >= 1` is known. Raises ZeroDivisionError if `b` is the number 0."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        return self.answer("floordiv", a, b)

    def ceildiv(self, a: Dim, b: Dim) -> Dim:
        """Return `a / b` rounded up. Raises ZeroDivisionError if `b` is the number 0."""
        return -self.floordiv(-a, b)

    def mod(self, a: Dim, b: Dim) -> Dim:
        """Return `a - b*(a // b)`. Raises ZeroDivisionError if `b` is the number 0."""
        if isinstance(a, int) and isinstance(b, int):
            return a % b
        return a - b * self.floordiv(a, b)

    def exact_div(self, a: Dim, b: Dim) -> Dim:
        """Return `a / b` where the run implies that `b` is not 0 and divides `a`.

        Raises:
            ZeroDivisionError: `b` is the number 0.
            ValueError: `b` provably does not divide `a`.
        """
        return divide.exact_div(a, b)

    def maximum(self, *dims: Dim) -> Dim:
        """Return the largest of one or more dims."""
        if len(dims) == 2 and not (isinstance(dims[0], int) and isinstance(dims[1], int)):
            return self.answer("max", *dims)
        return choose.extreme("max", dims, self)

    def minimum(self, *dims: Dim) -> Dim:
        """Return the smallest of one or more dims."""
        if len(dims) == 2 and not (isinstance(dims[0], int) and isinstance(dims[1], int)):
            return self.answer("min", *dims)
        return choose.extreme("min", dims, self)

    def broadcast(self, *dims: Dim) -> Dim:
        """Return the dim that is not 1. Raises DimMismatch for two numbers that differ, neither being 1."""
        if len(dims) == 2:
            a, b = dims
            if a is b or b == 1:
                return a
            if a == 1:
                return b
            if not (isinstance(a, int) and isinstance(b, int)):
                return self.answer("broadcast", a, b)
        return choose.broadcast(dims, self)

    def select(self, x: Dim, a: Dim, b: Dim) -> Dim:
        """Return `a` where `x >= 0`, else `b`."""
        return choose.select(x, a, b, self)

    def answer(self, operation: str, a: Dim, b: Dim) -> Dim:
        """Compute an operation on two dims once for what is known now."""
        key = (operation, a, b)
        found = self.answers.get(key)
        if found is None:
            found = self.answers[key] = OPERATIONS[operation](a, b, self)
        return found

    def simplify(self, dim: Dim) -> Dim:
        """Return `dim` with its operations done again, now with what this scope knows."""
        if isinstance(dim, int) or dim.depth == 1:
            return dim
        from sardonyx.dims.substitute import simplify

        return simplify(dim, self)

    def substitute(self, dim: Dim, by: Mapping[Symbol, Dim]) -> Dim:
        """Return `dim` with symbols replaced, simplified with what this scope knows."""
        from sardonyx.dims.substitute import substitute

        return substitute(dim, by, self)

    # --- text

    def parse(self, text: str) -> Dim:
        """Return the dim that a text in Python syntax means, as `str(dim)` prints it; new names are declared.

        The operations are taken as written: `scope.simplify` applies what the scope knows.

        Raises:
            ValueError: The text is no arithmetic over names, or the scope is closed and lacks one of them.
        """
        from sardonyx.dims.parse import read

        whole = self.find(text)
        found = read(text, self.symbol) if whole is None else whole
        if found is None:
            raise ValueError(f"{text!r} is not arithmetic over names")
        return found

    def dim_param(self, text: str, names: Collection[str]) -> Dim:
        """Return what a `dim_param` of a file means (decisions S2).

        It is arithmetic if it reads completely as such over `names`, the plain dim names of the model's inputs, and has
        at least one of them; otherwise the text as a whole is an opaque name.
        """
        if text in names or text.isidentifier():
            return self.symbol(text)
        found = self.arithmetic.get(text)
        if found is None:
            read = self.read_param(text, names)
            found = self.arithmetic[text] = self.symbol(text) if read is None else read
        return found

    def read_param(self, text: str, names: Collection[str]) -> Dim | None:
        """Return the arithmetic that a text is over at least one of `names`, or None."""
        if len(text) > PARAM or len(text) > self.unread or text.isalnum():
            return None
        from sardonyx.dims.parse import read

        self.unread -= len(text)
        used: set[str] = set()

        def known(name: str) -> Symbol | None:
            used.add(name)
            return self.symbol(name) if name in names else None

        found = read(text, known)
        return found if used else None


OPERATIONS: dict[str, Callable[[Dim, Dim, Scope], Dim]] = {
    "floordiv": divide.floordiv,
    "max": lambda a, b, scope: choose.extreme("max", (a, b), scope),
    "min": lambda a, b, scope: choose.extreme("min", (a, b), scope),
    "broadcast": lambda a, b, scope: choose.broadcast((a, b), scope),
}
