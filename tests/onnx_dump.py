"""Write the same dump as `sx.dump` from the onnx package's messages alone: the other half of a differential test.

Nothing of sardonyx is used. Typed data is converted to the raw layout here, nodes are sorted here when a file has them
in another order, and kinds of attributes are inferred here; only parsing is left to protobuf.

    python tests/onnx_dump.py MODEL
"""

from __future__ import annotations

import hashlib
import heapq
import json
import re
import struct
import sys
from pathlib import Path

import onnx

ATTRIBUTE = onnx.AttributeProto
BITS = {
    **dict.fromkeys([1, 6, 12], 32),
    **dict.fromkeys([2, 3, 9, 17, 18, 19, 20, 24], 8),
    **dict.fromkeys([4, 5, 10, 16], 16),
    **dict.fromkeys([7, 11, 13, 14], 64),
    15: 128,
    **dict.fromkeys([21, 22, 23], 4),
    **dict.fromkeys([25, 26], 2),
    **dict.fromkeys([27, 28], 6),
}
SCALAR_FIELDS = ("f", "i", "s", "t", "g", "sparse_tensor", "tp")
LIST_FIELDS = ("floats", "ints", "strings", "tensors", "graphs", "sparse_tensors", "type_protos")
KIND_OF_FIELD = {
    "f": "FLOAT", "i": "INT", "s": "STRING", "t": "TENSOR", "g": "GRAPH", "sparse_tensor": "SPARSE_TENSOR",
    "tp": "TYPE_PROTO", "floats": "FLOATS", "ints": "INTS", "strings": "STRINGS", "tensors": "TENSORS",
    "graphs": "GRAPHS", "sparse_tensors": "SPARSE_TENSORS", "type_protos": "TYPE_PROTOS",
}  # fmt: skip


def name_text(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_./:$@-]+", name) else json.dumps(name)


def dim_text(dim) -> str:
    which = dim.WhichOneof("value")
    if which == "dim_value":
        return str(dim.dim_value) if dim.dim_value >= 0 else "?"
    if which is None or not dim.dim_param:
        return "?"
    return dim.dim_param if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", dim.dim_param) else json.dumps(dim.dim_param)


def dtype_text(code: int) -> str:
    return onnx.TensorProto.DataType.Name(code).lower() if code else ""


def type_text(proto) -> str | None:
    """A type as a line shows it; None for a TypeProto without a member."""
    which = proto.WhichOneof("value")
    if which in ("tensor_type", "sparse_tensor_type"):
        one = getattr(proto, which)
        shape = f"[{', '.join(map(dim_text, one.shape.dim))}]" if one.HasField("shape") else ""
        return f"{which.removesuffix('_type')}({dtype_text(one.elem_type)}){shape}"
    if which == "sequence_type":
        return f"seq({type_text(proto.sequence_type.elem_type) or ''})"
    if which == "optional_type":
        return f"optional({type_text(proto.optional_type.elem_type) or ''})"
    if which == "map_type":
        return f"map({dtype_text(proto.map_type.key_type)}, {type_text(proto.map_type.value_type) or ''})"
    if which == "opaque_type":
        return f"opaque({name_text(proto.opaque_type.domain)}, {name_text(proto.opaque_type.name)})"
    return None


# Constants


def raw_layout(tensor, folder: Path | None) -> bytes | None:
    """The bytes of a tensor as raw_data would have them; None when its data file is not there."""
    code, count = tensor.data_type, 1
    for dim in tensor.dims:
        count *= dim
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        path = None if folder is None else folder / entries["location"]
        if path is None or not path.is_file():
            return None
        with path.open("rb") as file:
            file.seek(int(entries.get("offset", 0)))
            return file.read(int(entries.get("length", (count * BITS[code] + 7) // 8)))
    if tensor.HasField("raw_data"):
        return tensor.raw_data
    if code in (1, 14):
        return struct.pack(f"<{len(tensor.float_data)}f", *tensor.float_data)
    if code in (11, 15):
        return struct.pack(f"<{len(tensor.double_data)}d", *tensor.double_data)
    if code == 7:
        return struct.pack(f"<{len(tensor.int64_data)}q", *tensor.int64_data)
    if code in (12, 13):
        width = BITS[code] // 8
        return b"".join((entry % (1 << BITS[code])).to_bytes(width, "little") for entry in tensor.uint64_data)
    entries = tensor.int32_data
    if code == 9:
        return bytes(entry != 0 for entry in entries)
    if code in (27, 28):
        stream = 0
        for at, entry in enumerate(entries):
            stream |= (entry & 0x3F) << (6 * at)
        return stream.to_bytes((6 * len(entries) + 7) // 8, "little")
    width = max(BITS.get(code, 8), 8) // 8
    return b"".join((entry % (1 << 8 * width)).to_bytes(width, "little") for entry in entries)


def strings_hash(strings) -> str:
    return hashlib.sha256(b"".join(struct.pack("<Q", len(one)) + one for one in strings)).hexdigest()


def tensor_text(tensor, folder: Path | None) -> str:
    if tensor.data_type == onnx.TensorProto.STRING:
        digest = "sha256 " + strings_hash(tensor.string_data)
    else:
        data = raw_layout(tensor, folder)
        entries = {entry.key: entry.value for entry in tensor.external_data}
        missing = " ".join(["unavailable", *[f"{key}={name_text(value)}" for key, value in entries.items()]])
        digest = missing if data is None else "sha256 " + hashlib.sha256(data).hexdigest()
    return f"{dtype_text(tensor.data_type) or 'undefined'}{list(tensor.dims)} {digest}"


def sparse_text(sparse, folder: Path | None) -> str:
    values, indices = tensor_text(sparse.values, folder), tensor_text(sparse.indices, folder)
    return f"{list(sparse.dims)} values {values} indices {indices}"


# Texts and lists of an attribute


def text(raw: bytes | str) -> str:
    raw = raw.encode() if isinstance(raw, str) else raw
    if len(raw) <= 120:
        try:
            return json.dumps(raw.decode())
        except UnicodeDecodeError:
            pass
    return f"{len(raw)} bytes sha256 {hashlib.sha256(raw).hexdigest()}"


def float_text(value: float) -> str:
    return f"0x{struct.unpack('<I', struct.pack('<f', value))[0]:08x}"


def list_text(values, one, packed) -> str:
    if len(values) > 64:
        return f"{len(values)} entries sha256 {packed(values)}"
    return f"[{', '.join(map(one, values))}]"


def floats_hash(values) -> str:
    return hashlib.sha256(b"".join(struct.pack("<f", value) for value in values)).hexdigest()


def ints_hash(values) -> str:
    return hashlib.sha256(b"".join(struct.pack("<q", value) for value in values)).hexdigest()


# Order: the smallest file index among the nodes whose needs are met


def free_names(graph) -> set[str]:
    """Names that a graph reads or outputs but does not define."""
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    own |= {sparse.values.name for sparse in graph.sparse_initializer}
    own |= {name for node in graph.node for name in node.output}
    read = {value.name for value in graph.output}
    for node in graph.node:
        read |= needs(node)
    return read - own


def needs(node) -> set[str]:
    found = set(node.input)
    for attr in node.attribute:
        for body in ([attr.g] if attr.HasField("g") else []) + list(attr.graphs):
            found |= free_names(body)
    return found - {""}


def in_order(nodes) -> list:
    maker = {name: at for at, node in enumerate(nodes) for name in node.output if name}
    waits, users = [], {}
    for at, node in enumerate(nodes):
        before = {maker[name] for name in needs(node) if name in maker}
        waits.append(len(before))
        for one in before:
            users.setdefault(one, []).append(at)
    ready = [at for at, count in enumerate(waits) if count == 0]
    order = []
    while ready:
        at = heapq.heappop(ready)
        order.append(nodes[at])
        for user in users.get(at, ()):
            waits[user] -= 1
            if waits[user] == 0:
                heapq.heappush(ready, user)
    return order if len(order) == len(nodes) else list(nodes)


def declared_types(groups, defined: set[str]) -> dict[str, str]:
    """The type of each defined value: its first declaration that has one."""
    found: dict[str, str] = {}
    for infos in groups:
        for info in infos:
            known = type_text(info.type)
            if known is not None and info.name in defined:
                found.setdefault(info.name, known)
    return found


# The dump


class Dump:
    """Lines of one model; `folder` is where its data files are, None when they are not to be read."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.lines: list[str] = []

    def put(self, depth: int, line: str) -> None:
        self.lines.append("  " * depth + line)

    def notes(self, depth: int, part) -> None:
        if part.doc_string:
            self.put(depth, f"doc {text(part.doc_string)}")
        for key, value in {entry.key: entry.value for entry in part.metadata_props}.items():
            self.put(depth, f"metadata {json.dumps(key)} = {text(value)}")

    def opsets(self, depth: int, imports) -> None:
        for domain, version in {entry.domain: entry.version for entry in imports}.items():
            self.put(depth, f"opset {name_text(domain)} {version}")

    def model(self, model) -> None:
        self.put(0, f"ir_version {model.ir_version}")
        self.put(0, f"producer {name_text(model.producer_name)} {name_text(model.producer_version)}")
        self.put(0, f"domain {name_text(model.domain)}")
        self.put(0, f"model_version {model.model_version}")
        self.opsets(0, model.opset_import)
        self.notes(0, model)
        self.graph(0, model.graph, {})
        for function in model.functions:
            self.function(function)

    def function(self, function) -> None:
        overload = f":{name_text(function.overload)}" if function.overload else ""
        self.put(0, f"function {name_text(function.domain)}::{name_text(function.name)}{overload}")
        for name in function.input:
            self.put(1, f"input {name_text(name)}")
        for name in function.output:
            self.put(1, f"output {name_text(name)}")
        for name in function.attribute:
            self.put(1, f"attribute {name_text(name)}")
        for attr in function.attribute_proto:
            self.attribute(1, attr, {}, "default ")
        self.opsets(1, function.opset_import)
        self.notes(1, function)
        defined = set(function.input) | {name for node in function.node for name in node.output}
        types = declared_types([function.value_info], defined)
        self.claims(1, {"value_info": function.value_info}, types)
        for node in function.node:
            self.node(1, node, types)

    def claims(self, depth: int, declared, types: dict[str, str]) -> None:
        """A line for each declaration that says something else than the table."""
        for role, infos in declared.items():
            for info in infos:
                said = type_text(info.type)
                if said is not None and types.get(info.name) != said:
                    self.put(depth, f"claim {role} {name_text(info.name)}: {said}")

    def typed(self, name: str, types: dict[str, str]) -> str:
        return f"{name_text(name)}: {types[name]}" if name in types else name_text(name)

    def graph(self, depth: int, graph, outer: dict[str, str]) -> None:
        self.put(depth, f"graph {name_text(graph.name)}")
        depth += 1
        self.notes(depth, graph)
        defined = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
        defined |= {sparse.values.name for sparse in graph.sparse_initializer}
        defined |= {name for node in graph.node for name in node.output if name}
        types = declared_types([graph.input, graph.output, graph.value_info], defined)
        for tensor in graph.initializer:
            types.setdefault(tensor.name, f"tensor({dtype_text(tensor.data_type)}){list(tensor.dims)}")
        types = {**{name: known for name, known in outer.items() if name not in defined}, **types}
        for value in graph.input:
            self.put(depth, f"input {self.typed(value.name, types)}")
        for value in graph.output:
            self.put(depth, f"output {self.typed(value.name, types)}")
        self.claims(depth, {"input": graph.input, "output": graph.output, "value_info": graph.value_info}, types)
        for tensor in graph.initializer:
            self.put(depth, f"initializer {name_text(tensor.name)}: {tensor_text(tensor, self.folder)}")
        for sparse in graph.sparse_initializer:
            name = name_text(sparse.values.name)
            self.put(depth, f"sparse_initializer {name}: {sparse_text(sparse, self.folder)}")
        for node in in_order(graph.node):
            self.node(depth, node, types)

    def node(self, depth: int, node, types: dict[str, str]) -> None:
        domain = f"{name_text(node.domain)}::" if node.domain else ""
        overload = f":{name_text(node.overload)}" if node.overload else ""
        inputs = ", ".join(map(name_text, node.input))
        label = f" {json.dumps(node.name)}" if node.name else ""
        self.put(depth, f"node {domain}{name_text(node.op_type)}{overload}({inputs}){label}")
        for name in node.output:
            self.put(depth + 1, f"-> {self.typed(name, types)}")
        for attr in node.attribute:
            self.attribute(depth + 1, attr, types)
        self.notes(depth + 1, node)

    def attribute(self, depth: int, attr, types: dict[str, str], prefix: str = "") -> None:
        if attr.type:
            kind = ATTRIBUTE.AttributeType.Name(attr.type)
        else:
            present = [field for field in SCALAR_FIELDS if attr.HasField(field)]
            present += [field for field in LIST_FIELDS if getattr(attr, field)]
            kind = "UNDEFINED" if attr.ref_attr_name else KIND_OF_FIELD[present[0]]
        head = f"{prefix}{name_text(attr.name)}: {kind}"
        if attr.ref_attr_name:
            self.put(depth, f"{head} = @{name_text(attr.ref_attr_name)}")
        elif kind == "GRAPH":
            self.put(depth, head)
            self.graph(depth + 1, attr.g, types)
        elif kind == "GRAPHS":
            self.put(depth, f"{head} {len(attr.graphs)}")
            for body in attr.graphs:
                self.graph(depth + 1, body, types)
        elif kind == "TENSORS":
            self.put(depth, f"{head} {len(attr.tensors)}")
            for tensor in attr.tensors:
                self.put(depth + 1, tensor_text(tensor, self.folder))
        elif kind == "SPARSE_TENSORS":
            self.put(depth, f"{head} {len(attr.sparse_tensors)}")
            for sparse in attr.sparse_tensors:
                self.put(depth + 1, sparse_text(sparse, self.folder))
        else:
            self.put(depth, f"{head} {self.value(kind, attr)}")

    def value(self, kind: str, attr) -> str:
        if kind == "FLOAT":
            return f"{float_text(attr.f)} ({attr.f:.9g})"
        if kind == "INT":
            return str(attr.i)
        if kind == "STRING":
            return text(attr.s)
        if kind == "TENSOR":
            return tensor_text(attr.t, self.folder)
        if kind == "SPARSE_TENSOR":
            return sparse_text(attr.sparse_tensor, self.folder)
        if kind == "TYPE_PROTO":
            return str(type_text(attr.tp))
        if kind == "FLOATS":
            return list_text(attr.floats, float_text, floats_hash)
        if kind == "INTS":
            return list_text(attr.ints, str, ints_hash)
        if kind == "STRINGS":
            return list_text(attr.strings, text, strings_hash)
        return f"[{', '.join(str(type_text(one)) for one in attr.type_protos)}]"


def dump(model: onnx.ModelProto, folder: Path | None = None) -> str:
    """Return the dump of a parsed model whose data files, if any, are in `folder`."""
    found = Dump(folder)
    found.model(model)
    return "".join(f"{line}\n" for line in found.lines)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    sys.stdout.write(dump(onnx.load(str(path), load_external_data=False), path.parent))
