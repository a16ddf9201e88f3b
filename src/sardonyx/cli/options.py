"""Declare the arguments that several commands share, so that they are spelled and explained alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

READING = "Reading"

Input = Annotated[str, typer.Argument(metavar="FILE", help="An ONNX model; [bold]-[/bold] reads standard input.")]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no summary; errors still appear.")]

LazyData = Annotated[
    bool,
    typer.Option(
        "--lazy-data",
        help="Do not open the files that hold external weights until one is needed; they may be missing.",
        rich_help_panel=READING,
    ),
]

DataDir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Look for external weights here instead of beside the model.",
        rich_help_panel=READING,
    ),
]

Links = Annotated[
    str,
    typer.Option(
        metavar="inside|never",
        help="Follow symbolic links to external weights inside the model's folder, or never.",
        callback=lambda value: one_of(value, "inside", "never"),
        rich_help_panel=READING,
    ),
]

MaxNesting = Annotated[
    int,
    typer.Option(min=8, max=250, help="How deep messages may nest.", rich_help_panel=READING),
]

OpsetConflict = Annotated[
    str,
    typer.Option(
        metavar="error|highest",
        callback=lambda value: one_of(value, "error", "highest"),
        help="Refuse to inline a function written for another version of an operator, or take the highest.",
        rich_help_panel="Inlining",
    ),
]


def one_of(value: str, *choices: str) -> str:
    """Return `value`, or end with a usage error that lists the choices."""
    if value not in choices:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
    return value


def reading(lazy_data: bool, external_data_dir: Path | None, links: str, max_nesting: int) -> dict[str, Any]:
    """Return these options as keyword arguments of `sx.load` and `sx.check`."""
    return {
        "external_data": "lazy" if lazy_data else "strict",
        "external_data_dir": external_data_dir,
        "links": links,
        "max_nesting": max_nesting,
    }
