"""Open models in onnxruntime: small ones from bytes, large ones from a temporary folder."""

from __future__ import annotations

import os
import tempfile

import sardonyx as sx
from sardonyx.ir.walk import bodies_within
from sardonyx.runtime.values import runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sardonyx import Graph, Model

LARGEST = 2**30
"""Bytes of weights up to which a model is handed over in memory; protobuf's own limit is 2^31 - 1 for the whole."""


class Opener:
    """Opens sessions with the same options, and keeps the folder of those that were too large for memory."""

    def __init__(self, providers: Sequence[Any], options: Any) -> None:
        self.providers = list(providers)
        self.options = options
        self.folder: tempfile.TemporaryDirectory[str] | None = None

    def open(self, model: Model, name: str) -> Any:
        """Return an `onnxruntime.InferenceSession` of a model."""
        onnxruntime = runtime()
        given: str | bytes
        if weight_bytes(model.graph) <= LARGEST:
            given = sx.to_bytes(model, external="embed")
        else:
            if self.folder is None:
                self.folder = tempfile.TemporaryDirectory(prefix="sardonyx-", ignore_cleanup_errors=True)
            given = os.path.join(self.folder.name, f"{name}.onnx")
            sx.save(model, given, external=sx.External())
        return onnxruntime.InferenceSession(given, self.options, providers=self.providers)


def weight_bytes(graph: Graph) -> int:
    """Add up the bytes of the initializers of a graph and its bodies."""
    return sum(tensor.nbytes for one in (graph, *bodies_within(graph.nodes)) for tensor in one.initializers.values())
