"""Check that a graph is built as graphs must be: scopes, order, single definition.

What operators require is not looked at. `sx.check` reports these findings, and the tests run them after every pass.
"""

from __future__ import annotations

from sardonyx.errors import Issue, Place, node_label
from sardonyx.ir.attrs import AttrRef
from sardonyx.ir.graph import Model
from sardonyx.ir.walk import bodies_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sardonyx.ir.graph import Graph, Node, Value

    Inner = tuple[Graph, str | None]


def verify(whole: Model | Graph) -> list[Issue]:
    """Return what is wrong with the structure of a model or graph; nothing is raised, [] is sound.

    Errors: `value-twice`, `value-undefined`, `out-of-scope`, `not-sorted`, `reference-outside-function`, and the
    faults that a function was read with. Warnings (files with these are
    read): `name-shadowed`, `captured-output`, `type-stray`. A body given on its own has undefined captures.
    """
    if not isinstance(whole, Model):
        return Walk(whole, None, in_function=False).run()
    issues = Walk(whole.graph, None, in_function=False).run()
    for function in whole.functions.values():
        label = f"function {function.label}"
        if function.faults:
            issues += (fault.within(Place(graph=label)) for fault in function.faults)
        else:
            issues += Walk(function.body, label, in_function=True).run()
    if whole.source is not None:
        issues = [issue.within(Place(source=whole.source)) for issue in issues]
    return issues


class Walk:
    """One outermost graph being checked, bodies included, without recursion."""

    def __init__(self, root: Graph, label: str | None, in_function: bool) -> None:
        self.root = root
        self.label = label
        self.in_function = in_function
        self.issues: list[Issue] = []
        self.visible: set[Value] = set()
        """What the graph at hand and those around it have defined so far."""
        self.names: dict[str, Value] = {}
        """The same by name; of a shadowed name, the inner value."""
        self.home = {value: graph for graph in (*bodies_within(root.nodes), root) for value in graph.values}
        """The graph that defines each value."""
        self.open: set[Graph] = set()
        """The graph at hand and those around it."""
        self.defined: set[Value] = set()
        """What was defined so far anywhere, to find a value with two definitions."""

    def run(self) -> list[Issue]:
        """Walk every graph and return the findings in order of the walk."""
        waiting = [self.graph(self.root, self.label)]
        while waiting:
            inner = next(waiting[-1], None)
            if inner is None:
                waiting.pop()
            else:
                waiting.append(self.graph(*inner))
        for value in self.root.types:
            if value not in self.home:
                self.note("type-stray", "a type is recorded for it, but no graph defines it", value, "warning")
        return self.issues

    def graph(self, graph: Graph, label: str | None) -> Iterator[Inner]:
        """Check one graph, handing out each body at the point of its node."""
        mine: set[Value] = set()
        own: dict[str, Value] = {}
        covered: dict[str, Value] = {}
        place = Place(graph=label)
        self.open.add(graph)

        def define(value: Value, place: Place) -> None:
            if not value.name:  # it gets a name when it is written
                pass
            elif value.name in own:
                self.note("value-twice", "the graph already defines this name", value, place=place)
            elif value.name in self.names:
                self.note("name-shadowed", "the name is visible from outside", value, "warning", place)
            if value.name in self.names and value.name not in own:
                covered[value.name] = self.names[value.name]
            if value in self.defined and value not in mine:
                self.note("value-twice", "the value is defined in another graph too", value, place=place)
            own[value.name] = self.names[value.name] = value
            mine.add(value)
            self.visible.add(value)
            self.defined.add(value)

        for value in graph.inputs:
            define(value, place)
        inputs = set(graph.inputs)
        for value in graph.initializers:
            if value not in inputs:
                define(value, place)
        for value in graph.sparse_initializers:
            define(value, place)
        for at, node in enumerate(graph.nodes):
            here = Place(graph=label, node=node_label(node.name, node.op_type, at))
            for read in node.inputs:
                if read is not None and read not in self.visible:
                    self.missing("an input", read, here)
            if not self.in_function:
                self.check_references(node, here)
            for name, held in node.bodies.items():
                inside = f"{here.node}.{name}" if label is None else f"{label} > {here.node}.{name}"
                if isinstance(held, tuple):
                    for i, body in enumerate(held):
                        yield body, f"{inside}[{i}]"
                else:
                    yield held, inside
            for made in node.outputs:
                if made is not None:
                    define(made, here)
        for value in graph.outputs:
            if value not in self.visible:
                self.missing("a graph output", value, place)
            elif value not in mine:
                self.note("captured-output", "the output is a value of a graph around this", value, "warning", place)
        self.open.discard(graph)
        self.visible -= mine
        for name in own:
            if name in covered:
                self.names[name] = covered[name]
            else:
                del self.names[name]

    def missing(self, what: str, value: Value, place: Place) -> None:
        """Say why a value cannot be read here."""
        home = self.home.get(value)
        if home is None:
            self.note("value-undefined", f"{what} is defined nowhere", value, place=place)
        elif home in self.open:
            self.note("not-sorted", f"{what} is defined by this node or a later one", value, place=place)
        else:
            self.note("out-of-scope", f"{what} is defined in a graph that is not around this one", value, place=place)

    def check_references(self, node: Node, place: Place) -> None:
        """Report references to a function's attributes where there is no function."""
        for attr in node.attrs.values():
            if isinstance(attr, AttrRef):
                place = Place(graph=place.graph, node=place.node, attribute=attr.name)
                self.note("reference-outside-function", f"it refers to {attr.ref!r} of a function", place=place)

    def note(
        self,
        code: str,
        message: str,
        value: Value | None = None,
        severity: str = "error",
        place: Place | None = None,
    ) -> None:
        """Record a finding about a value."""
        at = Place(graph=self.label) if place is None else place
        if value is not None:
            at = Place(graph=at.graph, node=at.node, value=value.name)
        self.issues.append(Issue(code, message, at, severity=severity))
