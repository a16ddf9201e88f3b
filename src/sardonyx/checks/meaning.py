"""Check what a model means, once its structure is read: operators, sparse constants, types."""

from __future__ import annotations

from sardonyx.checks.operators import check_operators
from sardonyx.checks.sparse import check_sparse
from sardonyx.infer.inference import infer_shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.errors import Issue
    from sardonyx.ir.graph import Model

NO_FAULT = frozenset(("no-rule", "limit-exceeded"))
"""What inference notes about itself rather than about the model."""


def check_meaning(model: Model) -> list[Issue]:
    """Return what operators and types show to be wrong.

    A node with a fault of its own is not reported a second time for what inference makes of it.
    """
    inference = infer_shapes(model)
    found = [*check_operators(model, inference.model.graph.types), *check_sparse(model)]
    worst: dict[tuple[str | None, str | None], str] = {}
    for issue in found:
        if worst.get(key := place_key(issue)) != "error":
            worst[key] = issue.severity
    for issue in inference.issues:
        before = None if issue.place.node is None else worst.get(place_key(issue))
        if issue.code not in NO_FAULT and not (before == "error" or (before and issue.severity == "warning")):
            found.append(issue)
    return found


def place_key(issue: Issue) -> tuple[str | None, str | None]:
    """Return the graph and the node that an issue is about, all functions being one: inference sees their calls."""
    graph = issue.place.graph or None
    inside = graph is not None and (graph.startswith("function ") or "call of " in graph)
    return ("function" if inside else graph, issue.place.node)
