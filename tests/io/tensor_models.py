"""Load single tensors: the words that the tests of tensors and external data are written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from onnx import TensorProto

import sardonyx as sx
from tests.wire.bytes_of import number, payload

STRING = TensorProto.STRING
EXTERNAL = TensorProto.EXTERNAL


def proto(data_type: int, dims: tuple[int, ...] = (), **fields: Any) -> TensorProto:
    """A TensorProto named `t`; `external` gives its external_data as a dictionary."""
    external = fields.pop("external", None)
    made = TensorProto(name="t", data_type=data_type, dims=dims, **fields)
    if external is not None:
        made.data_location = EXTERNAL
        for key, value in external.items():
            made.external_data.add(key=key, value=value)
    return made


def model_bytes(*tensors: TensorProto | bytes) -> bytes:
    """A model whose graph is nothing but these initializers."""
    bodies = [one if isinstance(one, bytes) else one.SerializeToString() for one in tensors]
    graph = b"".join(payload(5, body) for body in bodies)
    return number(1, 10) + payload(8, number(2, 21)) + payload(7, graph)


def load(*tensors: TensorProto | bytes, **options: Any) -> sx.Tensor:
    """Load the tensors from bytes and return the first."""
    return first(sx.load(model_bytes(*tensors), **options))


def first(model: sx.Model) -> sx.Tensor:
    """Return the first initializer."""
    return next(iter(model.graph.initializers.values()))


def refused(kind: str, code: str, act: Callable[..., object], *args: Any, **options: Any) -> sx.OnnxError:
    """Expect an error of this kind and code, naming the tensor, and return it."""
    with pytest.raises(sx.OnnxError) as caught:
        act(*args, **options)
    error = caught.value
    assert (error.kind.value, error.code) == (kind, code), str(error)
    return error
