"""List every structural issue of a model."""

from __future__ import annotations

from typing import Annotated

import typer

from sardonyx.cli.command import DONE, FINDINGS, command, opened
from sardonyx.cli.options import AsJson, DataDir, Input, LazyData, Links, MaxNesting, Quiet, reading


@command
def check(
    file: Input,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also verify the checksums of external weights; reads all of them.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    lazy_data: LazyData = False,
    external_data_dir: DataDir = None,
    links: Links = "inside",
    max_nesting: MaxNesting = 128,
) -> int:
    """List every issue of a model at once. Exit status 1 when there is any, 0 when it is clean.

    [bold]sardonyx check[/bold] model.onnx

    [bold]sardonyx check[/bold] --deep model.onnx   with the checksums of its data files

    [bold]sardonyx check[/bold] --quiet model.onnx || echo broken
    """
    import sardonyx as sx
    from sardonyx.cli.output import Page, count, one_line, print_json
    from sardonyx.cli.progress import working

    options = reading(lazy_data, external_data_dir, links, max_nesting)
    with working(f"checking {file}", quiet):
        issues = sx.check(opened(file), deep=deep, **options)
    if as_json:
        print_json("check", {"source": file, "issues": [issue.to_json() for issue in issues]})
    elif not quiet:
        page = Page()
        page.issues(issues)
        errors = sum(1 for issue in issues if issue.severity == "error")
        warnings = len(issues) - errors
        parts = [count(errors, "error")] * bool(errors) + [count(warnings, "warning")] * bool(warnings)
        page.line(f"{one_line(file)}: {', '.join(parts) or 'no issues'}")
    return FINDINGS if issues else DONE
