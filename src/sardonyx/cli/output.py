"""Print pages for people and JSON for programs.

A terminal gets colour and lines folded to its width; a pipe gets plain text whose lines are as long as they need to be.
Names in a model are input: whatever could steer a terminal is printed as an escape, and nothing is read as markup.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from sardonyx.cli.command import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from sardonyx.errors import Issue

UNFOLDED = 100_000
"""Columns of a page that nobody looks at directly."""


def print_json(name: str, fields: Mapping[str, Any]) -> None:
    """Print one JSON object in ASCII: the schema's version, the command, then its own fields."""
    print(json.dumps({"schema": SCHEMA, "command": name, **fields}, indent=2))


def print_error(text: str) -> None:
    """Print an error on standard error."""
    print(clean(text), file=sys.stderr)


def clean(text: str) -> str:
    """Return `text` with everything but newlines that does not print escaped: controls, direction marks, surrogates."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(one if one == "\n" or one.isprintable() else escape(one) for one in text)


def escape(character: str) -> str:
    """Write a character by its number, as Python does."""
    return character.encode("unicode_escape").decode()


def one_line(text: str) -> str:
    """Return `text` cleaned, its line breaks escaped too."""
    return clean(text).replace("\n", "\\n")


class Page:
    """Titled blocks of text, printed together."""

    def __init__(self) -> None:
        from rich.console import Console

        terminal = sys.stdout.isatty()
        self.console: Console = Console(
            file=sys.stdout, width=None if terminal else UNFOLDED, markup=False, highlight=False, emoji=False
        )
        self.started = False

    def title(self, text: str) -> None:
        """Print a heading, a blank line before it unless it is the first."""
        if self.started:
            self.line("")
        self.line(text, "bold")

    def line(self, text: str, style: str = "") -> None:
        """Print one paragraph."""
        if not self.console.is_terminal:  # no style and no folding: rich would take half a millisecond for nothing
            sys.stdout.write("".join(f"{line.rstrip()}\n" for line in clean(text).split("\n")))
            self.started = True
            return
        from rich.text import Text

        self.put(Text(clean(text), style))

    def rows(self, rows: Iterable[Sequence[str]], align: str = "", heads: Sequence[str] = (), indent: int = 2) -> None:
        """Print a table. `align` has `<` or `>` for each column; the last one takes what room there is."""
        from rich.table import Table
        from rich.text import Text

        body = [[one_line(cell) for cell in row] for row in rows]
        if not body:
            return
        columns = len(body[0])
        table = Table(box=None, show_header=bool(heads), padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column("", width=max(indent - 2, 0))
        for at in range(columns):
            right = at < len(align) and align[at] == ">"
            table.add_column(
                Text(heads[at], "dim") if heads else "", justify="right" if right else "left", overflow="fold"
            )
        for row in body:
            table.add_row("", *map(Text, row))
        self.put(table)

    def issues(self, issues: Iterable[Issue]) -> None:
        """Print findings, one after the other, as their errors would read."""
        for issue in issues:
            self.line(f"{issue.severity}: {issue}", "red" if issue.severity == "error" else "yellow")

    def put(self, what: Text | Table) -> None:
        """Print something that rich renders, without the blanks it leaves at line ends."""
        with self.console.capture() as caught:
            self.console.print(what, soft_wrap=False)
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in caught.get().splitlines()))
        self.started = True


def count(number: int, noun: str) -> str:
    """Return `1 node`, `2 nodes`, `12,345 nodes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(number: int) -> str:
    """Return a number of bytes as people say it: `312 B`, `33.5 kB`, `1.61 GB`, in powers of 1000."""
    if number < 1000:
        return f"{number} B"
    amount = float(number)
    for unit in ("kB", "MB", "GB", "TB", "PB", "EB"):
        amount /= 1000
        if amount < 999.5 or unit == "EB":
            break
    return f"{amount:.3g} {unit}"
