"""What operators are and mean, opset by opset."""

from sardonyx.ops.changes import compatible, difference, same_schema
from sardonyx.ops.signatures import (
    AttributeSignature,
    Formal,
    Signature,
    domains,
    latest_opset,
    operators,
    signature,
    versions,
)

__all__ = [
    "AttributeSignature",
    "Formal",
    "Signature",
    "compatible",
    "difference",
    "domains",
    "latest_opset",
    "operators",
    "same_schema",
    "signature",
    "versions",
]
