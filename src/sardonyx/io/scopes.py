"""Make sure that names say what the graph says, before it is written by names.

In a graph, a value is an object; in a file it is a name, and a name means its nearest definition. A transform that left
two values of one name in one scope, or a reader without a definition, would give a file that reads as another model.
"""

from __future__ import annotations

from itertools import chain
from operator import attrgetter

from sardonyx.errors import error, node_label
from sardonyx.ir.graph import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sardonyx.ir.graph import Graph, Model

    Scopes = list[dict[str, Value]]

INPUTS, NAME = attrgetter("inputs"), attrgetter("name")
HINT = "a transform went wrong: give new values fresh names (sx.Rewrite and its Names do)"


def name_values(model: Model) -> Mapping[Value, str]:
    """Check every graph of a model that is written by names; return names for the values that have none.

    Functions whose message is copied as it stands are not looked at: their faults are not faults of the model.

    Raises:
        OnnxError: InvalidModel, code `value-twice` or `value-undefined`.
    """
    graphs = [(model.graph, "")]
    graphs += [
        (function.graph, f"function {function.label}")
        for function in model.functions.values()
        if function.origin is None or not function.origin.exact
    ]
    unnamed: dict[Value, None] = {}
    for graph, label in graphs:
        check(graph, [], label, unnamed)
    if not unnamed:
        return {}
    from sardonyx.ir.names import Names

    names = Names(model)
    return {value: names.fresh("value") for value in unnamed}


def check(graph: Graph, outer: Scopes, label: str, unnamed: dict[Value, None]) -> None:
    """Check one graph and its bodies (which nest no deeper than `max_nesting` lets a file say)."""
    nodes = graph.nodes
    given = set(graph.inputs)
    made = [*graph.inputs, *[value for value in graph.initializers if value not in given]]
    made += graph.sparse_initializers
    made += [value for node in nodes for value in node.outputs if value is not None]
    own = dict(zip(map(NAME, made), made, strict=True))
    if len(own) < len(made) or "" in own:
        own = {}
        define(made, own, label, unnamed)
    scopes = [*outer, own]
    # What the graph defines is found by its name now. So only what else is read must be looked up, name by name.
    foreign = {*chain.from_iterable(map(INPUTS, nodes)), *graph.outputs}.difference(made, (None,))
    if not all(is_visible(value, scopes, unnamed) for value in foreign):
        raise first_undefined(graph, scopes, label, unnamed)
    for node in nodes:
        if node.bodies:
            for name, held in node.bodies.items():
                bodies: Sequence[Graph] = held if isinstance(held, tuple) else (held,)
                for body in bodies:
                    inner = f"{node_label(node.name, node.op_type)}.{name}"
                    check(body, scopes, f"{label} > {inner}" if label else inner, unnamed)


def first_undefined(graph: Graph, scopes: Scopes, label: str, unnamed: Mapping[Value, None]) -> Exception:
    """Build the error for the first value of a graph that is read where its name does not mean it."""
    for node in graph.nodes:
        for value in node.inputs:
            if value is not None and not is_visible(value, scopes, unnamed):
                return undefined(value, label, node_label(node.name, node.op_type))
    return undefined(next(value for value in graph.outputs if not is_visible(value, scopes, unnamed)), label, None)


def define(values: Iterable[Value], own: dict[str, Value], label: str, unnamed: dict[Value, None]) -> None:
    """Enter values into a graph's names."""
    for value in values:
        if value.name in own:
            raise twice(value, label)
        if value.name:
            own[value.name] = value
        else:
            unnamed[value] = None


def is_visible(value: Value, scopes: Scopes, unnamed: Mapping[Value, None]) -> bool:
    """Whether the name of a value means this value, looked up from the innermost graph outwards."""
    if not value.name:
        return value in unnamed
    for names in reversed(scopes):
        found = names.get(value.name)
        if found is not None:
            return found is value
    return False


def twice(value: Value, label: str) -> Exception:
    """Build the error for two values of one name in one graph."""
    return error(
        "value-twice",
        f"two different values named {value.name!r} would be written in one graph",
        graph=label,
        value=value.name,
        hint=HINT,
    )


def undefined(value: Value, label: str, node: str | None) -> Exception:
    """Build the error for a read that would find another value, or none."""
    return error(
        "value-undefined",
        f"{value.name!r} is read where that name means another value, or nothing",
        graph=label,
        node=node,
        value=value.name,
        hint=HINT,
    )
