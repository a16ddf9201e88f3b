"""Let a rule look again with simpler dims, after an expression outgrew what is kept of one."""

from __future__ import annotations

from contextlib import contextmanager

from sardonyx.dims import Symbol
from sardonyx.ir.types import TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sardonyx.dims import Dim
    from sardonyx.infer.activation import Activation
    from sardonyx.infer.engine import Engine

SIMPLE = 8
"""Size of an expression that stays as it is."""


@contextmanager
def blurred(engine: Engine, activation: Activation) -> Iterator[None]:
    """Put fresh symbols in place of the large dims of the inputs of the node in hand, and forget their elements."""
    types, contents = activation.types, activation.contents
    known: dict[Dim, Dim] = {}
    before = {}
    for value in activation.call.node.inputs:
        kind = None if value is None else types.get(value)
        if value is None or kind is None or value in before:
            continue
        before[value] = (kind, contents.get(value), value in contents)
        contents[value] = None
        if isinstance(kind, TensorType) and kind.shape is not None:
            dims: list[Dim] = []
            for dim in kind.shape:
                if not isinstance(dim, int) and not isinstance(dim, Symbol) and dim.size > SIMPLE:
                    found = known.get(dim)
                    dim = known[dim] = engine.scope.fresh() if found is None else found
                dims.append(dim)
            types[value] = kind.with_shape(dims)
    try:
        yield
    finally:
        for value, (kind, content, had) in before.items():
            types[value] = kind
            if had:
                contents[value] = content
            else:
                del contents[value]
