"""Put the commands together into one program."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sardonyx.cli.check import check
from sardonyx.cli.command import hush
from sardonyx.cli.diff import diff
from sardonyx.cli.dump import dump
from sardonyx.cli.explain import explain
from sardonyx.cli.infer import infer
from sardonyx.cli.inline import inline
from sardonyx.cli.inline_scans import inline_scans
from sardonyx.cli.inspect import inspect
from sardonyx.cli.lower import lower
from sardonyx.cli.where import where

EPILOG = (
    "Exit status: 0 done, 1 the model has issues or the models differ, 2 wrong usage, 3 a file could not be loaded."
)

app = typer.Typer(
    name="sardonyx",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)


def print_version(asked: bool) -> None:
    """Print what is running, for bug reports, and stop."""
    if asked:
        from sardonyx.cli.version import version_line

        typer.echo(version_line())
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=print_version, is_eager=True, help="Print the version and how it was built."
        ),
    ] = False,
) -> None:
    """Read ONNX models safely, look at them, compare them and lower them.

    [bold]sardonyx inspect[/bold] model.onnx   shows what is in a model;
    [bold]sardonyx lower[/bold] model.onnx -o out.onnx   reads it strictly and writes it back, simplified.
    """


for function in (lower, inline, inline_scans, infer, explain, inspect, check, dump, diff, where):
    app.command(no_args_is_help=True)(function)


def run() -> None:
    """Run the program with the arguments of the process.

    File names need not be text that the terminal can show, and names in models are input: what cannot be encoded is
    printed with backslashes instead of ending the program.
    """
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        app()
    except BrokenPipeError:  # from the help page; commands take care of their own
        sys.exit(hush())
