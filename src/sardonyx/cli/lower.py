"""Read a model, lower it, write it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sardonyx.cli.command import DONE, command, opened
from sardonyx.cli.inline_scans import scanning, show_scans
from sardonyx.cli.options import AsJson, DataDir, Input, LazyData, Links, MaxNesting, OpsetConflict, Quiet, reading

if TYPE_CHECKING:
    from sardonyx.cli.output import Page
    from sardonyx.pipeline import Lowering

WRITING = "Writing"

DOING = {
    "load": "reading",
    "inline": "inlining functions",
    "infer": "inferring types",
    "scans": "inlining single-trip Scans",
    "save": "writing",
}
"""What the progress display calls each stage."""


@command
def lower(
    file: Input,
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="Where to write the model.")],
    external: Annotated[
        bool,
        typer.Option(
            "--external",
            help="Move weights to a data file beside the model; happens by itself when the model would pass 2 GiB.",
            rich_help_panel=WRITING,
        ),
    ] = False,
    threshold: Annotated[
        int,
        typer.Option(
            min=0, metavar="BYTES", help="With --external: smaller weights stay inside.", rich_help_panel=WRITING
        ),
    ] = 1024,
    shard_size: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="BYTES", help="With --external: start another data file there.", rich_help_panel=WRITING
        ),
    ] = None,
    embed: Annotated[
        bool,
        typer.Option("--embed", help="Move all external weights into the model file.", rich_help_panel=WRITING),
    ] = False,
    opset_conflict: OpsetConflict = "error",
    assume_single_trip: Annotated[
        bool,
        typer.Option(
            "--assume-single-trip",
            help="Vouch that every Scan whose length is not known runs its body once; the page says what to check.",
            rich_help_panel="Lowering",
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    lazy_data: LazyData = False,
    external_data_dir: DataDir = None,
    links: Links = "inside",
    max_nesting: MaxNesting = 128,
) -> int:
    """Read a model strictly, lower it, and write it. OUT appears whole or not at all; it may be FILE.

    [bold]sardonyx lower[/bold] model.onnx -o lowered.onnx

    [bold]sardonyx lower[/bold] model.onnx -o out/model.onnx --external   weights to a data file beside it

    [bold]sardonyx lower[/bold] model.onnx -o out.onnx --lazy-data   when its data files are not at hand
    """
    import sardonyx as sx
    from sardonyx.cli.output import Page, print_json
    from sardonyx.cli.progress import working

    if external and embed:
        raise typer.BadParameter("--external and --embed say opposite things")
    layout = sx.External(threshold=threshold, shard_size=shard_size) if external else "embed" if embed else None
    with working(f"reading {file}", quiet) as tell:
        done = sx.lower(
            opened(file),
            output,
            external=layout,
            opset_conflict=opset_conflict,
            assume_single_trip=assume_single_trip,
            progress=lambda stage, *amounts: tell(DOING.get(stage, stage), *amounts),
            **reading(lazy_data, external_data_dir, links, max_nesting),
        )
    with done:
        told = describe(done, file)
    if as_json:
        print_json("lower", {**told, "issues": [issue.to_json() for issue in done.issues]})
    elif not quiet:
        show(Page(), told, done)
    return DONE


def describe(done: Lowering, file: str) -> dict[str, Any]:
    """Return what was done as plain data, without the issues."""
    stages = [
        {"stage": stage, "seconds": round(seconds, 6), "nodes": done.nodes.get(stage)}
        for stage, seconds in done.timings.items()
    ]
    saved, cover = done.saved, done.inference.coverage()
    return {
        "source": file,
        "output": None if saved is None else saved.path,
        "data_files": [] if saved is None else list(saved.data_files),
        "bytes": 0 if saved is None else saved.nbytes,
        "stages": stages,
        "inlined": done.inlined.to_json(),
        "coverage": {name: getattr(cover, name) for name in ("values", "typed", "ranked", "expressed")},
        "scans": done.scans.to_json(),
    }


def inlining(report: dict[str, Any]) -> str:
    """Word what was inlined and what was not."""
    from sardonyx.cli.output import count

    calls, kept, dropped = sum(report["inlined"].values()), report["kept_functions"], report["dropped"]
    parts = [f"{count(calls, 'call')} of {count(len(report['inlined']), 'function')}"] if calls else []
    if dropped:
        parts.append(f"{count(len(dropped), 'function')} that nothing calls dropped")
    if kept:
        parts.append(f"{count(len(kept), 'function')} kept")
    return ", ".join(parts)


def show(page: Page, told: dict[str, Any], done: Lowering) -> None:
    """Print the table of stages, what was written, and what was odd."""
    from sardonyx.cli.output import count, size

    page.title(f"{told['source']} -> {told['output']}")
    notes = {
        "inline": inlining(told["inlined"]),
        "infer": str(done.inference.coverage()).partition(": ")[2],
        "scans": scanning(done.scans),
    }
    rows = []
    for row in told["stages"]:
        nodes, stage = row["nodes"], row["stage"]
        what = size(told["bytes"]) if nodes is None else count(nodes, "node")
        rows.append((stage, what, f"{row['seconds'] * 1000:,.1f} ms", notes.get(stage, "")))
    page.rows(rows, "<>>")
    show_scans(page, done.scans)
    for name in told["data_files"]:
        page.line(f"  weights in {name}")
    if done.issues:
        page.title(f"Issues ({len(done.issues)})")
        page.issues(done.issues)
