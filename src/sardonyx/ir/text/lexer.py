"""Cut a text into identifiers, numbers, strings and marks, and say where in it something is wrong."""

from __future__ import annotations

import re

from sardonyx.errors import OnnxError, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

BLANK = re.compile(r"(?:[ \t\r\n\f\v]|#[^\n]*)*")
TOKEN = re.compile(
    r"""(?P<identifier>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<number>-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)
      | "(?P<string>(?:[^"\\]|\\.)*)"
      | (?P<mark>=>|[()\[\]{}<>,:=.?@-])""",
    re.VERBOSE | re.DOTALL,
)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class Reader:
    """One text being read; the current token has a kind and a value.

    The kind is `identifier`, `number`, `string`, `mark` or `end`; the value of a string has its escapes resolved: a
    backslash stands before a character that means itself.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = 0
        """Where the current token begins."""
        self.stop = 0
        """Where it ends."""
        self.kind = "end"
        self.value = ""
        self.advance()

    def advance(self) -> None:
        """Go to the next token."""
        blank = BLANK.match(self.text, self.stop)
        self.start = self.stop if blank is None else blank.end()
        if self.start == len(self.text):
            self.kind, self.value, self.stop = "end", "", self.start
            return
        found = TOKEN.match(self.text, self.start)
        if found is None:
            first = self.text[self.start]
            self.kind, self.value = "mark", first
            self.fail("a string without a closing quote" if first == '"' else f"{first!r} begins nothing")
        self.kind = found.lastgroup or "mark"
        self.value = found[self.kind]
        self.stop = found.end()
        if self.kind == "string" and "\\" in self.value:
            self.value = ESCAPE.sub(r"\1", self.value)

    def back_to(self, start: int) -> None:
        """Read again from where a token began."""
        self.stop = start
        self.advance()

    def at(self, mark: str) -> bool:
        """Tell whether the current token is this mark."""
        return self.value == mark and self.kind == "mark"

    def take(self, mark: str) -> bool:
        """Skip the mark if it is the current token; tell whether it was."""
        if self.at(mark):
            self.advance()
            return True
        return False

    def expect(self, mark: str) -> None:
        """Skip the mark."""
        if not self.take(mark):
            self.fail(f"expected {mark!r}, found {self.found()}")

    def identifier(self, what: str) -> str:
        """Read an identifier."""
        return self.read(("identifier",), what)

    def name(self, what: str) -> str:
        """Read an identifier or a quoted name."""
        return self.read(("identifier", "string"), what)

    def string(self, what: str) -> str:
        """Read a quoted string."""
        return self.read(("string",), what)

    def integer(self, what: str) -> int:
        """Read a whole number."""
        at = self.start
        text = self.read(("number",), what)
        try:
            return int(text)
        except ValueError:
            self.fail(f"expected {what}, a whole number; found {text}", at=at)

    def read(self, kinds: tuple[str, ...], what: str) -> str:
        """Return the current token's value and go on."""
        if self.kind not in kinds:
            self.fail(f"expected {what}, found {self.found()}")
        value = self.value
        self.advance()
        return value

    def found(self) -> str:
        """Word the current token for a message."""
        return "the end of the text" if self.kind == "end" else repr(self.text[self.start : self.stop])

    def fail(self, message: str, *, code: str = "bad-text", at: int | None = None) -> NoReturn:
        """Raise the error for the current token, or for the position `at`."""
        raise self.error(message, code, self.start if at is None else at)

    def error(self, message: str, code: str, at: int) -> OnnxError:
        """Build an error that names line and column, counted from 1."""
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return error(code, f"line {line}, column {column}: {message}", source="<text>")
