"""Hold what is known during one activation: the main graph with its bodies, or one call of a function.

Values are unique, so a body needs no table of its own: its values lie beside those of the graph around it, and a
capture is found where it was put. A function's values are shared by all its calls, so each call has its own tables.
"""

from __future__ import annotations

from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sardonyx.dims import Dim, Symbol
    from sardonyx.ir.attrs import Attr
    from sardonyx.ir.graph import Function, Graph, Node, Value
    from sardonyx.ir.tensor import Tensor
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Call, Content, Fact
    from sardonyx.ops.rules import Rule


class Activation:
    """Types and contents of every value of one activation."""

    __slots__ = ("call", "claims", "constants", "contents", "graph", "opsets", "path", "rules", "types")

    def __init__(self, graph: Graph, path: tuple[object, ...], opsets: Opsets) -> None:
        self.graph = graph
        self.path = path
        """The steps that lead here, as `Inference.frame` takes them."""
        self.opsets = opsets
        self.types: dict[Value, Type] = {}
        self.contents: dict[Value, Content | None] = {}
        self.constants: dict[Value, Tensor] = {}
        """Initializers, those of bodies from the time the body is entered."""
        self.claims: dict[Value, Type] = {}
        """What the file says of values, where that is not a fact."""
        self.rules: dict[str, Entry] = {}
        self.call: Call = None  # type: ignore[assignment]  # set by the engine, which the call refers to


@record
class Opsets:
    """The opset imports in force: a function's own before the model's; and what they resolve operators to."""

    imports: Mapping[str, int]
    """Canonical domain to version."""
    default: dict[str, Entry]
    """Operators of the default domain that were met."""
    others: dict[tuple[str, str, str], Entry]
    """What was met in other domains, and calls: (domain, op_type, overload)."""


@record
class Entry:
    """What one operator resolves to, found once."""

    rule: Rule | None
    function: Function | None
    opset: int
    least: int = 0
    """Fewest inputs that the operator takes."""
    most: int | None = None
    """Most inputs that it takes; None when there is no end."""


@record
class Bindings:
    """What a call gives to a function: types and contents of the formal inputs, and its attributes."""

    facts: tuple[Fact, ...]
    attributes: Mapping[str, Attr]
    names: Mapping[Symbol, Dim]


def place_of(node: Node, index: int) -> str:
    """Word a node for an issue."""
    from sardonyx.errors import node_label

    return node_label(node.name, node.op_type, index)
