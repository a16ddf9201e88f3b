"""Infer types and shapes of a whole model, and hold what was found."""

from __future__ import annotations

import gc
from operator import index

from sardonyx.dims import DIM_MAX, Expr, Symbol, TooLarge
from sardonyx.errors import Issue, node_label
from sardonyx.infer.agreement import typed_functions
from sardonyx.infer.engine import Engine
from sardonyx.infer.frames import Frame, Frames, find_frame
from sardonyx.infer.merge import each
from sardonyx.infer.naming import Naming
from sardonyx.ir.types import OptionalType, SequenceType, TensorType
from sardonyx.limits import DEFAULT
from sardonyx.ops.common.join import mapped
from sardonyx.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sardonyx.dims import Dim
    from sardonyx.infer.activation import Activation
    from sardonyx.infer.coverage import Coverage
    from sardonyx.infer.events import Event, Log
    from sardonyx.infer.explain import Explanation
    from sardonyx.infer.notes import Spot
    from sardonyx.ir.graph import Graph, Model, Node, Value
    from sardonyx.ir.types import Type
    from sardonyx.limits import Limits


@record
class Assumption:
    """Something that an inferred type depends on and that a run implies (decision S4)."""

    kind: str
    """`reshape-zero`, `window-fits`, `joined-dims`, `divisor-not-zero`, `default-kept` or `claim-taken`."""
    a: Dim
    b: Dim
    """The dims it is about; both 0 when it is about a value as a whole."""
    place: str
    """The node, or value, that needed it first; nodes of bodies and functions with the way there."""

    def __str__(self) -> str:
        text = SENTENCES[self.kind]
        if self.kind == "claim-taken" and self.a != self.b:
            text = "{a} is {b}, as declared"
        return f"{text.format(a=self.a, b=self.b)} ({self.place})"


SENTENCES = {
    "reshape-zero": "{a} is not 0, or equal to {b}",
    "window-fits": "a window of {b} fits into {a}",
    "joined-dims": "{a} is equal to {b}",
    "divisor-not-zero": "{a} is not 0",
    "default-kept": "the input keeps its default",
    "claim-taken": "the type is as declared",
}


@record
class Constraint:
    """An equality or inequality of dims that holds in every run that works."""

    relation: str
    """`==` or `>=`."""
    a: Dim
    b: Dim
    place: str
    """The value that declares it, or the node it follows from; with the way there."""

    def __str__(self) -> str:
        return f"{self.a} {self.relation} {self.b} ({self.place})"


class Inference:
    """The outcome of `infer_shapes`."""

    __slots__ = ("_assumptions", "_constraints", "activation", "engine", "events", "issues", "model", "naming")

    def __init__(self, engine: Engine, activation: Activation, naming: Naming, model: Model) -> None:
        self.engine = engine
        self.activation = activation
        self.naming = naming
        self.model = model
        """The model, every node the same object, with its table of types filled."""
        self.issues: tuple[Issue, ...] = tuple(engine.issues)
        """What is wrong or odd, in the order in which it was met."""
        self._assumptions: tuple[Assumption, ...] | None = None  # worded when they are asked for
        self._constraints: tuple[Constraint, ...] | None = None
        self.events: tuple[Event, ...] = () if engine.log is None else tuple(engine.log.events)
        """The log, when it was asked for."""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the types depend on; each once, with the first place that needed it."""
        if self._assumptions is None:
            self._assumptions = tuple(assumptions(self.engine, self.naming))
        return self._assumptions

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What claims and operators say of dims beyond that; bodies' and functions' too."""
        if self._constraints is None:
            self._constraints = tuple(constraints(self.engine, self.naming))
        return self._constraints

    def coverage(self) -> Coverage:
        """Return how much is known of the values of the main graph and its bodies."""
        from sardonyx.infer.coverage import cover

        return cover(self)

    def explain(self, value: Value | str, dim: int | None = None) -> Explanation:
        """Return why a value has the type it has, step by step from the graph's inputs; `dim` asks about one axis.

        `value` may be the name of a value of the main graph, or of a body when no other has that name.

        Raises:
            ValueError: there is no such value, or it has no such axis.
        """
        from sardonyx.infer.explain import explain

        return explain(self, value, dim)

    @property
    def frames(self) -> Frames:
        """Every activation: path to `Frame`; the main graph is at `()`. A path is made of (node index, attribute)."""
        return Frames(self)

    def frame(self, *steps: tuple[Node | int, str | None]) -> Frame:
        """Return the activation that some steps lead to: (node or its index, attribute), None for a function call.

        Raises:
            KeyError: a step leads nowhere.
        """
        return find_frame(self, steps)

    def __repr__(self) -> str:
        return f"<Inference of {self.model!r}: {len(self.issues)} issues>"


def infer_shapes(
    model: Model,
    *,
    mode: str = "permissive",
    assume: str | None = None,
    bind: Mapping[str, int] | None = None,
    events: bool | Callable[[Event], None] = False,
    limits: Limits | None = None,
    defaults: str = "keep",
) -> Inference:
    """Infer element type and shape of every value, in bodies and functions too; what is said is true of every run.

    Args:
        model: stays as it is; the result's model shares every node with it.
        mode: `"permissive"` records what is wrong as issues and goes on; `"strict"` raises the first error.
        assume: `"unify"` lets names that an operator would like to be equal become one.
        bind: sizes of dims by their names in the model's inputs, put in before anything is inferred.
        events: True keeps a log of every step (`Inference.events`); a function is called with each step instead.
        limits: upper bounds on what inference may cost; `max_frames` counts walks of bodies and functions.
        defaults: `"keep"` uses the elements of initializers that a caller could override, and notes that as an
            assumption; `"open"` does not.

    Raises:
        OnnxError: in strict mode, the first contradiction.
        ValueError: an argument means nothing, or `bind` names a dim that no input has.
    """
    for given, possible, name in (
        (mode, ("permissive", "strict"), "mode"),
        (assume, (None, "unify"), "assume"),
        (defaults, ("keep", "open"), "defaults"),
    ):
        if given not in possible:
            raise ValueError(f"{name}={given!r} is none of {', '.join(map(repr, possible))}")
    log: Log | None = None
    make: type[Engine] = Engine
    if events:
        from sardonyx.infer.events import Log, NotingEngine

        log, make = Log(events if callable(events) else None), NotingEngine
    engine = make(
        model,
        strict=mode == "strict",
        open_defaults=defaults == "open",
        limits=limits or DEFAULT,
        unify=assume == "unify",
        log=log,
    )
    collects = gc.isenabled()
    gc.disable()  # many objects and no garbage: collections would cost as much as the work
    try:
        return concluded(engine, bind)
    finally:
        if collects:
            gc.enable()


def concluded(engine: Engine, bind: Mapping[str, int] | None) -> Inference:
    """Run an engine to the end, and put what it found together."""
    model = engine.model
    graph = model.graph
    types = input_types(engine, graph)
    if bind:
        types, claims = bound(engine, types, bind)
        activation = engine.run_main(types, claims=claims)
    else:
        activation = engine.run_main(types)
    naming = Naming(engine)
    for one in activations(engine, activation):
        naming.table(one.types)
    for value, kind in graph.types.items():  # of bodies that nothing walked, what the file says
        if value not in activation.types:
            activation.types[value] = kind
    functions = typed_functions(engine, activation)
    made_model: Model = replace(model, graph=replace(graph, types=activation.types), functions=functions)
    return Inference(engine, activation, naming, made_model)


def activations(engine: Engine, main: Activation) -> Iterable[Activation]:
    """Return all activations: those that frames lead to, in the order of their calls, then what was walked in vain."""
    found: dict[Activation, None] = {}
    waiting = [main]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found[one] = None
            if one.calls:
                waiting += reversed([callee for callee, _ in one.calls.values()])
            if one.foreign:
                waiting += one.foreign.values()
    for plan in engine.plans.values():
        for one in plan.activations:
            if one not in found:
                found[one] = None
            if one.foreign:
                found.update(dict.fromkeys(one.foreign.values()))
    return found


def input_types(engine: Engine, graph: Graph) -> dict[Value, Type]:
    """Return the types of the main graph's inputs: facts. Before IR 4 one that has a default is a constant."""
    found: dict[Value, Type] = {}
    constants = graph.initializers if engine.model.ir_version < 4 else {}
    for value in graph.inputs:
        kind = graph.types.get(value)
        if kind is not None and value not in constants:
            found[value] = kind
    dims = dims_in(found.values())
    engine.scope.begin(dims)
    types = {value: given(engine, kind) for value, kind in found.items()}
    if any(new is not old for new, old in zip(types.values(), found.values(), strict=True)):
        dims = dims_in(types.values())
    engine.scope.number(dims)
    return types


def dims_in(types: Iterable[Type]) -> set[Dim]:
    """Return the symbolic dims anywhere in some types."""
    found: set[Dim] = set()

    def collect(dim: Dim) -> Dim:
        found.add(dim)
        return dim

    for kind in types:
        if type(kind) is TensorType and kind.shape is not None:  # most inputs
            found.update([dim for dim in kind.shape if not isinstance(dim, int)])
        else:
            mapped(kind, collect)
    return found


def given(engine: Engine, kind: Type) -> Type:
    """Return the type of an input as inference uses it: a sequence has a length, its elements differ where unnamed."""
    if isinstance(kind, SequenceType):
        return SequenceType(each(engine, kind.elem), None, engine.scope.fresh("length"))
    if isinstance(kind, OptionalType) and kind.elem is not None:
        return OptionalType(given(engine, kind.elem))
    return kind


def bound(
    engine: Engine, types: Mapping[Value, Type], bind: Mapping[str, int]
) -> tuple[dict[Value, Type], dict[Value, Type]]:
    """Return the types of inputs, and the claims, with sizes put in for symbols."""
    names = {symbol.name: symbol for dim in engine.scope.input_dims for symbol in dim.symbols if not symbol.anonymous}  # type: ignore[union-attr]
    sizes: dict[Symbol, Dim] = {}
    for name, size in bind.items():
        if name not in names:
            known = ", ".join(sorted(names)) or "none"
            raise ValueError(f"no input has a dim named {name!r}; those that are named: {known}")
        if isinstance(size, bool) or not hasattr(size, "__index__") or not 0 <= size <= DIM_MAX:
            raise ValueError(f"{name}={size!r} is no size")
        sizes[names[name]] = index(size)
    scope = engine.scope
    found: dict[Dim, Dim] = {}

    def put(dim: Dim) -> Dim:
        if dim not in found:
            try:
                found[dim] = scope.substitute(dim, sizes)
            except (TooLarge, ValueError, ZeroDivisionError):  # `5//n` where n is 0: no run has it
                found[dim] = scope.fresh()
        return found[dim]

    claims = {value: mapped(kind, put) for value, kind in engine.model.graph.types.items()}
    scope.input_dims = frozenset(put(dim) for dim in scope.input_dims)
    return {value: mapped(kind, put) for value, kind in types.items()}, claims


def assumptions(engine: Engine, naming: Naming) -> list[Assumption]:
    """Return what was assumed, by final names; what is plain then is left out."""
    found: dict[tuple[str, Dim, Dim], Assumption] = {}
    for (kind, a, b), place in engine.assumptions.items():
        left = a if kind == "claim-taken" else naming.dim(a)
        right = naming.dim(b)
        if kind in ("joined-dims", "reshape-zero") and left == right:
            continue
        found.setdefault((kind, left, right), Assumption(kind, left, right, worded(place)))
    return list(found.values())


def constraints(engine: Engine, naming: Naming) -> list[Constraint]:
    """Return what must hold, by final names; what is plain then is left out."""
    found: dict[tuple[str, Dim, Dim], Constraint] = {}
    for (relation, a, b), place in engine.constraints.items():
        left, right = naming.dim(a), naming.dim(b)
        if left == right or reads_alike(left, right):
            continue
        if isinstance(left, int) and isinstance(right, int) and relation == ">=" and left >= right:
            continue
        found.setdefault((relation, left, right), Constraint(relation, left, right, worded(place)))
    return list(found.values())


def reads_alike(a: Dim, b: Dim) -> bool:
    """Whether an opaque name is what an expression prints as, which an inference that was saved has written."""
    return isinstance(a, Expr) and isinstance(b, Symbol) and not b.anonymous and str(a) == b.name


def worded(place: Spot | Value) -> str:
    """Word where something was noted."""
    if not isinstance(place, tuple):
        return f"value {place.name!r}"
    level, index, node = place
    way = level.text
    label = "" if node is None else node_label(node.name, node.op_type, index)
    return f"{way}, {label}" if way and label else way or label
