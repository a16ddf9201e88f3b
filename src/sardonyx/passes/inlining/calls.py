"""Find every call of a model-local function, decide which are inlined, and order the functions, callees first."""

from __future__ import annotations

from sardonyx.errors import Issue, OnnxError, Place, error, node_label
from sardonyx.ir.graph import Node, body_list, canonical
from sardonyx.ir.walk import bodies_within
from sardonyx.wire.messages import TrainingInfoProto
from sardonyx.wire.pieces import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sardonyx.ir.graph import Function, FunctionKey, Graph, Model
    from sardonyx.wire.messages import GraphProto

    Keep = Callable[[Node, Function], bool]

TRAINING_INFO = 20
"""The number of ModelProto.training_info on the wire."""

LISTED = 6
"""Functions of a chain that a message names before it leaves some out."""


class Calls:
    """What a model calls.

    A function is looked into once, when the first call of it is found to be inlined; so `keep` is asked once for each
    call that is written in the model, not for each time that its function is inlined.
    """

    def __init__(self, model: Model, keep: Keep | None = None) -> None:
        self.model = model
        self.keep = keep
        self.targets: dict[Node, Function] = {}
        """The calls to inline, and what they call."""
        self.kept_calls: dict[Node, tuple[Function, str]] = {}
        """The calls that `keep` chose: the function, and the call as messages name it."""
        self.names = {key[1] for key in model.functions}
        self.entries = self.look(model.graph.nodes, None)
        """The functions to inline that the graph itself calls, each with its first call."""
        self.edges: dict[Function, dict[Function, str]] = {}
        """For each function to inline, the functions that it calls and that are inlined, each with its first call."""
        waiting = list(self.entries.items())
        for function, call in waiting:  # grows as it is read
            if function not in self.edges:
                self.edges[function] = found = self.look(texts(function, call), function)
                waiting.extend(found.items())
        self.order = self.sorted()
        """The functions to inline, callees before callers."""
        self.kept = self.find_kept()
        """The functions that stay, each with the reason."""

    def function(self, node: Node) -> Function | None:
        """Return the function that a node calls, or None for an operator."""
        return self.model.function(node) if node.op_type in self.names else None

    def look(self, nodes: Sequence[Node], owner: Function | None) -> dict[Function, str]:
        """Note the calls among nodes and in their bodies; return the functions to inline, each with its first call."""
        found: dict[Function, str] = {}
        names, functions, targets = self.names, self.model.functions, self.targets
        for graph_nodes in (nodes, *[body.nodes for body in bodies_within(nodes)]):
            for at, node in enumerate(graph_nodes):
                if node.op_type not in names:
                    continue
                function = functions.get((canonical(node.domain), node.op_type, node.overload))
                if function is None:
                    continue
                if self.keep is not None and self.keep(node, function):
                    self.kept_calls[node] = function, called(node, at, owner)
                    continue
                targets[node] = function
                if function not in found:
                    found[function] = called(node, at, owner)
        return found

    def sorted(self) -> list[Function]:
        """Return the functions, callees first; no step recurses.

        Raises:
            OnnxError: InvalidModel, code `function-recursive`, when functions call each other in a circle.
        """
        done: dict[Function, None] = {}
        path: dict[Function, None] = {}
        for entry in self.entries:
            stack: list[tuple[Function, Iterator[Function]]] = []
            if entry not in done:
                path[entry] = None
                stack.append((entry, iter(self.edges[entry])))
            while stack:
                function, callees = stack[-1]
                callee = next(callees, None)
                if callee is None:
                    stack.pop()
                    del path[function]
                    done[function] = None
                elif callee in path:
                    raise self.circle(list(path), callee)
                elif callee not in done:
                    path[callee] = None
                    stack.append((callee, iter(self.edges[callee])))
        return list(done)

    def circle(self, path: list[Function], again: Function) -> OnnxError:
        """Build the error for a function that calls itself in the end."""
        chain = path[path.index(again) :]
        labels = [function.label for function in (*chain, again)]
        if len(labels) > LISTED:
            labels = [*labels[:3], f"{len(labels) - 5} more", *labels[-2:]]
        return error(
            "function-recursive",
            f"functions cannot be recursive: {' -> '.join(labels)}",
            source=self.model.source,
            graph=f"function {chain[-1].label}",
            node=self.edges[chain[-1]][again].partition(" of function ")[0],
        )

    def find_kept(self) -> dict[Function, str]:
        """Return the functions that stay because a call of them does, and those that these call."""
        kept: dict[Function, str] = {}
        for function, call in self.kept_calls.values():
            kept.setdefault(function, f"the call by {call} was kept")
        for key in called_in_training(self.model):
            called_there = self.model.functions.get(key)
            if called_there is not None:
                kept.setdefault(called_there, "training information calls it")
        waiting = list(kept)
        for function in waiting:  # grows as it is read
            nodes = (*function.nodes, defaults_of(function))
            for node in (*nodes, *[one for body in bodies_within(nodes) for one in body.nodes]):
                callee = self.function(node)
                if callee is not None and callee not in kept:
                    kept[callee] = f"function {function.label}, which was kept, calls it"
                    waiting.append(callee)
        return kept

    def dropped(self) -> list[Function]:
        """Return the functions that nothing calls, neither the graph nor a function that it calls."""
        return [one for one in self.model.functions.values() if one not in self.edges and one not in self.kept]

    def holders(self) -> set[Graph]:
        """Return the bodies below the main graph that hold a call to inline, themselves or in a body of theirs."""
        found: set[Graph] = set()
        targets = self.targets
        for body in bodies_within(self.model.graph.nodes):  # innermost first
            if any(node in targets or any(inner in found for inner in body_list(node)) for node in body.nodes):
                found.add(body)
        return found


def called_in_training(model: Model) -> Iterator[FunctionKey]:
    """Yield what the nodes in the model's training information run, which is carried along as it was read."""
    origin = model.origin
    if origin is None or origin.source.closed:
        return
    waiting: list[GraphProto] = []
    for one in entries(origin.source.data(), origin.start, origin.stop, TRAINING_INFO, TrainingInfoProto):
        waiting += [graph for graph in (one.initialization, one.algorithm) if graph is not None]
    for graph in waiting:  # grows as it is read
        for node in graph.node:
            yield canonical(node.domain), node.op_type, node.overload
            for attribute in node.attribute:
                waiting += [body for body in (attribute.g, *attribute.graphs) if body is not None]


def texts(function: Function, call: str) -> tuple[Node, ...]:
    """Return what is written in a function: its nodes, and a node that holds the defaults of its attributes.

    Raises:
        OnnxError: InvalidModel, naming the call and the function, when the body is no valid graph.
    """
    try:
        nodes = function.graph.nodes
    except OnnxError as problem:
        issue = problem.issue
        message = f"{issue.message}, so that the call by {call} cannot be inlined"
        place = issue.place.within(Place(graph=f"function {function.label}"))
        raise OnnxError(Issue(issue.code, message, place, issue.hint, "error", issue.also)) from None
    return (*nodes, defaults_of(function))


def defaults_of(function: Function) -> Node:
    """Return a node that holds the defaults of a function's attributes, among which graphs may be."""
    return Node("", attrs=function.defaults)


def called(node: Node, at: int, owner: Function | None) -> str:
    """Word a call for a message."""
    label = node_label(node.name, node.op_type, at)
    return label if owner is None else f"{label} of function {owner.label}"
