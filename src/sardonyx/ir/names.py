"""Hand out names that nothing in a model uses yet."""

from __future__ import annotations

from sardonyx.ir.graph import Model, Node, Value
from sardonyx.ir.walk import bodies_within, outputs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sardonyx.ir.graph import Graph


class Names:
    """Every name of a model, of values and of nodes, in all graphs, bodies and functions.

    Filled before the first name is handed out, so a fresh name can neither shadow nor be shadowed anywhere. The same
    requests in the same order give the same names (decisions X1). Values and nodes are separate namespaces, as in ONNX.
    """

    def __init__(self, whole: Model | Graph) -> None:
        self.values: set[str] = set()
        self.nodes: set[str] = set()
        self.next_value: dict[str, int] = {}  # hint -> first number not tried, so that a run of names is linear
        self.next_node: dict[str, int] = {}
        if isinstance(whole, Model):
            self.add_graph(whole.graph)
            for function in whole.functions.values():
                self.values.update((*function.inputs, *function.outputs))
                self.add_graph(function.body)  # as far as it could be resolved: a faulty one has names too
                self.add_nodes((Node("", attrs=function.defaults),))  # a graph may be an attribute's default
        else:
            self.add_graph(whole)

    def add_graph(self, graph: Graph) -> None:
        """Take in the names of a graph and its bodies."""
        self.add_own(graph)
        self.add_nodes(graph.nodes)

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Take in the names of nodes, what they read and define, and all of their bodies."""
        nodes = tuple(nodes)
        self.add_outputs(nodes)
        for body in bodies_within(nodes):
            self.add_own(body)
            self.add_outputs(body.nodes)

    def add_own(self, graph: Graph) -> None:
        """Take in what a graph itself names beside its nodes: value_info for values that do not exist counts."""
        for values in (graph.inputs, graph.outputs, graph.initializers, graph.sparse_initializers):
            self.values.update(value.name for value in values)
        self.values.update(one.name for one in graph.declared)

    def add_outputs(self, nodes: tuple[Node, ...]) -> None:
        """Take in the names of nodes and of the values at their ends."""
        self.values.update(value.name for value in outputs_of(nodes))
        for node in nodes:
            self.nodes.add(node.name)
            for value in node.inputs:
                if value is not None:
                    self.values.add(value.name)

    def fresh(self, hint: str) -> str:
        """Return an unused value name, used from now on: `hint`, else `hint_1`, `hint_2` and so on."""
        return unused(hint or "value", self.values, self.next_value)

    def fresh_node(self, hint: str) -> str:
        """Return an unused node name, likewise."""
        return unused(hint or "node", self.nodes, self.next_node)

    def value(self, hint: str) -> Value:
        """Return a new value with a fresh name."""
        return Value(self.fresh(hint))


def unused(hint: str, taken: set[str], following: dict[str, int]) -> str:
    """Find the first name of a hint's run that is not taken, and take it."""
    name = hint
    if name in taken:
        number = following.get(hint, 1)
        while (name := f"{hint}_{number}") in taken:
            number += 1
        following[hint] = number + 1
    taken.add(name)
    return name
