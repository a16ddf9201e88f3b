"""Prove how small an expression can be, from bounds of its symbols and recorded inequalities.

The answer is a true lower bound or None; it need not be the best. Three ideas give it: a polynomial whose atoms start
at their own lower bounds is smallest where the terms that grow are left out; `n // k` lies between `(n - k + 1)/k` and
`n/k`; a choice (`max`, `min`, `broadcast`, `select`) is one of its operands. An upper bound is the lower bound of the
negation. The search is cut off by a budget, so a hostile expression costs a bounded time.
"""

from __future__ import annotations

from sardonyx.dims.divide import settle, without
from sardonyx.dims.expr import MAX_TERMS, Atom, Expr, Symbol, TooLarge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims.expr import Dim, Monomial
    from sardonyx.dims.scope import Scope

    Interval = tuple[int | None, int | None]

BUDGET = 150
"""Expressions looked at for one question."""
DEEPEST = 8
"""Operations and inequalities used inside one another for one question; bounds the recursion too."""
FACTS = 8
"""Recorded inequalities tried for one term in one scope, the newest."""
CHAIN = 3
"""Recorded inequalities used one after another for one question."""


class Search:
    """The work left for one question."""

    __slots__ = ("depth", "left")

    def __init__(self) -> None:
        self.left = BUDGET
        self.depth = 0


def lower(scope: Scope, dim: Dim, chain: int = CHAIN) -> int | None:
    """Return a number that `dim` is never below, or None; `chain` is how many recorded inequalities may be used."""
    if isinstance(dim, int):
        return dim
    known = scope.lowest if chain else scope.lowest_alone
    if dim not in known:
        try:
            known[dim] = deeper(scope, dim, direct(scope, dim), chain)
        except TooLarge:
            known[dim] = None
    return known[dim]


def reaches(scope: Scope, dim: Expr, number: int) -> bool:
    """Whether `dim` is known never to be below a number: the bounds of its atoms often say so without a search."""
    known = scope.lowest
    if dim in known:
        low = known[dim]
    else:
        if number <= 0 and is_sum_of_naturals(scope, dim, number):
            return True
        try:
            low = direct(scope, dim)
            if low is not None and low >= number:
                return True
            low = deeper(scope, dim, low, CHAIN)
        except TooLarge:
            low = None
        known[dim] = low
    return low is not None and low >= number


def is_sum_of_naturals(scope: Scope, dim: Expr, number: int) -> bool:
    """Whether a sum has nothing in it that may be negative, but perhaps a constant from `number` on."""
    spans = scope.spans
    for monomial, coefficient in dim.terms.items():
        if coefficient < 0 and (monomial or coefficient < number):
            return False
        for atom in monomial:
            low = (spans.get(atom) or span(scope, atom))[0]
            if low is None or low < 0:
                return False
    return True


def deeper(scope: Scope, dim: Expr, low: int | None, chain: int) -> int | None:
    """Return the best lower bound there is; `low` is what the bounds of the atoms give."""
    if chain and not has_facts(scope):
        chain = 0
    if not chain and (dim.depth == 1 or len(dim.terms) - (() in dim.terms) == 1):
        return low  # nothing to open, or one product: opening its operations is how their bounds were found
    return further(scope, dim, low, Search(), chain)


def has_facts(scope: Scope) -> bool:
    """Whether any inequality is recorded that is more than a bound of one atom."""
    up: Scope | None = scope
    while up is not None:
        if up.facts:
            return True
        up = up.parent
    return False


def upper(scope: Scope, dim: Dim, chain: int = CHAIN) -> int | None:
    """Return a number that `dim` is never above, or None."""
    try:
        low = lower(scope, -dim, chain)
    except TooLarge:
        return None
    return None if low is None else -low


def search(scope: Scope, dim: Dim, work: Search, chain: int) -> int | None:
    """Return the best lower bound found within the work that is left."""
    return dim if isinstance(dim, int) else further(scope, dim, direct(scope, dim), work, chain)


def further(scope: Scope, dim: Expr, best: int | None, work: Search, chain: int) -> int | None:
    """Return a lower bound, the best of `best`, one with one operation opened, or one from a recorded inequality."""
    work.left -= 1
    if work.left < 0 or work.depth >= DEEPEST:
        return best
    work.depth += 1
    atom = first_operation(scope, dim) if dim.depth > 1 else None  # symbols have depth 1
    if atom is not None:
        best = better(best, opened(scope, dim, atom, work, chain))
    if best is None and chain:
        best = with_facts(scope, dim, work, chain)
    work.depth -= 1
    return best


def better(one: int | None, other: int | None) -> int | None:
    """Return the larger of two lower bounds."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def direct(scope: Scope, expr: Expr) -> int | None:
    """Bound a sum from the bounds of its atoms."""
    total = 0
    spans = scope.spans
    for monomial, coefficient in expr.terms.items():
        if not monomial:
            total += coefficient
            continue
        if len(monomial) > 1:
            return with_products(scope, expr)
        atom = monomial[0]
        low, high = spans.get(atom) or span(scope, atom)
        end = low if coefficient > 0 else high
        if end is None:  # a product further on may make up for it
            return with_products(scope, expr) if max(map(len, expr.terms)) > 1 else None
        total += coefficient * end
    return total


def with_products(scope: Scope, expr: Expr) -> int | None:
    """Bound a sum that has products of atoms in it."""
    total = 0
    for monomial, coefficient in moved(scope, expr).items():
        if not monomial:
            total += coefficient
        elif coefficient > 0:
            for atom in monomial:
                if span(scope, atom)[0] is None:
                    return None
        else:
            most = coefficient
            for atom in monomial:
                low, high = span(scope, atom)
                if high is None or (low is None and len(monomial) > 1):
                    return None
                most *= high - (low or 0)
            total += most
    return total


def moved(scope: Scope, expr: Expr) -> dict[Monomial, int]:
    """Return the terms with every atom `a` that has a lower bound `l` replaced by `l + a`, the new `a` being >= 0."""
    terms: dict[Monomial, int] = {}
    spans = scope.spans
    for monomial, coefficient in expr.terms.items():
        parts = {monomial: coefficient}
        for atom in monomial:
            if (spans.get(atom) or span(scope, atom))[0]:
                parts = opened_out(scope, monomial, coefficient)
                break
        for key, number in parts.items():
            total = terms.get(key, 0) + number
            if total:
                terms[key] = total
            else:
                terms.pop(key, None)
    return terms


def opened_out(scope: Scope, monomial: Monomial, coefficient: int) -> dict[Monomial, int]:
    """Multiply a product out, each atom that has a lower bound `l` being `l + a`."""
    parts: dict[Monomial, int] = {(): coefficient}
    for atom in monomial:
        low = span(scope, atom)[0]
        grown = {(*key, atom): number for key, number in parts.items()}
        if low:
            for key, number in parts.items():
                grown[key] = grown.get(key, 0) + number * low
            if len(grown) > MAX_TERMS:
                raise TooLarge("too many products to bound")
        parts = grown
    return parts


def span(scope: Scope, atom: Atom) -> Interval:
    """Return lower and upper bound of an atom, each None when there is none."""
    found = scope.spans.get(atom)
    if found is None:
        low, high = (None if atom.signed else 0, None) if isinstance(atom, Symbol) else reach(scope, atom)
        up: Scope | None = scope
        while up is not None:
            low = better(low, up.lows.get(atom))
            if atom in up.highs:
                high = up.highs[atom] if high is None else min(high, up.highs[atom])
            up = up.parent
        found = scope.spans[atom] = (low, high)
    return found


def reach(scope: Scope, atom: Atom) -> Interval:
    """Return the bounds of an operation that follow from its operands'.

    Recorded inequalities stay out of it: one may hold the operation itself, and the question would have no end.
    """
    args = atom.args
    if atom.kind in ("floor", "exact"):
        n, d = args
        low, high = lower(scope, n, 0), upper(scope, n, 0)
        if isinstance(d, int):
            if atom.kind == "floor":
                return None if low is None else low // d, None if high is None else high // d
            return None if low is None else -(-low // d), None if high is None else high // d
        least = lower(scope, d, 0)
        if low is None or low < 0 or least is None or least < 0:
            return None, None
        return (1 if low and atom.kind == "exact" else 0), high  # where there is a result, the divisor is at least 1
    arms = args[1:] if atom.kind == "select" else args
    lows = [lower(scope, arm, 0) for arm in arms]
    highs = [upper(scope, arm, 0) for arm in arms]
    some_low = [low for low in lows if low is not None]
    some_high = [high for high in highs if high is not None]
    if atom.kind == "max":
        return max(some_low, default=None), max(some_high) if len(some_high) == len(highs) else None
    if atom.kind == "min":
        return min(some_low) if len(some_low) == len(lows) else None, min(some_high, default=None)
    return (
        min(some_low) if len(some_low) == len(lows) else None,
        max(some_high) if len(some_high) == len(highs) else None,
    )


def first_operation(scope: Scope, expr: Expr) -> Atom | None:
    """Return an operation that can be opened: it occurs to the first power, beside factors that are not negative."""
    for monomial in expr.terms:
        for atom in monomial:
            if isinstance(atom, Symbol) or (atom.divided and not can_open(scope, atom)):
                continue
            for other in expr.terms:
                if atom in other and not is_plain_factor(scope, other, atom):
                    break
            else:
                return atom
    return None


def can_open(scope: Scope, atom: Atom) -> bool:
    """Whether what limits a division is known: its divisor is a number, or neither side is negative."""
    if isinstance(atom.args[1], int):
        return True
    for arg in atom.args:
        low = lower(scope, arg, 0)
        if low is None or low < 0:
            return False
    return True


def is_plain_factor(scope: Scope, monomial: Monomial, atom: Atom) -> bool:
    """Whether the atom occurs once in the product, and its other factors are not negative."""
    for other in monomial:
        if other is not atom and not is_natural(scope, other):
            return False
    return monomial.count(atom) == 1


def is_natural(scope: Scope, atom: Atom) -> bool:
    """Whether an atom is known not to be negative."""
    low = span(scope, atom)[0]
    return low is not None and low >= 0


def opened(scope: Scope, expr: Expr, atom: Atom, work: Search, chain: int) -> int | None:
    """Bound a sum with one operation replaced by what limits it."""
    inside = {monomial: coefficient for monomial, coefficient in expr.terms.items() if atom in monomial}
    rest = settle({monomial: coefficient for monomial, coefficient in expr.terms.items() if monomial not in inside})
    factors = {without(monomial, atom): coefficient for monomial, coefficient in inside.items()}
    if atom.divided:
        n, k = atom.args
        if not isinstance(k, int):
            taken = settle({monomial: coefficient for monomial, coefficient in factors.items() if coefficient < 0})
            return search(scope, rest + taken * n, work, chain)
        slack = k - 1 if atom.kind == "floor" else 0
        total = k * rest
        for monomial, coefficient in factors.items():
            total = total + settle({monomial: coefficient}) * (n - slack if coefficient > 0 else n)
        low = search(scope, total, work, chain)
        return None if low is None else -(-low // k)
    times = settle(factors)
    arms = atom.args[1:] if atom.kind == "select" else atom.args
    lows = [search(scope, rest + times * arm, work, chain) for arm in arms]
    # A maximum is at least each operand, so that with a positive factor any of them will do.
    if (atom.kind == "max" and min(factors.values()) > 0) or (atom.kind == "min" and max(factors.values()) < 0):
        return max([low for low in lows if low is not None], default=None)
    worst = lows[0]
    for low in lows:
        worst = None if worst is None or low is None else min(worst, low)
    return worst


def with_facts(scope: Scope, expr: Expr, work: Search, chain: int) -> int | None:
    """Bound `expr` by taking out the multiple of a recorded inequality that removes a term which grows without end."""
    for monomial, coefficient in expr.terms.items():
        if coefficient > 0 or not monomial:
            continue
        up: Scope | None = scope
        while up is not None:
            for fact in up.facts.get(monomial, ())[-FACTS:]:
                there = fact.terms[monomial]  # negative too: -there*expr = -coefficient*fact + what is left
                low = search(scope, coefficient * fact - there * expr, work, chain - 1)
                if low is not None:
                    return -(low // there)
            up = up.parent
    return None
