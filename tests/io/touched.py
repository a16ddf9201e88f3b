"""Make a model in which every part counts as changed, so that a writer must encode all of it anew."""

from __future__ import annotations

from typing import Any

from sardonyx import Attr, Function, Graph, Model, Node, SparseTensor, Tensor


def touched(model: Model) -> Model:
    """Return an equal model none of whose parts may be copied as it stands."""
    functions = {key: touched_function(function) for key, function in model.functions.items()}
    return model.replace(graph=touched_graph(model.graph), functions=functions)


def touched_graph(graph: Graph) -> Graph:
    return graph.replace(
        nodes=tuple(touched_node(node) for node in graph.nodes),
        initializers={value: touched_tensor(tensor) for value, tensor in graph.initializers.items()},
        sparse_initializers={value: touched_sparse(one) for value, one in graph.sparse_initializers.items()},
        declared=tuple(one.replace() for one in graph.declared),
    )


def touched_function(function: Function) -> Function:
    defaults = {name: touched_attr(attr) for name, attr in function.defaults.items()}
    return function.replace(body=touched_graph(function.body), defaults=defaults)


def touched_node(node: Node) -> Node:
    return node.replace(attrs={name: touched_attr(attr) for name, attr in node.attrs.items()})


def touched_attr(attr: Any) -> Any:
    if not isinstance(attr, Attr):
        return attr.replace()
    return attr.replace(content=touched_value(attr.content))


def touched_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(touched_value(one) for one in value)
    for kind, touch in ((Graph, touched_graph), (Tensor, touched_tensor), (SparseTensor, touched_sparse)):
        if isinstance(value, kind):
            return touch(value)
    return value


def touched_tensor(tensor: Tensor) -> Tensor:
    return tensor.replace()


def touched_sparse(one: SparseTensor) -> SparseTensor:
    return one.replace(values=one.values.replace(), indices=one.indices.replace())
