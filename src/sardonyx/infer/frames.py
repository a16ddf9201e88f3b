"""Show what was found in each activation: the main graph, every body, every call of a function (decision S9).

Nothing is copied while inference runs: a body's values lie in the tables of the activation around it, and a frame is
made when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping as Mapped

from sardonyx.infer.activation import Level
from sardonyx.ir.graph import Node
from sardonyx.ir.types import MapType, OptionalType, SequenceType, TensorType
from sardonyx.ops.common.join import mapped, mapped_element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from sardonyx.dims import Dim, Symbol
    from sardonyx.errors import Issue
    from sardonyx.infer.activation import Activation, Step
    from sardonyx.infer.inference import Inference
    from sardonyx.ir.graph import Graph, Value
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Content

MOST_FRAMES = 100_000
"""Frames that a listing gives before it ends: equal calls share one, and a few functions can call each other often."""


class Frame:
    """One activation: the values of a graph, as they are there. What a body captures is found in `parent`."""

    __slots__ = ("activation", "below", "inference", "level", "parent", "renamed")

    def __init__(
        self,
        inference: Inference,
        level: Level,
        activation: Activation,
        parent: Frame | None,
        renamed: Mapping[Symbol, Dim],
    ) -> None:
        self.inference = inference
        self.level = level
        self.activation = activation
        self.parent = parent
        """The frame around this one, or of the caller; None for the main graph."""
        self.renamed = renamed
        """What symbols of an equal call are in this one."""
        self.below: dict[tuple[Node, str | None], Frame | None] = {}
        """The frames that `inner` has made."""

    @property
    def path(self) -> tuple[Step, ...]:
        """The steps that lead here: (node index, attribute), None for a call of a function."""
        found: list[Step] = []
        frame = self
        while frame.parent is not None:
            found.append((frame.level.index, frame.level.attribute))
            frame = frame.parent
        return tuple(reversed(found))

    @property
    def graph(self) -> Graph:
        """The graph whose values these are."""
        return self.level.graph

    def dim(self, dim: Dim) -> Dim:
        """Return a dim as it is in this frame."""
        if self.renamed and not isinstance(dim, int):
            dim = self.inference.engine.scope.substitute(dim, self.renamed)
        return self.inference.naming.dim(dim)

    def type(self, value: Value) -> Type | None:
        """Return what is known of a value of this frame, or of one that it captures."""
        found = self.activation.types.get(value)
        return found if found is None or not self.renamed else mapped(found, self.dim)

    def content(self, value: Value) -> Content | None:
        """Return what is known of a value's elements, in row-major order, or None."""
        frame, value = self.lender(value)
        engine, activation = self.inference.engine, frame.activation
        before, engine.activation = engine.activation, activation
        found = activation.contents.get(value)
        if found is None and (value in activation.constants or value in activation.borrowed):
            found = engine.content_of(value)
        engine.activation = before
        return None if found is None else tuple([mapped_element(one, frame.dim) for one in found])

    def lender(self, value: Value) -> tuple[Frame, Value]:
        """Return what a formal input stands for, and where: equal calls may differ in elements that none asked for."""
        frame = self
        while frame.activation.plan is not None and value in frame.activation.borrowed:
            while frame.level.attribute is not None and frame.parent is not None:
                frame = frame.parent
            node, caller = frame.level.node, frame.parent
            actual = None if node is None else node.inputs[frame.graph.inputs.index(value)]
            if caller is None or actual is None:
                break
            frame, value = caller, actual
        return frame, value

    def named(self, *kinds: Any) -> dict[str, Type]:
        """Return the types of some kinds, by the names of their values in graph order."""
        found: dict[str, Type] = {}
        for value in self.graph.values:
            kind = self.type(value)
            if kind is not None and isinstance(kind, kinds):
                found[value.name] = kind
        return found

    @property
    def types(self) -> dict[str, Type]:
        """Every type that is known, by name."""
        return self.named(object)

    @property
    def tensors(self) -> dict[str, Type]:
        """The tensors, sparse ones too, by name."""
        return self.named(TensorType)

    @property
    def sequences(self) -> dict[str, Type]:
        """The sequences, by name."""
        return self.named(SequenceType)

    @property
    def maps(self) -> dict[str, Type]:
        """The maps, by name."""
        return self.named(MapType)

    @property
    def optionals(self) -> dict[str, Type]:
        """The optionals, by name."""
        return self.named(OptionalType)

    @property
    def contents(self) -> dict[str, Content]:
        """What is known of elements, by name of the value."""
        found = {}
        for value in self.graph.values:
            content = self.content(value)
            if content is not None:
                found[value.name] = content
        return found

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What was found wrong or odd in this frame itself; of equal calls, in the first."""
        engine, path = self.inference.engine, self.level.path
        return tuple(
            issue
            for issue, spot in zip(engine.issues, engine.spots, strict=True)
            if spot.depth == len(path) and spot.path == path
        )

    def step(self, node: Node, index: int, attribute: str | None) -> Frame | None:
        """Return the frame of a body of a node, or of the function that it calls; None when there is none."""
        if attribute is None:
            called = self.activation.calls.get(node)
            if called is None:
                return None
            activation, renamed = called
            renamed = {**self.renamed, **{symbol: self.dim(dim) for symbol, dim in renamed.items()}}
            level = Level(activation.level.graph, self.level, node, index, None)
            return Frame(self.inference, level, activation, self, renamed)
        foreign = self.activation.foreign.get((node, attribute))
        if foreign is not None:
            return Frame(self.inference, foreign.level, foreign, self, self.renamed)
        name, _, rest = attribute.partition("[")
        body = node.bodies.get(name)
        if isinstance(body, tuple):
            at = int(rest[:-1]) if rest[:-1].isdigit() else -1
            body = body[at] if 0 <= at < len(body) else None
        elif rest:
            body = None
        if body is None:
            return None
        return Frame(
            self.inference, Level(body, self.level, node, index, attribute), self.activation, self, self.renamed
        )

    def inner(self, node: Node, attribute: str | None) -> Frame | None:
        """Return what `step` does, the same object every time."""
        key = (node, attribute)
        if key not in self.below:
            self.below[key] = self.step(node, self.graph.index.positions[node], attribute)
        return self.below[key]

    def steps(self) -> Iterator[Frame]:
        """Yield the frames directly below this one."""
        for index, node in enumerate(self.graph.nodes):
            attributes: list[str | None] = [None] if node in self.activation.calls else []
            if self.activation.foreign:
                attributes += [name for name in node.attrs if (node, name) in self.activation.foreign]
            for name, body in node.bodies.items():
                attributes += [f"{name}[{at}]" for at in range(len(body))] if isinstance(body, tuple) else [name]
            for attribute in attributes:
                found = self.step(node, index, attribute)
                if found is not None:
                    yield found

    def __repr__(self) -> str:
        return f"<Frame {self.level.text or 'of the main graph'}: {len(self.types)} types>"


def main_frame(inference: Inference) -> Frame:
    """Return the frame of the main graph."""
    return Frame(inference, inference.activation.level, inference.activation, None, {})


def find_frame(inference: Inference, steps: Sequence[tuple[Node | int, str | None]]) -> Frame:
    """Follow steps from the main graph."""
    frame = main_frame(inference)
    for node, attribute in steps:
        nodes = frame.graph.nodes
        if isinstance(node, Node):
            index = frame.graph.index.positions.get(node, -1)
        else:
            index = node if 0 <= node < len(nodes) else -1
        found = None if index < 0 else frame.step(nodes[index], index, attribute)
        if found is None:
            what = "calls no function that was walked" if attribute is None else f"has no body {attribute!r}"
            raise KeyError(f"{node!r} {what} in {frame.level.text or 'the main graph'}")
        frame = found
    return frame


class Frames(Mapped):  # type: ignore[type-arg]
    """Every frame by its path, outermost first; at most `MOST_FRAMES` are listed, all can be found."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference

    def __getitem__(self, path: tuple[Step, ...]) -> Frame:
        return find_frame(self.inference, path)

    def __iter__(self) -> Iterator[tuple[Step, ...]]:
        for frame in self.each():
            yield frame.path

    def each(self) -> Iterator[Frame]:
        """Yield the frames, each before those inside it."""
        waiting = [main_frame(self.inference)]
        count = 0
        while waiting and count < MOST_FRAMES:
            frame = waiting.pop()
            count += 1
            yield frame
            waiting.extend(reversed(list(frame.steps())))

    def __len__(self) -> int:
        return sum(1 for _ in self.each())
