"""Say what changed between two models."""

from __future__ import annotations

from typing import Annotated

import typer

from sardonyx.cli.command import DONE, FINDINGS, command, opened
from sardonyx.cli.options import AsJson, DataDir, LazyData, Links, MaxNesting, Quiet, reading

STYLES = {"added": "green", "removed": "red", "changed": "yellow"}


@command
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="An ONNX model.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The one to compare it with.")],
    quiet: Quiet = False,
    as_json: AsJson = False,
    lazy_data: LazyData = False,
    external_data_dir: DataDir = None,
    links: Links = "inside",
    max_nesting: MaxNesting = 128,
) -> int:
    """Say what changed between two models. Exit status 0 when nothing did, 1 when something did.

    Constants are compared by hash; where their bytes lie is no difference.

    [bold]sardonyx diff[/bold] before.onnx after.onnx

    [bold]sardonyx diff[/bold] --json before.onnx after.onnx | jq '.changes[].name'
    """
    import sardonyx as sx
    from sardonyx.cli.output import Page, count, print_json
    from sardonyx.cli.progress import working

    if before == after == "-":
        raise typer.BadParameter("standard input can be read only once")
    options = reading(lazy_data, external_data_dir, links, max_nesting)
    with (
        working(f"comparing {before} with {after}", quiet),
        sx.load(opened(before), **options) as old,
        sx.load(opened(after), **options) as new,
    ):
        found = sx.diff(old, new)
    if as_json:
        changes = [change.to_json() for change in found]
        print_json("diff", {"before": before, "after": after, "changes": changes})
    elif not quiet:
        page = Page()
        for change in found:
            page.line(str(change), STYLES[change.verb])
        page.line(f"{count(len(found), 'difference')}" if found else "no differences")
    return FINDINGS if found else DONE
