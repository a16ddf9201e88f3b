"""Print the structure of a model, one fact a line, so that two models can be compared line by line.

    print(sx.dump(model))
    json.loads(sx.dump(model, format="json"))["graph"]["nodes"]

Names, types, attributes, metadata and SHA-256 hashes of all constants are there; see ir/describe.py for what is hashed
how, and for what is left out.
"""

from __future__ import annotations

from json import dumps
from struct import unpack

from sardonyx.ir.describe import describe, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from sardonyx.ir.graph import Model


def dump(model: Model, *, format: str = "text") -> str:
    """Return the structure of a model, with hashes of its constants.

    `format="text"` is for people and for `diff`; `"json"` has the same facts under `"schema": 1`. Nodes stand in graph
    order, those of functions as written. Data files that are missing from a lazily loaded model are named as such.

    Raises:
        OnnxError: Io `source-closed` after `model.close()`, when constants would have to be read.
        ValueError: `format` is neither `text` nor `json`.
    """
    if format == "text":
        return "".join(f"{line}\n" for line in model_lines(describe(model)))
    if format == "json":
        return dumps(describe(model), indent=1) + "\n"
    raise ValueError(f"format is {format!r}; it must be 'text' or 'json'")


def model_lines(model: Mapping[str, Any]) -> list[str]:
    """Print the description of a model."""
    lines = [
        f"ir_version {model['ir_version']}",
        f"producer {quoted(model['producer_name'])} {quoted(model['producer_version'])}",
        f"domain {quoted(model['domain'])}",
        f"model_version {model['model_version']}",
        *opset_lines("", model["opset_imports"]),
        *note_lines("", model),
    ]
    graph_lines(lines, "", model["graph"])
    for function in model["functions"]:
        function_lines(lines, function)
    return lines


def function_lines(lines: list[str], function: Mapping[str, Any]) -> None:
    """Print a function after `lines`."""
    lines.append(f"function {function_label(function)}")
    pad = "  "
    lines += [f"{pad}input {quoted(name)}" for name in function["inputs"]]
    lines += [f"{pad}output {quoted(name)}" for name in function["outputs"]]
    lines += [f"{pad}attribute {quoted(name)}" for name in function["attributes"]]
    for attr in function["defaults"]:
        attribute_lines(lines, pad + "default ", attr)
    lines += opset_lines(pad, function["opset_imports"])
    lines += note_lines(pad, function)
    lines += claim_lines(pad, function["claims"])
    for node in function["nodes"]:
        node_lines(lines, pad, node)


def graph_lines(lines: list[str], pad: str, graph: Mapping[str, Any]) -> None:
    """Print a graph after `lines`, indented by `pad`."""
    lines.append(f"{pad}graph {quoted(graph['name'])}")
    pad += "  "
    lines += note_lines(pad, graph)
    lines += [f"{pad}input {typed(value)}" for value in graph["inputs"]]
    lines += [f"{pad}output {typed(value)}" for value in graph["outputs"]]
    lines += claim_lines(pad, graph["claims"])
    lines += [f"{pad}initializer {quoted(one['name'])}: {tensor_text(one)}" for one in graph["initializers"]]
    for one in graph["sparse_initializers"]:
        lines.append(f"{pad}sparse_initializer {quoted(one['name'])}: {sparse_text(one)}")
    for node in graph["nodes"]:
        node_lines(lines, pad, node)


def node_lines(lines: list[str], pad: str, node: Mapping[str, Any]) -> None:
    """Print a node: what it computes from what, then a line for each output and attribute."""
    lines.append(f"{pad}node {node_text(node)}" + (f" {dumps(node['name'])}" if node["name"] else ""))
    pad += "  "
    lines += [f"{pad}-> {typed(value)}" for value in node["outputs"]]
    for attr in node["attributes"]:
        attribute_lines(lines, pad, attr)
    lines += note_lines(pad, node)


def attribute_lines(lines: list[str], pad: str, attr: Mapping[str, Any]) -> None:
    """Print an attribute; bodies and lists of constants take lines of their own below it."""
    head = f"{pad}{quoted(attr['name'])}: {attr['kind']}"
    inner = " " * (len(pad) - len(pad.lstrip()) + 2)
    if "ref" in attr:
        lines.append(f"{head} = @{quoted(attr['ref'])}")
        return
    value = attr["value"]
    if attr["kind"] == "GRAPH":
        lines.append(head)
        graph_lines(lines, inner, value)
    elif attr["kind"] == "GRAPHS":
        lines.append(f"{head} {len(value)}")
        for body in value:
            graph_lines(lines, inner, body)
    elif attr["kind"] in ("TENSORS", "SPARSE_TENSORS"):
        lines.append(f"{head} {len(value)}")
        lines += [f"{inner}{constant_text(one)}" for one in value]
    else:
        lines.append(f"{head} {value_text(attr['kind'], value)}")


def opset_lines(pad: str, imports: Mapping[str, int]) -> list[str]:
    """Print opset imports, domains as written."""
    return [f"{pad}opset {quoted(domain)} {version}" for domain, version in imports.items()]


def note_lines(pad: str, part: Mapping[str, Any]) -> list[str]:
    """Print documentation and metadata."""
    lines = [f"{pad}doc {text(part['doc_string'])}"] if "doc_string" in part else []
    return lines + [f"{pad}metadata {dumps(key)} = {text(value)}" for key, value in part.get("metadata", {}).items()]


def claim_lines(pad: str, claims: Iterable[Mapping[str, Any]]) -> list[str]:
    """Print declarations that say something else than what is known."""
    return [f"{pad}claim {one['role']} {typed(one)}" for one in claims]


def node_text(node: Mapping[str, Any]) -> str:
    """Write what a node computes: `com.microsoft::Attention(x, w, "")`, the domain as written."""
    domain = f"{quoted(node['domain'])}::" if node["domain"] else ""
    overload = f":{quoted(node['overload'])}" if node["overload"] else ""
    return f"{domain}{quoted(node['op_type'])}{overload}({', '.join(map(quoted, node['inputs']))})"


def function_label(function: Mapping[str, Any]) -> str:
    """Write which function this is: `domain::name:overload`."""
    overload = f":{quoted(function['overload'])}" if function["overload"] else ""
    return f"{quoted(function['domain'])}::{quoted(function['name'])}{overload}"


def typed(value: Mapping[str, Any]) -> str:
    """Write a value with its type, when that is known."""
    return quoted(value["name"]) if value["type"] is None else f"{quoted(value['name'])}: {value['type']}"


def constant_text(constant: Mapping[str, Any]) -> str:
    """Write a constant, dense or sparse."""
    return tensor_text(constant) if "dtype" in constant else sparse_text(constant)


def tensor_text(tensor: Mapping[str, Any]) -> str:
    """Write a tensor: `float[3, 4] sha256 9f86...`."""
    head = f"{tensor['dtype']}{tensor['dims']}"
    if tensor["sha256"] is not None:
        return f"{head} sha256 {tensor['sha256']}"
    return " ".join(
        [head, "unavailable", *[f"{key}={quoted(text)}" for key, text in tensor.get("external_data", {}).items()]]
    )


def sparse_text(sparse: Mapping[str, Any]) -> str:
    """Write a sparse tensor: dense dims, values, indices."""
    return f"{sparse['dims']} values {tensor_text(sparse['values'])} indices {tensor_text(sparse['indices'])}"


def value_text(kind: str, value: Any) -> str:
    """Write the value of an attribute that fits on a line."""
    if isinstance(value, dict):
        return hash_text(value) if "dtype" not in value and "indices" not in value else constant_text(value)
    if kind == "FLOAT":
        return f"{value} ({unpack('>f', bytes.fromhex(value[2:]))[0]:.9g})"
    if kind == "STRING":
        return dumps(value)
    if kind == "STRINGS":
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return str(value)


def hash_text(hashed: Mapping[str, Any]) -> str:
    """Write something long by its size and hash."""
    size = f"{hashed['bytes']} bytes" if "bytes" in hashed else f"{hashed['count']} entries"
    return f"{size} sha256 {hashed['sha256']}"


def text(value: str | Mapping[str, Any]) -> str:
    """Write a text in quotes, or by its size and hash."""
    return dumps(value) if isinstance(value, str) else hash_text(value)
