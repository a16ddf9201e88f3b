"""Check that a sparse constant is whole: as many positions as values, each position within the dense shape."""

from __future__ import annotations

from sardonyx.checks.operators import every_node
from sardonyx.errors import Issue, Place
from sardonyx.ir.attrs import AttrKind
from sardonyx.ir.types import DType
from sardonyx.ir.walk import bodies_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sardonyx.ir.graph import Graph, Model
    from sardonyx.ir.tensor import SparseTensor


def check_sparse(model: Model) -> list[Issue]:
    """Return what is wrong with the counts of sparse constants (onnx.proto, SparseTensorProto); no data is read."""
    issues: list[Issue] = []
    roots: list[tuple[Graph, str | None]] = [(model.graph, None)]
    roots += [(one.body, f"function {one.label}") for one in model.functions.values() if not one.faults]
    for root, label in roots:
        for graph in (root, *bodies_within(root.nodes)):
            for value, sparse in graph.sparse_initializers.items():
                place = Place(model.source, graph=label, value=value.name)
                issues += (Issue("sparse-counts", text, place) for text in faults(sparse))
        for node, where in every_node(root, label):
            for attr in node.attrs.values():
                if attr.kind is AttrKind.SPARSE_TENSOR or attr.kind is AttrKind.SPARSE_TENSORS:
                    held = attr.value if attr.kind is AttrKind.SPARSE_TENSORS else (attr.value,)
                    place = Place(model.source, graph=where.graph, node=where.node, attribute=attr.name)
                    wrong = (faults(one) for one in held or () if one is not None)
                    issues += (Issue("sparse-counts", text, place) for texts in wrong for text in texts)
    return issues


def faults(sparse: SparseTensor) -> Iterator[str]:
    """Yield what is wrong with one sparse tensor."""
    values, indices, shape = sparse.values.shape, sparse.indices.shape, sparse.shape
    if len(values) != 1:
        yield f"its values have {len(values)} dims, must have 1"
        return
    if sparse.indices.dtype is not DType.INT64:
        yield f"its indices are {sparse.indices.dtype.text}, must be int64"
    if len(indices) not in (1, 2):
        yield f"its indices have {len(indices)} dims, must have 1 or 2"
    elif indices[0] != values[0]:
        yield f"it has {values[0]} values but {indices[0]} positions"
    elif len(indices) == 2 and indices[1] != len(shape):
        yield f"its positions have {indices[1]} coordinates, but its shape has {len(shape)} dims"
    count = 1
    for dim in shape:
        count *= max(dim, 0)
    if values[0] > count:
        yield f"it has {values[0]} values, but its shape has {count} elements"
