"""Build the two plans of a decoder: the model as it is, and the model with its single-trip Scans inlined.

The inlined plan computes the same only where the scan axes have extent 1. Their extents are often sizes of internal
values; inference gives them as expressions in the sizes of the inputs, so whether they are 1 is known before a step.
"""

from __future__ import annotations

import os
import tempfile

import sardonyx as sx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from sardonyx import Dim, Graph, Model, Symbol, TensorType, Value

LARGEST_BYTES = 2**31 - 1


class Plans:
    """Both plans of one model, with the reason when there is only one.

    `model` is the untouched model, types inferred; `lean` the inlined one, or None.
    """

    def __init__(self, model: Model, wanted: str) -> None:
        inference = sx.infer_shapes(model)
        self.model: Model = inference.model
        self.lean: Model | None = None
        self.why = ""
        """Why there is no inlined plan; empty when there is one."""
        self.extents: tuple[Dim, ...] = ()
        """What must be 1 for the inlined plan to be taken."""
        self.symbols: dict[Symbol, tuple[str, int]] = input_symbols(self.model.graph)
        """Where the size of each symbol is read off: an input's name and an axis."""
        if wanted == "untouched":
            self.why = "plan='untouched' was asked for"
        else:
            self.build()

    def build(self) -> None:
        """Inline the Scans, and keep the result when both plans say the same of every output."""
        found = sx.inline_single_trip_scan_bodies(self.model, assume_single_trip=True)
        if not found.inlined:
            reasons = sorted({one.explanation for one in found.skipped}) or ["the model has none"]
            self.why = f"no Scan could be inlined: {'; '.join(reasons)}"
            return
        extents: dict[Dim, None] = {}
        for one in found.inlined:
            for extent in one.to_check:
                if extent.dim is None or isinstance(extent.dim, int):
                    self.why = f"the extent of a scan axis of {extent.value.name!r} is not known"
                    return
                missing = [symbol.name for symbol in extent.dim.symbols if symbol not in self.symbols]
                if missing:
                    self.why = (
                        f"the extent {extent.dim} of a scan axis of {extent.value.name!r} is no expression "
                        f"in the sizes of the inputs ({', '.join(missing)})"
                    )
                    return
                extents[extent.dim] = None
        self.extents = tuple(extents)
        difference = differences(self.model, found.model, self.extents)
        if difference is not None:
            self.why = difference
            return
        self.lean = found.model

    def is_single_trip(self, shapes: Mapping[str, Sequence[int]]) -> str | None:
        """Return None when every scan axis has extent 1 for inputs of these shapes, else why it has not."""
        sizes = {}
        for symbol, (name, axis) in self.symbols.items():
            if name in shapes and axis < len(shapes[name]):
                sizes[symbol] = shapes[name][axis]
        for dim in self.extents:
            try:
                extent = value_of(dim, sizes)
            except (KeyError, ZeroDivisionError):
                return f"the extent {dim} cannot be told from the inputs"
            if extent != 1:
                return f"the scan axis has extent {extent}"
        return None


def value_of(dim: Dim, sizes: Mapping[Symbol, int]) -> int:
    """Evaluate a dim at given sizes."""
    from sardonyx.dims import evaluate

    return evaluate(dim, sizes)


def input_symbols(graph: Graph) -> dict[Symbol, tuple[str, int]]:
    """Map each symbol that stands alone as a dim of an input to that input and axis; the first counts."""
    found: dict[Symbol, tuple[str, int]] = {}
    for value in graph.inputs:
        kind = graph.type(value)
        if isinstance(kind, sx.TensorType) and kind.shape is not None:
            for axis, dim in enumerate(kind.shape):
                if isinstance(dim, sx.Symbol):
                    found.setdefault(dim, (value.name, axis))
    return found


def differences(model: Model, lean: Model, extents: tuple[Dim, ...]) -> str | None:
    """Compare the outputs of both plans by name and inferred type, every extent being 1; say what differs."""
    ones = {dim.name: 1 for dim in extents if isinstance(dim, sx.Symbol) and not dim.anonymous}
    if any(not isinstance(dim, sx.Symbol) for dim in extents):
        ones = {}  # compare ranks and element types only
    plain, inlined = (typed_outputs(sx.infer_shapes(one, bind=ones).model.graph) for one in (model, lean))
    if list(plain) != list(inlined):
        return f"the inlined plan has the outputs {list(inlined)}, not {list(plain)}"
    for name, kind in plain.items():
        other = inlined[name]
        if kind.dtype is not other.dtype or kind.rank != other.rank:
            return f"the inlined plan gives {name!r} the type {other}, not {kind}"
        if (ones or not extents) and str(kind) != str(other):
            return f"the inlined plan gives {name!r} the type {other}, not {kind}"
    return None


def typed_outputs(graph: Graph) -> dict[str, TensorType]:
    """Return the type of every output by name; one that is no tensor, or of which nothing is known, as an empty one."""
    found = {}
    for value in graph.outputs:
        kind = graph.type(value)
        found[value.name] = kind if isinstance(kind, sx.TensorType) else sx.TensorType()
    return found


class Sessions:
    """onnxruntime sessions of both plans, and the folder of models too large to be handed over as bytes."""

    def __init__(self, plans: Plans, providers: Sequence[Any], options: Any) -> None:
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        self.providers = list(providers)
        self.options = options
        self.untouched = self.session(plans.model, "untouched")
        self.lean = None
        if plans.lean is not None:
            try:
                self.lean = self.session(plans.lean, "inlined")
            except Exception as problem:  # whatever the runtime has against it, the other plan serves
                plans.why = f"onnxruntime does not take the inlined plan: {problem}"
                plans.lean = None

    def session(self, model: Model, name: str) -> Any:
        """Open a session for a model: from bytes when they fit, else from a file in a temporary folder."""
        import onnxruntime

        if data_bytes(model.graph) < LARGEST_BYTES // 2:
            given: str | bytes = sx.to_bytes(model, external="embed")
        else:
            self.folder = self.folder or tempfile.TemporaryDirectory(prefix="sardonyx-")
            given = os.path.join(self.folder.name, f"{name}.onnx")
            sx.save(model, given, external=sx.External())
        return onnxruntime.InferenceSession(given, self.options, providers=self.providers)


def data_bytes(graph: Graph) -> int:
    """Add up the bytes of a graph's initializers."""
    return sum(tensor.nbytes for tensor in graph.initializers.values())


def input_shape(graph: Graph, value: Value, sizes: Mapping[Symbol, int]) -> tuple[int, ...] | str:
    """Return the shape of an input at given sizes, or the name of the first size that is missing."""
    kind = graph.type(value)
    if not isinstance(kind, sx.TensorType) or kind.shape is None:
        return "its rank"
    found = []
    for dim in kind.shape:
        if isinstance(dim, int):
            found.append(dim)
        elif all(symbol in sizes for symbol in dim.symbols):
            found.append(value_of(dim, sizes))
        else:
            return str(dim)
    return tuple(found)
