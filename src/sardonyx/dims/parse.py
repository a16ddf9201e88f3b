"""Read Python arithmetic over names as a dim, or say that a text is none.

It reads what `text.write` writes and what exporters put into a `dim_param`: `+ - * // % **`, `/` (exact, since a size
is a whole number), conditional expressions, and the functions in `FUNCTIONS`, any case. Inside `floor` and `ceil` a `/`
is ordinary division. Nothing is simplified that needs a bound. The text may be hostile: its length, its nesting, its
numbers and the size of every result are bounded, and whatever is beyond is "none".
"""

from __future__ import annotations

from sardonyx.dims import choose, divide
from sardonyx.dims.expr import MAX_DEGREE, Expr, TooLarge, total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.dims.expr import Dim

    Ratio = tuple[Dim, Dim]

MAX_TEXT = 8192
MAX_NESTING = 40
MAX_DIGITS = 38
MAX_PRODUCT = 16
"""Terms of a written product when multiplied out; a text of a normal form has one term on at least one side."""


class NotArithmetic(ValueError):
    """The text is not a dim; never leaves this module."""


def read(text: str, symbol: Callable[[str], Dim | None]) -> Dim | None:
    """Return the dim that a text means, or None; `symbol` gives the dim of a name, None for a name that is unknown."""
    if len(text) > MAX_TEXT:
        return None
    try:
        reader = Reader(tokens(text), symbol)
        dim = reader.conditional()
        return dim if reader.at == len(reader.tokens) - 1 else None
    except (NotArithmetic, TooLarge, ZeroDivisionError, ValueError):
        return None


def tokens(text: str) -> list[str]:
    """Split a text; names start with a letter, quoted names with a quote, and the last token is empty."""
    found = []
    at, end = 0, len(text)
    while at < end:
        letter = text[at]
        start = at
        if letter in " \t":
            at += 1
            continue
        if letter.isascii() and letter.isdigit():
            while at < end and text[at] in "0123456789.":
                at += 1
            if at - start > MAX_DIGITS:
                raise NotArithmetic(text)
            found.append(text[start:at])
        elif letter.isidentifier():
            while at < end and ("a" + text[at]).isidentifier():
                at += 1
            found.append(text[start:at])
        elif letter == "'":
            name = []
            at += 1
            while at < end and text[at] != "'":
                if text[at] == "\\":
                    at += 1
                    name.append({"n": "\n", "r": "\r"}.get(text[at : at + 1], text[at : at + 1]))
                else:
                    name.append(text[at])
                at += 1
            if at >= end:
                raise NotArithmetic(text)
            at += 1
            found.append("'" + "".join(name))
        else:
            at += 2 if text[at : at + 2] in ("//", "**", ">=", "<=") else 1
            found.append(text[start:at])
    found.append("")
    return found


class Reader:
    """A place in a list of tokens, and the rules of the grammar, loosest first."""

    def __init__(self, tokens: list[str], symbol: Callable[[str], Dim | None]) -> None:
        self.tokens = tokens
        self.symbol = symbol
        self.at = 0
        self.depth = 0
        self.rational = False

    def take(self, *wanted: str) -> str:
        """Step over the next token if it is one of these, and return it, else an empty text."""
        token = self.tokens[self.at]
        if token and token in wanted:
            self.at += 1
            return token
        return ""

    def expect(self, wanted: str) -> None:
        """Step over the next token, which must be this one."""
        if not self.take(wanted):
            raise NotArithmetic(wanted)

    def conditional(self) -> Dim:
        """`sum`, or `sum if sum >= sum else conditional`; inside, `/` is exact."""
        self.depth += 1
        outer, self.rational = self.rational, False
        if self.depth > MAX_NESTING:
            raise NotArithmetic("nesting")
        dim = whole(self.sum())
        if self.take("if"):
            left = whole(self.sum())
            sign = self.take(">=", "<=", ">", "<")
            right = whole(self.sum())
            if not sign:
                raise NotArithmetic("comparison")
            self.expect("else")
            test = left - right if sign[0] == ">" else right - left
            dim = choose.select(test if sign[1:] else test - 1, dim, self.conditional())
        self.depth -= 1
        self.rational = outer
        return dim

    def sum(self) -> Ratio:
        """Products joined by `+` and `-`."""
        parts = [self.product()]
        while sign := self.take("+", "-"):
            n, d = self.product()
            parts.append((n, d) if sign == "+" else (-n, d))
        if all(is_one(d) for _, d in parts):
            return total(n for n, _ in parts), 1
        n, d = parts[0]
        for m, e in parts[1:]:
            n, d = times(n, e) + times(m, d), times(d, e)
        return n, d

    def product(self) -> Ratio:
        """Signed factors joined by `*`, `/`, `//` and `%`."""
        n, d = self.signed()
        while sign := self.take("*", "/", "//", "%"):
            m, e = self.signed()
            if sign == "*":
                n, d = times(n, m), times(d, e)
            elif sign == "/" and self.rational:
                n, d = times(n, e), times(d, m)
            elif sign == "/":
                n = divide.exact_div(n, m)
            else:
                floor = divide.floordiv(times(n, e), times(d, m))
                if sign == "%" and not (is_one(d) and is_one(e)):
                    raise NotArithmetic("remainder of a fraction")
                n, d = (floor if sign == "//" else n - times(m, floor)), 1
        return n, d

    def signed(self) -> Ratio:
        """A power behind any number of signs."""
        negative = False
        while sign := self.take("+", "-"):
            negative ^= sign == "-"
        n, d = self.power()
        return (-n, d) if negative else (n, d)

    def power(self) -> Ratio:
        """An operand, or an operand to a small power."""
        n, d = self.operand()
        if self.take("**"):
            text = self.tokens[self.at]
            self.at += 1
            if not (text.isascii() and text.isdigit() and int(text) <= MAX_DEGREE and is_one(d)):
                raise NotArithmetic("power")
            base, n = n, 1
            for _ in range(int(text)):
                n = times(n, base)
        return n, d

    def operand(self) -> Ratio:
        """A number, a name, a call, or an expression in parentheses."""
        token = self.tokens[self.at]
        self.at += 1
        if token == "(":
            if self.rational:
                return self.parenthesis()
            dim = self.conditional()
            self.expect(")")
            return dim, 1
        if token[:1].isascii() and token[:1].isdigit():
            return number(token)
        if token[:1] == "'":
            return self.named(token[1:]), 1
        if not token.isidentifier() or token in ("if", "else"):
            raise NotArithmetic(token)
        return (self.call(token.lower()), 1) if self.take("(") else (self.named(token), 1)

    def parenthesis(self) -> Ratio:
        """A sum of fractions up to its closing parenthesis."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise NotArithmetic("nesting")
        n, d = self.sum()
        self.expect(")")
        self.depth -= 1
        return n, d

    def named(self, name: str) -> Dim:
        """The dim of a name."""
        dim = self.symbol(name)
        if dim is None:
            raise NotArithmetic(name)
        return dim

    def call(self, name: str) -> Dim:
        """A function of the table, with the operands up to the closing parenthesis."""
        if name in ("floor", "ceil", "ceiling"):
            outer, self.rational = self.rational, True
            n, d = self.parenthesis()
            self.rational = outer
            return divide.floordiv(n, d) if name == "floor" else divide.ceildiv(n, d)
        if name not in FUNCTIONS:
            raise NotArithmetic(name)
        count, function = FUNCTIONS[name]
        dims = [self.conditional()]
        while self.take(","):
            dims.append(self.conditional())
        self.expect(")")
        if count is not None and len(dims) != count:
            raise NotArithmetic(name)
        return function(dims)


FUNCTIONS: dict[str, tuple[int | None, Callable[[list[Dim]], Dim]]] = {
    "max": (None, lambda dims: choose.extreme("max", dims)),
    "min": (None, lambda dims: choose.extreme("min", dims)),
    "broadcast": (None, choose.broadcast),
    "mod": (2, lambda dims: divide.mod(dims[0], dims[1])),
    "pythonmod": (2, lambda dims: divide.mod(dims[0], dims[1])),
    "floordiv": (2, lambda dims: divide.floordiv(dims[0], dims[1])),
    "ceildiv": (2, lambda dims: divide.ceildiv(dims[0], dims[1])),
    "cdiv": (2, lambda dims: divide.ceildiv(dims[0], dims[1])),
    "ceiltoint": (2, lambda dims: divide.ceildiv(dims[0], dims[1])),
    "cleandiv": (2, lambda dims: divide.exact_div(dims[0], dims[1])),
}
"""Function name in lower case -> number of operands (None: one or more) and what it does."""


def whole(ratio: Ratio) -> Dim:
    """Return a fraction as a whole number."""
    n, d = ratio
    return n if is_one(d) else divide.exact_div(n, d)


def is_one(dim: Dim) -> bool:
    """Whether a divisor is the number 1."""
    return isinstance(dim, int) and dim == 1


def times(a: Dim, b: Dim) -> Dim:
    """Multiply, unless the text grows out of proportion."""
    if isinstance(a, int):
        if isinstance(b, int) and a.bit_length() + b.bit_length() > 256:
            raise TooLarge("a number above 2^256")
    elif isinstance(b, Expr) and len(a.terms) * len(b.terms) > MAX_PRODUCT and len(a.terms) > 1 < len(b.terms):
        raise TooLarge("a product of long sums")
    return a * b


def number(token: str) -> Ratio:
    """Return a decimal number as a fraction."""
    digits, point, decimals = token.partition(".")
    if "." in decimals or (point and not decimals):
        raise NotArithmetic(token)
    return int(digits + decimals), 10 ** len(decimals)
