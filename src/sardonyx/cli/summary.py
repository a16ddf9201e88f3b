"""Sum a model up as plain data: what `inspect` prints."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sardonyx.io.shards import every_tensor
from sardonyx.ir.describe import type_text
from sardonyx.ir.graph import each_body
from sardonyx.ir.tensor import Converted, External
from sardonyx.ir.walk import bodies_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sardonyx.ir.graph import Function, Graph, Model, Node, Value
    from sardonyx.ir.tensor import Tensor


PARAMETERS = ("initializer", "sparse values")
"""The roles of constants that count as parameters; the others are `sparse indices` and `attribute`."""


def summarize(model: Model) -> dict[str, Any]:
    """Return everything that `inspect` shows, ready for JSON. Constants are counted, never read."""
    graph = model.graph
    written = [(function, function.nodes) for function in model.functions.values()]
    return {
        "model": {
            "source": model.source,
            "ir_version": model.ir_version,
            "producer_name": model.producer_name,
            "producer_version": model.producer_version,
            "domain": model.domain,
            "model_version": model.model_version,
            "doc_string": model.doc_string,
            "metadata": dict(model.metadata),
            "opset_imports": {domain or "ai.onnx": version for domain, version in model.opset_imports.items()},
        },
        "graph": {
            "name": graph.name,
            "doc_string": graph.doc_string,
            "nodes": len(graph.nodes),
            "nodes_in_bodies": sum(1 for _ in inner_nodes(graph.nodes)),
            "nodes_were_reordered": graph.nodes_were_reordered,
            "inputs": [typed(graph, value) for value in graph.inputs],
            "outputs": [typed(graph, value) for value in graph.outputs],
        },
        "operators": operators(model, [nodes for _, nodes in written]),
        "functions": [sum_up(model, function, nodes) for function, nodes in written],
        "bodies": bodies(graph),
        "weights": weights(model),
        "issues": [issue.to_json() for issue in model.issues],
    }


def typed(graph: Graph, value: Value) -> dict[str, Any]:
    """Describe an input or output; `has_default` marks an input that an initializer fills."""
    known = {"name": value.name, "type": type_text(graph.type(value))}
    return {**known, "has_default": True} if value in graph.initializers and value in graph.inputs else known


def inner_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes of all bodies below some nodes, to any depth."""
    for body in bodies_within(nodes):
        yield from body.nodes


def operators(model: Model, function_nodes: list[tuple[Node, ...]]) -> list[dict[str, Any]]:
    """Count operators and function calls, most frequent first; each also by where it stands."""
    graph = model.graph
    places = {
        "graph": Counter(map(key_of, graph.nodes)),
        "bodies": Counter(map(key_of, inner_nodes(graph.nodes))),
        "functions": Counter(key_of(node) for nodes in function_nodes for node in (*nodes, *inner_nodes(nodes))),
    }
    total = sum(places.values(), Counter())
    called = {function.key for function in model.functions.values()}
    return [
        {
            "domain": domain or "ai.onnx",
            "op_type": op_type,
            "overload": overload,
            "count": number,
            **{place: counter[domain, op_type, overload] for place, counter in places.items()},
            "is_function": (domain, op_type, overload) in called,
        }
        for (domain, op_type, overload), number in sorted(total.items(), key=lambda item: (-item[1], item[0]))
    ]


def key_of(node: Node) -> tuple[str, str, str]:
    """Return what a node runs: (domain, op_type, overload), the default domain being the empty one."""
    return ("" if node.domain == "ai.onnx" else node.domain, node.op_type, node.overload)


def sum_up(model: Model, function: Function, nodes: tuple[Node, ...]) -> dict[str, Any]:
    """Describe a model-local function by its signature and size."""
    return {
        "name": function.label,
        "inputs": list(function.inputs),
        "outputs": list(function.outputs),
        "attributes": [*function.attributes, *function.defaults],
        "nodes": len(nodes),
        "nodes_in_bodies": sum(1 for _ in inner_nodes(nodes)),
    }


def bodies(graph: Graph) -> list[dict[str, Any]]:
    """List the bodies of the main graph, each below the node that holds it, innermost ones after theirs."""
    found = []
    stack = [(node, name, body, 0) for node, name, body in reversed(list(each_body(graph)))]
    while stack:
        node, name, body, depth = stack.pop()
        found.append(
            {
                "depth": depth,
                "node": node.name,
                "op_type": node.op_type,
                "first_output": next((value.name for value in node.outputs if value is not None), ""),
                "attribute": name,
                "name": body.name,
                "inputs": len(body.inputs),
                "nodes": len(body.nodes),
                "outputs": len(body.outputs),
                "captures": [value.name for value in body.captures],
            }
        )
        stack.extend((inner, at, one, depth + 1) for inner, at, one in reversed(list(each_body(body))))
    return found


def weights(model: Model) -> dict[str, Any]:
    """Count constants by element type and by where their bytes lie."""
    rows: Counter[tuple[str, str, str]] = Counter()
    elements: Counter[tuple[str, str, str]] = Counter()
    sizes: Counter[tuple[str, str, str]] = Counter()
    sparse = sparse_parts(model.graph)
    for tensor, is_initializer in every_tensor(model):
        role = "initializer" if is_initializer else sparse.get(tensor, "attribute")
        key = (role, tensor.dtype.text, place_of(tensor))
        rows[key] += 1
        elements[key] += tensor.size
        sizes[key] += tensor.nbytes
    parts = [
        {
            "role": key[0],
            "dtype": key[1],
            "place": key[2],
            "tensors": rows[key],
            "elements": elements[key],
            "bytes": sizes[key],
        }
        for key in sorted(rows, key=lambda key: (key[0] not in PARAMETERS, -sizes[key], key))
    ]
    kept = [part for part in parts if part["role"] in PARAMETERS]
    return {
        "parameters": sum(part["elements"] for part in kept),
        "tensors": sum(part["tensors"] for part in kept),
        "bytes": sum(part["bytes"] for part in kept),
        "parts": parts,
    }


def sparse_parts(graph: Graph) -> dict[Tensor, str]:
    """Map the tensors that make up sparse initializers to what they are."""
    found = {}
    for one in (graph, *bodies_within(graph.nodes)):
        for sparse in one.sparse_initializers.values():
            found[sparse.values] = "sparse values"
            found[sparse.indices] = "sparse indices"
    return found


def place_of(tensor: Tensor) -> str:
    """Say where the bytes lie: `model file`, there `as numbers` (in a typed field), or the location of a data file."""
    content = tensor.content
    if isinstance(content, External):
        return content.location
    return "model file, as numbers" if isinstance(content, Converted) else "model file"
