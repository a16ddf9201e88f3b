"""Give every command the same manners: errors as text or JSON, exit codes, Ctrl-C, a reader that went away."""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Any, ParamSpec

import typer

from sardonyx.errors import OnnxError

if TYPE_CHECKING:
    from collections.abc import Callable

    P = ParamSpec("P")

DONE, FINDINGS, NOT_LOADED = 0, 1, 3
"""Exit codes; 2, wrong usage, is typer's own."""
INTERRUPTED, READER_GONE = 130, 141
"""128 and the number of the signal, as shells report SIGINT and SIGPIPE."""

SCHEMA = 1
"""Version of the JSON that commands print; raised when a reader would have to change."""


def command(function: Callable[P, int]) -> Callable[P, None]:
    """Wrap a command that returns its exit code.

    An `OnnxError` is printed as it reads, on standard error, or with `--json` as an object on standard output; the
    command then ends with 3.
    """

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            try:
                code = function(*args, **kwargs)
            except OnnxError as problem:
                code = report(function.__name__, problem, bool(kwargs.get("as_json")))
            sys.stdout.flush()
        except KeyboardInterrupt:
            code = INTERRUPTED
        except BrokenPipeError:
            code = hush()
        raise typer.Exit(code)

    return wrapped


def report(name: str, problem: OnnxError, as_json: bool) -> int:
    """Print an error; return the exit code."""
    from sardonyx.cli.output import print_error, print_json

    if as_json:
        print_json(name, {"error": problem.issue.to_json()})
    else:
        print_error(str(problem))
    return NOT_LOADED


def hush() -> int:
    """Keep the interpreter from complaining about a closed standard output when it ends; return the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return READER_GONE


def opened(file: str) -> Any:
    """Return what `sx.load` takes for a FILE argument: the path, or standard input for `-`."""
    return sys.stdin.buffer if file == "-" else file
