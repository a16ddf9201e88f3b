"""Infer a call of a model-local function in an activation of its own.

Inputs are bound by position; what is known of their elements is looked up where the caller has it, and only when
somebody asks. So the outcome depends on the types of the inputs, the attributes, and the elements that were asked for:
a second call that is alike in these gets the same outcome, with fresh symbols in place of those that the first call
made. The body may use the function's own opset imports, the model's count for the rest (decision F5).
"""

from __future__ import annotations

from itertools import islice

from sardonyx.dims import Expr
from sardonyx.errors import Issue, OnnxError
from sardonyx.infer.activation import Activation, Called, Level, Opsets
from sardonyx.ir.attrs import AttrKind, AttrRef
from sardonyx.ir.graph import canonical
from sardonyx.ir.types import TensorType
from sardonyx.ir.walk import bodies_within
from sardonyx.ops.call import INTEGERS, Call, Fact
from sardonyx.ops.common.join import Renewal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    from sardonyx.dims import Dim
    from sardonyx.infer.engine import Engine, Spot
    from sardonyx.ir.attrs import Attr
    from sardonyx.ir.graph import Function, Graph, Node, Value
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Content

    Answer = tuple[Fact | None, ...]
    Noted = list[tuple[tuple[str, Dim, Dim], Spot | Value]]
    K = TypeVar("K")
    V = TypeVar("V")

FEW = 64
"""Unknown elements of an input that get a symbol each, so that two calls with it see the same ones."""
CHAIN = 8
"""Functions of a circle that a message names."""


class Outcome:
    """What one call came to, for calls like it."""

    __slots__ = ("activation", "answer", "effects", "last", "level", "needed", "undone")

    def __init__(self, activation: Activation, answer: Answer, last: int) -> None:
        self.activation = activation
        self.answer = answer
        self.last = last
        """Number after that of the last anonymous symbol that the call made."""
        self.needed: dict[int, Content | None] = {}
        """Elements of inputs that the outcome depends on, by position."""
        self.effects: tuple[list[Issue], list[Level], Noted, Noted]
        self.undone = False
        """Whether what the call noted was forgotten, since it was made in a pass that did not count."""


def begin(engine: Engine, node: Node, function: Function, activation: Activation) -> Activation | Answer:
    """Return the activation to walk for a call, or the answer when it is known already or there is none."""
    try:
        graph = function.graph
    except OnnxError as problem:
        engine.add(problem.issue)
        return ()
    if function in engine.active:
        engine.issue(
            "function-recursive", f"functions call each other in a circle: {circle(engine, function)}", "error"
        )
        return ()
    for what, given, most in (
        ("inputs", len(node.inputs), len(graph.inputs)),
        ("outputs", len(node.outputs), len(graph.outputs)),
    ):
        if given > most:
            engine.issue("too-many-actuals", f"{given} {what} are given, but {function.label} has {most}", "error")
            return ()
    bound = attributes(engine, node, function, activation)
    actuals = [*node.inputs, *[None] * (len(graph.inputs) - len(node.inputs))]
    handle = key_of(function, actuals, bound, activation)
    for known in engine.outcomes.get(handle, ()):
        if all(content_in(engine, actuals[at], activation) == content for at, content in known.needed.items()):
            return repeat(engine, node, known, activation)
    engine.frames += 1
    limit = engine.limits.max_frames
    if limit is not None and engine.frames > limit:
        engine.overfull()
        return ()
    level = Level(graph, engine.level, node, engine.index, None)
    callee = Activation(level, opsets_of(engine, function), graph.types)
    callee.function = function
    callee.bound = bound
    callee.call = Call(engine, callee.types, callee.contents)
    callee.call.bound = bound
    callee.absent = frozenset(formal for formal, actual in zip(graph.inputs, actuals, strict=True) if actual is None)
    for own, actual in zip(graph.inputs, actuals, strict=True):
        if actual is not None:
            kind = activation.types.get(actual)
            if kind is not None:
                callee.types[own] = kind
            callee.borrowed[own] = (activation, actual)
    for attr in bound.values():
        if attr.kind is AttrKind.GRAPH or attr.kind is AttrKind.GRAPHS:
            for body in attr.value if isinstance(attr.value, tuple) else (attr.value,):
                callee.passed[body] = activation.passed.get(body, activation)
    callee.mark = engine.scope.pool.numbers
    callee.start = (len(engine.issues), len(engine.assumptions), len(engine.constraints))
    engine.active[function] = None
    return callee


def finish(engine: Engine, callee: Activation) -> Answer:
    """Return what a walked call came to, and keep it for calls like it."""
    function, graph, node = callee.function, callee.level.graph, callee.level.node
    if function is None or node is None:
        raise ValueError("this activation is no call")
    caller = engine.activation
    engine.activation = callee
    answer = tuple(engine.outcome(callee, value) for value in graph.outputs)
    engine.activation = caller
    del engine.active[function]
    outcome = Outcome(callee, answer, engine.scope.pool.numbers)
    position = {formal: at for at, formal in enumerate(graph.inputs)}
    outcome.needed = {position[formal]: content for formal, content in callee.needed.items() if formal in position}
    issues, assumptions, constraints = callee.start
    outcome.effects = (
        engine.issues[issues:],
        engine.spots[issues:],
        tail(engine.assumptions, assumptions),
        tail(engine.constraints, constraints),
    )
    if not callee.passed and not engine.full:
        actuals = [*node.inputs, *[None] * (len(graph.inputs) - len(node.inputs))]
        engine.outcomes.setdefault(key_of(function, actuals, callee.bound, caller), []).append(outcome)
    engine.made.append(outcome)
    engine.activations.setdefault(function, []).append(callee)
    caller.calls[node] = Called(callee, {}, callee.level)
    return answer


def repeat(engine: Engine, node: Node, known: Outcome, activation: Activation) -> Answer:
    """Return the outcome of an equal call, in fresh symbols of this one."""
    if known.undone:
        known.undone = False
        engine.made.append(known)
        issues, spots, assumptions, constraints = known.effects
        for issue, spot in zip(issues, spots, strict=True):
            level, engine.level = engine.level, spot
            engine.add(issue)
            engine.level = level
        for noted, items in ((engine.assumptions, assumptions), (engine.constraints, constraints)):
            for key, place in reversed(items):
                noted.setdefault(key, place)
    kept = [one for content in known.needed.values() for one in content or () if isinstance(one, Expr)]
    renewal = Renewal(
        engine.scope, known.activation.mark, known.last, frozenset(symbol for one in kept for symbol in one.symbols)
    )
    answer = tuple(None if fact is None else renewal.fact(fact) for fact in known.answer)
    level = Level(known.activation.level.graph, engine.level, node, engine.index, None)
    activation.calls[node] = Called(known.activation, renewal.known, level)
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


def key_of(
    function: Function, actuals: list[Value | None], bound: Mapping[str, Attr], activation: Activation
) -> object:
    """Return what calls must share, elements of inputs aside."""
    types = activation.types
    return (
        function,
        tuple([0 if value is None else types.get(value) for value in actuals]),
        tuple(sorted([(name, attr.kind, value_of(attr)) for name, attr in bound.items()], key=lambda one: one[0])),
    )


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
    signed = not kind.dtype.name.startswith("U")
    found = activation.contents[value] = tuple(engine.scope.fresh(signed=signed) for _ in range(count))
    return found


def opsets_of(engine: Engine, function: Function) -> Opsets:
    """Return the opset imports in force in a function; what they resolve to is shared by its calls."""
    found = engine.opsets.get(function)
    if found is None:
        imports = {canonical(domain): version for domain, version in engine.model.opset_imports.items()}
        imports.update({canonical(domain): version for domain, version in function.opset_imports.items()})
        found = engine.opsets[function] = Opsets(imports, {}, {})
    return found


def borrow(engine: Engine, graph: Graph, home: Activation, caller: Activation, node: Node) -> Activation:
    """Return an activation for a body that the caller of a function passed: it sees the values of its home."""
    activation = Activation(caller.level, home.opsets, home.claims)
    activation.bound = home.bound
    activation.absent = home.absent
    activation.passed = home.passed
    activation.call = Call(engine, activation.types, activation.contents)
    activation.call.bound = home.bound
    for value in graph.captures:
        kind = home.types.get(value)
        if kind is not None:
            activation.types[value] = kind
        activation.borrowed[value] = (home, value)
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


def agreed(tables: list[Mapping[Value, Type]]) -> dict[Value, Type]:
    """Return what all calls of a function know of its values."""
    found = dict(tables[0])
    for table in tables[1:]:
        for value in list(found):
            common = shared(found[value], table.get(value))
            if common is None:
                del found[value]
            else:
                found[value] = common
    return found


def shared(one: Type, other: Type | None) -> Type | None:
    """Return a type that both are; a dim in which they differ makes the rank all that is known."""
    if one is other or one == other:
        return one
    if type(one) is not type(other) or not isinstance(one, TensorType) or not isinstance(other, TensorType):
        return None
    dtype = one.dtype if one.dtype is other.dtype else None
    return type(one)(dtype, one.shape if one.shape == other.shape else None)
