"""Write models, graphs and functions as text."""

from __future__ import annotations

import math
import re
import struct

from sardonyx.dims import Symbol
from sardonyx.errors import error
from sardonyx.ir.attrs import AttrKind, AttrRef
from sardonyx.ir.graph import Function, Model, body_list
from sardonyx.ir.tensor import External
from sardonyx.ir.text.literals import CONTAINERS, ELEMENTS, SIX_BITS, SPECIAL_FLOAT, UNITS, unpack_sixes
from sardonyx.ir.types import DType, MapType, OpaqueType, OptionalType, SequenceType, SparseTensorType, TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from sardonyx.dims import Dim
    from sardonyx.ir.attrs import Attr
    from sardonyx.ir.graph import Graph, Node, Value
    from sardonyx.ir.tensor import Tensor
    from sardonyx.ir.types import Type

    Types = Mapping[Value, Type]

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED = ELEMENTS.keys() | CONTAINERS


def to_text(what: Model | Graph | Function, *, max_elements: int | None = None) -> str:
    """Return a model, graph or function in the ONNX text syntax, the types of all values included.

    The text reads back as an equal model. A dim of which nothing is known and that occurs once is `?`. With
    `max_elements`, tensors with more elements end in `...`: a text to look at, which does not read back.

    Raises:
        OnnxError: Unsupported, code `not-in-text`, for sparse tensors.
    """
    writer = Writer(max_elements)
    if isinstance(what, Model):
        writer.model(what)
    elif isinstance(what, Function):
        writer.count_dims(what.body)
        writer.function(what)
    else:
        writer.count_dims(what)
        writer.graph(what, what.types, "")
    return "".join(writer.parts) + "\n"


class Writer:
    """One text being written."""

    def __init__(self, max_elements: int | None) -> None:
        self.max_elements = max_elements
        self.parts: list[str] = []
        self.seen: dict[Symbol, int] = {}
        """How often each anonymous symbol occurs."""

    def write(self, *parts: str) -> None:
        """Add to the text."""
        self.parts += parts

    # --- types

    def count_dims(self, graph: Graph) -> None:
        """Count the anonymous symbols in the types of a graph."""
        for known in graph.types.values():
            for dim in dims_of(known):
                for symbol in () if isinstance(dim, int) else dim.symbols:
                    if symbol.anonymous:
                        self.seen[symbol] = self.seen.get(symbol, 0) + 1

    def type(self, known: Type | None) -> str:
        """Return a type; one that is not known is nothing."""
        if known is None:
            return ""
        if isinstance(known, SparseTensorType):
            return f"sparse_tensor({element(known.dtype)}{self.shape(known.shape)})"
        if isinstance(known, TensorType):
            return element(known.dtype) + self.shape(known.shape)
        if isinstance(known, SequenceType):
            return f"seq({self.type(known.elem)})"
        if isinstance(known, OptionalType):
            return f"optional({self.type(known.elem)})"
        if isinstance(known, MapType):
            return f"map({element(known.key)}, {self.type(known.value)})"
        return opaque(known)

    def shape(self, dims: tuple[Dim, ...] | None) -> str:
        """Return what follows an element type: `[]` for an unknown rank, nothing for a scalar."""
        if dims is None:
            return "[]"
        return f"[{', '.join(map(self.dim, dims))}]" if dims else ""

    def dim(self, dim: Dim) -> str:
        """Return a number, a name, quoted arithmetic, or `?`."""
        if isinstance(dim, Symbol) and dim.anonymous and self.seen.get(dim, 1) == 1:
            return "?"
        return str(dim) if isinstance(dim, int) else identifier(str(dim))

    # --- models and functions

    def model(self, model: Model) -> None:
        """Write a model."""
        for graph in (model.graph, *(function.body for function in model.functions.values())):
            self.count_dims(graph)
        header = [f"ir_version: {model.ir_version}", f"opset_import: {opsets(model.opset_imports)}"]
        texts = {
            "producer_name": model.producer_name,
            "producer_version": model.producer_version,
            "domain": model.domain,
            "doc_string": model.doc_string,
        }
        header += [f"{key}: {quoted(text)}" for key, text in texts.items() if text]
        if model.model_version:
            header.append(f"model_version: {model.model_version}")
        if model.metadata:
            header.append(f"metadata_props: {entries(model.metadata.items())}")
        self.write("<\n   ", ",\n   ".join(header), "\n>\n")
        self.graph(model.graph, model.graph.types, "")
        for function in model.functions.values():
            self.write("\n\n")
            self.function(function)

    def function(self, function: Function) -> None:
        """Write a function."""
        body, types = function.body, function.body.types
        header = [f"domain: {quoted(function.domain)}", f"opset_import: {opsets(function.opset_imports)}"]
        if function.overload:
            header.append(f"overload: {quoted(function.overload)}")
        if function.doc_string:
            header.append(f"doc_string: {quoted(function.doc_string)}")
        if function.metadata:
            header.append(f"metadata_props: {entries(function.metadata.items())}")
        self.write("<\n   ", ",\n   ".join(header), "\n>\n", identifier(function.name))
        if function.attributes or function.defaults:
            self.write(" <", ", ".join(map(word, function.attributes)))
            for i, attr in enumerate(function.defaults.values()):
                self.write(", " if i or function.attributes else "")
                self.attribute(attr, {}, "")
            self.write(">")
        self.write(" (", ", ".join(self.value(value, types) for value in body.inputs), ") => (")
        self.write(", ".join(self.value(value, types) for value in body.outputs), ")")
        self.constants(body, types, "")
        self.nodes(body, types, "")

    # --- graphs

    def graph(self, graph: Graph, types: Types, indent: str) -> None:
        """Write a graph; `types` is the table of the outermost one."""
        self.write(identifier(graph.name), " (", ", ".join(self.value(value, types) for value in graph.inputs))
        self.write(") => (", ", ".join(self.value(value, types) for value in graph.outputs), ")")
        self.constants(graph, types, indent)
        self.nodes(graph, types, indent)

    def value(self, value: Value, types: Types) -> str:
        """Return a value's type and name."""
        return f"{self.type(types.get(value))} {value_name(value)}".lstrip()

    def constants(self, graph: Graph, types: Types, indent: str) -> None:
        """Write the list of initializers and of types that are declared nowhere else."""
        if graph.sparse_initializers:
            names = ", ".join(value.name for value in graph.sparse_initializers)
            raise error("not-in-text", f"the text syntax has no sparse initializers, as is {names}", graph=graph.name)
        told = {*graph.inputs, *graph.outputs}
        for value, tensor in graph.initializers.items():
            if types.get(value) == TensorType(tensor.dtype, tensor.shape):
                told.add(value)
        lines = [self.value(value, types) for value in graph.values if value in types and value not in told]
        for value, tensor in graph.initializers.items():
            shown = self.type(TensorType(tensor.dtype, tensor.shape))
            lines.append(f"{shown} {value_name(value)} = {self.data(tensor)}")
        if not lines:
            self.write(" ")
            return
        self.write(f"\n{indent}<\n   {indent}", f",\n   {indent}".join(lines), f"\n{indent}>\n{indent}")

    def nodes(self, graph: Graph, types: Types, indent: str) -> None:
        """Write the nodes, one to a line."""
        self.write("{\n")
        for node in graph.nodes:
            self.node(node, types, indent + "   ")
        self.write(indent, "}")

    def node(self, node: Node, types: Types, indent: str) -> None:
        """Write a node: attributes before the inputs, or after them when one is a body."""
        label = f"[{identifier(node.name)}] " if node.name else ""
        operator = ".".join(map(word, [*domain_words(node.domain), node.op_type]))
        overload = f":{word(node.overload)}" if node.overload else ""
        outputs = ", ".join(map(argument, node.outputs))
        inputs = f" ({', '.join(map(argument, node.inputs))})"
        self.write(indent, label, outputs, " = " if outputs else "= ", operator, overload)
        has_body = bool(body_list(node))
        if has_body:
            self.write(inputs)
        if node.attrs:
            self.write(" <")
            for i, attr in enumerate(node.attrs.values()):
                self.write(", " if i else "")
                self.attribute(attr, types, indent)
            self.write(">")
        if not has_body:
            self.write(inputs)
        self.write("\n")

    # --- attributes

    def attribute(self, attr: Attr | AttrRef, types: Types, indent: str) -> None:
        """Write an attribute, with its kind where the value does not show it."""
        kind, value = attr.kind, attr.value
        shown = f": {kind.name.lower()}" if needs_kind(attr) else ""
        self.write(word(attr.name), shown, " = ")
        if isinstance(attr, AttrRef):
            self.write("@", word(attr.ref))
        elif isinstance(value, tuple):
            self.write("[")
            for i, one in enumerate(value):
                self.write(", " if i else "")
                self.one(kind, one, types, indent)
            self.write("]")
        else:
            self.one(kind, value, types, indent)

    def one(self, kind: AttrKind, value: Any, types: Types, indent: str) -> None:
        """Write one value of an attribute."""
        if value is None:
            raise error("not-in-text", f"the text syntax has no empty value of kind {kind.name.lower()}")
        if kind in (AttrKind.GRAPH, AttrKind.GRAPHS):
            self.graph(value, types, indent)
        elif kind in (AttrKind.TENSOR, AttrKind.TENSORS):
            name = f" {identifier(value.name)} =" if value.name else ""
            self.write(self.type(TensorType(value.dtype, value.shape)), name, " ", self.data(value))
        elif kind in (AttrKind.TYPE_PROTO, AttrKind.TYPE_PROTOS):
            self.write(self.type(value))
        elif kind in (AttrKind.FLOAT, AttrKind.FLOATS):
            self.write(single(value))
        elif kind in (AttrKind.INT, AttrKind.INTS):
            self.write(str(value))
        elif kind in (AttrKind.STRING, AttrKind.STRINGS):
            self.write(quoted(value.decode("utf-8", "surrogateescape")))
        else:
            raise error("not-in-text", f"the text syntax has no attributes of kind {kind.name.lower()}")

    def data(self, tensor: Tensor) -> str:
        """Return the elements of a tensor in braces, or where they lie."""
        if isinstance(tensor.content, External):
            return entries(tensor.content.entries)
        if tensor.dtype is DType.STRING:
            return listed([quoted(one.decode("utf-8", "surrogateescape")) for one in tensor.strings], self.max_elements)
        unit = UNITS.get(tensor.dtype, "B")
        data = tensor.data
        if tensor.dtype in SIX_BITS:
            data = memoryview(unpack_sixes(bytes(data), tensor.size))
        if self.max_elements is not None:
            data = data[: (self.max_elements + 1) * struct.calcsize(unit)]
        numbers = struct.unpack(f"<{len(data) // struct.calcsize(unit)}{unit}", data)
        shown = single if unit == "f" else double if unit == "d" else str
        return listed([shown(number) for number in numbers], self.max_elements)


def dims_of(known: Type | None) -> Iterable[Dim]:
    """Yield the dims that the text of a type shows."""
    while known is not None:
        if isinstance(known, TensorType):
            yield from known.shape or ()
            return
        if isinstance(known, OpaqueType):
            return
        known = known.value if isinstance(known, MapType) else known.elem


def needs_kind(attr: Attr | AttrRef) -> bool:
    """Tell whether the kind must be written: for references, empty lists, and graphs whose names are quoted."""
    if isinstance(attr, AttrRef):
        return bool(attr.kind)
    value = attr.value
    if attr.kind is AttrKind.GRAPH:
        return not IDENTIFIER.fullmatch(value.name) or bool(SPECIAL_FLOAT.fullmatch(value.name))
    return value == () and isinstance(value, tuple)


def domain_words(domain: str) -> list[str]:
    """Split a domain at its dots where that gives identifiers; else it is one quoted word."""
    words = domain.split(".") if domain else []
    return words if all(IDENTIFIER.fullmatch(word) for word in words) else [domain]


def element(dtype: DType | None) -> str:
    """Return the name of an element type."""
    return "undefined" if dtype is None else dtype.text


def opaque(known: OpaqueType) -> str:
    """Return an opaque type."""
    return f"opaque({', '.join(identifier(word) for word in (known.domain, known.name) if word)})"


def opsets(imports: Mapping[str, int]) -> str:
    """Return opset imports."""
    return f"[{', '.join(f'{quoted(domain)} : {version}' for domain, version in imports.items())}]"


def entries(pairs: Iterable[tuple[str, str]]) -> str:
    """Return pairs of strings."""
    return f"[{', '.join(f'{quoted(key)}: {quoted(value)}' for key, value in pairs)}]"


def argument(value: Value | None) -> str:
    """Return the name of an input or output; an omitted one is an empty string."""
    return '""' if value is None else value_name(value)


def value_name(value: Value) -> str:
    """Return the name of a value, which must have one: an empty name is an omitted input or output."""
    if not value.name:
        raise error("not-in-text", "a value without a name cannot be written")
    return identifier(value.name)


def identifier(name: str) -> str:
    """Return a name as it stands when it is an identifier that means nothing else, quoted otherwise."""
    return quoted(name) if name in RESERVED else word(name)


def word(name: str) -> str:
    """Return a name that stands where no type can: as it is when it is an identifier, quoted otherwise."""
    return name if IDENTIFIER.fullmatch(name) else quoted(name)


def quoted(text: str) -> str:
    """Return a string in quotes; a backslash stands before quotes and backslashes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def listed(items: list[str], limit: int | None) -> str:
    """Return elements in braces, those beyond a limit left out."""
    if limit is not None and len(items) > limit:
        items = [*items[:limit], "..."]
    return "{" + ", ".join(items) + "}"


def single(number: float) -> str:
    """Return the shortest decimal that reads back as the same 32-bit float."""
    for digits in range(6, 10):
        text = f"{number:.{digits}g}"
        if math.isnan(number) or struct.pack("<f", float(text)) == struct.pack("<f", number):
            break
    return text if not text.lstrip("-").isdigit() else text + ".0"


def double(number: float) -> str:
    """Return the shortest decimal that reads back as the same 64-bit float."""
    return repr(number)
