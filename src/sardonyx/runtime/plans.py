"""Build the two plans of a decoder: the model as it is, and the model with its single-trip Scans inlined.

The inlined plan computes the same only where the scan axes have extent 1. Their extents are often sizes of internal
values; inference gives them as expressions in the sizes of the inputs, so whether they are 1 is known before a step.
What the file claims of internal values takes no part in that: the model is inferred a second time without it.
"""

from __future__ import annotations

import sardonyx as sx
from sardonyx.dims import evaluate
from sardonyx.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sardonyx import Dim, Graph, Model, Symbol, TensorType, Value

    Places = dict[Symbol, list[tuple[str, int]]]
    Shapes = Mapping[str, Sequence[int]]


class Plans:
    """Both plans of one model, with the reason when there is only one."""

    def __init__(self, model: Model, wanted: str) -> None:
        self.untouched: Model = sx.infer_shapes(model).model
        """The model as it is, with types."""
        self.proven: Graph = sx.infer_shapes(without_claims(model), defaults="open").model.graph
        """The same graph, with the types that follow from the inputs alone, whatever the caller overrides."""
        self.lean: Model | None = None
        """The inlined plan."""
        self.why = ""
        """Why there is no inlined plan; empty when there is one."""
        self.extents: tuple[Dim, ...] = ()
        """What must be 1 for the inlined plan to be taken."""
        self.places: Places = input_symbols(self.proven)
        """Where the size of each symbol is read off: inputs' names and axes."""
        if wanted == "untouched":
            self.why = "plan='untouched' was asked for"
        else:
            self.build()

    def build(self) -> None:
        """Inline the Scans, and keep the result when both plans say the same of every output."""
        found = sx.inline_single_trip_scan_bodies(replace(self.untouched, graph=self.proven), assume_single_trip=True)
        if not found.inlined:
            reasons = sorted({one.explanation for one in found.skipped}) or ["the model has none"]
            self.why = f"no Scan could be inlined: {'; '.join(reasons)}"
            return
        extents: dict[Dim, None] = {}
        for one in found.inlined:
            for extent in one.to_check:
                problem = self.unknown_in(extent.dim)
                if problem is not None:
                    self.why = f"the extent of a scan axis of {extent.value.name!r} is {problem}"
                    return
                extents[extent.dim] = None  # type: ignore[index]
        self.extents = tuple(extents)
        graph = found.model.graph
        outputs = {
            value: self.untouched.graph.types[value] for value in graph.outputs if value in self.untouched.graph.types
        }
        lean = replace(found.model, graph=replace(graph, types={**graph.types, **outputs}))
        self.why = differences(self.untouched, lean, self.extents) or ""
        if not self.why:
            self.lean = lean

    def unknown_in(self, dim: Dim | None) -> str | None:
        """Say what keeps a scan axis's extent from being worked out before a step; None when nothing does."""
        if dim is None:
            return "not known"
        missing = [] if isinstance(dim, int) else [str(symbol) for symbol in dim.symbols if symbol not in self.places]
        if missing:
            return f"{dim}, no expression in the sizes of the inputs ({', '.join(missing)})"
        return None

    def is_single_trip(self, shapes: Shapes) -> str | None:
        """Return None when every scan axis has extent 1 for inputs of these shapes, else why it has not."""
        if not self.extents:
            return None
        sizes: dict[Symbol | str, int] = {}
        for symbol, places in self.places.items():
            found = {shapes[name][axis]: name for name, axis in places if axis < len(shapes.get(name, ()))}
            if len(found) > 1:
                told = ", ".join(f"{size} in {name!r}" for size, name in found.items())
                return f"the inputs disagree on the size of {symbol}: {told}"
            for size in found:
                sizes[symbol] = size
        for dim in self.extents:
            try:
                extent = evaluate(dim, sizes)
            except (KeyError, ValueError, ZeroDivisionError):
                return f"the extent {dim} of a scan axis cannot be told from the inputs"
            if extent != 1:
                return f"a scan axis has extent {extent}"
        return None


def without_claims(model: Model) -> Model:
    """Return a model that says nothing of any value but its inputs and constants."""
    graph = model.graph
    facts = {value: kind for value in graph.inputs if (kind := graph.type(value)) is not None}
    declared = tuple(one for one in graph.declared if one.role == "input")
    bare: Model = replace(model, graph=replace(graph, types=facts, declared=declared))
    return bare


def input_symbols(graph: Graph) -> Places:
    """Map each symbol that stands alone as a dim of an input to the inputs and axes where it does."""
    found: Places = {}
    for value in graph.inputs:
        kind = graph.type(value)
        if isinstance(kind, sx.TensorType) and kind.shape is not None:
            for axis, dim in enumerate(kind.shape):
                if isinstance(dim, sx.Symbol):
                    found.setdefault(dim, []).append((value.name, axis))
    return found


def differences(model: Model, lean: Model, extents: tuple[Dim, ...]) -> str | None:
    """Compare the outputs of both plans by name and inferred type, every extent being 1; say what differs."""
    ones = {dim.name: 1 for dim in extents if isinstance(dim, sx.Symbol) and not dim.anonymous}
    exact = len(ones) == len(extents)  # else the extents cannot be made 1 here: compare element types and ranks only
    plain, inlined = (
        typed_outputs(sx.infer_shapes(without_claims(one), bind=ones if exact else None, defaults="open").model.graph)
        for one in (model, lean)
    )
    if list(plain) != list(inlined):
        return f"the inlined plan has the outputs {list(inlined)}, not {list(plain)}"
    for name, kind in plain.items():
        if not is_same(kind, inlined[name], exact):
            return f"the inlined plan gives {name!r} the type {inlined[name]}, not {kind}"
    return None


def is_same(a: TensorType, b: TensorType, exact: bool) -> bool:
    """Return whether two types say nothing different; what one of them does not know is no difference."""
    if a.dtype is not None and b.dtype is not None and a.dtype is not b.dtype:
        return False
    if a.shape is None or b.shape is None:
        return True
    if len(a.shape) != len(b.shape):
        return False
    named = [(x, y) for x, y in zip(a.shape, b.shape, strict=True) if not is_anonymous(x) and not is_anonymous(y)]
    return not exact or all(str(x) == str(y) for x, y in named)


def is_anonymous(dim: Dim) -> bool:
    """Return whether a dim depends on a size that inference does not know."""
    return not isinstance(dim, int) and any(symbol.anonymous for symbol in dim.symbols)


def typed_outputs(graph: Graph) -> dict[str, TensorType]:
    """Return the type of every output by name; one that is no tensor, or of which nothing is known, as an empty one."""
    found = {}
    for value in graph.outputs:
        kind = graph.type(value)
        found[value.name] = kind if isinstance(kind, sx.TensorType) else sx.TensorType()
    return found


def shape_at(graph: Graph, value: Value, sizes: Mapping[Symbol | str, int]) -> tuple[int, ...] | str:
    """Return the shape of a value at given sizes, or the first thing about it that is not known."""
    kind = graph.type(value)
    if not isinstance(kind, sx.TensorType) or kind.shape is None:
        return "its rank"
    found = []
    for dim in kind.shape:
        if not isinstance(dim, int) and any(symbol not in sizes for symbol in dim.symbols):
            return str(dim)
        found.append(evaluate(dim, sizes))
    return tuple(found)
