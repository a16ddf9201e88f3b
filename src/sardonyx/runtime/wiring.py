"""Find which graph inputs and outputs carry a recurrent state from step to step.

A state is an input whose value flows, through operators that only keep, move or extend it, to an output of the same
kind: a Scan's state goes to the output of its position, a cache grows by Concat, a window slides by Concat and Slice.
Where one input could go to two outputs, or two inputs to one, the caller has to say.
"""

from __future__ import annotations

from sardonyx import SparseTensorType, TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sardonyx import Graph, Node, Value

CARRIERS = frozenset(
    (
        "Cast", "Concat", "Expand", "Flatten", "Gather", "Identity", "Pad", "Reshape", "ScatterElements", "ScatterND",
        "Slice", "Split", "Squeeze", "TensorScatter", "Transpose", "Unsqueeze", "Where",
    )
)  # fmt: skip
"""Operators whose output holds elements of a tensor input."""


def derive_states(graph: Graph) -> dict[str, str]:
    """Return input name to output name for every state; an empty dictionary when there is none.

    Raises:
        ValueError: the wiring leaves a choice.
    """
    inputs = [value for value in graph.inputs if value not in graph.initializers]
    outputs = set(graph.outputs)
    found: dict[str, str] = {}
    claimed: dict[str, str] = {}
    for value in inputs:
        goals = [goal for goal in reached(graph, value, outputs) if goal is not value and alike(graph, value, goal)]
        if not goals:
            continue
        if len(goals) > 1:
            names = ", ".join(repr(goal.name) for goal in goals)
            raise ValueError(f"state {value.name!r} could go to {names}; say which with state={{input: output}}")
        (goal,) = goals
        if goal.name in claimed:
            raise ValueError(
                f"both {claimed[goal.name]!r} and {value.name!r} could become {goal.name!r}; "
                "say which with state={input: output}"
            )
        claimed[goal.name] = value.name
        found[value.name] = goal.name
    return found


def reached(graph: Graph, start: Value, goals: set[Value]) -> list[Value]:
    """Return the graph outputs that a value flows to, in order of discovery."""
    found: dict[Value, None] = {}
    seen = {start}
    queue = [start]
    for value in queue:  # grows as it is read
        if value in goals:
            found[value] = None
        for node in graph.users(value):
            for after in carried(node, value):
                if after not in seen:
                    seen.add(after)
                    queue.append(after)
    return list(found)


def carried(node: Node, value: Value) -> list[Value]:
    """Return the outputs of a node that hold what an input holds."""
    if node.op == "Scan":
        count = node.attrs["num_scan_inputs"].value if "num_scan_inputs" in node.attrs else 0
        states = len(node.inputs) - (count if isinstance(count, int) else 0)
        pairs = zip(node.inputs[:states], node.outputs[:states], strict=False)
        return [after for before, after in pairs if before is value and after is not None]
    if node.op in CARRIERS:
        return [after for after in node.outputs if after is not None]
    return []


def alike(graph: Graph, before: Value, after: Value) -> bool:
    """Return whether an input and an output may be the same state: one element type and rank, dims equal or growing."""
    a, b = graph.type(before), graph.type(after)
    if not isinstance(a, TensorType) or not isinstance(b, TensorType) or isinstance(a, SparseTensorType):
        return False
    if a.dtype is not b.dtype or a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
        return False
    return sum(x != y for x, y in zip(a.shape, b.shape, strict=True)) <= 1


def grows(graph: Graph, pair: tuple[Value, Value]) -> bool:
    """Return whether a state's shape may change from step to step."""
    a, b = graph.type(pair[0]), graph.type(pair[1])
    return not (isinstance(a, TensorType) and isinstance(b, TensorType) and a.shape == b.shape and a.shape is not None)


def check_states(graph: Graph, states: Mapping[str, str]) -> list[tuple[Value, Value]]:
    """Return the values of the named states.

    Raises:
        ValueError: a name is no input or output of the graph, or an output is given to two inputs.
    """
    inputs = {value.name: value for value in graph.inputs}
    outputs = {value.name: value for value in graph.outputs}
    found = []
    for before, after in states.items():
        if before not in inputs:
            raise ValueError(f"state {before!r} is no input of the model; its inputs are {', '.join(inputs)}")
        if after not in outputs:
            raise ValueError(f"state {after!r} is no output of the model; its outputs are {', '.join(outputs)}")
        found.append((inputs[before], outputs[after]))
    if len({after for _, after in found}) < len(found):
        raise ValueError("one output is the next state of two inputs")
    return found
