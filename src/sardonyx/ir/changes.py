"""Hold the differences between two models, for a person and for a program."""

from __future__ import annotations

from sardonyx.ir.describe import SCHEMA
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


@record
class Change:
    """One difference."""

    where: str
    """The graph it is in: empty for the main graph and the model itself, `node 'loop'.body`, `function d::f`."""
    subject: str
    """`model`, `graph`, `opset`, `metadata`, `input`, `output`, `claim`, `initializer`, `node`, `function`, ..."""
    name: str
    """Which one, in words."""
    aspect: str
    """What of it differs (`type`, `attribute axis`, `inputs`, ...); empty when it was added or removed."""
    before: str | None
    """What it was; None when it was not there."""
    after: str | None
    """What it is; None when it is gone."""

    @property
    def verb(self) -> str:
        """`added`, `removed` or `changed`."""
        if self.aspect:
            return "changed"
        return "added" if self.before is None else "removed"

    def __str__(self) -> str:
        head = f"{self.where}: " if self.where else ""
        head = f"{SIGNS[self.verb]} {head}{self.subject} {self.name}".rstrip()
        if self.aspect:
            return f"{head}: {self.aspect}: {shown(self.before)} -> {shown(self.after)}"
        rest = self.before if self.after is None else self.after
        return f"{head}: {rest}" if rest else head

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return {
            "change": self.verb,
            "where": self.where,
            "subject": self.subject,
            "name": self.name,
            "aspect": self.aspect,
            "before": self.before,
            "after": self.after,
        }


SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def shown(side: str | None) -> str:
    """Write one side of a change."""
    return "nothing" if side is None else side


@record
class Diff:
    """Every difference between two models, in the order in which a model is read. Empty is false."""

    changes: tuple[Change, ...]

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __str__(self) -> str:
        return "\n".join(map(str, self.changes))

    def to_json(self) -> dict[str, Any]:
        """Return the changes as plain data: what `sardonyx diff --json` prints."""
        return {"schema": SCHEMA, "changes": [change.to_json() for change in self.changes]}
