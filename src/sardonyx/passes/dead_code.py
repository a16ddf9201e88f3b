"""Drop nodes whose results nobody reads, and constants that nobody reads."""

from __future__ import annotations

from sardonyx.ir.rewrite import Rewrite, each_graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.graph import Graph, Model


def drop_dead_code(model: Model) -> Model:
    """Return the model without nodes and initializers that no output depends on, in bodies too.

    ONNX operators have no side effects, so a node counts by its outputs alone; one that declares no output at all can
    only be there for an effect and stays. Graph inputs stay, with their defaults.
    """
    return each_graph(model, live_part)


def live_part(graph: Graph) -> Graph:
    """Return the part of a graph that its outputs depend on."""
    live = set(graph.outputs)
    needed = set()
    for node in reversed(graph.nodes):
        if not node.outputs or any(value in live for value in node.outputs):
            needed.add(node)
            live.update(node.reads)
    out = Rewrite(graph)
    for node in graph.nodes:
        if node in needed:
            out.keep(node)
    for value in (*graph.initializers, *graph.sparse_initializers):
        if value not in live and not out.is_interface(value):
            out.drop_initializer(value)
    return out.finish()
