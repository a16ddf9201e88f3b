"""Hold what an inference found, and answer questions about it."""

from __future__ import annotations

from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.errors import Issue
    from sardonyx.ir.graph import Model


@record
class Inference:
    """The outcome of `infer_shapes`."""

    model: Model
    """The model with its table of types filled."""
    issues: tuple[Issue, ...]
    """What is wrong or odd, in the order in which it was met."""


def infer_shapes(model: Model, *, mode: str = "permissive") -> Inference:
    """Infer element types and shapes of every value of a model."""
    from sardonyx.infer.engine import Engine
    from sardonyx.limits import DEFAULT

    engine = Engine(model, strict=mode == "strict", open_defaults=False, limits=DEFAULT)
    graph = model.graph
    activation = engine.run_main({value: graph.types[value] for value in graph.inputs if value in graph.types})
    return Inference(model.replace(graph=graph.replace(types=activation.types)), tuple(engine.issues))
