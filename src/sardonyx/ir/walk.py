"""List the bodies below a graph, at any depth, without recursion."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sardonyx.ir.graph import Graph, Node, Value


def bodies_within(nodes: Iterable[Node], wanted: Callable[[Graph], bool] | None = None) -> list[Graph]:
    """Return the bodies of these nodes and the bodies inside those: innermost first, in file order otherwise.

    Where `wanted` says no, neither the body nor what is inside it is listed.
    """
    found: list[Graph] = []
    waiting = list(direct_bodies(nodes, wanted))
    while waiting:
        body = waiting.pop()  # the last one first, since the whole list is turned round at the end
        found.append(body)
        waiting.extend(direct_bodies(body.nodes, wanted))
    found.reverse()
    return found


def direct_bodies(nodes: Iterable[Node], wanted: Callable[[Graph], bool] | None) -> Iterator[Graph]:
    """Yield the bodies that nodes hold themselves, lists flattened."""
    for node in nodes:
        if node.bodies:
            for held in node.bodies.values():
                for body in held if isinstance(held, tuple) else (held,):
                    if wanted is None or wanted(body):
                        yield body


def defined_values(nodes: Iterable[Node]) -> Iterator[Value]:
    """Yield every value that these nodes define, themselves or in a body at any depth."""
    nodes = tuple(nodes)
    yield from outputs_of(nodes)
    for body in bodies_within(nodes):
        yield from body.inputs
        yield from body.initializers
        yield from body.sparse_initializers
        yield from outputs_of(body.nodes)


def outputs_of(nodes: Iterable[Node]) -> Iterator[Value]:
    """Yield the outputs of nodes, omitted ones left out."""
    for node in nodes:
        for value in node.outputs:
            if value is not None:
                yield value
