"""Note what copies of a function do not carry over: fields of its nodes and bodies that the graph does not model."""

from __future__ import annotations

from sardonyx.errors import Issue, Place, node_label
from sardonyx.ir.walk import bodies_within
from sardonyx.wire.pieces import pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sardonyx.ir.graph import Model
    from sardonyx.ir.source import Origin
    from sardonyx.passes.inlining.calls import Calls

OF_NODE = frozenset(range(1, 10))
"""Fields of NodeProto that a node carries; 10, device_configurations, is the only other one that is known."""
OF_GRAPH = frozenset((1, 2, 5, 10, 11, 12, 13, 15, 16))
"""Fields of GraphProto that a body carries; 14, quantization_annotation, names tensors, which have other names now."""
NAMES = {("node", 10): "device_configurations", ("body", 14): "quantization_annotation"}


def lost_fields(model: Model, calls: Calls) -> list[Issue]:
    """Return one issue for each node or body, in an inlined function, that has fields which its copies lack."""
    found = []
    for function in calls.order:
        graph = f"function {function.label}"
        nodes = function.graph.nodes
        bodies = bodies_within(nodes)
        for listed in (nodes, *[body.nodes for body in bodies]):
            for at, node in enumerate(listed):
                label = node_label(node.name, node.op_type, at)
                found += [
                    dropped(what, Place(model.source, graph=graph, node=label)) for what in lost(node.origin, "node")
                ]
        for body in bodies:
            place = Place(model.source, graph=f"{graph}, body {body.name!r}")
            found += [dropped(what, place) for what in lost(body.origin, "body")]
    return found


def lost(origin: Origin | None, what: str) -> Iterator[str]:
    """Yield a name for each field that a copy lacks; of a source that was closed nothing can be said, nor be saved."""
    if origin is None or origin.source.closed:
        return
    carried = OF_NODE if what == "node" else OF_GRAPH
    present = {piece[0] for piece in pieces(origin.source.data(), origin.start, origin.stop)}
    for number in sorted(present - carried):
        yield NAMES.get((what, number), f"unknown field {number}")


def dropped(what: str, place: Place) -> Issue:
    """Say that a field was left out."""
    return Issue("fields-dropped", f"the copies that were inlined lack its {what}", place, None, "warning")
