"""Print the whole structure of a model."""

from __future__ import annotations

import sys

from sardonyx.cli.command import DONE, command, opened
from sardonyx.cli.options import AsJson, DataDir, Input, LazyData, Links, MaxNesting, reading


@command
def dump(
    file: Input,
    as_json: AsJson = False,
    lazy_data: LazyData = False,
    external_data_dir: DataDir = None,
    links: Links = "inside",
    max_nesting: MaxNesting = 128,
) -> int:
    """Print the whole structure of a model, one fact a line, with a SHA-256 hash of every constant.

    [bold]sardonyx dump[/bold] model.onnx | less

    [bold]sardonyx dump[/bold] --json model.onnx | jq '.model.graph.nodes[].op_type'
    """
    import json

    import sardonyx as sx
    from sardonyx.cli.output import print_json
    from sardonyx.cli.progress import working

    options = reading(lazy_data, external_data_dir, links, max_nesting)
    with working(f"reading {file}"), sx.load(opened(file), **options) as model:
        text = sx.dump(model, format="json" if as_json else "text")
    if as_json:
        print_json("dump", {"model": json.loads(text)})
    else:
        sys.stdout.write(text)
    return DONE
