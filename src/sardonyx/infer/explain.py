"""Say in words why a value has the type it has, from the graph's inputs on (decision S10)."""

from __future__ import annotations

from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.infer.inference import Inference
    from sardonyx.ir.graph import Value


@record
class Explanation:
    """A chain of steps."""

    steps: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.steps)


def explain(inference: Inference, value: Value | str, dim: int | None) -> Explanation:
    """Return the chain of steps to a value."""
    raise NotImplementedError
