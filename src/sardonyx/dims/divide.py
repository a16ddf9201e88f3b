"""Divide expressions: rounding down, or exactly where the model's own run implies divisibility.

`floor` atoms hold `n // d`, `exact` atoms hold `n / d` for an `n` that is a multiple of a non-zero `d`. Both have one
form: what divides is pulled out, common factors are gone, nested divisions are one.

`facts` is the scope that may be asked for bounds; without it only what always holds is used. A divisor that could be 0
is never cancelled by `floordiv` (decisions S3).
"""

from __future__ import annotations

from math import gcd

from sardonyx.dims.expr import MAX_NUMBER, Atom, Expr, TooLarge, collect, operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sardonyx.dims.expr import Dim, Monomial
    from sardonyx.dims.scope import Scope


def floordiv(n: Dim, d: Dim, facts: Scope | None = None) -> Dim:
    """Return `n // d`, rounded toward minus infinity.

    Raises:
        ZeroDivisionError: `d` is the number 0.
        TooLarge: The result outgrew the limits.
    """
    if isinstance(d, Expr):
        return floor_by_expr(n, d, facts)
    if d == 0:
        raise ZeroDivisionError(f"{n} // 0")
    if isinstance(n, int):
        return n // d
    return floor_by_number(n, d, facts) if d > 0 else floordiv(-n, -d, facts)


def ceildiv(n: Dim, d: Dim, facts: Scope | None = None) -> Dim:
    """Return `n / d` rounded toward plus infinity; raises as `floordiv`."""
    return -floordiv(-n, d, facts)


def mod(n: Dim, d: Dim, facts: Scope | None = None) -> Dim:
    """Return the remainder of `floordiv`, which has the sign of `d`: `n - d*(n // d)`; raises as `floordiv`."""
    if isinstance(n, int) and isinstance(d, int):
        return n % d
    return n - d * floordiv(n, d, facts)


def floor_by_number(n: Expr, k: int, facts: Scope | None) -> Dim:
    """Return `n // k` for a positive number `k`."""
    form = n.pool.floors.get((n, k))
    if form is None:  # what holds without knowing a bound is worked out once
        form = n.pool.floors[n, k] = floor_form(n, k)
    whole, sign, inside, k = form
    if inside is None:
        return whole
    step = None if facts is None else small_quotient(inside, k, facts)
    return whole + sign * (operation("floor", (inside, k)) if step is None else step)


def floor_form(n: Expr, number: int) -> tuple[Dim, int, Dim | None, int]:
    """Return `(whole, sign, inside, k)` with `n // number = whole + sign*(inside // k)`; or `whole` alone, and None."""
    whole: Dim = 0
    sign = 1
    dim: Dim = n
    k = number
    while isinstance(dim, Expr):  # the result is whole + sign*(dim // k)
        out, rest, remainder = split(dim, k)
        whole = whole + sign * out
        if isinstance(rest, int):  # nothing but the remainder is left, and it is below k
            return whole, 1, None, 1
        shared = gcd(k, content(rest))  # `rest` moves in steps of it, and so the remainder counts in whole steps
        rest, remainder, k = shrink(rest, shared), remainder // shared, k // shared
        if k == 1 or isinstance(rest, int):
            return whole + sign * rest, 1, None, 1
        if leads_negative(rest):  # (r - a)//k = -((a - r + k - 1)//k)
            dim, sign = k - 1 - remainder - rest, -sign
        else:
            dim = rest + remainder
        nested = only_division(dim)
        if nested is None:
            return whole, sign, dim, k
        inside, step = nested  # (i//s + z)//k = (i + s*z)//(s*k)
        if k * step > MAX_NUMBER:
            raise TooLarge("a divisor above 2^127")
        dim = inside.args[0] + step * (dim - inside)
        k = k * step
    return whole + sign * (dim // k), 1, None, 1


def floor_by_expr(dividend: Dim, divisor: Expr, facts: Scope | None) -> Dim:
    """Return a quotient, rounded down, whose divisor has symbols."""
    n, d = reduce(dividend, divisor)
    if isinstance(d, int):
        return floordiv(n, d, facts)
    if facts is None or not facts.is_positive(d):
        return operation("floor", (n, d))
    if isinstance(n, int):
        if n == 0:
            return 0
    else:
        out, rest = long_division(n, d)
        if out:
            return collect(out) + floordiv(collect(rest), d, facts)
        common = tuple(atom for atom in common_factors([*n.terms, *d.terms]) if facts.is_positive(atom))
        if common:
            return floordiv(drop(n, common), drop(d, common), facts)
    step = small_quotient(n, d, facts)
    return step if step is not None else operation("floor", (n, d))


def small_quotient(n: Dim, d: Dim, facts: Scope) -> int | None:
    """Return `n // d` where it is known to be 0 (`0 <= n < d`) or -1 (`-d <= n < 0`)."""
    if facts.reaches(n, 0):
        return 0 if facts.reaches(d - 1 - n, 0) else None
    if facts.reaches(-n, 1):
        return -1 if facts.reaches(n + d, 0) else None
    return None


def reduce(n: Dim, d: Expr) -> tuple[Dim, Dim]:
    """Return numerator and divisor without a common number, the divisor's leading term positive."""
    shared = gcd(content(n), content(d))
    if leads_negative(d):
        shared = -shared
    return shrink(n, shared), shrink(d, shared)


def exact_div(n: Dim, d: Dim) -> Dim:
    """Return `n / d` where the run implies that `d` is not 0 and divides `n`, as Reshape's -1 does.

    Raises:
        ZeroDivisionError: `d` is the number 0.
        ValueError: `d` provably does not divide `n`.
        TooLarge: The result outgrew the limits.
    """
    if isinstance(d, Expr):
        return exact_by_expr(n, d)
    if d == 0:
        raise ZeroDivisionError(f"{n} / 0")
    if d < 0:
        return exact_div(-n, -d)
    if isinstance(n, Expr):
        return exact_by_number(n, d)
    if n % d:
        raise ValueError(f"{n} is not a multiple of {d}")
    return n // d


def exact_by_number(n: Expr, k: int) -> Dim:
    """Return `n / k` for a positive number `k` that divides `n` in every run."""
    out, rest, remainder = split(n, k)
    if not isinstance(rest, Expr):
        if remainder:
            raise ValueError(f"{n} is never a multiple of {k}")
        return out
    shared = gcd(k, content(rest))
    if remainder % shared:
        raise ValueError(f"{n} is never a multiple of {k}")
    if shared > 1:
        return out + exact_div(shrink(rest + remainder, shared), k // shared)
    if leads_negative(rest):
        return out - exact_div(-(rest + remainder), k)
    nested = only_division(rest)
    if nested is not None and nested[0].kind == "exact":
        inside, step = nested
        return out + exact_div(inside.args[0] + step * (rest - inside + remainder), k * step)
    return out + operation("exact", (rest + remainder, k))


def exact_by_expr(dividend: Dim, symbolic: Expr) -> Dim:
    """Return a quotient whose divisor has symbols, is not 0 and divides the dividend in every run."""
    n, divisor = reduce(dividend, symbolic)
    if isinstance(divisor, int):
        return exact_div(n, divisor)
    if isinstance(n, int):
        return n and operation("exact", (n, divisor))
    common = common_factors([*n.terms, *divisor.terms])
    if common:  # none of them is 0, since the divisor is not
        return exact_div(drop(n, common), drop(divisor, common))
    out, rest = long_division(n, divisor)
    if out and (not rest or len(divisor.terms) == 1):
        return collect(out) + exact_div(collect(rest), divisor)
    if leads_negative(n):
        return -exact_div(-n, divisor)
    if isinstance(n, Atom) and n.kind == "exact":
        return exact_div(n.args[0], n.args[1] * divisor)
    return operation("exact", (n, divisor))


def settle(terms: dict[Monomial, int]) -> Dim:
    """Collect a sum whose terms hold divisions: undo exact ones, add up complete families of floors."""
    for monomial, coefficient in terms.items():
        for position, atom in enumerate(monomial):
            if atom.kind != "exact":
                continue
            others = monomial[:position] + monomial[position + 1 :]
            undone = undo_exact(atom, others, coefficient)
            if undone is not None:
                rest = dict(terms)
                del rest[monomial]
                return undone + (settle(rest) if rest else 0)
    return collect(terms) if len(terms) < 2 else add_families(terms)


def undo_exact(atom: Atom, others: Monomial, coefficient: int) -> Dim | None:
    """Return `coefficient * others * (n/d)` with the factors that `d` shares gone, or None if it shares none."""
    n, d = atom.args
    shared = gcd(coefficient, content(d))
    common = common_factors([others, *d.terms]) if isinstance(d, Expr) and others else ()
    if shared == 1 and not common:
        return None
    if isinstance(d, Expr):
        d = drop(d, common)
    left = others
    for factor in common:
        left = without(left, factor)
    return exact_div(n, shrink(d, shared)) * collect({left: coefficient // shared})


def add_families(terms: dict[Monomial, int]) -> Dim:
    """Apply Hermite's identity: the floors of `(x + i)/k` for i = 0 .. k-1 add up to `x`."""
    families: dict[tuple[Monomial, Dim, int], dict[int, Monomial]] = {}
    for monomial in terms:
        for position, atom in enumerate(monomial):
            if atom.kind != "floor" or not isinstance(atom.args[1], int) or not isinstance(atom.args[0], Expr):
                continue
            n, k = atom.args[0], atom.args[1]
            others = monomial[:position] + monomial[position + 1 :]
            if k <= len(terms):
                families.setdefault((others, n - n.constant, k), {})[n.constant] = monomial
    for (others, base, k), members in families.items():
        if len(members) < k:
            continue
        times = terms[members[k - 1]]
        rest = dict(terms)
        for monomial in members.values():
            total = rest.pop(monomial) - times
            if total:
                rest[monomial] = total
        return (settle(rest) if rest else 0) + base * collect({others: times})
    return collect(terms)


def split(n: Expr, k: int) -> tuple[Dim, Dim, int]:
    """Return `(whole, rest, remainder)` with `n = k*whole + rest + remainder`, `0 <= remainder < k`.

    `rest` has the terms that `k` does not divide, and no constant.
    """
    out: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    remainder = 0
    for monomial, coefficient in n.terms.items():
        if not monomial:
            coefficient, remainder = divmod(coefficient, k)
            if coefficient:
                out[monomial] = coefficient
        elif coefficient % k:
            rest[monomial] = coefficient
        else:
            out[monomial] = coefficient // k
    return settle(out), settle(rest), remainder


def leads_negative(expr: Expr) -> bool:
    """Whether the term made of the oldest atoms is negative: tells an expression from its negation."""
    first = min(expr.terms, key=rank)
    return expr.terms[first] < 0


def rank(monomial: Monomial) -> tuple[int, ...]:
    """Order monomials by degree, then by age."""
    return (len(monomial), *[atom.serial for atom in monomial])


def only_division(dim: Dim) -> tuple[Atom, int] | None:
    """Return the division by a number that is the only one in the sum and has coefficient 1, and that number."""
    if isinstance(dim, int):
        return None
    found = None
    for monomial, coefficient in dim.terms.items():
        if len(monomial) == 1 and monomial[0].divided:
            step = monomial[0].args[1]
            if isinstance(step, int):
                if found is not None or coefficient != 1:
                    return None
                found = monomial[0], step
    return found


def long_division(n: Expr, d: Expr) -> tuple[dict[Monomial, int], dict[Monomial, int]]:
    """Return polynomials `(q, r)` with `n = q*d + r`, leading terms first."""
    head = max(d.terms, key=rank)
    number = d.terms[head]
    todo = dict(n.terms)
    out: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for _ in range(256):
        if not todo:
            return out, rest
        lead = max(todo, key=rank)
        left = divided_by(lead, head)
        if left is None or todo[lead] % number:
            rest[lead] = todo.pop(lead)
            continue
        times = todo[lead] // number
        out[left] = out.get(left, 0) + times
        if not out[left]:
            del out[left]
        for monomial, coefficient in d.terms.items():
            key = tuple(sorted(monomial + left, key=lambda atom: atom.serial))
            total = todo.get(key, 0) - times * coefficient
            if total:
                todo[key] = total
            else:
                del todo[key]
    return {}, dict(n.terms)


def divided_by(monomial: Monomial, by: Iterable[Atom]) -> Monomial | None:
    """Return the product without the factors `by`, or None if it lacks one."""
    left = list(monomial)
    for atom in by:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def without(monomial: Monomial, atom: Atom) -> Monomial:
    """Return the product with one occurrence of a factor gone."""
    position = monomial.index(atom)
    return monomial[:position] + monomial[position + 1 :]


def common_factors(monomials: list[Monomial]) -> Monomial:
    """Return the atoms, with repetition, that divide every monomial."""
    common: list[Atom] = []
    left = [list(monomial) for monomial in monomials]
    for atom in monomials[0]:
        if all(atom in each for each in left):
            common.append(atom)
            for each in left:
                each.remove(atom)
    return tuple(common)


def drop(expr: Expr, factors: Monomial) -> Dim:
    """Divide every term by atoms that all terms have."""
    terms: dict[Monomial, int] = {}
    for monomial, coefficient in expr.terms.items():
        for atom in factors:
            monomial = without(monomial, atom)
        terms[monomial] = coefficient
    return settle(terms)


def content(dim: Dim) -> int:
    """Return the greatest common divisor of the coefficients, constant included."""
    if isinstance(dim, int):
        return abs(dim)
    return gcd(*dim.terms.values())


def shrink(dim: Dim, number: int) -> Dim:
    """Divide by a number that divides every coefficient."""
    if number == 1:
        return dim
    if isinstance(dim, int):
        return dim // number
    return settle({monomial: coefficient // number for monomial, coefficient in dim.terms.items()})
