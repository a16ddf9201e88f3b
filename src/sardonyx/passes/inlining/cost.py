"""Work out what inlining would make, before anything is made: nodes, calls to follow, and how deep bodies would nest.

A call costs what its function costs, so the functions are summed up once each, callees first. A graph that a call
passes as an attribute is copied wherever the function refers to it; how often that is, and how deep, is part of the
function's cost. The numbers are never too low. They are too high where a reference may find no value (it is counted
with the value and with the default of the function that it is passed on to), and where a call leaves out an output that
would need a copy. Counts end at 10^18.
"""

from __future__ import annotations

from sardonyx.errors import error
from sardonyx.ir.attrs import AttrRef
from sardonyx.ir.graph import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sardonyx.ir.graph import Function, Graph, Model
    from sardonyx.limits import Limits
    from sardonyx.passes.inlining.calls import Calls

DEEPEST = 83
"""Bodies within bodies that a file can express within the largest `max_nesting`, 250: a graph takes three levels."""

HUGE = 10**18
"""Where counting ends: thirty functions that pass graphs on can ask for a number of nodes that fills the memory."""


class Cost:
    """What a piece of a function makes, each time the function is inlined."""

    __slots__ = ("calls", "depth", "nodes", "passed")

    def __init__(self) -> None:
        self.nodes = 0
        """Nodes, those in bodies counted."""
        self.calls = 0
        """Calls that are followed; a function may be empty, and following a call to it takes time all the same."""
        self.depth = 0
        """How deep bodies nest."""
        self.passed: dict[str, tuple[int, int]] = {}
        """For each of the function's attributes: how often it is copied, and how deep the deepest copy stands."""

    def add(self, other: Cost, times: int = 1, below: int = 0) -> None:
        """Add what another piece makes, a number of times, below a number of bodies."""
        self.nodes = min(self.nodes + times * other.nodes, HUGE)
        self.calls = min(self.calls + times * other.calls, HUGE)
        self.depth = max(self.depth, min(below + other.depth, HUGE))
        for name, (uses, depth) in other.passed.items():
            self.refer(name, times * uses, below + depth)

    def refer(self, name: str, times: int, below: int) -> None:
        """Add copies of an attribute of the function."""
        uses, depth = self.passed.get(name, (0, 0))
        self.passed[name] = min(uses + times, HUGE), max(depth, min(below, HUGE))


class Costs:
    """The costs of the functions of one model."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.functions: dict[Function, Cost] = {}
        self.defaults: dict[Function, Mapping[str, Cost]] = {}
        for function in calls.order:
            self.defaults[function] = self.graphs_of(Node("", attrs=function.defaults))
            cost = self.of_nodes(function.graph.nodes)
            cost.nodes += copies(function)
            self.functions[function] = cost

    def of_nodes(self, nodes: Sequence[Node]) -> Cost:
        """Sum up nodes; recurses over bodies, whose nesting the file bounds."""
        total = Cost()
        targets = self.calls.targets
        for node in nodes:
            function = targets.get(node)
            if function is not None:
                self.add_call(total, node, function)
                continue
            total.nodes += 1
            if not node.attrs:
                continue
            for held in self.graphs_of(node).values():
                total.add(held, below=1)
            for attr in node.attrs.values():
                if type(attr) is AttrRef:
                    total.refer(attr.ref, 1, 1)
        return total

    def graphs_of(self, node: Node) -> dict[str, Cost]:
        """Sum up the graphs that a node holds, by attribute."""
        found = {}
        for name, held in node.bodies.items():
            cost = found[name] = Cost()
            for body in held if isinstance(held, tuple) else (held,):
                cost.add(self.of_body(body))
        return found

    def of_body(self, body: Graph) -> Cost:
        """Sum up one body, with the Identity that each captured output gets."""
        cost = self.of_nodes(body.nodes)
        if cost.nodes or cost.calls or body.outputs:
            captured = set(body.captures)
            cost.nodes += sum(value in captured for value in body.outputs)
        return cost

    def add_call(self, total: Cost, node: Node, function: Function) -> None:
        """Add a call: what its function makes, with the graphs that the call passes."""
        inner = self.functions[function]
        total.calls += 1
        total.nodes = min(total.nodes + inner.nodes, HUGE)
        total.calls = min(total.calls + inner.calls, HUGE)
        total.depth = max(total.depth, inner.depth)
        if not inner.passed:
            return
        graphs, defaults = self.graphs_of(node), self.defaults[function]
        for name, (uses, below) in inner.passed.items():
            attr = node.attrs.get(name)
            if name in graphs:
                total.add(graphs[name], uses, below)
                continue
            if type(attr) is AttrRef:
                total.refer(attr.ref, uses, below)
            if (attr is None or type(attr) is AttrRef) and name in defaults:
                total.add(defaults[name], uses, below)


def copies(function: Function) -> int:
    """Count the formal outputs that may need an Identity: those that return a formal input, or a value again."""
    outputs = function.graph.outputs
    return len(outputs) - len(set(outputs).difference(function.graph.inputs))


def check_cost(model: Model, calls: Calls, limits: Limits) -> int:
    """Refuse a model that would become too large; return how many nodes the result may have at most.

    Raises:
        OnnxError: Unsupported, code `limit-exceeded` or `nesting-too-deep`.
    """
    costs = Costs(calls)
    total = costs.of_nodes(model.graph.nodes)
    limit = limits.max_inlined_nodes
    if limit is not None:
        for amount, what in ((total.nodes, "nodes"), (total.calls, "calls to inline")):
            if amount > limit:
                shown = f"{amount}" if amount < HUGE else "10^18 or more"
                raise error(
                    "limit-exceeded",
                    f"inlining comes to {shown} {what}, more than the limit of {limit}",
                    hint="raise Limits(max_inlined_nodes=...) if you trust this model",
                    source=model.source,
                )
    if total.depth > DEEPEST:
        raise error(
            "nesting-too-deep",
            f"bodies would nest {total.depth} deep after inlining, more than the {DEEPEST} that a file can express",
            source=model.source,
        )
    return total.nodes
