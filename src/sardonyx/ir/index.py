"""Derive who defines and who reads each value of a graph.

One pass over the nodes, kept on the immutable graph. A node reads what its bodies capture, so readers inside bodies
count as the node that holds the body.
"""

from __future__ import annotations

from sardonyx.ir.graph import body_list
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sardonyx.ir.graph import Graph, Node, Value


@record
class Index:
    """Producers, users and positions of one graph."""

    producers: Mapping[Value, Node]
    """The node that defines each node output."""
    users: Mapping[Value, tuple[Node, ...]]
    """The nodes that read a value, in order, each once; absent when nobody does."""
    positions: Mapping[Node, int]
    """Where each node stands in `graph.nodes`."""

    def uses(self, value: Value) -> tuple[tuple[Node, int | None], ...]:
        """Return every place that reads a value: (node, input position), with None for a capture by a body."""
        found: list[tuple[Node, int | None]] = []
        for node in self.users.get(value, ()):
            found.extend((node, i) for i, one in enumerate(node.inputs) if one is value)
            if any(value in body.captures for body in body_list(node)):
                found.append((node, None))
        return tuple(found)


def build_index(graph: Graph) -> Index:
    """Walk the nodes once."""
    producers: dict[Value, Node] = {}
    users: dict[Value, list[Node]] = {}
    positions: dict[Node, int] = {}
    for at, node in enumerate(graph.nodes):
        positions[node] = at
        for value in node.reads:
            readers = users.get(value)
            if readers is None:
                users[value] = [node]
            else:
                readers.append(node)
        for made in node.outputs:
            if made is not None:
                producers[made] = node
    return Index(producers, {value: tuple(readers) for value, readers in users.items()}, positions)


def find_captures(graph: Graph) -> tuple[Value, ...]:
    """List the values that a graph reads or outputs but does not define, in order of first read."""
    own = set(graph.inputs)
    own.update(graph.initializers)
    own.update(graph.sparse_initializers)
    for node in graph.nodes:
        own.update(value for value in node.outputs if value is not None)
    found: dict[Value, None] = {}
    for node in graph.nodes:
        for value in node.inputs:
            if value is not None and value not in own:
                found[value] = None
        for body in body_list(node):  # bodies nest no deeper than `max_nesting` lets a file say
            for value in body.captures:
                if value not in own:
                    found[value] = None
    for value in graph.outputs:
        if value not in own:
            found[value] = None
    return tuple(found)
