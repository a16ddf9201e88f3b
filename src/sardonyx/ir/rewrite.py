"""Write a new graph from an old one: the tool that passes are made of.

A pass walks `graph.nodes` in order and says of each node what becomes of it; nothing it does can reach the input. The
three entry points are `Rewrite` for one graph, `each_graph` to lift a change of one graph to a whole model, and
`substitute` to let a body read other outer values.
"""

from __future__ import annotations

from sardonyx.ir.graph import Model, Node, body_list
from sardonyx.ir.tensor import SparseTensor
from sardonyx.ir.types import TensorType
from sardonyx.ir.walk import bodies_within, defined_values, outputs_of
from sardonyx.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from sardonyx.ir.attrs import Attr, AttrRef
    from sardonyx.ir.graph import Graph, Value
    from sardonyx.ir.tensor import Tensor
    from sardonyx.ir.types import Type

    Whole = TypeVar("Whole", Graph, Model)
    Part = TypeVar("Part", Graph, Model, Attr | AttrRef)


class Rewrite:
    """A new version of one graph in the making.

    Call `keep` or `add` for every node of the result, in topological order: a node that is not kept is gone. Call
    `alias` before the readers are kept. The graph's inputs and outputs stay the same values, so whoever holds the graph
    need not know. Everything costs time linear in the nodes.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: list[Node] = []
        self.aliases: dict[Value, Value] = {}
        self.types: dict[Value, Type] = {}
        self.initializers: dict[Value, Tensor] | None = None  # copied on the first change, as is the next
        self.sparse_initializers: dict[Value, SparseTensor] | None = None
        self.interface = frozenset(graph.inputs + graph.outputs)

    def keep(self, node: Node) -> Node:
        """Write a node: the same object, unless it or a body of it reads an aliased value. Return what was written."""
        if self.aliases:
            moved = {value: self.current(value) for value in node.reads if value in self.aliases}
            if moved:
                node = redirect(node, moved)
        self.nodes.append(node)
        return node

    add = keep
    """Write a node that the pass made; the same as `keep`, so that a reader sees which is which."""

    def alias(self, old: Value, new: Value) -> None:
        """Let whatever is kept from now on read `new` where it reads `old`.

        What is known of the type of `old` passes to `new` when nothing is known of `new`. A graph output may be aliased
        too: it stays the same value, and `finish` adds an `Identity` that defines it if nothing else does. (That is
        also why no body comes to output a captured value, which the ONNX checker and the runtimes refuse.) `Identity`
        takes tensors from opset 1, sequences from 14, optionals from 16 on: where that matters, ask `is_interface` and
        leave the value alone.

        Raises:
            ValueError: when `new` already stands for `old`.
        """
        if self.current(new) is old:
            raise ValueError(f"{new!r} cannot replace {old!r}: it stands for the same value")
        self.aliases[old] = new

    def current(self, value: Value) -> Value:
        """Return what readers of a value read now: the end of its chain of aliases."""
        aliases = self.aliases
        end = value
        while end in aliases:
            end = aliases[end]
        while value is not end:  # point the whole chain at its end, so that no chain is walked twice
            aliases[value], value = end, aliases[value]
        return end

    def is_interface(self, value: Value | None) -> bool:
        """Tell whether a value is an input or output of the graph, whose name others may know."""
        return value in self.interface

    def set_type(self, value: Value, type: Type) -> None:
        """Say what is known of a value; of a value in a body, `each_graph` carries it to the outermost table."""
        self.types[value] = type

    def add_initializer(self, value: Value, tensor: Tensor | SparseTensor) -> None:
        """Add a constant, or give one another tensor."""
        dense, sparse = self.writable()
        if isinstance(tensor, SparseTensor):
            sparse[value] = tensor
        else:
            dense[value] = tensor
            if value not in self.graph.types:
                self.types.setdefault(value, TensorType(tensor.dtype or None, tensor.shape))

    def drop_initializer(self, value: Value) -> None:
        """Remove a constant; one that nothing reads stays unless it is dropped here."""
        dense, sparse = self.writable()
        dense.pop(value, None)
        sparse.pop(value, None)

    def writable(self) -> tuple[dict[Value, Tensor], dict[Value, SparseTensor]]:
        """Return the tables of constants as they will be."""
        if self.initializers is None or self.sparse_initializers is None:
            self.initializers = dict(self.graph.initializers)
            self.sparse_initializers = dict(self.graph.sparse_initializers)
        return self.initializers, self.sparse_initializers

    def finish(self) -> Graph:
        """Return the new graph: the old object when nothing changed.

        Types and declarations of values that are gone go with them.
        """
        nodes = (*self.nodes, *self.boundary())
        if nodes == self.graph.nodes and self.initializers is None and not self.types:
            return self.graph
        types, known = dict(self.types), self.graph.types
        if known:
            for old in self.aliases:
                new = self.current(old)
                if old in known and new not in known:
                    types.setdefault(new, known[old])
        return rewritten(self.graph, nodes, types, self.initializers, self.sparse_initializers)

    def boundary(self) -> list[Node]:
        """Make an Identity for each graph output that was aliased and lost its definition."""
        aliased = [value for value in dict.fromkeys(self.graph.outputs) if value in self.aliases]
        if not aliased:
            return []
        defined = set(outputs_of(self.nodes))
        defined.update(self.graph.inputs)
        for table in self.writable() if self.initializers is not None else constants(self.graph):
            defined.update(table)
        return [Node("Identity", (self.current(value),), (value,)) for value in aliased if value not in defined]


def each_graph(whole: Whole, change: Callable[[Graph], Graph]) -> Whole:
    """Apply a change of one graph to every body, innermost first, then to the main graph; functions are left alone.

    The outermost table of types stays the only one: types that `change` puts on a body move there, those of values that
    are gone leave it.
    """
    root = whole.graph if isinstance(whole, Model) else whole
    made: dict[Graph, Graph] = {}
    types: dict[Value, Type] = {}
    for body in bodies_within(root.nodes):
        new = change(with_bodies(body, made))
        if new.types and new.types is not body.types:
            types.update(new.types)
            new = derived(new, types=body.types)
        if new is not body:
            made[body] = new
    new_root = change(with_bodies(root, made, types))
    if new_root is root:
        return whole
    return derived(whole, graph=new_root) if isinstance(whole, Model) else new_root


def substitute(graph: Graph, mapping: Mapping[Value, Value]) -> Graph:
    """Let a graph and the bodies in it read other values; the same object when none of them is read.

    Meant for captures: a value that the graph itself defines is redefined nowhere. A captured value that is also an
    output of the body is mapped there too.
    """
    made: dict[Graph, Graph] = {}

    def is_reader(body: Graph) -> bool:
        return any(value in mapping for value in body.captures)

    for body in (*bodies_within(graph.nodes, is_reader), graph):
        new = with_bodies(body, made)
        nodes = tuple(
            node.replace(inputs=redirected(node.inputs, mapping)) if any(v in mapping for v in node.inputs) else node
            for node in new.nodes
        )
        outputs = tuple(mapping.get(value, value) for value in body.outputs)
        if nodes != new.nodes or outputs != new.outputs:
            new = derived(new, nodes=nodes, outputs=outputs)
        if new is not body:
            made[body] = new
    return made.get(graph, graph)


def redirect(node: Node, mapping: Mapping[Value, Value]) -> Node:
    """Return a node that reads other values, in its bodies too."""
    made = {}
    for body in body_list(node):
        new = substitute(body, mapping)
        if new is not body:
            made[body] = new
    return replace_bodies(node, made).replace(inputs=redirected(node.inputs, mapping))


def redirected(inputs: tuple[Value | None, ...], mapping: Mapping[Value, Value]) -> tuple[Value | None, ...]:
    """Map a node's inputs, omitted ones staying omitted."""
    return tuple(value if value is None else mapping.get(value, value) for value in inputs)


def with_bodies(graph: Graph, made: Mapping[Graph, Graph], types: Mapping[Value, Type] | None = None) -> Graph:
    """Return a graph whose nodes hold the new bodies, with types added; the same object when there is nothing to do."""
    nodes = tuple(replace_bodies(node, made) for node in graph.nodes) if made else graph.nodes
    if nodes == graph.nodes and not types:
        return graph
    return rewritten(graph, nodes, types or {})


def replace_bodies(node: Node, made: Mapping[Graph, Graph]) -> Node:
    """Return a node that holds new bodies in place of old ones; the same object when it holds none of them."""
    if not any(body in made for body in body_list(node)):
        return node
    attrs = dict(node.attrs)
    for name, held in node.bodies.items():
        new = tuple(made.get(body, body) for body in held) if isinstance(held, tuple) else made.get(held, held)
        attrs[name] = derived(attrs[name], content=new)
    return node.replace(attrs=attrs)


def rewritten(
    graph: Graph,
    nodes: tuple[Node, ...],
    types: Mapping[Value, Type],
    initializers: Mapping[Value, Tensor] | None = None,
    sparse_initializers: Mapping[Value, SparseTensor] | None = None,
) -> Graph:
    """Return a graph with other nodes and constants, `types` added, and nothing said of values that are gone."""
    if initializers is None or sparse_initializers is None:
        initializers, sparse_initializers = constants(graph)
    lost = gone(graph, nodes, initializers, sparse_initializers) if graph.types or graph.declared else set()
    kept = {value: known for value, known in graph.types.items() if value not in lost}
    kept.update(types)
    return derived(
        graph,
        nodes=nodes,
        initializers=initializers,
        sparse_initializers=sparse_initializers,
        types=kept,
        declared=tuple(one for one in graph.declared if one.value is None or one.value not in lost),
    )


def gone(
    before: Graph,
    nodes: tuple[Node, ...],
    initializers: Mapping[Value, Tensor],
    sparse_initializers: Mapping[Value, SparseTensor],
) -> set[Value]:
    """Return the values that a graph and its bodies defined before and no longer do; looks at changed nodes only."""
    old, new = set(before.nodes), set(nodes)
    lost = set(defined_values(node for node in before.nodes if node not in new))
    lost.update(before.initializers)
    lost.update(before.sparse_initializers)
    lost.difference_update(defined_values(node for node in nodes if node not in old))
    lost.difference_update(before.inputs, initializers, sparse_initializers)
    return lost


def constants(graph: Graph) -> tuple[Mapping[Value, Tensor], Mapping[Value, SparseTensor]]:
    """Return the two tables of constants of a graph."""
    return graph.initializers, graph.sparse_initializers


def derived(old: Part, **changes: Any) -> Part:
    """Return a record with some fields changed, whose origin no longer vouches for it byte by byte."""
    new: Part = replace(old, origin=None if old.origin is None else old.origin.changed(), **changes)
    return new
