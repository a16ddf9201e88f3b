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
    seen = {(issue.place.graph or None, issue.place.node) for issue in found}
    for issue in inference.issues:
        if issue.code in NO_FAULT:
            continue
        if issue.place.node is None or (issue.place.graph or None, issue.place.node) not in seen:
            found.append(issue)
    return found
