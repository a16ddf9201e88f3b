"""Compare what was inferred of a model with what a run of it showed.

The main graph's values are compared first: an anonymous symbol stands for one number there, which its plain
occurrences tell. In a body and in a call an anonymous symbol of its own may change from trip to trip, but is one
number within one value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sardonyx.dims import Expr, Symbol, evaluate
from sardonyx.ir.types import MapType, OptionalType, SequenceType, TensorType


@dataclass
class Comparison:
    """How the types of one model compare with one run."""

    values: int = 0
    """Values compared."""
    dims: int = 0
    """Dims compared."""
    open_dims: int = 0
    """Dims that cannot be written in the inputs' symbols: the data decides them, as far as is known."""
    given: dict[Symbol, int] = field(default_factory=dict)
    """Unnamed dims of the inputs, and their sizes."""
    wrong: list[str] = field(default_factory=list)
    unobserved: list[str] = field(default_factory=list)
    """Values that the run does not show: of branches not taken, of bodies that ran zero times."""


def scopes_of(inference):
    """Yield every frame with its path as traces spell it, each before those inside it."""
    waiting = [(inference.frame(), ())]
    while waiting:
        frame, path = waiting.pop()
        yield frame, path
        for inner in frame.steps():
            level = inner.level
            attribute = "fn" if level.attribute is None else level.attribute.replace("[", "").replace("]", "")
            step = f"{node_key(level.node, level.index)}:{attribute}"
            waiting.append((inner, (*path, step.replace("/", "\\"))))


def node_key(node, at):
    """Name a node as traces do: by its first output."""
    return next((value.name for value in node.outputs if value is not None), f"#{at}")


def compare(inference, trace):
    """Compare all frames of an inference with a trace."""
    found = Comparison()
    bound = {}
    for frame, path in scopes_of(inference):
        seen = trace.scopes.get(path, {})
        values = [(value, frame.type(value)) for value in values_of(frame.graph)]
        if path == ():
            bind(values[: len(frame.graph.inputs)], seen, found.given)
            bound.update(found.given)
            bind(values, seen, bound)
        for value, kind in values:
            fact = seen.get(value.name)
            label = f"{'/'.join(path)}: {value.name}" if path else value.name
            if fact is None:
                found.unobserved.append(label)
                continue
            found.values += 1
            if kind is not None:
                judge(kind, fact, trace.sizes, bound, label, found)
    return found


def values_of(graph):
    """Return the inputs of a graph and what its nodes make."""
    made = (value for node in graph.nodes for value in node.outputs if value is not None)
    return [*graph.inputs, *made]


def bind(values, seen, bound):
    """Take the numbers of anonymous symbols that stand alone as a dim of the main graph."""
    for value, kind in values:
        fact = seen.get(value.name)
        if not isinstance(kind, TensorType) or kind.shape is None or fact is None or len(fact.shapes) != 1:
            continue
        if len(fact.shapes[0]) == len(kind.shape):
            for dim, size in zip(kind.shape, fact.shapes[0], strict=True):
                if isinstance(dim, Symbol) and dim.anonymous:
                    bound.setdefault(dim, size)


def judge(kind, fact, sizes, bound, label, found):
    """Compare one value."""
    while isinstance(kind, OptionalType) and not fact.dtype.startswith("optional"):
        kind = kind.elem  # onnxruntime says what a present optional holds
        if kind is None:
            return
    if complete(kind) and kind.type_str != fact.dtype:
        found.wrong.append(f"{label}: {kind} but the run has {fact.dtype}")
        return
    if isinstance(kind, OptionalType):
        kind = kind.elem
    if isinstance(kind, SequenceType):
        judge_sequence(kind, fact, sizes, bound, label, found)
    elif isinstance(kind, TensorType):
        for shape in fact.shapes:
            judge_shape(kind, shape, sizes, dict(bound), label, found)


def complete(kind):
    """Return whether a type's parts are all known, so that its type string can be compared."""
    if isinstance(kind, TensorType):
        return kind.dtype is not None
    if isinstance(kind, MapType):
        return kind.key is not None and complete(kind.value)
    return hasattr(kind, "elem") and complete(kind.elem)


def judge_sequence(kind, fact, sizes, bound, label, found):
    for length in fact.lengths:
        if kind.length is not None:
            judge_dim(kind.length, length, sizes, dict(bound), f"{label}: length of {kind}", found)
    if kind.elements is not None and all(isinstance(one, TensorType) for one in kind.elements):
        wanted = [one for one in kind.elements if one.shape is not None]
        if len(wanted) == len(kind.elements):
            for shape in fact.shapes:  # the trace has the set of shapes, not their order
                trials = []
                for one in wanted:
                    trial = Comparison()
                    judge_shape(one, shape, sizes, dict(bound), label, trial)
                    trials.append(trial)
                if trials and all(trial.wrong for trial in trials):
                    found.wrong.append(f"{label}: {kind} has no element of shape {shape}")
        return
    if isinstance(kind.elem, TensorType):
        for shape in fact.shapes:
            judge_shape(kind.elem, shape, sizes, dict(bound), f"{label}[]", found)


def judge_shape(kind, shape, sizes, bound, label, found):
    if kind.shape is None:
        return
    if len(kind.shape) != len(shape):
        found.wrong.append(f"{label}: {kind} but the run has {list(shape)}")
        return
    for axis, (dim, size) in enumerate(zip(kind.shape, shape, strict=True)):
        judge_dim(dim, size, sizes, bound, f"{label}: dim {axis} of {kind}", found)


def judge_dim(dim, size, sizes, bound, label, found):
    found.dims += 1
    if isinstance(dim, Expr):
        if isinstance(dim, Symbol) and dim.anonymous:
            found.open_dims += dim not in found.given
            dim = bound.setdefault(dim, size)
        else:
            known = {symbol: bound.get(symbol, sizes.get(symbol.name)) for symbol in dim.symbols}
            if None in known.values():
                found.open_dims += 1
                return
            try:
                dim = evaluate(dim, known)
            except (ZeroDivisionError, ValueError) as problem:
                found.wrong.append(f"{label} has no value ({problem}), the run has {size}")
                return
    if dim != size:
        found.wrong.append(f"{label} is {dim}, the run has {size}")


def gaps(inference, symbols):
    """Yield what is not known of any value of any frame: (value, operator that makes it, what is missing).

    A dim is known when it is an int or an expression in these symbols.
    """
    for frame, path in scopes_of(inference):
        made = {value: node.op for node in frame.graph.nodes for value in node.outputs if value is not None}
        for value in values_of(frame.graph):
            for what in missing(frame.type(value), symbols):
                yield "/".join((*path, value.name)), made.get(value, "input"), what


def missing(kind, symbols):
    """Yield what is not known of a type."""
    if kind is None:
        yield "nothing"
    elif isinstance(kind, TensorType):
        if kind.dtype is None:
            yield "element type"
        if kind.shape is None:
            yield "rank"
        for axis, dim in enumerate(kind.shape or ()):
            if isinstance(dim, Expr) and not symbols.issuperset(dim.symbols):
                yield f"dim {axis}"
    elif isinstance(kind, SequenceType):
        if kind.length is None or (isinstance(kind.length, Expr) and not symbols.issuperset(kind.length.symbols)):
            yield "length"
        for elem in kind.elements if kind.elements is not None else (kind.elem,):
            yield from missing(elem, symbols)
    elif isinstance(kind, OptionalType):
        yield from missing(kind.elem, symbols)
    elif isinstance(kind, MapType) and (kind.key is None or not complete(kind)):
        yield "key or value type"  # the values of a map are scalars
