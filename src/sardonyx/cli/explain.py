"""Say why a value has the type it has."""

from __future__ import annotations

from typing import Annotated

import typer

from sardonyx.cli.command import DONE, command, opened
from sardonyx.cli.options import AsJson, DataDir, Input, LazyData, Links, MaxNesting, reading


@command
def explain(
    file: Input,
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="Name of a value of the model or of one of its bodies.")
    ],
    dim: Annotated[
        int | None, typer.Option("--dim", metavar="AXIS", help="Ask about one axis only, counted from 0.")
    ] = None,
    as_json: AsJson = False,
    lazy_data: LazyData = False,
    external_data_dir: DataDir = None,
    links: Links = "inside",
    max_nesting: MaxNesting = 128,
) -> int:
    """Say, step by step from the inputs, why a value has its type; for what is unknown, where it was lost.

    [bold]sardonyx explain[/bold] model.onnx present.0.key --dim 2

    [bold]sardonyx explain[/bold] --lazy-data model.onnx logits
    """
    import sardonyx as sx
    from sardonyx.cli.output import Page, print_json
    from sardonyx.cli.progress import working

    options = reading(lazy_data, external_data_dir, links, max_nesting)
    with working(f"inferring {file}"), sx.load(opened(file), **options) as model:
        inference = sx.infer_shapes(model)
        try:
            found = inference.explain(value, dim)
        except ValueError as problem:
            raise typer.BadParameter(str(problem), param_hint="VALUE") from None
        if as_json:
            steps = [
                {
                    "text": str(step),
                    "value": None if step.value is None else step.value.name,
                    "axis": step.axis,
                    "node": None if step.node is None else {"op": step.node.op, "name": step.node.name},
                    "path": [list(one) for one in step.path],
                    "lost": step.lost,
                }
                for step in found.steps
            ]
            print_json("explain", {"source": file, "value": value, "dim": dim, "steps": steps})
        else:
            page = Page()
            for line in str(found).splitlines():
                page.line(line)
    return DONE
