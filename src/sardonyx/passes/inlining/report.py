"""Say what an inlining did: what was inlined how often, what was kept and why, what was dropped."""

from __future__ import annotations

from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@record
class Kept:
    """A call that was left as it is."""

    call: str
    """The call, as messages name it."""
    function: str
    """The function, `domain::name` or `domain::name:overload`."""


class InlineReport:
    """What `inline_functions` fills when it is given one; whatever stood in it before is gone."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.inlined: dict[str, int] = {}
        """How often each function was inlined, calls within functions counted each time that they were followed."""
        self.kept_calls: list[Kept] = []
        """The calls that `keep` chose, in the order in which they were found."""
        self.kept_functions: dict[str, str] = {}
        """The functions that stay in the model, each with the reason."""
        self.dropped: list[str] = []
        """The functions that nothing calls."""
        self.opsets: dict[str, tuple[int | None, int]] = {}
        """The domains whose import was raised or added: the version before, None for none, and after."""
        self.nodes_made = 0
        """How many nodes were made, those in bodies counted."""

    @property
    def calls_inlined(self) -> int:
        """How many calls were inlined."""
        return sum(self.inlined.values())

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "inlined": dict(self.inlined),
            "kept_calls": [{"call": one.call, "function": one.function} for one in self.kept_calls],
            "kept_functions": dict(self.kept_functions),
            "dropped": list(self.dropped),
            "opsets": {domain: list(versions) for domain, versions in self.opsets.items()},
            "nodes_made": self.nodes_made,
        }

    def __str__(self) -> str:
        lines = [
            f"{label}: inlined {count} {'time' if count == 1 else 'times'}" for label, count in self.inlined.items()
        ]
        lines += [f"{label}: kept, since {reason}" for label, reason in self.kept_functions.items()]
        lines += [f"{label}: dropped, since nothing calls it" for label in self.dropped]
        for domain, (before, after) in self.opsets.items():
            was = "new" if before is None else f"was {before}"
            lines.append(f"opset {domain or 'ai.onnx'} {after} ({was})")
        lines.append(f"{self.calls_inlined} calls became {self.nodes_made} nodes")
        return "\n".join(lines)
