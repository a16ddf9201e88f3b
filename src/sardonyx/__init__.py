"""sardonyx, the ONNX front end: read, resolve, inline, infer, transform and explain models.

Names are imported when they are first used, so that `import sardonyx` costs next to nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sardonyx.api import check as check
    from sardonyx.api import load as load
    from sardonyx.dims import Dim as Dim
    from sardonyx.dims import Scope as Scope
    from sardonyx.dims import Symbol as Symbol
    from sardonyx.errors import CODES as CODES
    from sardonyx.errors import ErrorKind as ErrorKind
    from sardonyx.errors import Issue as Issue
    from sardonyx.errors import OnnxError as OnnxError
    from sardonyx.infer.inference import infer_shapes as infer_shapes
    from sardonyx.io.save import save as save
    from sardonyx.io.save import to_bytes as to_bytes
    from sardonyx.io.shards import External as External
    from sardonyx.ir.attrs import Attr as Attr
    from sardonyx.ir.attrs import AttrRef as AttrRef
    from sardonyx.ir.diff import diff as diff
    from sardonyx.ir.dump import dump as dump
    from sardonyx.ir.graph import Function as Function
    from sardonyx.ir.graph import Graph as Graph
    from sardonyx.ir.graph import Model as Model
    from sardonyx.ir.graph import Node as Node
    from sardonyx.ir.graph import Value as Value
    from sardonyx.ir.rewrite import Rewrite as Rewrite
    from sardonyx.ir.tensor import SparseTensor as SparseTensor
    from sardonyx.ir.tensor import Tensor as Tensor
    from sardonyx.ir.types import DType as DType
    from sardonyx.ir.types import MapType as MapType
    from sardonyx.ir.types import OpaqueType as OpaqueType
    from sardonyx.ir.types import OptionalType as OptionalType
    from sardonyx.ir.types import SequenceType as SequenceType
    from sardonyx.ir.types import SparseTensorType as SparseTensorType
    from sardonyx.ir.types import TensorType as TensorType
    from sardonyx.limits import Limits as Limits
    from sardonyx.ops.rules import rules as rules
    from sardonyx.passes.inline_functions import inline_functions as inline_functions
    from sardonyx.passes.inline_scans import inline_single_trip_scan_bodies as inline_single_trip_scan_bodies
    from sardonyx.pipeline import lower as lower

HOMES = {
    "load": "api",
    "check": "api",
    "dump": "ir.dump",
    "diff": "ir.diff",
    "save": "io.save",
    "to_bytes": "io.save",
    "External": "io.shards",
    "Limits": "limits",
    "lower": "pipeline",
    "rules": "ops.rules",
    "inline_single_trip_scan_bodies": "passes.inline_scans",
    "inline_functions": "passes.inline_functions",
    "infer_shapes": "infer.inference",
    "Model": "ir.graph",
    "Graph": "ir.graph",
    "Function": "ir.graph",
    "Node": "ir.graph",
    "Value": "ir.graph",
    "Attr": "ir.attrs",
    "AttrRef": "ir.attrs",
    "Tensor": "ir.tensor",
    "SparseTensor": "ir.tensor",
    "Rewrite": "ir.rewrite",
    "DType": "ir.types",
    "TensorType": "ir.types",
    "SparseTensorType": "ir.types",
    "SequenceType": "ir.types",
    "OptionalType": "ir.types",
    "MapType": "ir.types",
    "OpaqueType": "ir.types",
    "Dim": "dims",
    "Symbol": "dims",
    "Scope": "dims",
    "OnnxError": "errors",
    "ErrorKind": "errors",
    "Issue": "errors",
    "CODES": "errors",
}
"""Where each public name lives."""

MODULES = ("passes",)
"""Packages that are public as they are."""

__all__ = [*HOMES, *MODULES]


def __getattr__(name: str) -> Any:
    home = HOMES.get(name)
    if name in MODULES:
        return __import__(f"sardonyx.{name}", fromlist=[name])
    if home is None:
        raise AttributeError(f"module 'sardonyx' has no attribute {name!r}")
    module = __import__(f"sardonyx.{home}", fromlist=[name])
    found = getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
