"""Build small models from protobuf messages: the words that the tests of resolving are written in."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

import sardonyx as sx

FLOAT = TensorProto.FLOAT


def info(name: str, shape: tuple[Any, ...] | None = (2,), dtype: int = FLOAT) -> ValueInfoProto:
    """Declare a tensor value."""
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name: str, *values: float) -> TensorProto:
    """A float initializer."""
    return helper.make_tensor(name, FLOAT, [len(values)], values)


def node(op: str, inputs: str, outputs: str, name: str = "", **attrs: Any) -> NodeProto:
    """A node whose inputs and outputs are words; `-` is an omitted one."""
    domain = attrs.pop("domain", "")
    made = helper.make_node(op, words(inputs), words(outputs), name=name, domain=domain)
    for key, value in attrs.items():
        made.attribute.append(value if isinstance(value, AttributeProto) else helper.make_attribute(key, value))
    return made


def words(text: str) -> list[str]:
    """Split names; `-` is the empty name."""
    return ["" if word == "-" else word for word in text.split()]


def graph(*nodes: NodeProto, inputs: str | list[ValueInfoProto] = "x", outputs: str | list[ValueInfoProto] = "y",
          initializers: tuple[TensorProto, ...] = (), name: str = "g") -> GraphProto:  # fmt: skip
    """A graph whose inputs and outputs are words or declarations."""
    made = GraphProto(name=name)
    made.node.extend(nodes)
    made.input.extend([info(word) for word in words(inputs)] if isinstance(inputs, str) else inputs)
    made.output.extend([info(word) for word in words(outputs)] if isinstance(outputs, str) else outputs)
    made.initializer.extend(initializers)
    return made


def model(
    main: GraphProto, *functions: FunctionProto, opsets: dict[str, int] | None = None, ir: int = 10
) -> ModelProto:
    """A model around a graph."""
    made = ModelProto(ir_version=ir)
    made.graph.CopyFrom(main)
    for domain, version in ({"": 21} if opsets is None else opsets).items():
        made.opset_import.add(domain=domain, version=version)
    made.functions.extend(functions)
    return made


def load(main: GraphProto | ModelProto, **options: Any) -> sx.Model:
    """Load a graph or model from bytes."""
    proto = model(main) if isinstance(main, GraphProto) else main
    return sx.load(proto.SerializeToString(), **options)


def refused(code: str, main: GraphProto | ModelProto | bytes, kind: str = "InvalidModel") -> sx.OnnxError:
    """Expect that loading ends with this code, and return the error."""
    data = (
        main if isinstance(main, bytes) else (model(main) if isinstance(main, GraphProto) else main).SerializeToString()
    )
    with pytest.raises(sx.OnnxError) as caught:
        sx.load(data)
    found = caught.value
    assert (found.kind.value, found.code) == (kind, code), str(found)
    return found


def names(values: Any) -> list[str | None]:
    """The names of values."""
    return [None if value is None else value.name for value in values]
