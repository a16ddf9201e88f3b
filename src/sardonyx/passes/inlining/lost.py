"""Note what inlining does not carry over: fields of functions, calls, nodes and bodies that a graph does not model."""

from __future__ import annotations

from sardonyx.errors import Issue, Place, node_label
from sardonyx.ir.walk import bodies_within
from sardonyx.passes.inlining.calls import defaults_of
from sardonyx.wire.pieces import pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sardonyx.ir.graph import Graph, Model, Node
    from sardonyx.ir.source import Buffer, Origin
    from sardonyx.passes.inlining.calls import Calls

OF_NODE = frozenset(range(1, 10))
"""Fields of NodeProto that a node carries; 10, device_configurations, is the only other one that is known."""
KEYS = frozenset(number << 3 | 2 for number in OF_NODE)
"""Their keys on the wire: all of them have a length."""
OF_GRAPH = frozenset((1, 2, 5, 10, 11, 12, 13, 15, 16))
"""Fields of GraphProto that a body carries; 14, quantization_annotation, names tensors, which have other names now."""
OF_FUNCTION = frozenset((1, *range(4, 15)))
"""Fields of FunctionProto, all of which are known."""
CARRIED = {"node": OF_NODE, "body": OF_GRAPH, "function": OF_FUNCTION}
NAMES = {("node", 10): "device_configurations", ("body", 14): "quantization_annotation"}


def lost_fields(model: Model, calls: Calls) -> list[Issue]:
    """Return one issue for each field that the result lacks: of functions and calls, and of nodes and bodies in copies.

    What is copied is the text of functions, the defaults of their attributes, and the graphs that calls pass.
    """
    found: list[Issue] = []
    seen: set[Node | Graph] = set()
    for function in calls.order:
        graph = f"function {function.label}"
        if function not in calls.kept:
            place = Place(model.source, graph=graph)
            found += [dropped("the nodes that stand for it", what, place) for what in lost(function.origin, "function")]
        found += lost_in((*function.graph.nodes, defaults_of(function)), model, graph, seen)
    main = model.graph.nodes
    for nodes in (main, *[body.nodes for body in bodies_within(main)]):
        for at, node in enumerate(nodes):
            if node in calls.targets:
                found += lost_in((node,), model, None, seen, at)
    return found


def lost_in(
    nodes: Sequence[Node], model: Model, graph: str | None, seen: set[Node | Graph], first: int = 0
) -> Iterator[Issue]:
    """Yield what copies of nodes and of their bodies lack, but for those that were seen already."""
    bodies = bodies_within(nodes)
    for start, listed in ((first, nodes), *[(0, body.nodes) for body in bodies]):
        for at, node in enumerate(listed, start):
            if node not in seen:
                seen.add(node)
                for what in lost(node.origin, "node"):
                    place = Place(model.source, graph=graph, node=node_label(node.name, node.op_type, at))
                    yield dropped("the copies that were inlined", what, place)
    for body in bodies:
        if body not in seen:
            seen.add(body)
            named = f"body {body.name!r}"
            place = Place(model.source, graph=f"{graph}, {named}" if graph else named)
            for what in lost(body.origin, "body"):
                yield dropped("the copies that were inlined", what, place)


def lost(origin: Origin | None, what: str) -> Iterator[str]:
    """Yield a name for each field that a copy lacks; of a source that was closed nothing can be said, nor be saved."""
    if origin is None or origin.source.closed:
        return
    data = origin.source.data()
    if what == "node" and is_usual(data, origin.start, origin.stop):
        return
    present = {piece[0] for piece in pieces(data, origin.start, origin.stop)}
    for number in sorted(present - CARRIED[what]):
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


def dropped(by: str, what: str, place: Place) -> Issue:
    """Say that a field was left out."""
    return Issue("fields-dropped", f"{by} lack its {what}", place, None, "warning")
