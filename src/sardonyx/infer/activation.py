"""Hold what is known during one activation: the main graph with its bodies, or one call of a function.

Values are unique, so a body needs no table of its own: its values lie beside those of the graph around it, and a
capture is found where it was put. A function's values are shared by all its calls, so each call has its own tables.
"""

from __future__ import annotations

from types import MappingProxyType

from sardonyx.errors import node_label
from sardonyx.ir.graph import body_list
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from typing import Any

    from sardonyx.dims import Dim, Symbol
    from sardonyx.errors import Issue
    from sardonyx.infer.functions import Plan
    from sardonyx.infer.signed import Checks
    from sardonyx.ir.attrs import Attr
    from sardonyx.ir.graph import Function, Graph, Node, Value
    from sardonyx.ir.tensor import Tensor
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Call, Content, Fact
    from sardonyx.ops.rules import Rule

    Step = tuple[int, str | None]
    Answer = tuple[Fact | Type | None, ...]

FIRST, LAST = 5, 2
"""Steps that begin and end a path in words; "N more" stands for those between."""
NEAR = 64
"""Steps by which two places in the nest are told apart."""
NONE: Mapping[Any, Any] = MappingProxyType({})
NOTHING: Set[Any] = frozenset()


class Level:
    """A place in the nest of graphs: a graph, and the node around it that holds or calls it."""

    __slots__ = ("attribute", "depth", "graph", "head", "index", "names", "node", "parent")

    def __init__(
        self, graph: Graph, parent: Level | None, node: Node | None, index: int, attribute: str | None
    ) -> None:
        self.graph = graph
        self.parent = parent
        self.node = node
        self.index = index
        """Position of the node in its graph."""
        self.attribute = attribute
        """The attribute that holds the graph, `name[i]` in a list; None for a call of a function."""
        self.depth: int = 0 if parent is None else parent.depth + 1
        """Steps that lead here."""
        self.head: Level = self if parent is None or self.depth <= FIRST else parent.head
        """The last of the steps that begin the path in words."""
        self.names: dict[Dim, Symbol] = {}
        """What names that are declared here stand for: they are this activation's own (decisions S2)."""

    @property
    def path(self) -> tuple[Step, ...]:
        """The steps that lead here, as `Inference.frame` takes them."""
        return tuple([(level.index, level.attribute) for level in self.last(self.depth)])

    @property
    def nearest(self) -> tuple[Step, ...]:
        """The last steps of the path: enough to tell places apart, and no more for a place that is very deep."""
        return tuple([(level.index, level.attribute) for level in self.last(min(self.depth, NEAR))])

    @property
    def text(self) -> str | None:
        """The path in words, None for the main graph; of a long one, its beginning and its end."""
        between = self.depth - FIRST - LAST
        if between <= 1:  # as short as what would stand for it
            return " > ".join([level.label for level in self.last(self.depth)]) or None
        first, last = [[level.label for level in levels] for levels in (self.head.last(FIRST), self.last(LAST))]
        return " > ".join([*first, f"{between} more", *last])

    @property
    def label(self) -> str:
        """The last step in words."""
        if self.node is None:
            return ""
        label = node_label(self.node.name, self.node.op_type, self.index)
        return f"call of {label}" if self.attribute is None else f"{label}.{self.attribute}"

    def last(self, count: int) -> list[Level]:
        """Return the last levels of the path, outermost first."""
        found: list[Level] = []
        level = self
        while len(found) < count and level.parent is not None:
            found.append(level)
            level = level.parent
        found.reverse()
        return found


class Activation:
    """Types and contents of every value of one activation."""

    __slots__ = (
        "absent",
        "actuals",
        "alike",
        "answer",
        "before",
        "borrowed",
        "bound",
        "call",
        "calls",
        "claims",
        "constants",
        "contents",
        "effects",
        "foreign",
        "home",
        "kept",
        "key",
        "last",
        "level",
        "mark",
        "needed",
        "opsets",
        "passed",
        "plan",
        "start",
        "types",
        "undone",
        "void",
    )  # fmt: skip

    def __init__(
        self, level: Level, opsets: Opsets, claims: Mapping[Value, Type], types: dict[Value, Type] | None = None
    ) -> None:
        self.level = level
        self.opsets = opsets
        self.types: dict[Value, Type] = {} if types is None else types
        self.contents: dict[Value, Content | None] = {}
        self.constants: dict[Value, Tensor] = {}
        """Initializers, those of bodies from the time the body is entered."""
        self.claims = claims
        """What the file says of values; a claim where the value is not an input of the main graph."""
        self.call: Call = None  # type: ignore[assignment]  # set by the engine, which the call refers to
        self.calls: dict[Node, tuple[Activation, Mapping[Symbol, Dim]]] = {}
        """The calls of functions made here, those in bodies included, as they were made last.

        Each has its activation, which equal calls share, and what the symbols made there are in this call.
        """
        # Of a call of a function:
        self.plan: Plan | None = None
        """What it shares with the other calls of its function; None where this is no call."""
        self.key: object = None
        """What calls like it share with it, elements of inputs aside."""
        self.alike: list[Activation]
        """Where it is kept for such calls."""
        self.bound: Mapping[str, Attr] = NONE
        """The function's attributes, defaults included."""
        self.absent: Set[Value] = NOTHING
        """Formal inputs that the call leaves out."""
        self.borrowed: Mapping[Value, int] = NONE
        """Formal inputs, or captures of a body that a caller passed: their positions among `actuals`."""
        self.home: Activation | None = None
        """Where the elements of these are known, if anywhere."""
        self.actuals: Sequence[Value | None] = ()
        """What they are called there."""
        self.needed: dict[Value, Content | None] = {}
        """Elements of formal inputs that somebody asked for; the outcome depends on these alone."""
        self.passed: Mapping[Graph, Activation] = NONE
        """Bodies that a caller passed as attributes: they see the caller's values."""
        self.foreign: dict[tuple[Node, str], Activation] = {}
        """Activations of such bodies."""
        self.mark = self.last = 0
        """Numbers of the first anonymous symbol that the call made, and of the first one after it."""
        self.start: tuple[int, int, int] = (0, 0, 0)
        """Issues, assumptions and constraints that were noted before it."""
        self.before: tuple[int, int, int] = (0, 0, 0)
        """What was counted before it: walks of functions again, calls that others saved, what was left out."""
        self.answer: Answer = ()
        """What it came to: types of outputs, with what is known of elements."""
        self.kept: Set[Symbol] = NOTHING
        """Symbols that elements of inputs are written in: the caller's, whenever they were made."""
        self.effects: tuple[list[Issue], list[Level], list[Any], list[Any]] | None = None
        """Issues with their places, assumptions and constraints that it noted; None when there were none."""
        self.undone = False
        """Whether what it noted was forgotten, since it was made in a pass that did not count."""
        self.void = False
        """Whether something that it may rest on was forgotten, so that no other call gets its outcome."""


class Opsets:
    """The opset imports in force: a function's own before the model's; and what they resolve operators to."""

    __slots__ = ("default", "imports", "others")

    def __init__(
        self, imports: Mapping[str, int], default: dict[str, Entry], others: dict[tuple[str, str, str], Entry]
    ) -> None:
        self.imports = imports
        """Canonical domain to version."""
        self.default = default
        """Operators of the default domain that were met."""
        self.others = others
        """What was met in other domains, and calls: (domain, op_type, overload)."""


@record
class Entry:
    """What one operator resolves to, found once."""

    rule: Rule | None
    function: Function | None
    opset: int
    checks: Checks | None = None
    """What the operator takes, as far as its signature is known."""


def attribute_of(node: Node, graph: Graph) -> str | None:
    """Return the name of the attribute that holds a body, None when the node does not hold it itself."""
    if graph in body_list(node):
        for name, body in node.bodies.items():
            if body is graph:
                return name
            if isinstance(body, tuple) and graph in body:
                return f"{name}[{body.index(graph)}]"
    return None
