"""Make copies of compiled functions: fresh values and nodes, attributes bound, bodies included."""

from __future__ import annotations

from itertools import repeat

from sardonyx.errors import error, node_label
from sardonyx.ir.attrs import Attr, AttrKind, AttrRef
from sardonyx.ir.graph import EMPTY, NOTHING, Declared, Details, Graph, Node, Value, body_list
from sardonyx.passes.inlining.plan import LISTED, LONGEST, Call, label
from sardonyx.passes.inlining.symbols import Symbols
from sardonyx.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from sardonyx.dims import Symbol
    from sardonyx.errors import OnnxError
    from sardonyx.ir.graph import Function, Model
    from sardonyx.ir.names import Names
    from sardonyx.ir.source import Origin
    from sardonyx.ir.types import Type
    from sardonyx.passes.inlining.opsets import Opsets
    from sardonyx.passes.inlining.plan import Compiler, Plan, Row, Slots, Special

    Pending = Sequence[tuple[Value, Value]]
    T = TypeVar("T")

KEY = "sardonyx.inlined_from"
"""The metadata key under which an inlined node says where it came from."""


class Inlined(Details):
    """Details of an inlined node: those of the node in the function, and where the copy came from."""

    __slots__ = ("inner", "text", "trail")

    def __init__(self, inner: Details, text: str, trail: str = "") -> None:
        self.inner = inner
        self.text = text
        self.trail = trail

    @property
    def doc_string(self) -> str:
        """The documentation of the node in the function."""
        return self.inner.doc_string

    @property
    def metadata(self) -> Mapping[str, str]:
        """Its metadata, and the calls that led here, outermost first: `call (function) > call (function)`."""
        known = self.inner.metadata
        steps = (self.text, self.trail, known.get(KEY, ""))
        return {**known, KEY: " > ".join([step for step in steps if step])}


class Frame:
    """What a text means at one place: of a function at one call, or of the main graph."""

    __slots__ = ("depth", "details", "env", "outer", "prefix", "site", "symbols", "text")

    def __init__(
        self,
        site: Call | None,
        env: Mapping[str, Attr | Passed] | None,
        prefix: str,
        text: str,
        depth: int,
        outer: Frame | None,
    ) -> None:
        self.site = site
        """The call; None for the main graph."""
        self.env = env
        """The attributes that the call gives or has a default for; None where there are none to refer to."""
        self.prefix = prefix
        """What fresh names start with."""
        self.text = text
        """The calls that led here, for `sardonyx.inlined_from`."""
        self.details: Details = Inlined(NOTHING, text) if text else NOTHING
        self.depth = depth
        """How many calls led here."""
        self.outer = outer
        """Where the call stands."""
        self.symbols: dict[Symbol, Symbol] | None = None
        """The symbols of the text that stand for other ones here."""


MAIN = Frame(None, None, "", "", 0, None)


class Passed:
    """A graph-valued attribute on its way into a function, with the scope in which it was written."""

    __slots__ = ("attr", "frame", "plans", "slots")

    def __init__(self, attr: Attr, plans: tuple[Plan, ...], slots: Slots, frame: Frame | None) -> None:
        self.attr = attr
        self.plans = plans
        self.slots = slots
        """The values of the graph around it, from which the plans pick what they capture."""
        self.frame = frame
        """Where it was written; None for a default, which sees nothing."""


class Inliner:
    """Puts function bodies in the place of calls, for one model."""

    def __init__(
        self,
        model: Model,
        names: Names,
        compiler: Compiler,
        opsets: Opsets,
        omit_missing: bool,
    ) -> None:
        self.model = model
        self.names = names
        self.compiler = compiler
        self.functions = compiler.functions
        self.targets = compiler.calls.targets
        self.holders = compiler.calls.holders()
        self.opsets = opsets
        self.omit_missing = omit_missing
        self.known = model.graph.types
        self.symbols = Symbols(model)
        self.types: dict[Value, Type] = {}
        """What was found out about values that had no type."""
        self.number = 0
        """Calls inlined so far: the K of `__fn{K}_`."""
        self.made = 0
        """Nodes made so far, those in bodies counted."""
        self.identities = 0
        """Boundary copies made so far."""
        self.renamed: dict[tuple[Attr, str], Attr] = {}
        self.vanished: list[Node] = []
        """Calls whose graphs were copied or not used, and are gone."""

    # ------------------------------------------------------------------ the graphs of the model

    def nodes(self, graph: Graph) -> list[Node]:
        """Return the nodes of the main graph or a body of it, calls inlined; recurses over bodies, as files nest."""
        out: list[Node] = []
        targets, holders = self.targets, self.holders
        for at, node in enumerate(graph.nodes):
            function = targets.get(node)
            if function is not None:
                self.call(node, at, function, out)
            elif node.bodies and holders:
                out.append(self.with_bodies(node))
            else:
                out.append(node)
        return out

    def with_bodies(self, node: Node) -> Node:
        """Return a node of the model with the calls in its bodies inlined; the same node when there are none."""
        changed = {}
        for name, held in node.bodies.items():
            listed = held if isinstance(held, tuple) else (held,)
            if any(body in self.holders for body in listed):
                new = tuple([self.rewritten(body) if body in self.holders else body for body in listed])
                changed[name] = replace(node.attrs[name], content=new if isinstance(held, tuple) else new[0])
        return node.replace(attrs={**node.attrs, **changed}) if changed else node

    def rewritten(self, graph: Graph) -> Graph:
        """Return a graph of the model with calls inlined: the same inputs and outputs, other nodes."""
        made: Graph = replace(graph, nodes=tuple(self.nodes(graph)))
        return made

    def call(self, node: Node, at: int, function: Function, out: list[Node]) -> None:
        """Inline a call that stands in the main graph or in a body of it."""
        callee = self.functions[function]
        bodies: dict[str, tuple[Plan, ...]] = {}
        slots: Slots = ()
        if node.bodies:
            self.vanished.append(node)
            captured = tuple(dict.fromkeys(value for body in body_list(node) for value in body.captures))
            bodies = self.compiler.bodies_of_model(node, captured)
            slots = (*captured, None)
        site = Call(node, callee, label(node, at, function), bodies)
        inner, frame, prefixes, pending = self.enter(site, node.inputs, node.outputs, MAIN, slots)
        before = len(out)
        self.expand(callee.plan, inner, frame, prefixes, pending, out)
        self.made += len(out) - before

    # ------------------------------------------------------------------ copies

    def expand(
        self, plan: Plan, slots: Slots, frame: Frame, prefixes: list[str], pending: Pending, out: list[Node]
    ) -> None:
        """Append the nodes of one copy, calls in it followed; only bodies recurse.

        The order of the result is that of the text, with each call replaced by what it stands for.
        """
        append, new = out.append, object.__new__
        stack = []
        rows, details = self.begin(plan, frame, prefixes)
        while True:
            for (special, part, op_type, domain, overload, inputs, outputs, attrs), name in rows:
                if special is None:
                    node = new(Node)  # field by field: half the time of Node(...), and most of the time here is this
                    node.op_type = op_type
                    node.inputs = inputs(slots)
                    node.outputs = outputs(slots)
                    node.attrs = attrs
                    node.domain = domain
                    node.overload = overload
                    node.name = name
                    node.bodies = EMPTY
                    node.details = details[part]
                    node.origin = None
                    append(node)
                elif isinstance(special, Call):
                    stack.append((rows, details, slots, frame, pending))
                    slots, frame, prefixes, pending = self.enter(special, inputs(slots), outputs(slots), frame, slots)
                    rows, details = self.begin(special.callee.plan, frame, prefixes)
                    break
                else:
                    held = self.attributes(special, attrs, frame, slots)
                    node = Node(
                        op_type,
                        inputs(slots),
                        outputs(slots),
                        held,
                        domain=domain,
                        overload=overload,
                        name=name,
                        bodies=None if special.may_hold else EMPTY,
                        details=details[0] if special.details is NOTHING else self.details(special, frame),
                    )
                    if special.versions is not None:
                        self.opsets.check(node, special.versions, owner(frame))
                    append(node)
            else:
                for source, target in pending:
                    append(self.identity(source, target, frame))
                if not stack:
                    return
                rows, details, slots, frame, pending = stack.pop()

    def begin(self, plan: Plan, frame: Frame, prefixes: list[str]) -> tuple[Iterator[tuple[Row, str]], list[Details]]:
        """Return the rows of a plan with fresh names for their nodes, and the details for each part of it."""
        plan.uses += 1
        details = [frame.details]
        if len(plan.parts) > 1:
            text = frame.text
            details += [Inlined(NOTHING, text, trail) for trail in plan.trails[1:]]
        if not plan.is_named:
            return zip(plan.rows, repeat(""), strict=False), details
        names = [prefixes[part] + name if name else "" for part, name in plan.node_names]
        taken = self.names.nodes
        if plan.repeats or not taken.isdisjoint(names):
            fresh = self.names.fresh_node
            names = [name and fresh(name) for name in names]
        else:
            taken.update(names)
        return zip(plan.rows, names, strict=True), details

    def prefixes(self, count: int) -> list[str]:
        """Number the next calls, and return what their fresh names start with."""
        number = self.number
        self.number = number + count
        return [f"__fn{number + at}_" for at in range(count)]

    def values(self, plan: Plan, prefixes: list[str]) -> Iterable[Value]:
        """Return fresh values for a copy."""
        if not plan.locals:
            return ()
        names = [prefixes[part] + name for part, name in plan.locals]
        taken = self.names.values
        if plan.repeats or not taken.isdisjoint(names):
            fresh = self.names.fresh
            names = [fresh(name) for name in names]
        else:
            taken.update(names)
        return map(Value, names)

    def enter(
        self, site: Call, given: Slots, wanted: Slots, outer: Frame, around: Slots
    ) -> tuple[Slots, Frame, list[str], Pending]:
        """Begin a copy of a function: give values to its slots, and find which copies its outputs need.

        Raises:
            OnnxError: InvalidModel, code `too-many-actuals`, or what the attributes or outputs say.
        """
        callee = site.callee
        plan = callee.plan
        arity = callee.arity
        if len(given) != arity:
            if len(given) > arity:
                raise self.surplus("input", len(given), arity, site, outer)
            given += (None,) * (arity - len(given))
        prefixes = self.prefixes(len(plan.parts))
        depth = outer.depth + 1
        if depth == 1:
            text = site.label
        else:
            text = f"{outer.text} > {site.label if depth <= LISTED else '...'}" if depth <= LISTED + 1 else outer.text
        env = site.env
        if env is None:
            env = self.environment(site, outer, around)
        frame = Frame(site, env, prefixes[0], text, depth, outer)
        pending: Pending = ()
        if not (callee.simple and len(wanted) == len(callee.returns) and None not in wanted):
            wanted, pending = self.results(site, given, wanted, frame)
        slots = (*given, *wanted, *self.values(plan, prefixes), None)
        if plan.types:
            self.note_types(plan, slots, frame)
        return slots, frame, prefixes, pending

    def results(self, site: Call, given: Slots, wanted: Slots, frame: Frame) -> tuple[Slots, list[tuple[Value, Value]]]:
        """Give values to the slots of the results; return them, and the (source, target) of each copy that is needed.

        A result is the value of the first actual output that asks for it, or a fresh value when none does: the body may
        read it all the same. Whoever asks again, or asks for a formal input, gets a copy.

        Raises:
            OnnxError: InvalidModel, code `too-many-actuals` or `absent-returned`.
        """
        callee = site.callee
        if len(wanted) > len(callee.returns):
            raise self.surplus("output", len(wanted), len(callee.returns), site, frame.outer)
        arity = callee.arity
        found: list[Value | None] = [None] * len(callee.results)
        pending: list[tuple[Value, Value]] = []
        for position, target in enumerate(wanted):
            if target is None:
                continue
            slot = callee.returns[position]
            source = given[slot] if slot < arity else found[slot - arity]
            if source is not None:
                pending.append((source, target))
            elif slot < arity:
                function = callee.function
                raise error(
                    "absent-returned",
                    f"function {function.label} returns its input {function.inputs[slot]!r} as output "
                    f"{function.outputs[position]!r}, but the call leaves that input out",
                    source=self.model.source,
                    **place(site, frame.outer),
                )
            else:
                found[slot - arity] = target
        for at, name in enumerate(callee.results):
            if found[at] is None:
                found[at] = self.names.value(frame.prefix + name[:LONGEST])
        return tuple(found), pending

    def surplus(self, what: str, actual: int, formal: int, site: Call, outer: Frame | None) -> OnnxError:
        """Build the error for a call with more inputs or outputs than the function has."""
        plural = "" if formal == 1 else "s"
        return error(
            "too-many-actuals",
            f"the call has {actual} {what}s, function {site.callee.function.label} has {formal} formal {what}{plural}",
            source=self.model.source,
            **place(site, outer),
        )

    def identity(self, source: Value, target: Value, frame: Frame) -> Node:
        """Make a boundary copy."""
        self.identities += 1
        name = self.names.fresh_node(frame.prefix + "Identity")
        return Node("Identity", (source,), (target,), name=name, bodies=EMPTY, details=frame.details)

    def note_types(self, plan: Plan, slots: Slots, frame: Frame) -> None:
        """Take over what the text says of values that nothing is said of yet; symbols of the text become new ones."""
        known, types = self.known, self.types
        if frame.symbols is None:
            frame.symbols = {}
        for at, kind in plan.types:
            value = slots[at]
            if at >= plan.outer and value is not None and value not in known and value not in types:
                types[value] = self.symbols.localized(kind, frame.symbols)

    # ------------------------------------------------------------------ attributes

    def environment(self, site: Call, outer: Frame, around: Slots) -> dict[str, Attr | Passed]:
        """Return the attributes that a function sees: those of the call, for the rest its defaults."""
        env = dict(site.callee.defaults)
        for name, attr in site.node.attrs.items():
            if isinstance(attr, AttrRef):
                bound = self.bound(attr, outer, site.node)
                if bound is not None:
                    env[name] = bound
            elif name in site.bodies:
                env[name] = Passed(attr, site.bodies[name], around, outer)
            else:
                env[name] = attr
        return env

    def bound(self, attr: AttrRef, frame: Frame, node: Node) -> Attr | Passed | None:
        """Return what a reference stands for; None when the attribute is to be left out.

        Raises:
            OnnxError: InvalidModel, code `attribute-not-given`, `attribute-kind` or `reference-outside-function`.
        """
        site = frame.site
        if frame.env is None or site is None:
            raise error(
                "reference-outside-function",
                f"the attribute refers to {attr.ref!r}, but it is not written in the nodes of a function",
                source=self.model.source,
                node=node_label(node.name, node.op_type),
                attribute=attr.name,
            )
        found = frame.env.get(attr.ref)
        if found is None and not self.omit_missing and attr.ref in site.callee.required:
            raise error(
                "attribute-not-given",
                f"function {site.callee.function.label} needs its attribute {attr.ref!r}, which the call does not give",
                source=self.model.source,
                attribute=attr.ref,
                hint='give it, or leave out what refers to it with missing_attributes="omit"',
                **place(site, frame.outer),
            )
        given = found.attr if isinstance(found, Passed) else found
        if given is not None and attr.kind is not AttrKind.UNDEFINED and given.kind is not attr.kind:
            raise error(
                "attribute-kind",
                f"attribute {attr.ref!r} of function {site.callee.function.label} is given as {given.kind.name}, "
                f"but {attr.name!r} of its node {node_label(node.name, node.op_type)} is {attr.kind.name}",
                source=self.model.source,
                attribute=attr.ref,
                **place(site, frame.outer),
            )
        return found

    def attributes(
        self, row: Special, attrs: Mapping[str, Attr | AttrRef], frame: Frame, slots: Slots
    ) -> dict[str, Attr | AttrRef]:
        """Return the attributes of a node: references bound, graphs copied."""
        found: dict[str, Attr | AttrRef] = {}
        for key, attr in attrs.items():
            if isinstance(attr, AttrRef):
                bound = self.bound(attr, frame, row.node)
                if bound is not None:
                    found[key] = self.placed(bound, key, frame)
            elif key in row.bodies:
                bodies = tuple([self.body(plan, slots, frame) for plan in row.bodies[key]])
                found[key] = Attr(key, attr.kind, of_kind(attr, bodies), changed(attr))
            else:
                found[key] = attr
        return found

    def details(self, row: Special, frame: Frame) -> Details:
        """Return the details of a node that has some of its own."""
        return Inlined(row.details, frame.text) if frame.text else row.details

    def placed(self, bound: Attr | Passed, name: str, frame: Frame) -> Attr:
        """Return an attribute under the name that a node gives it; a graph is copied each time."""
        if isinstance(bound, Attr):
            if bound.name == name:
                return bound
            made = self.renamed.get((bound, name))
            if made is None:
                made = self.renamed[bound, name] = Attr(name, bound.kind, bound.content, changed(bound))
            return made
        written = bound.frame
        if written is None:
            written = Frame(frame.site, None, frame.prefix, frame.text, frame.depth, frame.outer)
        else:
            written = Frame(written.site, written.env, frame.prefix, written.text, written.depth, written.outer)
        bodies = tuple([self.body(plan, bound.slots, written) for plan in bound.plans])
        return Attr(name, bound.attr.kind, of_kind(bound.attr, bodies), changed(bound.attr))

    def body(self, plan: Plan, around: Slots, frame: Frame) -> Graph:
        """Copy a body: all that it defines is fresh, what it captures is picked from the slots around it.

        A body must not return what it captures (checker and runtimes refuse that), so such an output gets an Identity.

        Raises:
            OnnxError: InvalidModel, code `absent-returned`.
        """
        graph = plan.graph
        prefixes = [frame.prefix, *self.prefixes(len(plan.parts) - 1)]
        slots: Slots = (*plan.captured(around), *self.values(plan, prefixes), None)
        if plan.types:
            self.note_types(plan, slots, frame)
        nodes: list[Node] = []
        self.expand(plan, slots, frame, prefixes, (), nodes)
        outputs = plan.outputs(slots)
        for position in plan.returned:
            source, value = outputs[position], graph.outputs[position]
            if source is None:
                raise self.absent(value, frame)
            target = self.names.value(frame.prefix + value.name[:LONGEST])
            nodes.append(self.identity(source, target, frame))
            outputs = (*outputs[:position], target, *outputs[position + 1 :])
        self.made += len(nodes)
        dense, sparse = graph.initializers, graph.sparse_initializers
        return Graph(
            graph.name,
            plan.inputs(slots),  # type: ignore[arg-type]  # a body defines its inputs
            outputs,  # type: ignore[arg-type]  # and by now its outputs
            tuple(nodes),
            constants(dense, plan, slots) if dense else EMPTY,
            constants(sparse, plan, slots) if sparse else EMPTY,
            declared=declared(plan, slots, outputs) if plan.declared else (),
            details=graph.details,
        )

    def absent(self, value: Value, frame: Frame) -> OnnxError:
        """Build the error for a body that returns a formal input which the call leaves out."""
        return error(
            "absent-returned",
            f"a body returns {value.name!r}, an input of the function that the call leaves out",
            source=self.model.source,
            value=value.name,
            **({} if frame.site is None else place(frame.site, frame.outer)),
        )


def of_kind(attr: Attr, bodies: tuple[Graph, ...]) -> Graph | tuple[Graph, ...]:
    """Return graphs as the value of an attribute: a tuple for GRAPHS, else the only one."""
    return bodies if attr.kind is AttrKind.GRAPHS else bodies[0]


def changed(attr: Attr) -> Origin | None:
    """Return the origin of an attribute, no longer vouching for it byte by byte; its documentation is still there."""
    return None if attr.origin is None else attr.origin.changed()


def declared(plan: Plan, slots: Slots, outputs: Slots) -> tuple[Declared, ...]:
    """Return the declarations of a body, made to be about the values of a copy."""
    found = []
    following = iter(outputs)
    for slot, one in plan.declared:
        value = next(following, None) if slot is None else slots[slot]
        if value is not None:
            found.append(Declared(one.role, value.name, value, one.type, one.details, one.origin))
    return tuple(found)


def constants(table: Mapping[Value, T], plan: Plan, slots: Slots) -> Mapping[Value, T]:
    """Return the constants of a body, by the values of a copy."""
    found: dict[Value, T] = {}
    for old, constant in table.items():
        value = slots[plan.slots[old]]
        if value is not None:
            found[value] = constant
    return found


def owner(frame: Frame) -> str | None:
    """Word the function whose text is being copied, as places of errors do."""
    return None if frame.site is None else f"function {frame.site.callee.function.label}"


def place(site: Call, outer: Frame | None) -> dict[str, Any]:
    """Say where a call stands."""
    node = node_label(site.node.name, site.node.op_type)
    return {"graph": None if outer is None else owner(outer), "node": node}
