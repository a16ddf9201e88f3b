"""Infer a call of a model-local function in an activation of its own.

Inputs are bound by position; what is known of their elements is looked up where the caller has it, and only when
somebody asks. So the outcome depends on the types of the inputs, the attributes, and the elements that were asked for:
a second call that is alike in these gets the same outcome, with fresh symbols in place of those that the first call
made. The body may use the function's own opset imports, the model's count for the rest (decision F5).
"""

from __future__ import annotations

from itertools import islice

from sardonyx.dims import Expr
from sardonyx.errors import OnnxError
from sardonyx.infer.activation import NONE, NOTHING, Activation, Level
from sardonyx.infer.callsites import may_walk
from sardonyx.infer.resolve import opsets
from sardonyx.ir.attrs import AttrKind, AttrRef
from sardonyx.ir.graph import canonical
from sardonyx.ir.types import TensorType
from sardonyx.ir.walk import bodies_within
from sardonyx.ops.call import INTEGERS, UNSIGNED, Call, Fact
from sardonyx.ops.common.join import Renewal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    from sardonyx.dims import Dim
    from sardonyx.infer.activation import Answer
    from sardonyx.infer.engine import Engine
    from sardonyx.infer.notes import Spot
    from sardonyx.ir.attrs import Attr
    from sardonyx.ir.graph import Function, Graph, Node, Value
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Content

    Noted = list[tuple[tuple[str, Dim, Dim], Spot | Value]]
    K = TypeVar("K")
    V = TypeVar("V")

FEW = 64
"""Unknown elements of an input that get a symbol each, so that two calls with it see the same ones."""
CHAIN = 8
"""Functions of a circle that a message names."""


class Plan:
    """What the calls of one function share, and what came of them."""

    __slots__ = (
        "activations",
        "attributed",
        "dependent",
        "function",
        "graph",
        "inputs",
        "is_leaf",
        "opsets",
        "outcomes",
        "outputs",
        "positions",
        "walked",
    )

    def __init__(self, engine: Engine, function: Function) -> None:
        self.function = function
        self.graph = graph = function.graph
        self.inputs = len(graph.inputs)
        self.outputs = len(graph.outputs)
        self.positions = {formal: at for at, formal in enumerate(graph.inputs)}
        self.attributed = bool(function.attributes or function.defaults)
        self.is_leaf = not engine.sites.within(graph)
        """Whether it calls no function."""
        imports = {canonical(domain): version for domain, version in engine.model.opset_imports.items()}
        imports.update({canonical(domain): version for domain, version in function.opset_imports.items()})
        self.opsets = opsets(imports, engine.sites.overridden)
        """The imports in force in the body; what they resolve to is shared by its calls."""
        self.outcomes: dict[object, list[Activation]] = {}
        """The call that shows what calls come to, if any, by what they must share: types of inputs and attributes."""
        self.dependent: dict[object, dict[tuple[int, ...], dict[tuple[Content | None, ...], Activation]]] = {}
        """As `outcomes` where elements of inputs mattered: then by the inputs' positions, and by these elements."""
        self.activations: list[Activation] = []
        """Those of the calls that were walked."""
        self.walked = False
        """Whether a call was walked, or is being walked."""


def begin(engine: Engine, node: Node, function: Function, activation: Activation) -> Activation | Answer:
    """Return the activation to walk for a call, or its answer.

    A function that calls no other is walked at once; others wait for their turn, so that chains of them need no deep
    stack.
    """
    plan = engine.plans.get(function)
    if plan is None:
        try:
            plan = engine.plans[function] = Plan(engine, function)
        except OnnxError as problem:
            engine.add(problem.issue)
            return ()
    inputs = node.inputs
    if function in engine.active or len(inputs) > plan.inputs or len(node.outputs) > plan.outputs:
        refuse(engine, node, plan)
        return ()
    bound = attributes(engine, node, function, activation) if plan.attributed or node.attrs else NONE
    types, formals = activation.types, plan.graph.inputs
    missing = plan.inputs - len(inputs)
    if missing:
        inputs = (*inputs, *[None] * missing)
    try:
        handle: object = tuple([types[value] for value in inputs])  # type: ignore[index]
        given, absent = dict(zip(formals, handle, strict=True)), NOTHING  # type: ignore[call-overload]
    except KeyError:  # some are left out, or have no type
        handle = tuple([0 if value is None else types.get(value) for value in inputs])
        pairs = list(zip(formals, inputs, strict=True))
        given = {own: types[actual] for own, actual in pairs if actual in types}
        absent = frozenset([own for own, actual in pairs if actual is None])
    if bound:
        handle = handle, key_of(bound)
    alike = plan.outcomes.setdefault(handle, [])  # the key is looked up once: types are slow to hash
    if alike and alike[0].void:
        alike.clear()
    known = alike[0] if alike else None
    if known is None and plan.dependent:
        for positions, table in plan.dependent.get(handle, NONE).items():
            known = table.get(tuple([content_in(engine, inputs[at], activation) for at in positions]))
            if known is not None and not known.void:
                break
    if known is not None and not known.void:
        return repeat(engine, node, plan, known, activation)
    if not may_walk(engine, plan):
        return ()
    graph = plan.graph
    callee = Activation(Level(graph, engine.level, node, engine.index, None), plan.opsets, graph.types, given)
    callee.plan, callee.key, callee.alike, callee.absent = plan, handle, alike, absent
    callee.borrowed, callee.home, callee.actuals = plan.positions, activation, inputs
    call = callee.call = Call(engine, given, callee.contents)
    if bound:
        callee.bound = call.bound = bound
        for attr in bound.values():
            if attr.kind is AttrKind.GRAPH or attr.kind is AttrKind.GRAPHS:
                for body in attr.value if isinstance(attr.value, tuple) else (attr.value,):
                    callee.passed = {**callee.passed, body: activation.passed.get(body, activation)}
    callee.mark = engine.scope.pool.numbers
    callee.start = (len(engine.issues), len(engine.assumptions), len(engine.constraints))
    callee.before = (engine.again, engine.repeated, engine.left_out)
    engine.active[function] = callee
    if not plan.is_leaf:
        return callee
    level, index = engine.level, engine.index
    engine.activation, engine.level = callee, callee.level
    engine.walk(enumerate(graph.nodes), callee)
    engine.activation, engine.level, engine.index = activation, level, index
    return finish(engine, callee)


def refuse(engine: Engine, node: Node, plan: Plan) -> None:
    """Report why a call cannot be made."""
    function = plan.function
    if function in engine.active:
        engine.issue(
            "function-recursive", f"functions call each other in a circle: {circle(engine, function)}", "error"
        )
        return
    for what, given, most in (
        ("inputs", len(node.inputs), plan.inputs),
        ("outputs", len(node.outputs), plan.outputs),
    ):
        if given > most:
            engine.issue("too-many-actuals", f"{given} {what} are given, but {function.label} has {most}", "error")
            return


def finish(engine: Engine, callee: Activation) -> Answer:
    """Return what a walked call came to, and keep it for calls like it."""
    plan, node = callee.plan, callee.level.node
    if plan is None or node is None:
        raise ValueError("this activation is no call")
    caller = engine.activation
    engine.activation = callee
    types, contents = callee.types, callee.contents
    found: list[Fact | Type | None] = []
    for value in plan.graph.outputs:
        content = contents.get(value)
        if content is None and value not in callee.constants and value not in callee.borrowed:  # most outputs
            found.append(types.get(value))
        else:
            found.append(engine.outcome(callee, value))
    answer = callee.answer = tuple(found)
    engine.activation = caller
    del engine.active[plan.function]
    callee.last = engine.scope.pool.numbers
    issues, assumptions, constraints = callee.start
    if len(engine.issues) > issues or len(engine.assumptions) > assumptions or len(engine.constraints) > constraints:
        callee.effects = (
            engine.issues[issues:],
            engine.spots[issues:],
            tail(engine.assumptions, assumptions),
            tail(engine.constraints, constraints),
        )
    whole = engine.left_out == callee.before[2]
    if engine.hopeless is callee:  # what it came to is all that equal calls get
        engine.hopeless = None
        whole = True
    if whole and not callee.passed:
        if callee.needed:
            keep_dependent(plan, callee)
        else:
            callee.alike.append(callee)
    if engine.tentative or engine.doubtful:
        engine.made.append(callee)
    plan.activations.append(callee)
    caller.calls[node] = callee, NONE
    return answer


def keep_dependent(plan: Plan, callee: Activation) -> None:
    """Keep what a call came to for calls in which the elements that mattered are the same."""
    formals = [(at, formal) for at, formal in enumerate(plan.graph.inputs) if formal in callee.needed]
    asked = tuple([callee.needed[formal] for _, formal in formals])
    callee.kept = frozenset(
        [symbol for content in asked for one in content or () if isinstance(one, Expr) for symbol in one.symbols]
    )
    plan.dependent.setdefault(callee.key, {}).setdefault(tuple([at for at, _ in formals]), {})[asked] = callee


def repeat(engine: Engine, node: Node, plan: Plan, known: Activation, activation: Activation) -> Answer:
    """Return the outcome of an equal call, in fresh symbols of this one."""
    if engine.active:
        engine.repeated += engine.sites.size(plan.function)
    if known.undone:
        known.undone = False
        engine.made.append(known)
        issues, spots, assumptions, constraints = known.effects or ((), (), (), ())
        for issue, spot in zip(issues, spots, strict=True):
            level, engine.level = engine.level, spot
            engine.add(issue)
            engine.level = level
        for noted, items in ((engine.assumptions, assumptions), (engine.constraints, constraints)):
            for key, place in reversed(items):
                noted.setdefault(key, place)
    if known.mark == known.last:  # it made no symbols
        activation.calls[node] = known, NONE
        return known.answer
    renewal = Renewal(engine.scope, known.mark, known.last, known.kept)
    answer = tuple(
        [
            one if one is None else renewal.fact(one) if isinstance(one, Fact) else renewal.type(one)
            for one in known.answer
        ]
    )
    activation.calls[node] = known, renewal.known
    return answer


def attributes(engine: Engine, node: Node, function: Function, activation: Activation) -> dict[str, Attr]:
    """Return the attributes of a call: given, or passed on from the caller's own, else the defaults."""
    bound: dict[str, Attr] = {}
    for name, attr in node.attrs.items():
        found = activation.bound.get(attr.ref) if isinstance(attr, AttrRef) else attr
        if found is not None:
            bound[name] = found
    for name, attr in function.defaults.items():
        if name not in bound and not isinstance(attr, AttrRef):
            bound[name] = attr
    missing = [name for name in function.attributes if name not in bound]
    if missing:
        wanted = references(function.body)
        for name in missing:
            if name in wanted:
                message = f"{function.label} needs attribute {name!r}, which the call does not give"
                engine.issue("attribute-not-given", message, "error", None, name)
    return bound


def references(graph: Graph) -> set[str]:
    """Return the names of the function's attributes that a body refers to."""
    nodes = [*graph.nodes, *[node for body in bodies_within(graph.nodes) for node in body.nodes]]
    return {attr.ref for node in nodes for attr in node.attrs.values() if isinstance(attr, AttrRef)}


def key_of(bound: Mapping[str, Attr]) -> object:
    """Return the attributes as a part of what calls must share."""
    return tuple(sorted([(name, attr.kind, value_of(attr)) for name, attr in bound.items()], key=lambda one: one[0]))


def value_of(attr: Attr) -> object:
    """Return an attribute's value as part of a key; 1.0 and 1 differ by the kind beside it."""
    value = attr.value
    return (repr(value), value) if attr.kind is AttrKind.FLOAT or attr.kind is AttrKind.FLOATS else value


def content_in(engine: Engine, value: Value | None, activation: Activation) -> Content | None:
    """Return what a caller knows of the elements of an actual input, as a formal that borrows it would see it."""
    if value is None:
        return None
    before, engine.activation = engine.activation, activation
    if value in activation.contents:
        found = activation.contents[value]
    else:
        found = engine.content_of(value)
    if found is None:
        found = symbols_for(engine, value, activation)
    engine.activation = before
    return found


def symbols_for(engine: Engine, value: Value, activation: Activation) -> Content | None:
    """Give every unknown element of a small integer tensor a symbol, where the caller keeps them."""
    kind = activation.types.get(value)
    if not isinstance(kind, TensorType) or kind.shape is None or len(kind.shape) > 1 or kind.dtype not in INTEGERS:
        return None
    count = kind.shape[0] if kind.shape else 1
    if not isinstance(count, int) or not 0 <= count <= FEW:
        return None
    signed = kind.dtype not in UNSIGNED
    found = activation.contents[value] = tuple(engine.scope.fresh(signed=signed) for _ in range(count))
    return found


def borrow(engine: Engine, graph: Graph, home: Activation, caller: Activation, node: Node) -> Activation:
    """Return an activation for a body that the caller of a function passed: it sees the values of its home."""
    activation = Activation(caller.level, home.opsets, home.claims)
    activation.bound = home.bound
    activation.absent = home.absent
    activation.passed = home.passed
    activation.call = Call(engine, activation.types, activation.contents)
    activation.call.bound = home.bound
    activation.home, activation.actuals = home, tuple(graph.captures)
    activation.borrowed = {value: at for at, value in enumerate(activation.actuals) if value is not None}
    for value in activation.borrowed:
        kind = home.types.get(value)
        if kind is not None:
            activation.types[value] = kind
    return activation


def circle(engine: Engine, function: Function) -> str:
    """Word the circle that a call closes."""
    chain = list(engine.active)
    labels = [one.label for one in chain[chain.index(function) :]] + [function.label]
    if len(labels) > CHAIN:
        labels = [*labels[: CHAIN - 3], f"{len(labels) - CHAIN + 1} more", *labels[-2:]]
    return " -> ".join(labels)


def tail(noted: dict[K, V], start: int) -> list[tuple[K, V]]:
    """Return what was added to a dictionary after its first `start` entries, the newest first."""
    return list(islice(reversed(noted.items()), len(noted) - start))
