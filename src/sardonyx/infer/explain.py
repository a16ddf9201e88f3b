"""Say in words why a value has the type it has, from the value back to the graph's inputs (decision S10).

Nothing is kept for this while inference runs: a dim is found again among the dims and elements that its node read.
"""

from __future__ import annotations

from sardonyx.errors import node_label
from sardonyx.infer.reasons import LOST, NEEDED
from sardonyx.infer.trace import Point, sources
from sardonyx.ir.types import TensorType
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.infer.frames import Frame
    from sardonyx.infer.inference import Inference
    from sardonyx.infer.trace import Source
    from sardonyx.ir.graph import Node, Value

MOST_STEPS = 60
"""Steps that one explanation has at most."""
MOST_POINTS = 100_000
"""Dims and elements that one explanation looks at: functions that call each other pass on a dim through very many."""
SHOWN = 4
"""Operators and inputs that one sentence names before it leaves some out."""


@record
class Reason:
    """One step of an explanation."""

    text: str
    """The step in words."""
    value: Value | None
    """The value that it is about."""
    axis: int | None
    """The axis, or the position of the element, that it is about."""
    node: Node | None
    """The node that made it so; None for inputs and constants."""
    path: tuple[tuple[int, str | None], ...]
    """The frame that the value is in."""
    lost: bool = False
    """Whether knowledge was lost here."""

    def __str__(self) -> str:
        return self.text


@record
class Explanation:
    """A chain of steps from a value back to where what it depends on is given."""

    steps: tuple[Reason, ...]
    cut: str | None = None
    """Why it ends before all is explained, in words; None when it does not."""

    @property
    def first_loss(self) -> Reason | None:
        """The step, nearest to the graph's inputs, at which something was lost; None when there is none.

        In an explanation that is `cut`, there may be one that is left out.
        """
        return next((step for step in reversed(self.steps) if step.lost), None)

    def __str__(self) -> str:
        lines = [step.text for step in self.steps]
        return "\n".join(lines if self.cut is None else [*lines, f"the rest is left out: {self.cut}"])


def explain(inference: Inference, value: Value | str, dim: int | None) -> Explanation:
    """Return the chain of steps to a value, or to one of its dims."""
    frame, found = locate(inference, value)
    kind = frame.type(found)
    rank = len(kind.shape) if isinstance(kind, TensorType) and kind.shape is not None else None
    if dim is not None:
        if rank is None:
            raise ValueError(f"{found.name!r} has no axis {dim}: it is {kind or 'not known'}")
        if not -rank <= dim < rank:
            raise ValueError(f"{found.name!r} has no axis {dim}: it is {kind}")
        points = [Point(frame, found, dim % rank, False)]
    elif rank:
        points = [Point(frame, found, axis, False) for axis in range(rank)]
    else:
        points = [Point(frame, found, None, False)]
    steps: list[Reason] = []
    seen: set[tuple[object, ...]] = set()
    while points and len(steps) < MOST_STEPS and len(seen) < MOST_POINTS:
        point = points.pop(0)
        if point.key in seen:
            continue
        seen.add(point.key)
        reason, further = step(point, seen)
        steps.append(reason)
        points[:0] = further
    return Explanation(tuple(steps), cut(points, seen))


def cut(points: list[Point], seen: set[tuple[object, ...]]) -> str | None:
    """Return the limit that left points out, None when there are none."""
    if all(point.key in seen for point in points):
        return None
    if len(seen) >= MOST_POINTS:
        return f"an explanation looks at no more than {MOST_POINTS} dims and elements"
    return f"an explanation has no more than {MOST_STEPS} steps"


def locate(inference: Inference, wanted: Value | str) -> tuple[Frame, Value]:
    """Find a value and its frame: in the main graph, then in bodies and functions."""
    for frame in inference.frames.each():
        for value in frame.graph.values:
            if value is wanted or value.name == wanted:
                keep(frame)
                return frame, value
    name = wanted if isinstance(wanted, str) else wanted.name
    raise ValueError(f"the model has no value {name!r}")


def keep(frame: Frame) -> None:
    """Let the frames around a frame lead back to it."""
    while frame.parent is not None and frame.level.node is not None:
        frame.parent.below[frame.level.node, frame.level.attribute] = frame
        frame = frame.parent


def step(point: Point, seen: set[tuple[object, ...]]) -> tuple[Reason, list[Point]]:
    """Return the sentence for one dim, element or type, and what it leads to."""
    passed: list[Node] = []
    start = point
    found = sources(point)
    while found.kind == "kept" and len(found.points) == 1 and len(seen) < MOST_POINTS:
        # what nodes only hand on makes one sentence
        if found.node is not None:
            passed.append(found.node)
        before, point = point, found.points[0]
        if point.key in seen:
            break
        seen.add(before.key)
        found = sources(point)
    if point is not start:
        text = f"{start.words} is {start.shown}, as is {point.words}"
        if passed:
            by = listed([node.op for node in passed])
            text += f": {by} keeps it" if len(passed) == 1 else f": kept by {by}"
        return reason(start, text, passed[0] if passed else None), [point]
    return sentence(point, found)


def sentence(point: Point, found: Source) -> tuple[Reason, list[Point]]:
    """Return the sentence for a dim that a node made, or that is given."""
    what = f"{point.words} is {point.shown}"
    node = found.node
    if node is None:
        return reason(point, f"{what}: {found.text}", None, lost=found.kind == "lost"), found.points
    label = labelled(point, node)
    if found.kind == "lost":
        why = found.text or LOST.get(node.op_type) or f"{node.op_type} does not say"
        needed = NEEDED.get(node.op_type)
        text = f"{what} because {label} lost it: {why}" + (f"; needed would be {needed}" if needed else "")
        return reason(point, text, node, lost=True), found.points
    return reason(point, f"{what} because {label} {found.text}", node), found.points


def reason(point: Point, text: str, node: Node | None, lost: bool = False) -> Reason:
    """Return a step about a point."""
    way = point.frame.level.text
    return Reason(f"{text} (in {way})" if way else text, point.value, point.at, node, point.frame.path, lost)


def labelled(point: Point, node: Node) -> str:
    """Word a node."""
    return node_label(node.name, node.op_type, point.frame.graph.index.positions.get(node))


def listed(words: list[str]) -> str:
    """Word a list: each once, in order."""
    names = list(dict.fromkeys(words))
    if len(names) > SHOWN:
        names = [*names[: SHOWN - 1], f"{len(names) - SHOWN + 1} other operators"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
