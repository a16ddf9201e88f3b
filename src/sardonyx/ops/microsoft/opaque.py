"""Rules for nodes whose meaning is in a payload that only a device understands."""

from __future__ import annotations

from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ops.call import Call

rules = Rules("com.microsoft")


def opaque(call: Call) -> None:
    """Say nothing: what is declared of the outputs is all there is."""


rules.table(opaque, {"EPContext": 1, "Snpe": 1})
