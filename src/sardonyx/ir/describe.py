"""Describe a model as plain data: its structure, its types, and a hash of every constant.

This is what `sx.dump` prints and `sx.diff` compares. Two models with the same description compute the same; where the
bytes of a constant lie is not part of it. Floats are bit patterns, so that -0.0, and one NaN and another, stay apart.
Left out is what no runtime needs: documentation of single values and tensors, denotations, quantization annotations,
training info, device configurations, unknown fields. `sx.save` keeps them all the same.
"""

from __future__ import annotations

import re
from hashlib import sha256
from json import dumps
from struct import pack

from sardonyx.errors import OnnxError
from sardonyx.ir.attrs import AttrKind, AttrRef
from sardonyx.ir.graph import Model
from sardonyx.ir.tensor import External, Strings
from sardonyx.ir.types import MapType, OpaqueType, OptionalType, SequenceType, TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from sardonyx.dims import Dim
    from sardonyx.ir.attrs import Attr
    from sardonyx.ir.graph import Declared, Details, Function, Graph, Node, Value
    from sardonyx.ir.tensor import SparseTensor, Tensor
    from sardonyx.ir.types import Type

SCHEMA = 1
"""Version of the description; raised whenever a reader of the JSON form would have to change."""

LONG_LIST = 64
"""Lists of more numbers or strings than this are described by count and hash."""
LONG_TEXT = 120
"""Texts of more bytes than this are described by length and hash."""
PIECE = 1 << 24
"""Bytes hashed at a time."""

PLAIN_NAME = re.compile(r"[A-Za-z0-9_./:$@-]+")
PLAIN_DIM = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


class Describer:
    """Describe models, hashing each constant once even when several of them share it."""

    def __init__(self) -> None:
        self.hashes: dict[int, dict[str, Any]] = {}
        self.alive: list[object] = []  # what is in `hashes` by id must not be freed and its id reused

    def model(self, model: Model) -> dict[str, Any]:
        """Describe a whole model.

        Raises:
            TypeError: for anything else, a path for instance.
        """
        if not isinstance(model, Model):
            raise TypeError(f"{type(model).__name__} is not a loaded model; give `sx.load(...)` of it")
        return {
            "schema": SCHEMA,
            "ir_version": model.ir_version,
            "producer_name": model.producer_name,
            "producer_version": model.producer_version,
            "domain": model.domain,
            "model_version": model.model_version,
            "opset_imports": dict(model.opset_imports),
            **notes(model.details),
            "graph": self.graph(model.graph, model.graph.types),
            "functions": [self.function(function) for function in model.functions.values()],
        }

    def function(self, function: Function) -> dict[str, Any]:
        """Describe a function with its body as written: in file order, its names not resolved."""
        types = function.body.types
        return {
            "domain": function.domain,
            "name": function.name,
            "overload": function.overload,
            "inputs": list(function.inputs),
            "outputs": list(function.outputs),
            "attributes": list(function.attributes),
            "defaults": [self.attribute(attr, types) for attr in function.defaults.values()],
            "opset_imports": dict(function.opset_imports),
            **notes(function.details),
            "claims": claims(function.body.declared, types),
            "nodes": [self.node(node, types) for node in function.nodes],
        }

    def graph(self, graph: Graph, types: Mapping[Value, Type]) -> dict[str, Any]:
        """Describe a graph; `types` is the table of the outermost one."""
        return {
            "name": graph.name,
            **notes(graph.details),
            "inputs": [typed(value, types) for value in graph.inputs],
            "outputs": [typed(value, types) for value in graph.outputs],
            "claims": claims(graph.declared, types),
            "initializers": [
                {"name": value.name, **self.tensor(tensor)} for value, tensor in graph.initializers.items()
            ],
            "sparse_initializers": [
                {"name": value.name, **self.sparse(sparse)} for value, sparse in graph.sparse_initializers.items()
            ],
            "nodes": [self.node(node, types) for node in graph.nodes],
        }

    def node(self, node: Node, types: Mapping[Value, Type]) -> dict[str, Any]:
        """Describe a node; an omitted input or output is one with the empty name."""
        return {
            "op_type": node.op_type,
            "domain": node.domain,
            "overload": node.overload,
            "name": node.name,
            "inputs": ["" if value is None else value.name for value in node.inputs],
            "outputs": [{"name": "", "type": None} if value is None else typed(value, types) for value in node.outputs],
            "attributes": [self.attribute(attr, types) for attr in node.attrs.values()],
            **notes(node.details),
        }

    def attribute(self, attr: Attr | AttrRef, types: Mapping[Value, Type]) -> dict[str, Any]:
        """Describe an attribute; its bodies too, nested as deep as the file has them."""
        head = {"name": attr.name, "kind": attr.kind.name}
        if isinstance(attr, AttrRef):
            return {**head, "ref": attr.ref}
        kind, value = attr.kind, attr.value
        if kind is AttrKind.GRAPH:
            return {**head, "value": self.graph(value, types)}
        if kind is AttrKind.GRAPHS:
            return {**head, "value": [self.graph(one, types) for one in value]}
        if kind is AttrKind.TENSOR:
            return {**head, "value": self.tensor(value)}
        if kind is AttrKind.TENSORS:
            return {**head, "value": [self.tensor(one) for one in value]}
        if kind is AttrKind.SPARSE_TENSOR:
            return {**head, "value": self.sparse(value)}
        if kind is AttrKind.SPARSE_TENSORS:
            return {**head, "value": [self.sparse(one) for one in value]}
        return {**head, "value": SIMPLE[kind](value)}

    def tensor(self, tensor: Tensor) -> dict[str, Any]:
        """Describe a tensor by element type, dims and SHA-256 of its bytes in the raw layout.

        A string tensor is hashed as its entries, each behind its length as 8 little-endian bytes. Where an external
        file is not there, `sha256` is None, `unavailable` the code of the error, `external_data` where it should be.
        """
        return {"dtype": tensor.dtype.text, "dims": list(tensor.shape), **self.hashed(tensor)}

    def sparse(self, sparse: SparseTensor) -> dict[str, Any]:
        """Describe a sparse tensor: the dims of its dense form, its values, their positions."""
        return {
            "dims": list(sparse.shape),
            "values": self.tensor(sparse.values),
            "indices": self.tensor(sparse.indices),
        }

    def hashed(self, tensor: Tensor) -> dict[str, Any]:
        """Hash the bytes of a tensor, piece by piece and without a copy."""
        known = self.hashes.get(id(tensor.content))
        if known is None:
            try:
                known = {"sha256": text_hash(tensor.strings) if type(tensor.content) is Strings else data_hash(tensor)}
            except OnnxError as problem:
                if problem.code == "source-closed":
                    raise
                known = {"sha256": None, "unavailable": problem.code}
                if isinstance(tensor.content, External):  # where it should be is then all that tells it from others
                    known["external_data"] = dict(tensor.content.entries)
            self.hashes[id(tensor.content)] = known
            self.alive.append(tensor.content)
        return known


def describe(model: Model) -> dict[str, Any]:
    """Return a model as nested dicts, lists, strings and ints, ready for JSON."""
    return Describer().model(model)


def data_hash(tensor: Tensor) -> str:
    """Hash the raw layout."""
    digest = sha256()
    view = tensor.data
    for start in range(0, len(view), PIECE):
        digest.update(view[start : start + PIECE])
    return digest.hexdigest()


def text_hash(strings: Iterable[bytes]) -> str:
    """Hash strings, each behind its length, so that where one ends is part of the hash."""
    digest = sha256()
    for one in strings:
        digest.update(len(one).to_bytes(8, "little"))
        digest.update(one)
    return digest.hexdigest()


def notes(details: Details) -> dict[str, Any]:
    """Describe documentation and metadata, where there is any."""
    found: dict[str, Any] = {}
    doc, metadata = details.doc_string, details.metadata
    if doc:
        found["doc_string"] = text(doc.encode())
    if metadata:
        found["metadata"] = {key: text(value.encode()) for key, value in metadata.items()}
    return found


def typed(value: Value, types: Mapping[Value, Type]) -> dict[str, Any]:
    """Describe a value by name and by what is known of it."""
    return {"name": value.name, "type": type_text(types.get(value))}


def claims(declared: Iterable[Declared], types: Mapping[Value, Type]) -> list[dict[str, Any]]:
    """List what the file declares beside what is known: of names that nothing defines, or otherwise than `types`."""
    found = []
    for one in declared:
        said = type_text(one.type)
        if said is not None and (one.value is None or type_text(types.get(one.value)) != said):
            found.append({"role": one.role, "name": one.name, "type": said})
    return found


def text(raw: bytes) -> str | dict[str, Any]:
    """Describe a text by itself when it is short and UTF-8, else by length and hash."""
    if len(raw) <= LONG_TEXT:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            pass
    return {"bytes": len(raw), "sha256": sha256(raw).hexdigest()}


def float_bits(value: float) -> str:
    """Return the float32 bit pattern of an attribute's float in hexadecimal."""
    return "0x" + pack(">f", value).hex()


def floats(values: tuple[float, ...]) -> Any:
    """Describe FLOATS: a long list by the hash of its little-endian float32 bytes."""
    if len(values) > LONG_LIST:
        return {"count": len(values), "sha256": sha256(pack(f"<{len(values)}f", *values)).hexdigest()}
    return [float_bits(value) for value in values]


def ints(values: tuple[int, ...]) -> Any:
    """Describe INTS: a long list by the hash of its little-endian int64 bytes."""
    if len(values) > LONG_LIST:
        return {"count": len(values), "sha256": sha256(pack(f"<{len(values)}q", *values)).hexdigest()}
    return list(values)


def strings(values: tuple[bytes, ...]) -> Any:
    """Describe STRINGS: a long list hashed like a string tensor."""
    if len(values) > LONG_LIST:
        return {"count": len(values), "sha256": text_hash(values)}
    return [text(value) for value in values]


SIMPLE: Mapping[AttrKind, Callable[[Any], Any]] = {
    AttrKind.FLOAT: float_bits,
    AttrKind.INT: int,
    AttrKind.STRING: text,
    AttrKind.FLOATS: floats,
    AttrKind.INTS: ints,
    AttrKind.STRINGS: strings,
    AttrKind.TYPE_PROTO: lambda value: type_text(value),
    AttrKind.TYPE_PROTOS: lambda values: [type_text(value) for value in values],
}
"""How the value of each kind that holds neither tensor nor graph is described."""


def type_text(known: Type | None) -> str | None:
    """Write a type: `tensor(float)[n, 3]`, `seq(tensor(int64)[?])`; a dim of which nothing is known is `?`."""
    if known is None:
        return None
    if isinstance(known, TensorType):
        shape = "" if known.shape is None else f"[{', '.join(map(dim_text, known.shape))}]"
        return known.type_str + shape
    if isinstance(known, SequenceType):
        if known.elements is not None:
            return f"seq[{', '.join(type_text(one) or '' for one in known.elements)}]"
        return f"seq({type_text(known.elem) or ''})" + ("" if known.length is None else f"*{dim_text(known.length)}")
    if isinstance(known, OptionalType):
        return f"optional({type_text(known.elem) or ''})"
    if isinstance(known, MapType):
        return f"map({'' if known.key is None else known.key.text}, {type_text(known.value) or ''})"
    if isinstance(known, OpaqueType):
        return f"opaque({quoted(known.domain)}, {quoted(known.name)})"
    raise TypeError(f"{known!r} is not a type")


def dim_text(dim: Dim) -> str:
    """Write a dim: a number, a plain name, anything else in quotes, `?` for a symbol that nobody named."""
    if isinstance(dim, int):
        return str(dim)
    symbol = dim.symbol
    if symbol is not None and symbol.anonymous:
        return "?"
    return quoted(str(dim) if symbol is None else symbol.name, PLAIN_DIM)


def quoted(name: str, plain: re.Pattern[str] = PLAIN_NAME) -> str:
    """Write a name as it is when it is plain, else as a JSON string in ASCII; an omitted value is `""`."""
    return name if plain.fullmatch(name) else dumps(name)
