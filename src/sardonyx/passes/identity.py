"""Drop Identity nodes: what reads their output reads their input instead."""

from __future__ import annotations

from sardonyx.ir.rewrite import Rewrite, each_graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.graph import Graph, Model, Node, Value


def drop_identities(model: Model) -> Model:
    """Return the model without the Identity nodes that can go, in bodies too.

    An Identity in front of a graph output goes when its input is computed by a node of the same graph: that node then
    defines the output itself. It stays where the output is a copy of an input, a constant, a captured value or another
    output, since an output must have a name of its own.
    """
    if ("", "Identity", "") in model.functions:
        return model
    return each_graph(model, without_identities)


def without_identities(graph: Graph) -> Graph:
    """Return one graph without its Identity nodes."""
    origins: dict[Value, Value] = {}  # copy -> the value that it is a copy of, through any number of copies
    for node in graph.nodes:
        pair = identity(node)
        if pair is not None:
            copied, copy = pair
            origins[copy] = origins.get(copied, copied)
    if not origins:
        return graph
    out = Rewrite(graph)
    renamed: dict[Value, Value] = {}  # value -> the graph output that its own node shall define instead
    for output in graph.outputs:
        origin = origins.get(output)
        if origin is not None and graph.producer(origin) is not None and not out.is_interface(origin):
            renamed.setdefault(origin, output)
    for node in graph.nodes:
        pair = identity(node)
        if pair is not None:
            copy = pair[1]
            origin = origins[copy]
            if renamed.get(origin) is copy:
                continue
            if not out.is_interface(copy):
                out.alias(copy, origin)
                continue
        elif any(value in renamed for value in node.outputs):
            for value in node.outputs:
                if value in renamed:
                    out.alias(value, renamed[value])
            node = node.replace(outputs=tuple(value and renamed.get(value, value) for value in node.outputs))
        out.keep(node)
    return out.finish()


def identity(node: Node) -> tuple[Value, Value] | None:
    """Return the input and the output of an Identity; None when the node is something else or lacks either."""
    if node.op != "Identity" or len(node.inputs) != 1 or len(node.outputs) != 1:
        return None
    copied, copy = node.inputs[0], node.outputs[0]
    return None if copied is None or copy is None else (copied, copy)
