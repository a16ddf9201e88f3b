"""Gather everything that is wrong with a loaded model."""

from __future__ import annotations

from sardonyx.checks.meaning import check_meaning
from sardonyx.ir.verify import verify
from sardonyx.wire.locate import with_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.errors import Issue
    from sardonyx.ir.graph import Model


def check_model(model: Model, deep: bool = False) -> list[Issue]:
    """Return every issue: noted at load, faults of function bodies, structure, operators, types; each once.

    With `deep`, checksums of external data are verified, which reads all of it.
    """
    found = list(model.issues)
    for function in model.functions.values():
        found.extend(function.faults)
    if model.origin is not None and not model.origin.source.closed:
        found = with_paths(found, model.origin.source.data())
    seen = {issue_key(issue) for issue in found}
    found.extend(issue for issue in verify(model) if issue_key(issue) not in seen)
    found.extend(check_meaning(model))
    if deep:
        from sardonyx.errors import Place
        from sardonyx.io.checksums import verify_checksum
        from sardonyx.io.shards import every_tensor

        here = Place(source=model.source)
        wrong = (verify_checksum(tensor) for tensor, _ in every_tensor(model))
        found.extend(issue.within(here) for issue in wrong if issue is not None)
    return found


def issue_key(issue: Issue) -> tuple[str, str | None, str | None]:
    """Return what makes two findings the same one: the code, the graph and the value."""
    return (issue.code, issue.place.graph, issue.place.value)
