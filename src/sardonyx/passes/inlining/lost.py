"""Note what copies of a function do not carry over: fields of its nodes and bodies that the graph does not model."""

from __future__ import annotations

from sardonyx.errors import Issue, Place, node_label
from sardonyx.ir.walk import bodies_within
from sardonyx.wire.pieces import pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sardonyx.ir.graph import Model
    from sardonyx.ir.source import Buffer, Origin
    from sardonyx.passes.inlining.calls import Calls

OF_NODE = frozenset(range(1, 10))
"""Fields of NodeProto that a node carries; 10, device_configurations, is the only other one that is known."""
KEYS = frozenset(number << 3 | 2 for number in OF_NODE)
"""Their keys on the wire: all of them have a length."""
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
    data = origin.source.data()
    if what == "node" and is_usual(data, origin.start, origin.stop):
        return
    carried = OF_NODE if what == "node" else OF_GRAPH
    present = {piece[0] for piece in pieces(data, origin.start, origin.stop)}
    for number in sorted(present - carried):
        yield NAMES.get((what, number), f"unknown field {number}")


def is_usual(data: Buffer, at: int, stop: int) -> bool:
    """Tell quickly whether a NodeProto has nothing but the fields that a node carries; false when it takes longer."""
    while at < stop:
        length = data[at + 1]
        if data[at] not in KEYS or length >= 0x80:
            if data[at] not in KEYS or data[at + 2] >= 0x80:
                return False
            length = (length & 0x7F) + (data[at + 2] << 7)
            at += 1
        at += 2 + length
    return True


def dropped(what: str, place: Place) -> Issue:
    """Say that a field was left out."""
    return Issue("fields-dropped", f"the copies that were inlined lack its {what}", place, None, "warning")
