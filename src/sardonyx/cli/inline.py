"""Replace calls of functions by what the functions say, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sardonyx.cli.command import DONE, command, opened
from sardonyx.cli.options import (
    AsJson,
    DataDir,
    Input,
    LazyData,
    Links,
    MaxNesting,
    OpsetConflict,
    Quiet,
    one_of,
    reading,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.ir.graph import Function, Node

INLINING = "Inlining"


@command
def inline(
    file: Input,
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="Where to write the model.")],
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DOMAIN::NAME",
            help="Leave calls of this function as they are; may be given more than once, and with :OVERLOAD.",
            rich_help_panel=INLINING,
        ),
    ] = None,
    opset_conflict: OpsetConflict = "error",
    missing_attributes: Annotated[
        str,
        typer.Option(
            metavar="error|omit",
            callback=lambda value: one_of(value, "error", "omit"),
            help="Refuse a call that lacks an attribute its function needs, or leave out what refers to it.",
            rich_help_panel=INLINING,
        ),
    ] = "error",
    quiet: Quiet = False,
    as_json: AsJson = False,
    lazy_data: LazyData = False,
    external_data_dir: DataDir = None,
    links: Links = "inside",
    max_nesting: MaxNesting = 128,
) -> int:
    """Replace every call of a model-local function by the nodes of the function.

    [bold]sardonyx inline[/bold] model.onnx -o flat.onnx

    [bold]sardonyx inline[/bold] model.onnx -o flat.onnx --keep com.example::Attention
    """
    import sardonyx as sx
    from sardonyx.cli.output import Page, print_json
    from sardonyx.cli.progress import working
    from sardonyx.passes.inline_functions import InlineReport

    report = InlineReport()
    options = reading(lazy_data, external_data_dir, links, max_nesting)
    with working(f"inlining {file}", quiet), sx.load(opened(file), **options) as model:
        labels = {function.label for function in model.functions.values()}
        for name in keep or ():
            if not any(is_named(label, name) for label in labels):
                listed = ", ".join(sorted(labels)) or "none"
                raise typer.BadParameter(f"the model has no function {name}; it has {listed}", param_hint="--keep")
        flat = sx.inline_functions(
            model,
            keep=chosen(keep) if keep else None,
            opset_conflict=opset_conflict,
            missing_attributes=missing_attributes,
            report=report,
        )
        sx.save(flat, output)
    if as_json:
        issues = [issue.to_json() for issue in flat.issues]
        print_json("inline", {"source": file, "output": output, **report.to_json(), "issues": issues})
    elif not quiet:
        page = Page()
        for line in str(report).splitlines():
            page.line(line)
        if flat.issues:
            page.title(f"Issues ({len(flat.issues)})")
            page.issues(flat.issues)
    return DONE


def is_named(label: str, name: str) -> bool:
    """Whether a function is meant by `domain::name`, which means all its overloads, or `domain::name:overload`."""
    return label == name or label.startswith(f"{name}:")


def chosen(names: list[str]) -> Callable[[Node, Function], bool]:
    """Return a predicate for `keep`."""
    return lambda node, function: any(is_named(function.label, name) for name in names)
