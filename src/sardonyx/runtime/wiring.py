"""Find which graph inputs and outputs carry a recurrent state from step to step.

A state is an input whose value flows, through operators that only keep, move or extend it, to an output of the same
kind: a Scan's state goes to the output of its position, a cache grows by Concat or in an attention operator, a window
slides by Concat and Slice. Where one input could go to two outputs, or two inputs to one, the caller has to say.
"""

from __future__ import annotations

from sardonyx import SparseTensorType, Symbol, TensorType
from sardonyx.ir.walk import bodies_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from typing_extensions import TypeIs

    from sardonyx import Graph, Node, Value

    Pair = tuple[Value, Value]

KEEPS_FIRST = frozenset(
    (
        "Cast", "Expand", "Flatten", "Gather", "GatherND", "Identity", "Pad", "Reshape", "ScatterElements", "ScatterND",
        "Slice", "Split", "Squeeze", "TensorScatter", "Transpose", "Unsqueeze",
    )
)  # fmt: skip
"""Operators whose outputs hold elements of the first input, or what was written over them."""

KEEPS_SOME: Mapping[str, slice] = {"Concat": slice(None), "Where": slice(1, None)}
"""Operators whose output holds elements of several inputs: which."""

PAST_TO_PRESENT: Mapping[str, Mapping[int, int]] = {
    "RNN": {5: 1},
    "GRU": {5: 1},
    "LSTM": {5: 1, 6: 2},
    "Attention": {4: 1, 5: 2},
    "com.microsoft::Attention": {4: 1},
    "com.microsoft::MultiHeadAttention": {6: 1, 7: 2},
    "com.microsoft::DecoderMaskedMultiHeadAttention": {5: 1, 6: 2},
    "com.microsoft::GroupQueryAttention": {3: 1, 4: 2},
}
"""Operators that have a state of their own: its input's position to its output's, by their schemas."""


def derive_states(graph: Graph) -> dict[str, str]:
    """Return input name to output name for every state; an empty dictionary when there is none.

    Raises:
        ValueError: the wiring leaves a choice.
    """
    flow = flows(graph)
    outputs = set(graph.outputs)
    found: dict[str, str] = {}
    claimed: dict[Value, Value] = {}
    for value in graph.inputs:
        if value in graph.initializers:
            continue
        goals = [
            one for one in reached(flow, value) if one in outputs and one is not value and alike(graph, value, one)
        ]
        if len(goals) > 1:
            names = ", ".join(repr(goal.name) for goal in goals)
            raise ValueError(f"state {value.name!r} could go to {names}; say which with state={{input: output}}")
        for goal in goals:
            if goal in claimed:
                raise ValueError(
                    f"both {claimed[goal].name!r} and {value.name!r} could become {goal.name!r}; "
                    "say which with state={input: output}"
                )
            claimed[goal] = value
            found[value.name] = goal.name
    return found


def reached(flow: Mapping[Value, list[Value]], start: Value) -> list[Value]:
    """Return the values that a value flows to, in order of discovery."""
    found = {start: None}
    queue = [start]
    for value in queue:  # grows as it is read
        for after in flow.get(value, ()):
            if after not in found:
                found[after] = None
                queue.append(after)
    return queue[1:]


def flows(graph: Graph) -> dict[Value, list[Value]]:
    """Map each value of a graph and its bodies to the values that hold what it holds."""
    found: dict[Value, list[Value]] = {}
    for one in (graph, *bodies_within(graph.nodes)):
        for node in one.nodes:
            for before, after in carried(node):
                if before is not None and after is not None:
                    found.setdefault(before, []).append(after)
    return found


def carried(node: Node) -> Iterable[tuple[Value | None, Value | None]]:
    """Return which values of a node hold what others hold."""
    op = node.op
    if op in KEEPS_FIRST:
        return [(node.inputs[0], after) for after in node.outputs] if node.inputs else ()
    if op in KEEPS_SOME:
        return [(before, node.outputs[0]) for before in node.inputs[KEEPS_SOME[op]]]
    if op in PAST_TO_PRESENT:
        pairs = PAST_TO_PRESENT[op].items()
        return [(node.inputs[i], node.outputs[o]) for i, o in pairs if i < len(node.inputs) and o < len(node.outputs)]
    return list(through_bodies(node)) if node.bodies else ()


def through_bodies(node: Node) -> Iterator[tuple[Value | None, Value | None]]:
    """Yield the flow into and out of bodies, and from one trip of a loop to the next."""
    for body in node.bodies.values():
        if isinstance(body, tuple):
            continue
        if node.op == "If":
            yield from zip(body.outputs, node.outputs, strict=False)
        elif node.op == "Loop":
            carries = len(node.inputs) - 2
            yield from zip(node.inputs[2:], body.inputs[2:], strict=False)
            yield from zip(node.inputs[2:], node.outputs, strict=False)
            yield from zip(body.outputs[1 : 1 + carries], body.inputs[2:], strict=False)
            yield from zip(body.outputs[1:], node.outputs, strict=False)
        elif node.op == "Scan":
            scans = node.attrs.get("num_scan_inputs")
            count = scans.value if scans is not None else None
            states = len(node.inputs) - count if isinstance(count, int) else 0
            yield from zip(node.inputs[:states], node.outputs[:states], strict=False)


def alike(graph: Graph, before: Value, after: Value) -> bool:
    """Return whether an output may be the next value of an input: one element type and rank, one axis growing at most.

    An axis of fixed length has it in both: what comes out has to fit in again.
    """
    a, b = graph.type(before), graph.type(after)
    if not is_tensor(a) or not is_tensor(b) or a.dtype is not b.dtype or a.rank is None or a.rank != b.rank:
        return False
    different = [x for x, y in zip(a.shape or (), b.shape or (), strict=True) if x != y]
    return len(different) <= 1 and all(isinstance(dim, Symbol) for dim in different)


def is_tensor(kind: object) -> TypeIs[TensorType]:
    """Return whether a type is that of a dense tensor."""
    return isinstance(kind, TensorType) and not isinstance(kind, SparseTensorType)


def keeps_shape(graph: Graph, before: Value, after: Value) -> bool:
    """Return whether no step changes a state's shape, by what is inferred."""
    a, b = graph.type(before), graph.type(after)
    return is_tensor(a) and is_tensor(b) and a.shape is not None and a.shape == b.shape


def growing_axes(graph: Graph, before: Value, after: Value) -> list[Symbol]:
    """Return the sizes of a state that a step changes."""
    a, b = graph.type(before), graph.type(after)
    if not is_tensor(a) or not is_tensor(b) or a.shape is None or b.shape is None:
        return []
    return [x for x, y in zip(a.shape, b.shape, strict=False) if isinstance(x, Symbol) and x != y]


def check_states(graph: Graph, states: Mapping[str, str]) -> list[Pair]:
    """Return the values of the named states.

    Raises:
        ValueError: a name is no input or output of the graph, an output is given to two inputs, or an output's type
            cannot be an input's.
    """
    inputs = {value.name: value for value in graph.inputs}
    outputs = {value.name: value for value in graph.outputs}
    found: list[Pair] = []
    taken: dict[str, str] = {}
    for before, after in states.items():
        if before not in inputs:
            raise ValueError(f"state {before!r} is no input of the model; its inputs are {', '.join(inputs)}")
        if after not in outputs:
            raise ValueError(f"state {after!r} is no output of the model; its outputs are {', '.join(outputs)}")
        if after in taken:
            raise ValueError(f"{after!r} cannot be the next value of both {taken[after]!r} and {before!r}")
        taken[after] = before
        a, b = graph.type(inputs[before]), graph.type(outputs[after])
        if not may_be(a, b):
            raise ValueError(f"{after!r} ({b}) cannot be the next value of {before!r} ({a})")
        found.append((inputs[before], outputs[after]))
    return found


def may_be(a: object, b: object) -> bool:
    """Return whether a value of type `b` may be given where `a` is expected, as far as they are known."""
    if not is_tensor(a) or not is_tensor(b):
        return a is None or b is None
    if a.dtype is not None and b.dtype is not None and a.dtype is not b.dtype:
        return False
    if a.shape is None or b.shape is None:
        return True
    numbers = [(x, y) for x, y in zip(a.shape, b.shape, strict=False) if isinstance(x, int) and isinstance(y, int)]
    return len(a.shape) == len(b.shape) and all(x == y for x, y in numbers)
