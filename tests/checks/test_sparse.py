"""Sparse constants whose parts do not go together."""

from __future__ import annotations

import onnx
import onnx.helper
import onnx.parser
import pytest

import sardonyx as sx


def sparse(values: list[int], indices: list[int], shape: list[int], kind: int = 7) -> onnx.SparseTensorProto:
    """Make a sparse tensor with tensors of these shapes."""
    one = onnx.helper.make_tensor("w", 1, values, [0.0] * product(values))
    at = onnx.helper.make_tensor("", kind, indices, list(range(product(indices))))
    return onnx.SparseTensorProto(values=one, indices=at, dims=shape)


def product(dims: list[int]) -> int:
    count = 1
    for dim in dims:
        count *= dim
    return count


CASES = [
    (sparse([2], [2], [3, 3]), []),
    (sparse([2], [2, 2], [3, 3]), []),
    (sparse([0], [0], [3]), []),
    (sparse([2], [3], [3, 3]), ["it has 2 values but 3 positions"]),
    (sparse([2], [2, 1], [3, 3]), ["its positions have 1 coordinates, but its shape has 2 dims"]),
    (sparse([1, 2], [2], [3, 3]), ["its values have 2 dims, must have 1"]),
    (sparse([2], [2, 1, 1], [3]), ["its indices have 3 dims, must have 1 or 2"]),
    (sparse([2], [2], [3], kind=6), ["its indices are int32, must be int64"]),
    (sparse([5], [5], [2, 2]), ["it has 5 values, but its shape has 4 elements"]),
]


@pytest.mark.parametrize(("tensor", "expected"), CASES)
@pytest.mark.parametrize("place", ["initializer", "attribute", "body"])
def test_counts_are_compared(tensor: onnx.SparseTensorProto, expected: list[str], place: str) -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["": 18]> g (bool c) => (y) {
          y = If (c) <then_branch = t () => (p) { p = Constant <value_float = 1.0> () },
                      else_branch = e () => (q) { q = Constant <value_float = 1.0> () }> }"""
    )
    if place == "initializer":
        model.graph.sparse_initializer.append(tensor)
    elif place == "attribute":
        model.graph.node.append(onnx.helper.make_node("Constant", [], ["z"], sparse_value=tensor))
    else:
        body = model.graph.node[0].attribute[0].g
        body.sparse_initializer.append(tensor)
    issues = [issue for issue in sx.check(model.SerializeToString()) if issue.code == "sparse-counts"]
    assert [issue.message for issue in issues] == expected
