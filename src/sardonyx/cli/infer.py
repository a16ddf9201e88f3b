"""Infer types and shapes, say how much is known and what it rests on, and save the model with its types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sardonyx.cli.command import DONE, FINDINGS, command, opened, report
from sardonyx.cli.options import AsJson, DataDir, Input, LazyData, Links, MaxNesting, Quiet, one_of, reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sardonyx.cli.output import Page
    from sardonyx.infer.events import Event
    from sardonyx.infer.frames import Frame
    from sardonyx.infer.inference import Inference

INFERRING = "Inferring"
MOST_ROWS = 40
"""Rows of a list that the page shows; `--json` has them all."""
MOST_STEPS = 8
"""Steps of the way to a frame that a line shows."""


def size_of(text: str) -> tuple[str, int]:
    """Read `NAME=SIZE`."""
    name, equals, number = text.rpartition("=")
    if not equals or not name or not number.isascii() or not number.isdigit():
        raise typer.BadParameter(f"{text!r} is not of the form NAME=SIZE, such as batch=8")
    return name, int(number)


@command
def infer(
    file: Input,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="OUT", help="Write the model here, with the types found.")
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Stop at the first contradiction, with exit status 1.", rich_help_panel=INFERRING
        ),
    ] = False,
    bind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SIZE",
            help="Give a named dim of the inputs a size; may be given more than once.",
            rich_help_panel=INFERRING,
        ),
    ] = None,
    assume: Annotated[
        str | None,
        typer.Option(
            metavar="unify",
            callback=lambda value: value if value is None else one_of(value, "unify"),
            help="Let names that an operator would like to be equal become one.",
            rich_help_panel=INFERRING,
        ),
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", help="Show every step of the inference.", rich_help_panel=INFERRING)
    ] = False,
    frames: Annotated[
        bool,
        typer.Option(
            "--frames",
            help="Show the types in every body and every call of a function, as a tree.",
            rich_help_panel=INFERRING,
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    lazy_data: LazyData = False,
    external_data_dir: DataDir = None,
    links: Links = "inside",
    max_nesting: MaxNesting = 128,
) -> int:
    """Infer the type and shape of every value: how much is known, what it rests on, what is unknown and why.

    [bold]sardonyx infer[/bold] model.onnx

    [bold]sardonyx infer[/bold] model.onnx -o typed.onnx --bind batch=8

    [bold]sardonyx infer[/bold] --lazy-data --frames model.onnx   when its data files are not at hand
    """
    import sardonyx as sx
    from sardonyx.cli.output import Page, one_line, print_json
    from sardonyx.cli.progress import working

    sizes = dict(map(size_of, bind or ()))
    options = reading(lazy_data, external_data_dir, links, max_nesting)
    with working(f"inferring {file}", quiet), sx.load(opened(file), **options) as model:
        try:
            inference = sx.infer_shapes(
                model, mode="strict" if strict else "permissive", bind=sizes or None, assume=assume, events=events
            )
        except sx.OnnxError as problem:
            report("infer", problem, as_json)
            return FINDINGS
        except ValueError as problem:  # a name that no input has
            raise typer.BadParameter(str(problem), param_hint="--bind") from None
        if output is not None:
            sx.save(inference.model, output)
        if as_json:
            shown = {"source": file, "output": output, **described(inference)}
            if events:
                shown["events"] = [event_fields(event) for event in inference.events]
            if frames:
                shown["frames"] = [frame_fields(frame) for frame in inference.frames.values()]
            print_json("infer", shown)
        elif not quiet:
            page = Page()
            page.title(one_line(file if output is None else f"{file} -> {output}"))
            show(page, inference)
            if events:
                page.title(f"Events ({len(inference.events):,})")
                for event in inference.events:
                    page.line(f"  {event_line(event)}")
            if frames:
                page.title("Frames")
                for frame in inference.frames.values():
                    show_frame(page, frame)
    return DONE


def described(inference: Inference) -> dict[str, Any]:
    """Return what was found, ready for JSON."""
    graph, cover = inference.model.graph, inference.coverage()
    named = [(role, value) for role, values in (("input", graph.inputs), ("output", graph.outputs)) for value in values]
    return {
        "coverage": {
            name: getattr(cover, name)
            for name in ("values", "typed", "ranked", "expressed", "dims", "known", "distinct")
        },
        "interface": [{"role": role, "name": one.name, "type": text_of(graph.types.get(one))} for role, one in named],
        "constraints": [str(one) for one in inference.constraints],
        "assumptions": [
            {"kind": one.kind, "a": str(one.a), "b": str(one.b), "place": one.place, "text": str(one)}
            for one in inference.assumptions
        ],
        "unknown": [
            {"value": name, "type": kind or None, "reason": reason(inference, name)} for name, kind in cover.unknown
        ],
        "issues": [one.to_json() for one in inference.issues],
    }


def text_of(kind: object) -> str | None:
    """Return a type as text, None when there is none."""
    return None if kind is None else str(kind)


def show(page: Page, inference: Inference) -> None:
    """Print the page."""
    from sardonyx.infer.coverage import share

    graph, cover = inference.model.graph, inference.coverage()
    page.rows(
        [
            ("values", f"{cover.values:,}"),
            ("typed", share(cover.typed, cover.values)),
            ("ranked", share(cover.ranked, cover.values)),
            ("expressed", f"{share(cover.expressed, cover.values)}, with {cover.distinct:,} distinct symbolic dims"),
        ]
    )
    for title, values in (("Inputs", graph.inputs), ("Outputs", graph.outputs)):
        page.title(f"{title} ({len(values)})")
        listed(page, [(value.name, text_of(graph.types.get(value)) or "?") for value in values])
    for title, lines in (("Constraints", inference.constraints), ("Assumptions", inference.assumptions)):
        if lines:
            page.title(f"{title} ({len(lines)})")
            listed(page, [(str(line),) for line in lines])
    if cover.unknown:
        page.title(f"Unknown ({len(cover.unknown)})")
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, kind in cover.unknown[:MOST_ROWS]:
            groups.setdefault(reason(inference, name) or "for a reason that is not known", []).append(
                (name, kind or "?")
            )
        for why, rows in groups.items():
            page.line(f"  {why}")
            page.rows(rows, indent=4)
        rest(page, len(cover.unknown))
    if inference.issues:
        page.title(f"Issues ({len(inference.issues)})")
        page.issues(inference.issues[:MOST_ROWS])
        rest(page, len(inference.issues))


def listed(page: Page, rows: Sequence[Sequence[str]]) -> None:
    """Print the first rows of a list and how many more there are."""
    page.rows(rows[:MOST_ROWS])
    rest(page, len(rows))


def rest(page: Page, total: int) -> None:
    """Say how much of a list was left out."""
    if total > MOST_ROWS:
        page.line(f"  ... and {total - MOST_ROWS:,} more (--json has all)")


def reason(inference: Inference, name: str) -> str | None:
    """Return where what an unknown value needs was lost first, as far as inference can say."""
    try:
        found = inference.explain(name.rpartition(" > ")[2])
    except ValueError:  # a name that two bodies share
        return None
    if found.first_loss is not None:
        return str(found.first_loss)
    # An element of an input is lost at no step: the input just has it.
    return next((str(step) for step in reversed(found.steps) if str(step).startswith("element ")), None)


def event_line(event: Event) -> str:
    """Write an event on one line, the way to its frame first."""
    from sardonyx.errors import node_label

    steps = [f"{index}.{attribute or 'call'}" for index, attribute in event.path]
    if len(steps) > MOST_STEPS:
        steps = [*steps[: MOST_STEPS - 3], f"{len(steps) - MOST_STEPS + 1} more", *steps[-2:]]
    way = " > ".join(steps)
    node = "" if event.node is None else node_label(event.node.name, event.node.op_type, event.index)
    return ": ".join(part for part in (f"[{way}]" if way else "", node, str(event)) if part)


def event_fields(event: Event) -> dict[str, Any]:
    """Return an event, ready for JSON."""
    return {
        "kind": event.kind,
        "path": [list(step) for step in event.path],
        "node": None if event.node is None else {"index": event.index, "op": event.node.op, "name": event.node.name},
        "value": None if event.value is None else event.value.name,
        "before": text_of(event.before),
        "after": text_of(event.after),
        "used": [value.name for value in event.used],
    }


def frame_fields(frame: Frame) -> dict[str, Any]:
    """Return a frame, ready for JSON."""
    return {
        "path": [list(step) for step in frame.path],
        "place": frame.level.text,
        "types": {name: str(kind) for name, kind in frame.types.items()},
    }


def show_frame(page: Page, frame: Frame) -> None:
    """Print one frame, indented by its depth."""
    from sardonyx.errors import node_label

    level, indent = frame.level, "  " * (len(frame.path) + 1)
    if level.node is None:
        label = "main graph"
    else:
        label = node_label(level.node.name, level.node.op_type, level.index)
        label = f"call of {label}" if level.attribute is None else f"{label}.{level.attribute}"
    page.line(f"{indent}{label}")
    page.rows([(name, str(kind)) for name, kind in frame.types.items()], indent=len(indent) + 2)
