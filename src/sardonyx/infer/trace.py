"""Find what a dim, an element or a type came from, among what its node read."""

from __future__ import annotations

from sardonyx.dims import Expr
from sardonyx.infer.reasons import DOES
from sardonyx.ir.types import SequenceType, TensorType
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sardonyx.dims import Symbol
    from sardonyx.infer.frames import Frame
    from sardonyx.ir.graph import Node, Value
    from sardonyx.ops.call import Content, Element

LENGTH = -1
"""In place of an axis: the number of elements of a sequence."""
MOST_PARTS = 4
"""Dims that a sentence names as parts of another."""


class Point:
    """One thing to explain: a dim of a value, an element of it, or its type as a whole."""

    __slots__ = ("at", "content", "element", "frame", "value")

    def __init__(
        self, frame: Frame, value: Value, at: int | None, element: bool, content: Content | None = None
    ) -> None:
        self.frame = frame
        self.value = value
        self.at = at
        """The axis, or the position of the element; None for the whole type."""
        self.element = element
        self.content = content
        """What the frame knows of the value's elements, where somebody has asked it: all of them take their time."""

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two points the same; of each frame there is one object, see `Frame.inner`."""
        return (self.frame, self.value, self.at, self.element)

    @property
    def words(self) -> str:
        """The point in words."""
        if self.at is None:
            return repr(self.value.name)
        if self.at == LENGTH:
            return f"the length of {self.value.name!r}"
        what = "element" if self.element else "dim"
        each = " each element of" if isinstance(self.frame.type(self.value), SequenceType) else ""
        return f"{what} {self.at} of{each} {self.value.name!r}"

    @property
    def answer(self) -> Element:
        """The dim or element; None for a whole type."""
        if self.at is None:
            return None
        if self.element:
            content = self.frame.content(self.value) if self.content is None else self.content
            return None if content is None or self.at >= len(content) else content[self.at]
        kind = self.frame.type(self.value)
        if isinstance(kind, SequenceType):
            if self.at == LENGTH:
                return kind.length
            kind = kind.elem
        if isinstance(kind, TensorType) and kind.shape is not None and self.at < len(kind.shape):
            return kind.shape[self.at]
        return None

    @property
    def shown(self) -> str:
        """What is known, as text."""
        if self.at is None:
            kind = self.frame.type(self.value)
            return "not known" if kind is None else f"a {kind}"
        answer = self.answer
        return "not known" if answer is None else str(getattr(answer, "expr", answer))


@record
class Source:
    """Where a point comes from."""

    kind: str
    """`given`, `kept`, `made` or `lost`."""
    text: str
    """What was done, in words that follow the node, or where it is given."""
    node: Node | None
    points: list[Point]
    """What it was made of."""


def sources(point: Point) -> Source:
    """Return where a point comes from."""
    frame, value = point.frame, point.value
    graph = frame.graph
    node = graph.producer(value)
    if node is None:
        return from_outside(point)
    if point.at is None:
        return whole(point, node)
    answer = point.answer
    candidates = list(read(point, node))
    same = [one for one in candidates if same_answer(one.answer, answer)]
    if same:
        best = min(same, key=lambda one: preference(point, one))
        return Source("kept", "keeps it", node, [best])
    if isinstance(answer, int):
        return Source("given", "makes it so", node, [])
    if not isinstance(answer, Expr):
        if point.element:
            return Source("lost", "the element is decided by the data", node, [])
        return Source("lost", "", node, [])
    wanted = set(answer.symbols)
    parts: list[Point] = []
    covered: set[Symbol] = set()
    for one in candidates:
        dim = one.answer
        if (
            isinstance(dim, Expr)
            and wanted.issuperset(dim.symbols)
            and not any(same_answer(dim, p.answer) for p in parts)
        ):
            parts.append(one)
            covered |= set(dim.symbols)
    if (not parts or not covered.issuperset(wanted)) and not any(symbol.anonymous for symbol in wanted):
        return Source("given", "does not say, and the declared type names it", node, [])
    if not parts or not covered.issuperset(wanted):
        return Source("lost", "" if node.op_type not in ("Cast",) else "the number has no exact form", node, parts[:1])
    words = [f"{one.value.name!r} ({one.shown})" for one in parts[:MOST_PARTS]]
    if len(parts) > MOST_PARTS:
        words.append(f"{len(parts) - MOST_PARTS} more")
    shown = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    text = DOES.get(node.op_type, "computed it from {parts}").format(parts=shown, axis=point.at)
    return Source("made", text, node, parts[:MOST_PARTS])


def same_answer(one: Element, other: Element) -> bool:
    """Whether two dims or elements are the same."""
    one, other = getattr(one, "expr", one), getattr(other, "expr", other)
    if one is None or other is None or isinstance(one, bool) or isinstance(other, bool):
        return False
    return one is other or (isinstance(one, (int, Expr)) and isinstance(other, (int, Expr)) and one == other)


def preference(point: Point, one: Point) -> tuple[int, ...]:
    """Order what could be where a point was kept from: of its own kind first, then at its own place."""
    return (int(one.element is not point.element), int(one.at != point.at), int(one.frame is not point.frame))


def read(point: Point, node: Node) -> Iterator[Point]:
    """Yield the dims and elements that a node read: of its inputs, or of what its bodies or function return."""
    frame = point.frame
    position = node.outputs.index(point.value)
    called = frame.inner(node, None)
    if called is not None and position < len(called.graph.outputs):
        yield Point(called, called.graph.outputs[position], point.at, point.element)
        return
    for value in node.inputs:
        if value is not None:
            yield from parts_of(frame, value)
    for name, body in node.bodies.items():
        if isinstance(body, tuple):
            continue
        inner = frame.inner(node, name)
        if inner is not None:
            for value in returned(node, body.outputs, position):
                yield from parts_of(inner, value)


def returned(node: Node, outputs: tuple[Value, ...], position: int) -> tuple[Value, ...]:
    """Return the output of a body that an output of its node stands for."""
    at = position + 1 if node.op_type == "Loop" else position
    return outputs[at : at + 1]


def parts_of(frame: Frame, value: Value) -> Iterator[Point]:
    """Yield the dims and known elements of a value; of a sequence, its length and the dims of its elements."""
    kind = frame.type(value)
    if isinstance(kind, SequenceType):
        yield Point(frame, value, LENGTH, False)
        if kind.elements is None and isinstance(kind.elem, TensorType):
            for axis in range(len(kind.elem.shape or ())):
                yield Point(frame, value, axis, False)
    if isinstance(kind, TensorType) and kind.shape is not None:
        for axis in range(len(kind.shape)):
            yield Point(frame, value, axis, False)
        content = frame.content(value)
        for at in range(0 if content is None else len(content)):
            yield Point(frame, value, at, True, content)


def from_outside(point: Point) -> Source:
    """Return where an input, a constant or a captured value comes from."""
    frame, value, graph = point.frame, point.value, point.frame.graph
    if value in graph.initializers or value in graph.sparse_initializers:
        return Source("given", "it is a constant", None, [])
    if value not in graph.inputs:
        outer = frame.parent
        return Source("kept", "", None, [] if outer is None else [Point(outer, value, point.at, point.element)])
    node = frame.level.node
    if frame.parent is None or node is None:
        if point.element or point.at == LENGTH:
            return Source("given", "it comes with the graph's input", None, [])
        if point.at is not None and point.answer is None:
            return Source("lost", "the graph's input does not say", None, [])
        known = point.at is None or not (
            isinstance(point.answer, Expr) and any(s.anonymous for s in point.answer.symbols)
        )
        given = "the graph's input declares it" if known else "the graph's input does not declare it"
        return Source("given" if known else "lost", given, None, [])
    at = graph.inputs.index(value)
    if frame.level.attribute is None:
        actual = node.inputs[at] if at < len(node.inputs) else None
        if actual is None:
            return Source("lost", "the call leaves it out", None, [])
        return Source("kept", "", None, [Point(frame.parent, actual, point.at, point.element)])
    if point.at is None:
        return Source("given", f"{node.op_type} gives it to its body", None, [])
    same = [
        one
        for outer in node.inputs
        if outer is not None
        for one in parts_of(frame.parent, outer)
        if same_answer(one.answer, point.answer)
    ]
    if same:
        return Source("kept", "", None, [min(same, key=lambda one: preference(point, one))])
    if isinstance(point.answer, int):
        return Source("given", f"{node.op_type} gives it to its body", None, [])
    return Source("lost", f"it changes from one iteration of {node.op_type} to the next", None, [])


def whole(point: Point, node: Node) -> Source:
    """Return where a type as a whole comes from; of one that is not known, the first input that is not known either."""
    frame = point.frame
    kind = frame.type(point.value)
    if kind is not None and not (isinstance(kind, TensorType) and kind.shape is None):
        used = [value for value in node.inputs if value is not None]
        if not used:
            return Source("made", "says so", node, [])
        seen = ", ".join(f"{value.name!r} ({frame.type(value) or 'not known'})" for value in used[:MOST_PARTS])
        return Source("made", f"read {seen}", node, [])
    for value in node.inputs:
        if value is not None:
            known = frame.type(value)
            if known is None or (isinstance(known, TensorType) and known.shape is None):
                return Source("kept", "", node, [Point(frame, value, None, False)])
    engine = frame.inference.engine
    if any(issue.code == "no-rule" and f"operator {node.op} " in issue.message for issue in engine.issues):
        return Source("lost", f"nothing is known of operator {node.op}", node, [])
    return Source("lost", "", node, [])
