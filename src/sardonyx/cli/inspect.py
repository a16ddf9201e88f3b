"""Show what is in a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sardonyx.cli.command import DONE, command, opened
from sardonyx.cli.options import AsJson, DataDir, Input, LazyData, Links, MaxNesting, reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sardonyx.cli.output import Page
    from sardonyx.errors import Issue

MOST_ROWS = 40
"""Rows of a list that the page shows; `--json` has them all."""

ROLES = {"sparse values": " (sparse)", "sparse indices": " (indices of sparse)", "attribute": " (in node attributes)"}
"""What the page says of constants that are no initializers."""


@command
def inspect(
    file: Input,
    as_json: AsJson = False,
    lazy_data: LazyData = False,
    external_data_dir: DataDir = None,
    links: Links = "inside",
    max_nesting: MaxNesting = 128,
) -> int:
    """Show what is in a model: inputs and outputs, operators, functions, bodies, weights, issues.

    [bold]sardonyx inspect[/bold] model.onnx

    [bold]sardonyx inspect[/bold] --lazy-data model.onnx   when its data files are not at hand

    [bold]sardonyx inspect[/bold] --json model.onnx | jq .weights.parameters
    """
    import sardonyx as sx
    from sardonyx.cli.output import Page, print_json
    from sardonyx.cli.progress import working
    from sardonyx.cli.summary import summarize

    options = reading(lazy_data, external_data_dir, links, max_nesting)
    with working(f"reading {file}"), sx.load(opened(file), **options) as model:
        found = summarize(model)
        issues = model.issues
    if file != "-":
        found["model"]["bytes"] = os.stat(file).st_size
    if as_json:
        print_json("inspect", found)
    else:
        show(Page(), found, issues)
    return DONE


def show(page: Page, found: Mapping[str, Any], issues: Sequence[Issue]) -> None:
    """Print the page."""
    from sardonyx.cli.output import count

    heading(page, found)
    graph = found["graph"]
    for title, values in (("Inputs", graph["inputs"]), ("Outputs", graph["outputs"])):
        page.title(f"{title} ({len(values)})")
        listed(page, [(one["name"], one["type"] or "?", "default" if "has_default" in one else "") for one in values])
    page.title(f"Operators ({count(sum(op['count'] for op in found['operators']), 'node')})")
    show_operators(page, found["operators"])
    if found["functions"]:
        page.title(f"Functions ({len(found['functions'])})")
        listed(
            page, [(signature(one), count(one["nodes"] + one["nodes_in_bodies"], "node")) for one in found["functions"]]
        )
    if found["bodies"]:
        page.title(f"Bodies ({len(found['bodies'])})")
        listed(page, [body_row(one) for one in found["bodies"]])
    show_weights(page, found["weights"])
    if issues:
        page.title(f"Issues ({len(issues)})")
        page.issues(issues[:MOST_ROWS])
        rest(page, len(issues))


def heading(page: Page, found: Mapping[str, Any]) -> None:
    """Print what the model says of itself."""
    from sardonyx.cli.output import count, one_line, size

    model, graph = found["model"], found["graph"]
    page.title(one_line(model["source"] or graph["name"]))
    producer = " ".join(part for part in (model["producer_name"], model["producer_version"]) if part)
    inner = graph["nodes_in_bodies"]
    within = f", {inner:,} more in bodies" if inner else ""
    order = "; the file had them in another order" if graph["nodes_were_reordered"] else ""
    rows = [
        ("size", size(model["bytes"]) if "bytes" in model else ""),
        ("producer", producer),
        (
            "model",
            " ".join(
                filter(None, (model["domain"], f"version {model['model_version']}" if model["model_version"] else ""))
            ),
        ),
        ("format", f"IR version {model['ir_version']}"),
        ("opsets", ", ".join(f"{domain} {version}" for domain, version in model["opset_imports"].items())),
        ("graph", f"{graph['name'] or '(no name)'}: {count(graph['nodes'], 'node')}{within}{order}"),
        ("about", shortened(model["doc_string"] or graph["doc_string"])),
        *((f"[{key}]", shortened(value)) for key, value in list(model["metadata"].items())[:MOST_ROWS]),
    ]
    page.rows([row for row in rows if row[1]])
    rest(page, len(model["metadata"]))


def shortened(text: str) -> str:
    """Return the beginning of a long text, on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:197]}..."


def listed(page: Page, rows: Sequence[Sequence[str]]) -> None:
    """Print the first rows of a list and how many more there are."""
    page.rows(rows[:MOST_ROWS])
    rest(page, len(rows))


def rest(page: Page, total: int) -> None:
    """Say how much of a list was left out."""
    if total > MOST_ROWS:
        page.line(f"  ... and {total - MOST_ROWS:,} more (--json has all)")


def show_operators(page: Page, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the histogram; the columns of places appear when there is more than the main graph."""
    spread = any(row["bodies"] or row["functions"] for row in rows)
    lines = []
    for row in rows[:MOST_ROWS]:
        domain = "" if row["domain"] == "ai.onnx" else f"{row['domain']}::"
        overload = f":{row['overload']}" if row["overload"] else ""
        name = f"{domain}{row['op_type']}{overload}" + (" (function)" if row["is_function"] else "")
        places = [str(row[place] or "") for place in ("graph", "bodies", "functions")] if spread else []
        lines.append([f"{row['count']:,}", *places, name])
    heads = ["all", "graph", "bodies", "functions", "operator"] if spread else []
    page.rows(lines, ">" * (4 if spread else 1), heads)
    rest(page, len(rows))


def signature(function: Mapping[str, Any]) -> str:
    """Write a function as it is called: `domain::Name<attribute>(a, b) -> (c)`."""
    attributes = f"<{', '.join(function['attributes'])}>" if function["attributes"] else ""
    return f"{function['name']}{attributes}({', '.join(function['inputs'])}) -> ({', '.join(function['outputs'])})"


def body_row(body: Mapping[str, Any]) -> tuple[str, str, str]:
    """Write a body: the node that holds it, its size, and what it takes from outside."""
    from sardonyx.cli.output import count

    label = f"{body['op_type']} {body['node'] or body['first_output']!r}".strip()
    captures = body["captures"]
    captured = ", ".join(captures[:6]) + (f" and {len(captures) - 6} more" if len(captures) > 6 else "")
    return (
        f"{'  ' * body['depth']}{label}.{body['attribute']}",
        count(body["nodes"], "node"),
        f"captures {captured}" if captured else "",
    )


def show_weights(page: Page, weights: Mapping[str, Any]) -> None:
    """Print how many constants there are, of what type, and where."""
    from sardonyx.cli.output import count, size

    tensors = count(weights["tensors"], "initializer")
    page.title(f"Weights ({count(weights['parameters'], 'parameter')} in {tensors}, {size(weights['bytes'])})")
    rows = [
        (
            f"{part['tensors']:,}",
            part["dtype"],
            f"{part['elements']:,}",
            size(part["bytes"]),
            f"{part['place']}{ROLES.get(part['role'], '')}",
        )
        for part in weights["parts"][:MOST_ROWS]
    ]
    page.rows(rows, "><>>", ("tensors", "type", "elements", "bytes", "where"))
    rest(page, len(weights["parts"]))
