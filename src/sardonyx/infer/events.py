"""Keep a log of every step of an inference, or hand each step to a function as it happens (decision S10)."""

from __future__ import annotations

from sardonyx.infer.engine import Engine
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sardonyx.infer.activation import Activation, Level, Step
    from sardonyx.infer.engine import Cursor
    from sardonyx.infer.notes import Notes
    from sardonyx.ir.graph import Graph, Node, Value

KINDS = ("typed", "refined", "done", "constraint", "bound", "branch", "joined", "issue")


@record
class Event:
    """One step."""

    kind: str
    """`typed`, `refined` (a claim changed a type), `done` (a node), `constraint`, `bound`, `branch`
    (an If takes one), `joined` (a Loop or Scan joins a state with what an iteration makes of it), `issue`."""
    level: Level
    """The place in the nest of graphs."""
    node: Node | None
    """The node in hand."""
    index: int
    """Its position in its graph."""
    value: Value | None
    """The value that was typed, or whose claim says something."""
    before: object
    """The type, or the one side of a relation, that was known before."""
    after: object
    """The type, the other side of the relation, the branch, or the issue."""
    used: tuple[Value, ...] = ()
    """The values that the step used."""

    @property
    def path(self) -> tuple[Step, ...]:
        """The frame: (node index, attribute) for each level; found when asked for, as it may be long."""
        return self.level.path

    def __str__(self) -> str:
        name = "" if self.value is None else f" {self.value.name}"
        arrow = f"{self.before} -> {self.after}" if self.before is not None else f"{self.after}"
        return f"{self.kind}{name}: {arrow}"


class Log:
    """The events of one inference; those of passes that turn out not to count are taken back."""

    def __init__(self, stream: Callable[[Event], None] | None) -> None:
        self.stream = stream
        self.events: list[Event] = []

    def note(
        self,
        engine: Notes,
        kind: str,
        value: Value | None,
        before: object,
        after: object,
        used: tuple[Value, ...] = (),
    ) -> None:
        """Append an event."""
        node = None if engine.activation is None else engine.activation.call.node
        self.events.append(Event(kind, engine.level, node, engine.index, value, before, after, used))
        if self.stream is not None and not engine.tentative:
            self.flush()

    def entered(self, engine: Notes, graph: Graph, activation: Activation) -> None:
        """Note what a graph begins with: its inputs and constants."""
        node, activation.call.node = activation.call.node, None  # type: ignore[assignment]
        for value in (*graph.inputs, *graph.initializers, *graph.sparse_initializers):
            if value in activation.types:
                self.note(engine, "typed", value, None, activation.types[value])
        activation.call.node = node

    def done(self, engine: Notes, node: Node, activation: Activation) -> None:
        """Note what is known after a node."""
        used = tuple(value for value in node.inputs if value is not None)
        for value in node.outputs:
            if value is not None and value in activation.types:
                self.note(engine, "typed", value, None, activation.types[value], used)
        self.note(engine, "done", None, None, node.op, used)

    def flush(self) -> None:
        """Hand over what stands from now on."""
        if self.stream is not None:
            events, self.events = self.events, []
            for event in events:
                self.stream(event)


class NotingEngine(Engine):
    """An engine that notes each node; the walk of one that does not has no line for it."""

    def walk(self, cursor: Cursor, activation: Activation) -> Activation | None:
        """Walk node by node."""
        log = self.log
        for one in cursor:
            callee = super().walk(iter((one,)), activation)
            if callee is not None:
                return callee
            if log is not None:
                log.done(self, one[1], activation)
        return None
