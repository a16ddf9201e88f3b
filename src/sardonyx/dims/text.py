"""Write a dim in Python syntax.

The text depends on the normal form alone: terms and operands are sorted by their names, so it is the same in every run
and after every history. `parse.read` reads it back to the same expression.
"""

from __future__ import annotations

from keyword import iskeyword

from sardonyx.dims.expr import Atom, Expr, Symbol, TooLarge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims.expr import Dim, Monomial

ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}


def write(dim: Dim) -> str:
    """Return the text of a dim: `2*s + 1`, `(s + 1)//2`, `max(s - 3, 0)`, `(a if x >= 0 else b)`.

    A bare symbol is its name as it stands; inside an expression a name that is no Python name is quoted.
    """
    return dim.name if isinstance(dim, Symbol) else inside(dim)


def inside(dim: Dim) -> str:
    """Return the text of a dim as part of an expression."""
    if isinstance(dim, int):
        return str(dim)
    if isinstance(dim, Atom):
        return write_atom(dim)
    return moved_in(dim) or write_sum(dim)


def write_sum(expr: Expr) -> str:
    """Return the terms by name: what is added, then what is subtracted, a number last in its group."""
    plus: list[tuple[bool, str, str]] = []
    minus: list[tuple[bool, str, str]] = []
    alone = set()  # divisions that are a whole term: behind a leading minus they need parentheses, -(x//2)
    for monomial, coefficient in expr.terms.items():
        if not monomial:
            continue
        operation, body = write_product(monomial)
        number = abs(coefficient)
        if number == 1 and operation and body[0] == "(" and len(monomial) == 1 and monomial[0].divided:
            body = body[1:-1]
            alone.add(body)
        (plus if coefficient > 0 else minus).append((operation, body, body if number == 1 else f"{number}*{body}"))
    added = [text for _, _, text in sorted(plus)]
    taken = [text for _, _, text in sorted(minus)]
    if expr.constant:
        (added if expr.constant > 0 else taken).append(str(abs(expr.constant)))
    if not added:
        first = taken.pop(0)
        added = [f"-({first})" if first in alone else f"-{first}"]
    return " - ".join([" + ".join(added), *taken])


def write_product(monomial: Monomial) -> tuple[bool, str]:
    """Return whether a product is of operations only, and its text: symbols first, divisions in parentheses."""
    powers: dict[Atom, int] = {}
    for atom in monomial:
        powers[atom] = powers.get(atom, 0) + 1
    factors = []
    for atom, power in powers.items():
        text = f"({write_atom(atom)})" if atom.divided else write_atom(atom)
        factors.append((not isinstance(atom, Symbol), text if power == 1 else f"{text}**{power}"))
    factors.sort()
    return factors[0][0], "*".join([text for _, text in factors])


def write_atom(atom: Atom) -> str:
    """Return a symbol or an operation; a division stands without parentheses."""
    if isinstance(atom, Symbol):
        return write_name(atom.name)
    args = atom.args
    if atom.kind in ("floor", "exact"):
        return f"{numerator(args[0])}{'//' if atom.kind == 'floor' else '/'}{denominator(args[1])}"
    if atom.kind == "select":
        return f"({inside(args[1])} if {inside(args[0])} >= 0 else {inside(args[2])})"
    return f"{atom.kind}({', '.join(operands(list(args)))})"


def operands(dims: list[Dim]) -> list[str]:
    """Return the texts of operands whose order says nothing, numbers last."""
    numbers = sorted(dim for dim in dims if isinstance(dim, int))
    return sorted(inside(dim) for dim in dims if isinstance(dim, Expr)) + [str(number) for number in numbers]


def numerator(dim: Dim) -> str:
    """Return the left side of a division, in parentheses if it is a sum."""
    text = inside(dim)
    return f"({text})" if isinstance(dim, Expr) and len(dim.terms) > 1 else text


def denominator(dim: Dim) -> str:
    """Return the right side of a division, in parentheses if it is more than a number, a name or a call."""
    text = inside(dim)
    return text if isinstance(dim, int) or (isinstance(dim, Atom) and not dim.divided) else f"({text})"


def moved_in(expr: Expr) -> str | None:
    """Return the shorter text of a sum whose subtracted part can stand inside its one operation, else None.

    `(a + 1)//2 - 1` is `(a - 1)//2`, and `max(a, b) - b` is `max(a - b, 0)`.
    """
    found = None
    for monomial, coefficient in expr.terms.items():
        if coefficient < 0:
            if not all(isinstance(atom, Symbol) for atom in monomial):
                return None
        else:
            if found is not None or coefficient != 1 or len(monomial) != 1:
                return None
            found = monomial[0]
    if found is None or found.kind not in ("floor", "max", "min"):
        return None
    rest = expr - found
    try:
        if found.kind != "floor":
            return f"{found.kind}({', '.join(operands([arg + rest for arg in found.args]))})"
        n, d = found.args
        if isinstance(rest, int) and isinstance(d, int):
            return f"{numerator(n + rest * d)}//{d}"
    except TooLarge:
        pass
    return None


def write_name(name: str) -> str:
    """Return a name as it can stand in an expression: itself, or quoted."""
    if name.isidentifier() and not iskeyword(name):
        return name
    return "'" + "".join(ESCAPES.get(letter, letter) for letter in name) + "'"
