"""Resolve names to values: scopes, captures, topological order.

A graph first defines all its values, then resolves its nodes, bodies included; so a body sees every outer value, also
one whose node stands later in the file. Nothing recurses over nodes; bodies recurse, which `max_nesting` bounds.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from sardonyx.errors import Place, error, node_label, plain, quoted
from sardonyx.io.attributes import Attributes
from sardonyx.io.origins import GraphOrigin, NodeOrigin, ValueOrigin, details_of
from sardonyx.io.tensors import read_sparse, read_tensor
from sardonyx.ir.attrs import Attr, AttrKind, AttrRef
from sardonyx.ir.graph import EMPTY, NOTHING, Declared, Graph, Node, Value, canonical
from sardonyx.ir.types import TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from sardonyx.errors import OnnxError
    from sardonyx.io.context import Context
    from sardonyx.io.typing import Types
    from sardonyx.ir.tensor import SparseTensor, Tensor
    from sardonyx.ir.types import Type
    from sardonyx.wire.messages import AttributeProto, FunctionProto, GraphProto, NodeProto, ValueInfoProto

GRAPH, GRAPHS = AttrKind.GRAPH, AttrKind.GRAPHS


class Frame:
    """The names of one graph while it is being resolved, and the graph around it."""

    __slots__ = ("captured", "label", "outer", "values")

    def __init__(self, outer: Frame | None, label: str | None) -> None:
        self.outer = outer
        self.label = label
        """The graph's path, as errors print it; None for the main graph."""
        self.values: dict[str, Value] = {}
        self.captured: dict[Value, None] = {}

    def find_outside(self, name: str) -> Value | None:
        """Look a name up in the graphs around this one; the nearest definition counts."""
        frame = self.outer
        while frame is not None:
            value = frame.values.get(name)
            if value is not None:
                return value
            frame = frame.outer
        return None

    def place(self, node: str) -> str:
        """Name a body of one of this graph's nodes."""
        return node if self.label is None else f"{self.label} > {node}"


class Resolver:
    """Builds graphs from messages for one model."""

    def __init__(self, context: Context, types: Types, domains: Collection[str]) -> None:
        self.context = context
        self.reader = types
        self.attributes = Attributes(context, types)
        self.known_domains = set(domains)
        """Imported domains, canonical; and the other spelling of the default domain."""
        if "" in self.known_domains:
            self.known_domains.add("ai.onnx")
        self.fault: Callable[[OnnxError], None] = context.fault
        """What to do about a fault of structure (a function body notes it; see `function_body`)."""
        self.node_count = 0

    # ------------------------------------------------------------------ graphs

    def main_graph(self, message: GraphProto) -> Graph:
        """Resolve the main graph and everything in it."""
        return self.graph(message, None, None, {})

    def graph(self, message: GraphProto, outer: Frame | None, label: str | None, types: dict[Value, Type]) -> Graph:
        """Resolve one graph; `types` is the table of the outermost one."""
        frame = Frame(outer, label)
        values = frame.values
        inputs = self.define_inputs(message.input, frame)
        initializers, sparse = self.define_initializers(message, frame, inputs)
        nodes, reordered = self.nodes(message.node, frame, types)
        outputs = self.outputs(message.output, frame)
        root = types if outer is None else EMPTY
        declared = self.declare(
            (
                ("input", message.input, inputs),
                ("output", message.output, outputs),
                ("value_info", message.value_info, [values.get(info.name) for info in message.value_info]),
            ),
            frame,
            types,
        )
        for value, tensor in initializers.items():
            if value not in types:
                types[value] = TensorType(tensor.dtype or None, tensor.shape)
        origin = GraphOrigin(self.context.source, message.start, message.end)
        return Graph(
            message.name,
            tuple(inputs),
            outputs,
            nodes,
            initializers or EMPTY,
            sparse or EMPTY,
            root,
            reordered,
            declared,
            details_of(origin, message),
            origin,
            None,
            None if reordered else tuple(frame.captured),
        )

    def define_inputs(self, infos: Sequence[ValueInfoProto], frame: Frame) -> dict[Value, None]:
        """Define the formal inputs of a graph."""
        values = frame.values
        inputs: dict[Value, None] = {}
        for info in infos:
            name = info.name
            if not name:
                self.fault(error("input-unnamed", "a graph input has no name", graph=frame.label, offset=info.start))
            elif name in values:
                self.twice(name, "a graph input", frame, info.start)
            value = Value(name)
            inputs[value] = None
            if name:
                values.setdefault(name, value)
        return inputs

    def define_initializers(
        self, message: GraphProto, frame: Frame, inputs: dict[Value, None]
    ) -> tuple[dict[Value, Tensor], dict[Value, SparseTensor]]:
        """Define the initializers; one named like an input is that input's default (before IR 4 all are)."""
        values = frame.values
        context = self.context
        initializers: dict[Value, Tensor] = {}
        for tensor in message.initializer:
            name = tensor.name
            value = values.get(name) if name else None
            if not name:
                self.fault(
                    error("initializer-unnamed", "an initializer has no name", graph=frame.label, offset=tensor.start)
                )
            elif value is not None and (value not in inputs or value in initializers):
                self.twice(name, "an initializer", frame, tensor.start)
                value = None
            if value is None:
                value = Value(name)
                values.setdefault(name, value)
            initializers[value] = read_tensor(tensor, context)
        sparse: dict[Value, SparseTensor] = {}
        for one in message.sparse_initializer:
            name = "" if one.values is None else one.values.name
            if not name:
                self.fault(
                    error(
                        "initializer-unnamed", "a sparse initializer has no name", graph=frame.label, offset=one.start
                    )
                )
            elif name in values:
                self.twice(name, "a sparse initializer", frame, one.start)
            value = Value(name)
            values.setdefault(name, value)
            sparse[value] = read_sparse(one, context)
        return initializers, sparse

    def twice(self, name: str, what: str, frame: Frame, offset: int, node: str | None = None) -> None:
        """Report a second definition of a name."""
        self.fault(
            error(
                "value-twice",
                f"{what} defines {name!r}, which the graph already defines",
                graph=frame.label,
                node=node,
                value=name,
                offset=offset,
                hint="every value of a graph has exactly one definition",
            )
        )

    def outputs(self, infos: Sequence[ValueInfoProto], frame: Frame) -> tuple[Value, ...]:
        """Find the values that a graph returns."""
        found = []
        for info in infos:
            name = info.name
            if not name:
                self.fault(error("output-unnamed", "a graph output has no name", graph=frame.label, offset=info.start))
            found.append(self.lookup(name, frame, None, "graph output", info.start))
        return tuple(found)

    def lookup(self, name: str, frame: Frame, node: str | None, what: str, offset: int) -> Value:
        """Find a name in a graph or around it; a name that nothing defines is a fault and gets a value of its own."""
        value = frame.values.get(name)
        if value is not None:
            return value
        value = frame.find_outside(name)
        if value is None:
            if name:
                self.fault(
                    error(
                        "value-undefined",
                        f"{what} {name!r} is defined nowhere",
                        graph=frame.label,
                        node=node,
                        value=name,
                        offset=offset,
                        hint="it must be an input, an initializer or a node's output, of this graph or one around it",
                    )
                )
            value = Value(name)
            frame.values[name] = value
        else:
            frame.captured[value] = None
        return value

    # ------------------------------------------------------------------ types

    def declare(
        self,
        groups: Iterable[tuple[str, Sequence[ValueInfoProto], Iterable[Value | None]]],
        frame: Frame,
        types: dict[Value, Type],
    ) -> tuple[Declared, ...]:
        """Read every ValueInfoProto; a value's type is the first that a declaration in its own graph gives.

        What a body says of a captured value that it outputs is a claim and no more: the value belongs further out.
        """
        read = self.reader.read
        source = self.context.source
        issues = self.context.issues
        found = []
        for role, infos, targets in groups:
            for info, value in zip(infos, targets, strict=True):
                count = len(issues)
                kind = self.reader.read_input(info.type) if role == "input" and frame.outer is None else read(info.type)
                if len(issues) > count and info.type is not None:
                    place = Place(offset=info.start, graph=frame.label, value=info.name)
                    if self.context.blame(count, info.type, place):
                        self.reader.known.pop(info.type, None)
                origin = ValueOrigin(source, info.start, info.end)
                found.append(Declared(role, info.name, value, kind, details_of(origin, info), origin))
                if kind is not None and value is not None and value not in types and value not in frame.captured:
                    types[value] = kind
        return tuple(found)

    # ------------------------------------------------------------------ nodes

    def nodes(
        self, messages: Sequence[NodeProto], frame: Frame, types: dict[Value, Type]
    ) -> tuple[tuple[Node, ...], bool]:
        """Resolve the nodes of a graph and put them in topological order.

        A value in `pending` is the output of a node at or after the current one in the file, so a read of it means
        that the file's order is not topological.
        """
        context = self.context
        source = context.source
        values, captured, domains = frame.values, frame.captured, self.known_domains
        attributes = self.attributes.known
        pending: set[Value] = set()
        made: list[tuple[Value | None, ...]] = []
        for at, message in enumerate(messages):
            outputs: list[Value | None] = []
            for name in message.output:
                if not name:
                    outputs.append(None)
                    continue
                output = Value(name)
                if name in values:
                    label = node_label(message.name, message.op_type, at)
                    self.twice(name, "the node", frame, message.start, label)
                else:
                    values[name] = output
                pending.add(output)
                outputs.append(output)
            made.append(tuple(outputs))
        self.node_count += len(made)
        if context.limits.max_nodes is not None:
            context.limits.check("max_nodes", self.node_count, "the number of nodes", source=source.name)

        nodes: list[Node] = []
        sorted_so_far = True
        for at, message in enumerate(messages):
            present = message.__dict__
            inputs: list[Value | None] = []
            for name in message.input:
                value = values.get(name)
                if value is None:
                    if not name:
                        inputs.append(None)
                        continue
                    value = frame.find_outside(name)
                    if value is None:
                        label = node_label(message.name, message.op_type, at)
                        value = self.lookup(name, frame, label, f"input {len(inputs)}", message.start)
                    else:
                        captured[value] = None
                elif value in pending:
                    sorted_so_far = False
                inputs.append(value)
            domain = message.domain
            if domain not in domains:
                self.unknown_domain(message, at, frame)
            attrs: dict[str, Attr | AttrRef] = {}
            bodies: dict[str, Graph | tuple[Graph, ...]] | None = None
            for attribute in message.attribute:
                attr = attributes.get(attribute)
                if attr is None:
                    count, label = len(context.issues), node_label(message.name, message.op_type, at)
                    attr = self.attribute(attribute, label, frame, types)
                    if len(context.issues) > count and attr.kind is not GRAPH and attr.kind is not GRAPHS:
                        place = Place(offset=message.start, graph=frame.label, node=label)
                        if context.blame(count, attribute, place):
                            attributes.pop(attribute, None)  # so that it is told of the next node, too
                    if attr.kind is GRAPH or attr.kind is GRAPHS:
                        body = attr.value
                        if body is not None:
                            if bodies is None:
                                bodies = {}
                            bodies[attr.name] = body
                            for graph in body if attr.kind is GRAPHS else (body,):
                                for read in graph.captures:
                                    if values.get(read.name) is not read:
                                        captured[read] = None
                                    elif read in pending:
                                        sorted_so_far = False
                if attr.name in attrs:
                    self.fault(
                        error(
                            "attribute-twice",
                            f"the node has two attributes named {attr.name!r}",
                            graph=frame.label,
                            node=node_label(message.name, message.op_type, at),
                            attribute=attr.name,
                            offset=attribute.start,
                        )
                    )
                attrs[attr.name] = attr
            outs = made[at]
            for made_value in outs:
                if made_value is not None:
                    pending.discard(made_value)
            origin = NodeOrigin(source, message.start, message.end)
            nodes.append(
                Node(
                    message.op_type,
                    tuple(inputs),
                    outs,
                    attrs or EMPTY,
                    domain=domain,
                    overload=message.overload,
                    name=message.name,
                    bodies=bodies or EMPTY,
                    details=origin if "metadata_props" in present or "doc_string" in present else NOTHING,
                    origin=origin,
                )
            )
        if sorted_so_far:
            return tuple(nodes), False
        return self.sorted_nodes(nodes, frame)

    def unknown_domain(self, message: NodeProto, at: int, frame: Frame) -> None:
        """Report a node whose domain is not imported."""
        shown = message.domain or "ai.onnx"
        self.fault(
            error(
                "domain-not-imported",
                f"the node's domain {shown!r} is not among the opset imports",
                graph=frame.label,
                node=node_label(message.name, message.op_type, at),
                offset=message.start,
                hint=f"add an opset_import for {shown!r}",
            )
        )

    def attribute(self, message: AttributeProto, owner: str, frame: Frame, types: dict[Value, Type]) -> Attr | AttrRef:
        """Read an attribute, bodies included; the reader keeps those without a body for the next node that has one."""
        reader = self.attributes
        attr = reader.read(message)
        if isinstance(attr, AttrRef) or (attr.kind is not GRAPH and attr.kind is not GRAPHS):
            return attr
        del reader.known[message]  # a body belongs to one node
        label = frame.place(f"{owner}.{plain(message.name)}")
        if attr.kind is GRAPH:
            if message.g is None:
                reader.incomplete(message, GRAPH)
                return attr
            return Attr(attr.name, GRAPH, self.graph(message.g, frame, label, types), attr.origin)
        graphs = tuple(self.graph(one, frame, f"{label}[{i}]", types) for i, one in enumerate(message.graphs))
        return Attr(attr.name, GRAPHS, graphs, attr.origin)

    def sorted_nodes(self, nodes: list[Node], frame: Frame) -> tuple[tuple[Node, ...], bool]:
        """Take, again and again, the node of smallest file index whose inputs are all there; O(n log n)."""
        producer = {value: at for at, node in enumerate(nodes) for value in node.outputs if value is not None}
        missing = [0] * len(nodes)
        waiting: dict[int, list[int]] = {}
        for at, node in enumerate(nodes):
            needs = {producer[value] for value in node.reads if value in producer}
            missing[at] = len(needs)
            for need in needs:
                waiting.setdefault(need, []).append(at)
        ready = [at for at, count in enumerate(missing) if count == 0]
        heapify(ready)
        order: list[int] = []
        while ready:
            at = heappop(ready)
            order.append(at)
            for other in waiting.get(at, ()):
                missing[other] -= 1
                if missing[other] == 0:
                    heappush(ready, other)
        if len(order) < len(nodes):
            self.fault(self.cycle(nodes, missing, producer, frame))
            return tuple(nodes), False
        return tuple(nodes[at] for at in order), True

    def cycle(self, nodes: list[Node], missing: list[int], producer: dict[Value, int], frame: Frame) -> OnnxError:
        """Walk back from a node that never became ready until one comes again, and name the cycle."""
        at = next(i for i, count in enumerate(missing) if count)
        seen: dict[int, int] = {}
        path: list[int] = []
        while at not in seen:
            seen[at] = len(path)
            path.append(at)
            at = next(producer[value] for value in nodes[at].reads if value in producer and missing[producer[value]])
        loop = path[seen[at] :]
        loop.reverse()
        labels = [node_label(nodes[i].name, nodes[i].op_type, i) for i in loop]
        shown = labels if len(labels) <= 6 else [*labels[:3], f"{len(labels) - 5} more", *labels[-2:]]
        origin = nodes[loop[0]].origin
        return error(
            "cycle",
            f"nodes need each other's outputs: {' -> '.join([*shown, shown[0]])}",
            graph=frame.label,
            node=labels[0],
            offset=None if origin is None else origin.start,
        )

    # ------------------------------------------------------------------ functions

    def function_body(
        self, message: FunctionProto, label: str, domains: Iterable[str]
    ) -> tuple[Graph, Mapping[str, Attr | AttrRef], list[OnnxError]]:
        """Resolve a function's body and defaults as far as they go; faults of structure are noted, not raised."""
        faults: list[OnnxError] = []
        before, self.fault = self.fault, faults.append
        known, self.known_domains = self.known_domains, self.known_domains | {canonical(one) for one in domains}
        if "" in self.known_domains:
            self.known_domains.add("ai.onnx")
        count, self.node_count = self.node_count, 0
        try:
            frame = Frame(None, label)
            inputs: dict[Value, None] = {}
            for name in message.input:
                if not name:
                    self.fault(error("input-unnamed", "a formal input has no name", graph=label, offset=message.start))
                elif name in frame.values:
                    self.twice(name, "a formal input", frame, message.start)
                value = Value(name)
                inputs[value] = None
                if name:
                    frame.values.setdefault(name, value)
            types: dict[Value, Type] = {}
            nodes, reordered = self.nodes(message.node, frame, types)
            outputs = tuple(self.lookup(name, frame, None, "formal output", message.start) for name in message.output)
            told = [frame.values.get(info.name) for info in message.value_info]
            declared = self.declare((("value_info", message.value_info, told),), frame, types)
            defaults: dict[str, Attr | AttrRef] = {}
            for one in message.attribute_proto:
                if one.name in defaults:
                    problem = f"the function has two defaults for its attribute {one.name!r}"
                    self.fault(error("attribute-twice", problem, graph=label, attribute=one.name, offset=one.start))
                defaults[one.name] = self.default(one, label, types)
        finally:
            self.fault, self.known_domains, self.node_count = before, known, count
        graph = Graph(
            label, tuple(inputs), outputs, nodes, types=types, nodes_were_reordered=reordered, declared=declared
        )
        return graph, defaults or EMPTY, faults

    def default(self, message: AttributeProto, label: str, types: dict[Value, Type]) -> Attr | AttrRef:
        """Read the default of a function's attribute; a graph among them sees no names but its own."""
        frame = Frame(None, f"{label}, default of {quoted(message.name)}")
        return self.attribute(message, frame.label or "", frame, types)
