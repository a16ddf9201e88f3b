"""Give anonymous symbols the names that the model's author declared, by solving "declared = inferred"."""

from __future__ import annotations

from sardonyx.dims.divide import exact_div, settle, without
from sardonyx.dims.expr import Expr, Symbol, TooLarge
from sardonyx.dims.substitute import substitute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sardonyx.dims.expr import Dim
    from sardonyx.dims.scope import Scope


def solve(scope: Scope, equalities: Iterable[tuple[Dim, Dim]]) -> dict[Symbol, Dim]:
    """Return what anonymous symbols are in terms of declared ones, given pairs of dims that are equal.

    Declared symbols are never replaced, and no result holds an anonymous one. The first equality that settles a symbol
    wins; those that contradict it, or hold two unsettled symbols to the end, are left aside. Work is linear in the
    number of equalities for each symbol in them.
    """
    waiting: dict[Symbol, list[tuple[Dim, Dim]]] = {}
    solved: dict[Symbol, Dim] = {}
    queue = list(equalities)
    for pair in queue:  # grows: a pair comes back when one of its symbols is settled
        try:
            difference = substitute(pair[0], solved, scope) - substitute(pair[1], solved, scope)
            if isinstance(difference, int):
                continue
            unknown = [symbol for symbol in difference.symbols if symbol.anonymous]
            if len(unknown) > 1:
                for symbol in unknown:
                    waiting.setdefault(symbol, []).append(pair)
                continue
            value = solution(scope, difference, unknown[0]) if unknown else None
        except (TooLarge, ValueError, ZeroDivisionError):
            continue
        if value is None or unknown[0] in solved:
            continue
        if not unknown[0].signed and scope.at_least(value, 0) is False:
            continue
        solved[unknown[0]] = value
        queue += waiting.pop(unknown[0], [])
    return solved


def solution(scope: Scope, difference: Expr, symbol: Symbol) -> Dim | None:
    """Return the dim for which `difference` is 0, where the symbol occurs only as `factor*symbol`.

    The factor may be a number, or a product that is known not to be 0; it divides the rest, or there was no run.
    """
    factors = {}
    rest = {}
    for monomial, coefficient in difference.terms.items():
        if symbol in monomial:
            factors[without(monomial, symbol)] = -coefficient
        else:
            rest[monomial] = coefficient
    factor, value = settle(factors), settle(rest)
    for part in (factor, value):
        if isinstance(part, Expr) and symbol in part.symbols:
            return None
    if factor == 0 or (isinstance(factor, Expr) and not (scope.is_positive(factor) or scope.is_positive(-factor))):
        return None
    return exact_div(value, factor)
