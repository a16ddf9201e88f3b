"""Find where a model calls its functions, and give up a call that comes to more calls than can be walked."""

from __future__ import annotations

from sardonyx.ir.graph import canonical
from sardonyx.ir.walk import bodies_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from sardonyx.infer.engine import Engine
    from sardonyx.infer.functions import Plan
    from sardonyx.ir.graph import Function, Graph, Model, Node

HUGE = 1 << 62
"""Calls beyond which nobody counts."""
LOOK = 1024
"""Walks of functions that were walked before, from one look at whether a call can end within the limit to the next."""


class CallSites:
    """The calls that are written in a model, bodies included; each graph is looked through once."""

    def __init__(self, model: Model) -> None:
        self.functions = model.functions
        self.names = {key[1] for key in model.functions}
        self.overridden = any(key[0] == "" for key in model.functions)
        """Whether there are functions in the default domain."""
        self.found: dict[Graph, dict[Node, Function]] = {}
        self.sizes: dict[Function, int] = {}

    def within(self, graph: Graph) -> dict[Node, Function]:
        """Return the calls of a graph and its bodies, with what each calls."""
        found = self.found.get(graph)
        if found is None:
            found = self.found[graph] = {}
            for nodes in (graph.nodes, *[body.nodes for body in bodies_within(graph.nodes)]):
                for node in nodes:
                    if node.op_type in self.names:
                        function = self.functions.get((canonical(node.domain), node.op_type, node.overload))
                        if function is not None:
                            found[node] = function
        return found

    def size(self, function: Function) -> int:
        """Return how many calls a call of a function comes to when no two are shared, itself included.

        At most `HUGE`; a call that closes a circle counts as one, since it is refused.
        """
        sizes = self.sizes
        if function in sizes:
            return sizes[function]
        open_: dict[Function, Iterator[Function]] = {function: iter(self.within(function.body).values())}
        while open_:
            current, callees = next(reversed(open_.items()))
            for callee in callees:
                if callee not in sizes and callee not in open_:
                    open_[callee] = iter(self.within(callee.body).values())
                    break
            else:
                del open_[current]
                count = 1 + sum(sizes.get(callee, 1) for callee in self.within(current.body).values())
                sizes[current] = min(count, HUGE)
        return sizes[function]

    def reached(self, functions: Iterable[Function]) -> Set[Function]:
        """Return some functions with all that they call, directly or not."""
        found = dict.fromkeys(functions)
        waiting = list(found)
        while waiting:
            for callee in self.within(waiting.pop().body).values():
                if callee not in found:
                    found[callee] = None
                    waiting.append(callee)
        return found.keys()


def may_walk(engine: Engine, plan: Plan) -> bool:
    """Count a call that is about to be walked; return whether it may be.

    Functions that call others twice, in a chain, come to more calls than anybody can walk, unless the calls are alike.
    Whether they are shows soon: where a call would take far more walks than the limit at the rate at which it shares
    them so far, what is left of it stays unknown, rather than that the limit is used up first. The fewer walks there
    were, the worse the outlook must be. The first walk of a function says nothing of that rate.
    """
    if engine.hopeless is not None:
        engine.left_out += 1
        return False
    engine.frames += 1
    limit = engine.limits.max_frames
    if limit is not None and engine.frames > limit:
        engine.overfull()
        return False
    if not plan.walked:
        plan.walked = True
        return True
    engine.again += 1
    if limit is not None and engine.again >= engine.look:
        engine.look = engine.again + LOOK
        for function, callee in engine.active.items():
            again, repeated = engine.again - callee.before[0], engine.repeated - callee.before[1]
            if again < LOOK // 2:
                return True
            size = engine.sites.size(function)
            if again * again * size > limit * limit * (again + repeated):
                engine.hopeless = callee
                count = str(size) if size < HUGE else f"{HUGE} or more"
                engine.overfull(
                    f"a call of {function.label} comes to {count} calls, too few of which are alike to walk no more "
                    f"than {limit}; what is left of it stays unknown"
                )
                return False
    return True
