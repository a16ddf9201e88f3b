"""Put values in place of symbols: dims for dims, or numbers for everything."""

from __future__ import annotations

from sardonyx.dims import choose, divide
from sardonyx.dims.expr import Atom, Symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sardonyx.dims.expr import Dim
    from sardonyx.dims.scope import Scope


def substitute(dim: Dim, by: Mapping[Symbol, Dim], facts: Scope | None = None) -> Dim:
    """Return `dim` with symbols replaced; `facts` is the scope that may be asked for bounds.

    Raises:
        ZeroDivisionError: A divisor became the number 0.
        ValueError: An exact division does not come out, or sizes do not broadcast.
        TooLarge: The result outgrew the limits.
    """
    if isinstance(dim, int) or not by:
        return dim
    if isinstance(dim, Symbol):
        return by.get(dim, dim)
    total: Dim = 0
    for monomial, coefficient in dim.terms.items():
        part: Dim = coefficient
        for atom in monomial:
            part = part * (by.get(atom, atom) if isinstance(atom, Symbol) else rebuilt(atom, by, facts))
        total = total + part
    return total


def rebuilt(atom: Atom, by: Mapping[Symbol, Dim], facts: Scope | None) -> Dim:
    """Return an operation applied to its operands after substitution."""
    if atom.kind == "select":
        test = substitute(atom.args[0], by, facts)
        if isinstance(test, int):  # the other side may not even be defined
            return substitute(atom.args[1 if test >= 0 else 2], by, facts)
    args = tuple([substitute(arg, by, facts) for arg in atom.args])
    if all(new is old for new, old in zip(args, atom.args, strict=True)):
        return atom
    return applied(atom.kind, args, facts)


def applied(kind: str, args: tuple[Dim, ...], facts: Scope | None) -> Dim:
    """Return an operation on operands."""
    if kind == "floor":
        return divide.floordiv(args[0], args[1], facts)
    if kind == "exact":
        return divide.exact_div(args[0], args[1])
    if kind == "broadcast":
        return choose.broadcast(args, facts)
    if kind == "select":
        return choose.select(args[0], args[1], args[2], facts)
    return choose.extreme(kind, args, facts)


def simplify(dim: Dim, facts: Scope) -> Dim:
    """Return `dim` with its operations done again, now with what `facts` knows; each of them once."""
    if isinstance(dim, int) or dim.depth == 1:
        return dim
    known = facts.simplified
    changed: dict[Atom, Dim] = {}
    for monomial in dim.terms:
        for atom in monomial:
            if atom.depth == 1:
                continue
            found = known.get(atom)
            if found is None:
                args = tuple([simplify(arg, facts) for arg in atom.args])
                found = known[atom] = applied(atom.kind, args, facts)
            if found is not atom:
                changed[atom] = found
    if not changed:
        return dim
    total: Dim = 0
    for monomial, coefficient in dim.terms.items():
        part: Dim = coefficient
        for atom in monomial:
            part = part * changed.get(atom, atom)
        total = total + part
    return total


def evaluate(dim: Dim, sizes: Mapping[Symbol | str, int]) -> int:
    """Return the number that `dim` is for given sizes, by symbol or by name.

    Raises:
        KeyError: A symbol has no size.
        ZeroDivisionError: A divisor is 0.
        ValueError: An exact division does not come out, or sizes do not broadcast.
    """
    if isinstance(dim, int):
        return dim
    total = 0
    for monomial, coefficient in dim.terms.items():
        for atom in monomial:
            coefficient *= value(atom, sizes)
        total += coefficient
    return total


def value(atom: Atom, sizes: Mapping[Symbol | str, int]) -> int:
    """Return the number that one atom is."""
    if isinstance(atom, Symbol):
        return sizes[atom] if atom in sizes else sizes[atom.name]
    kind = atom.kind
    if kind == "select":
        return evaluate(atom.args[1 if evaluate(atom.args[0], sizes) >= 0 else 2], sizes)
    args = [evaluate(arg, sizes) for arg in atom.args]
    if kind == "floor":
        return args[0] // args[1]
    if kind == "max":
        return max(args)
    if kind == "min":
        return min(args)
    found = divide.exact_div(args[0], args[1]) if kind == "exact" else choose.broadcast(args)
    if not isinstance(found, int):
        raise TypeError(f"{atom} did not become a number")
    return found
