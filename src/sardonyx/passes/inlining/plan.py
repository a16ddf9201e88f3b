"""Compile the text of a function, or of a body in it, into a list of rows from which copies are made in one tight loop.

Every value of the text gets a slot: first those that come from outside (formal inputs, or what a body captures), then
the results, then all others, and a last slot that holds None for what is left out. Making a copy means filling a tuple
of slots with values and going through the rows, each of which picks its inputs and outputs from that tuple.
"""

from __future__ import annotations

from functools import lru_cache
from operator import itemgetter

from sardonyx.errors import error
from sardonyx.ir.attrs import AttrRef
from sardonyx.ir.graph import NOTHING, Declared, Node, canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from sardonyx.ir.attrs import Attr
    from sardonyx.ir.graph import Function, Graph, Value
    from sardonyx.ir.types import Type
    from sardonyx.passes.inlining.calls import Calls
    from sardonyx.passes.inlining.opsets import Opsets

    Slots = tuple[Value | None, ...]
    Pick = Callable[[Slots], Slots]
    Wires = tuple[int, ...]
    Row = tuple["Call | Special | None", int, str, str, str, Pick, Pick, Mapping[str, Attr | AttrRef]]


SMALL = 64
"""Rows up to which a function without anything special is merged into the plans of its callers, call for call."""


class Plan:
    """A graph, ready to be copied.

    Calls of small, simple functions are part of it: `parts` says whose rows there are, the first one being its own.
    """

    __slots__ = (
        "captured", "declared", "graph", "inputs", "is_named", "is_plain", "locals", "node_names", "outer", "outputs",
        "parts", "repeats", "returned", "rows", "slots", "trails", "types", "uses", "wiring",
    )  # fmt: skip

    graph: Graph
    """What it was compiled from."""
    outer: int
    """How many slots come from outside."""
    captured: Pick
    """Of a body: picks what comes from outside from the slots of the graph around it."""
    inputs: Pick
    """Of a body: picks its inputs."""
    outputs: Pick
    """Of a body: picks its outputs."""
    returned: list[int]
    """Of a body: the positions of outputs that come from outside, and need a copy."""
    declared: list[tuple[int | None, Declared]]
    """Of a body: its declarations, each with the slot of its value, or None for the next output."""
    slots: dict[Value, int]
    """The slot of each value of the text."""
    locals: list[tuple[int, str]]
    """Part and name of each value that every copy makes anew, in the order of slots."""
    rows: list[Row]
    """The nodes in order; the last slot is None, wherever a row leaves something out."""
    wiring: list[tuple[Wires, Wires]]
    """The slots that the rows pick as inputs and outputs; -1 for what is left out."""
    node_names: list[tuple[int, str]]
    """Part and name of each node."""
    is_named: bool
    """Whether any node has a name."""
    repeats: bool
    """Whether two nodes, or two values of its own, have one name (of different bodies, or in a faulty file)."""
    types: list[tuple[int, Type]]
    """What the text says of the types of its values."""
    parts: list[tuple[FunctionPlan | None, tuple[str, ...]]]
    """The functions merged into it, each with the calls that lead to it; itself first, with none."""
    trails: list[str]
    """For each part, these calls as `sardonyx.inlined_from` names them."""
    is_plain: bool
    """Whether it can be merged into another plan."""
    uses: int
    """How often it was copied."""


class FunctionPlan:
    """A function, ready to be inlined."""

    __slots__ = ("arity", "defaults", "function", "plan", "required", "results", "returns", "simple")

    function: Function
    plan: Plan
    arity: int
    """Formal inputs."""
    results: list[str]
    """Names of the formal outputs that a node makes, each once; their slots follow those of the formal inputs."""
    returns: list[int]
    """The slot of each formal output."""
    simple: bool
    """Whether each formal output is made by a node and listed once, so that no copies are needed."""
    required: frozenset[str]
    """Attributes without a default."""
    defaults: Mapping[str, Any]
    """Attributes with one; graphs among them are compiled."""


LONGEST = 256
"""Characters of a name that its copies keep: a long name in a small file must not be written out ten million times."""

LISTED = 8
"""Calls within calls that `sardonyx.inlined_from` names: a chain of ten thousand must not be written out each time."""


class Call:
    """A row that is a call to inline."""

    __slots__ = ("attrs", "bodies", "callee", "env", "label", "node")

    def __init__(self, node: Node, callee: FunctionPlan, label: str, bodies: Mapping[str, tuple[Plan, ...]]) -> None:
        self.node = node
        self.callee = callee
        self.label = label
        """The call and the function, as `sardonyx.inlined_from` names them."""
        self.bodies = bodies
        """The graphs that it passes."""
        self.env: Mapping[str, Any] | None = None
        """The attributes that the function sees, where they are the same every time."""
        attrs = node.attrs
        if not attrs:
            self.env = callee.defaults
        elif not bodies and not any(type(attr) is AttrRef for attr in attrs.values()):
            self.env = {**callee.defaults, **attrs}


class Special:
    """A row that needs more than its inputs and outputs picked."""

    __slots__ = ("bodies", "details", "may_hold", "node", "versions")

    def __init__(self, node: Node, bodies: Mapping[str, tuple[Plan, ...]], versions: Mapping[str, int] | None) -> None:
        self.node = node
        self.bodies = bodies
        """The graphs that it holds, by attribute."""
        self.details = node.details
        self.versions = versions
        """The opset versions that it was written for, when each copy must be checked against the merged ones."""
        self.may_hold = len(bodies) > 0 or any(type(attr) is AttrRef for attr in node.attrs.values())
        """Whether a copy can have bodies."""


def nothing(slots: Slots) -> Slots:
    """Pick no value."""
    return ()


@lru_cache(4096)  # most nodes of most functions read slot 0, or 0 and 1
def picker(at: Wires) -> Pick:
    """Return a function that picks slots; -1 is the last one, which holds None."""
    if len(at) > 1:
        pick: Any = itemgetter(*at)
    elif at:
        pick = itemgetter(slice(at[0], at[0] + 1 or None))  # a slice of a tuple is a tuple
    else:
        pick = nothing
    found: Pick = pick
    return found


class Compiler:
    """Compiles the functions of one model."""

    def __init__(self, calls: Calls, opsets: Opsets, strict_opsets: bool) -> None:
        self.calls = calls
        self.opsets = opsets
        self.strict_opsets = strict_opsets
        self.moves = False
        """Whether a version that the text at hand was written for is another one in the result."""
        self.functions: dict[Function, FunctionPlan] = {}
        self.plans: list[Plan] = []
        self.versions: Mapping[str, int] = opsets.before
        for function in calls.order:
            self.functions[function] = self.function(function)

    def counts(self) -> dict[str, int]:
        """Return how often each function was inlined."""
        found = dict.fromkeys([function.label for function in self.functions], 0)
        for function, made in self.functions.items():
            found[function.label] += made.plan.uses  # two functions may have one label: `a::b` and `c`, `a` and `b::c`
        for plan in self.plans:
            for callee, _ in plan.parts:
                if callee is not None:
                    found[callee.function.label] += plan.uses
        return found

    def function(self, function: Function) -> FunctionPlan:
        """Compile one function, whose callees are compiled already."""
        made = FunctionPlan()
        graph = function.graph
        self.versions = self.opsets.versions(function)
        self.moves = self.strict_opsets and self.opsets.moves(self.versions)
        inputs = dict.fromkeys(graph.inputs)
        results = [value for value in dict.fromkeys(graph.outputs) if value not in inputs]
        made.function = function
        made.plan = plan = self.graph(graph, graph.inputs, results, graph.types, is_function=True)
        made.arity = len(graph.inputs)
        made.results = [value.name for value in results]
        made.returns = [plan.slots[value] for value in graph.outputs]
        made.simple = len(results) == len(graph.outputs)
        made.required = frozenset(function.attributes)
        held = Node("", attrs=function.defaults)
        made.defaults = self.defaults(function, held)
        return made

    def defaults(self, function: Function, held: Node) -> Mapping[str, Any]:
        """Return the defaults of a function's attributes; a graph among them sees nothing but itself."""
        from sardonyx.passes.inlining.instantiate import Passed

        found: dict[str, Any] = {}
        bodies = self.bodies(held, {}, function.graph.types)
        for name, attr in held.attrs.items():
            if isinstance(attr, AttrRef):
                raise error(
                    "reference-outside-function",
                    f"the default of attribute {name!r} refers to {attr.ref!r}",
                    graph=f"function {function.label}",
                    attribute=name,
                )
            found[name] = Passed(attr, bodies[name], (None,), None) if name in bodies else attr
        return found

    def graph(
        self,
        graph: Graph,
        outer: Sequence[Value],
        first: Sequence[Value],
        types: Mapping[Value, Type],
        is_function: bool = False,
    ) -> Plan:
        """Compile a graph; recurses over bodies, whose nesting the file bounds.

        After the slots of `outer` come those of `first`: the results of a function, or what a body defines itself.
        """
        plan = Plan()
        plan.graph = graph
        plan.outer = len(outer)
        slots: dict[Value, int] = {}
        made = [one for node in graph.nodes for one in node.outputs if one is not None]
        for value in (*outer, *first, *made):
            if value not in slots:
                slots[value] = len(slots)
        plan.slots = slots
        given = len(outer) + len(first) if is_function else len(outer)
        plan.locals = [(0, value.name[:LONGEST]) for value in slots][given:]
        plan.types = [(at, types[value]) for value, at in slots.items() if value in types] if types else []
        plan.rows, plan.wiring, plan.node_names, plan.parts = [], [], [], [(None, ())]
        for at, node in enumerate(graph.nodes):
            self.add_node(plan, node, at, given, types)
        plan.is_named = any(name for _, name in plan.node_names)
        names = [name for name in plan.node_names if name[1]]
        plan.repeats = len(set(plan.locals)) < len(plan.locals) or len(set(names)) < len(names)
        plan.is_plain = (
            len(plan.rows) <= SMALL
            and len(plan.parts) <= SMALL
            and not plan.types
            and all(row[0] is None for row in plan.rows)
        )
        plan.trails = [trail(chain) for _, chain in plan.parts]
        plan.uses = 0
        self.plans.append(plan)
        return plan

    def body(self, body: Graph, around: Mapping[Value, int], types: Mapping[Value, Type]) -> Plan:
        """Compile a body of a node in a graph whose values have the given slots."""
        captures = body.captures
        own = (*body.inputs, *body.initializers, *body.sparse_initializers)
        plan = self.graph(body, captures, own, types)
        plan.captured = picker(tuple([around[value] for value in captures]))
        slots = plan.slots
        outputs = tuple([slots[value] for value in body.outputs])
        plan.inputs = picker(tuple([slots[value] for value in body.inputs]))
        plan.outputs = picker(outputs)
        plan.returned = [at for at, slot in enumerate(outputs) if slot < plan.outer]
        plan.declared = declared(body, slots, plan.outer)
        return plan

    def bodies(
        self, node: Node, slots: Mapping[Value, int], types: Mapping[Value, Type]
    ) -> dict[str, tuple[Plan, ...]]:
        """Compile the graphs that a node holds."""
        found = {}
        for name, held in node.bodies.items():
            listed = held if isinstance(held, tuple) else (held,)
            found[name] = tuple([self.body(body, slots, types) for body in listed])
        return found

    def bodies_of_model(self, node: Node, captured: Sequence[Value]) -> dict[str, tuple[Plan, ...]]:
        """Compile the graphs that a call in the main graph or a body of it passes; `captured` have the first slots.

        Their operators are checked where they stand, with all others of the main graph.
        """
        self.moves = False
        around = {value: at for at, value in enumerate(captured)}
        return self.bodies(node, around, self.calls.model.graph.types)

    def add_node(self, plan: Plan, node: Node, at: int, given: int, types: Mapping[Value, Type]) -> None:
        """Add one node to a plan, or the rows of the function that it calls; `given` slots come before the locals."""
        slots = plan.slots
        inputs = tuple([-1 if value is None else slots[value] for value in node.inputs])
        outputs = tuple([-1 if value is None else slots[value] for value in node.outputs])
        function = self.calls.targets.get(node)
        special: Call | Special | None = None
        if function is not None:
            callee = self.functions[function]
            is_complete = len(outputs) == len(callee.returns) and -1 not in outputs and len(inputs) <= callee.arity
            if is_complete and callee.simple and callee.plan.is_plain:
                self.merge(plan, callee, inputs, outputs, label(node, at, function), given)
                return
            bodies = self.bodies(node, slots, types) if node.bodies else {}
            special = Call(node, callee, label(node, at, function), bodies)
        else:
            bodies = self.bodies(node, slots, types) if node.bodies else {}
            is_open = self.moves and self.opsets.is_open(node, self.versions)
            attrs = node.attrs
            referring = len(attrs) > 0 and any(type(attr) is AttrRef for attr in attrs.values())
            if bodies or referring or is_open or node.details is not NOTHING:
                special = Special(node, bodies, self.versions if is_open else None)
        domain = canonical(node.domain)
        plan.rows.append((special, 0, node.op_type, domain, node.overload, picker(inputs), picker(outputs), node.attrs))
        plan.wiring.append((inputs, outputs))
        plan.node_names.append((0, node.name[:LONGEST]))

    def merge(self, plan: Plan, callee: FunctionPlan, inputs: Wires, outputs: Wires, call: str, given: int) -> None:
        """Add the rows of a function to a plan, in the place of a call."""
        inner = callee.plan
        base = len(plan.parts)
        for part, (function, chain) in enumerate(inner.parts):
            plan.parts.append((function if part else callee, (call, *chain)[: LISTED + 1]))
        wires = [*inputs, *[-1] * (callee.arity - len(inputs)), *outputs]
        first = given + len(plan.locals)
        wires += range(first, first + len(inner.locals))
        wires.append(-1)  # so that -1 stays -1
        plan.locals += [(base + part, name) for part, name in inner.locals]
        plan.node_names += [(base + part, name) for part, name in inner.node_names]
        for row, (reads, makes) in zip(inner.rows, inner.wiring, strict=True):
            reads = tuple([wires[at] for at in reads])
            makes = tuple([wires[at] for at in makes])
            plan.rows.append((None, base + row[1], *row[2:5], picker(reads), picker(makes), row[7]))
            plan.wiring.append((reads, makes))


def declared(body: Graph, slots: Mapping[Value, int], outer: int) -> list[tuple[int | None, Declared]]:
    """Return the declarations of a body that copies have too: of values that it defines, and of its outputs."""
    found: list[tuple[int | None, Declared]] = []
    for one in body.declared:
        slot = -1 if one.value is None else slots.get(one.value, -1)
        if one.role == "output" or slot >= outer:
            kept = Declared(one.role, one.name, one.value, one.type, one.details, one.origin.changed())
            found.append((None if one.role == "output" else slot, kept))
    return found


def trail(chain: tuple[str, ...]) -> str:
    """Word calls within calls, outermost first."""
    return " > ".join(chain if len(chain) <= LISTED else (*chain[:LISTED], "..."))


def label(node: Node, at: int, function: Function) -> str:
    """Word a call and its function, as `sardonyx.inlined_from` names them."""
    return f"{node.name[:LONGEST] or f'node {at}'} ({function.label[:LONGEST]})"
