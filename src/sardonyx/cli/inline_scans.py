"""Replace Scans that run their body once by the body, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sardonyx.cli.command import DONE, command, opened
from sardonyx.cli.options import AsJson, DataDir, Input, LazyData, Links, MaxNesting, Quiet, reading

if TYPE_CHECKING:
    from sardonyx.cli.output import Page
    from sardonyx.passes.inline_scans import InlinedScan, ScanInlining

INLINING = "Inlining"


@command
def inline_scans(
    file: Input,
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="Where to write the model.")],
    assume_single_trip: Annotated[
        bool,
        typer.Option(
            "--assume-single-trip",
            help="Vouch that every Scan whose length is not known runs its body once; the page says what to check.",
            rich_help_panel=INLINING,
        ),
    ] = False,
    no_require_state: Annotated[
        bool,
        typer.Option("--no-require-state", help="Inline Scans without recurrent state, too.", rich_help_panel=INLINING),
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    lazy_data: LazyData = False,
    external_data_dir: DataDir = None,
    links: Links = "inside",
    max_nesting: MaxNesting = 128,
) -> int:
    """Replace every Scan that runs its body exactly once by the nodes of the body. Types are inferred and written, too.

    [bold]sardonyx inline-scans[/bold] model.onnx -o decode.onnx

    [bold]sardonyx inline-scans[/bold] model.onnx -o decode.onnx --assume-single-trip   for steps of one token
    """
    import sardonyx as sx
    from sardonyx.cli.output import Page, print_json
    from sardonyx.cli.progress import working

    options = reading(lazy_data, external_data_dir, links, max_nesting)
    with working(f"inlining Scans of {file}", quiet), sx.load(opened(file), **options) as model:
        done = sx.inline_single_trip_scan_bodies(
            sx.infer_shapes(model).model, assume_single_trip=assume_single_trip, require_state=not no_require_state
        )
        saved = sx.infer_shapes(done.model).model if done.inlined else done.model
        sx.save(saved, output)
    if as_json:
        issues = [issue.to_json() for issue in saved.issues]
        print_json("inline-scans", {"source": file, "output": output, **done.to_json(), "issues": issues})
    elif not quiet:
        page = Page()
        page.line(scanning(done))
        show_scans(page, done)
        if saved.issues:
            page.title(f"Issues ({len(saved.issues)})")
            page.issues(saved.issues)
    return DONE


def scanning(done: ScanInlining) -> str:
    """Word how many Scans are gone and how many are left."""
    from sardonyx.cli.output import count

    gone, left = len(done.inlined), len(done.skipped)
    if not gone and not left:
        return "no Scans"
    return ", ".join(
        [f"{count(gone, 'Scan')} inlined"] * bool(gone) + [f"{count(left, 'Scan')} left alone"] * bool(left)
    )


def show_scans(page: Page, done: ScanInlining) -> None:
    """Print what has to be checked before a run, and why Scans were left alone."""
    checks = dict.fromkeys(told(one, extent) for one in done.inlined for extent in range(len(one.to_check)))
    if checks:
        page.title("To check before every run")
        for line in checks:
            page.line(f"  {line}")
    if done.skipped:
        page.title(f"Scans left alone ({len(done.skipped)})")
        page.rows([(f"{one.where} > {one.node}" if one.where else one.node, one.explanation) for one in done.skipped])


def told(scan: InlinedScan, index: int) -> str:
    """Word one extent that was vouched for."""
    extent = scan.to_check[index]
    known = "" if extent.dim is None else f" ({extent.dim})"
    where = f" in {scan.where}" if scan.where else ""
    return f"axis {extent.axis} of {extent.value.name!r}{where} has length 1{known}"
