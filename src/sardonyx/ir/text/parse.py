"""Build models, graphs and functions from text."""

from __future__ import annotations

from sardonyx.dims import Scope
from sardonyx.ir.attrs import Attr, AttrKind, AttrRef
from sardonyx.ir.graph import Function, Graph, Model, Node, Value, Written
from sardonyx.ir.text.lexer import Reader
from sardonyx.ir.text.literals import (
    MAX_DEPTH,
    SPECIAL_FLOAT,
    begins_type,
    read_entries,
    read_float,
    read_tensor,
    read_type,
    single,
    to_bytes,
)
from sardonyx.ir.types import TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sardonyx.dims import Dim
    from sardonyx.ir.tensor import Tensor
    from sardonyx.ir.types import Type

    Types = dict[Value, Type]
    Info = tuple[str, Type | None, int]
    """A name, its declared type, and where the name stands."""

SINGULAR = {
    AttrKind.FLOATS: AttrKind.FLOAT, AttrKind.INTS: AttrKind.INT, AttrKind.STRINGS: AttrKind.STRING,
    AttrKind.TENSORS: AttrKind.TENSOR, AttrKind.GRAPHS: AttrKind.GRAPH, AttrKind.TYPE_PROTOS: AttrKind.TYPE_PROTO,
}  # fmt: skip
PLURAL = {one: many for many, one in SINGULAR.items()}
KINDS = {kind.name.lower(): kind for kind in AttrKind}
TEXTS, NUMBERS = (
    ("producer_name", "producer_version", "domain", "doc_string", "overload"),
    ("ir_version", "model_version"),
)
FUNCTION_KEYS = ("domain", "overload", "opset_import", "doc_string", "metadata_props")
MODEL_KEYS = (*NUMBERS, "producer_name", "producer_version", "domain", "opset_import", "doc_string", "metadata_props")


def parse_model(text: str) -> Model:
    """Read a model: a header in angle brackets, a graph, functions.

    Without `ir_version` it is that of `Model`, without `opset_import` nothing is imported.

    Raises:
        OnnxError: `bad-text`, `value-undefined`, `value-twice`, `function-twice` or `nesting-too-deep`, with line and
            column.
    """
    parser = Parser(text)
    header = parser.header(MODEL_KEYS)
    graph = parser.graph(None, {})
    functions: dict[tuple[str, str, str], Function] = {}
    while parser.reader.kind != "end":
        at = parser.reader.start
        function = parser.function()
        if function.key in functions:
            parser.reader.fail(f"{function.label} is defined twice", code="function-twice", at=at)
        functions[function.key] = function
    parser.scope.close()
    details = Written(header.pop("doc_string", ""), header.pop("metadata_props", {}))
    imports = header.pop("opset_import", {})
    return Model(graph, imports, functions, scope=parser.scope, details=details, **header)


def parse_graph(text: str) -> Graph:
    """Read a graph. Raises like `parse_model`."""
    parser = Parser(text)
    graph = parser.graph(None, {})
    parser.end()
    return graph


def parse_function(text: str) -> Function:
    """Read a function. Raises like `parse_model`."""
    parser = Parser(text)
    function = parser.function()
    parser.end()
    return function


class Frame:
    """The names that a graph has defined so far, and the graph around it."""

    __slots__ = ("outer", "values")

    def __init__(self, outer: Frame | None) -> None:
        self.outer = outer
        self.values: dict[str, Value] = {}

    def find(self, name: str) -> Value | None:
        """Look a name up here, then outside."""
        frame: Frame | None = self
        while frame is not None:
            value = frame.values.get(name)
            if value is not None:
                return value
            frame = frame.outer
        return None


class Parser:
    """One text on its way to a model."""

    def __init__(self, text: str) -> None:
        self.reader = Reader(text)
        self.scope = Scope()
        self.plain: set[str] | None = None
        """Dim names of the main graph's inputs, over which other dims may be arithmetic (decisions S2)."""
        self.depth = 0

    def end(self) -> None:
        """Refuse whatever follows."""
        if self.reader.kind != "end":
            self.reader.fail(f"expected the end of the text, found {self.reader.found()}")

    # --- dims and types

    def dim(self, name: str | None) -> Dim:
        """Return the dim of a name, or a fresh one."""
        if name is None:
            return self.scope.fresh()
        if self.plain is None or name.isidentifier():
            return self.scope.symbol(name)
        return self.scope.dim_param(name, self.plain)

    def type(self) -> Type | None:
        """Read a type."""
        return read_type(self.reader, self.dim)

    def find_plain_names(self) -> None:
        """Look ahead over the inputs of the main graph for their dim names, which stand in any order."""
        names: set[str] = set()

        def note(name: str | None) -> Dim:
            if name is not None and name.isidentifier():
                names.add(name)
            return 0

        start = self.reader.start
        if self.reader.take("("):
            while self.reader.kind != "end" and not self.reader.at(")"):
                if begins_type(self.reader):
                    read_type(self.reader, note)
                else:
                    self.reader.advance()
        self.plain = names
        self.reader.back_to(start)

    # --- headers

    def header(self, keys: tuple[str, ...]) -> dict[str, Any]:
        """Read `<key: value, ...>`, which may be missing."""
        reader = self.reader
        found: dict[str, Any] = {}
        if not reader.take("<"):
            return found
        while not reader.at(">"):
            at = reader.start
            key = reader.identifier("a key")
            if key not in keys:
                reader.fail(f"{key!r} is none of {', '.join(keys)}", at=at)
            reader.expect(":")
            if key in NUMBERS:
                found[key] = reader.integer(key)
            elif key in TEXTS:
                found[key] = reader.string(key)
            elif key == "opset_import":
                found[key] = self.opset_imports()
            else:
                reader.expect("[")
                found[key] = read_entries(reader, "]")
            if not reader.take(","):
                break
        reader.expect(">")
        return found

    def opset_imports(self) -> dict[str, int]:
        """Read `["": 18, "my.domain": 1]`."""
        reader = self.reader
        found: dict[str, int] = {}
        reader.expect("[")
        while not reader.at("]"):
            domain = reader.string("a domain")
            reader.expect(":")
            found[domain] = reader.integer("a version")
            if not reader.take(","):
                break
        reader.expect("]")
        return found

    # --- graphs

    def graph(self, outer: Frame | None, types: Types) -> Graph:
        """Read a graph; `types` is the table of the outermost one."""
        reader = self.reader
        self.depth += 1
        if self.depth > MAX_DEPTH:
            reader.fail(f"graphs nest more than {MAX_DEPTH} deep", code="nesting-too-deep")
        name = reader.name("the name of a graph")
        if self.plain is None:
            self.find_plain_names()
        frame = Frame(outer)
        initializers: dict[Value, Tensor] = {}
        inputs = self.inputs(frame, types, initializers)
        reader.expect("=>")
        results = self.infos("(", ")")
        infos = self.constants(frame, initializers) if reader.at("<") else []
        nodes = self.nodes(frame, types)
        outputs = self.results(results, frame)
        self.declare(results + infos, frame, types)
        for value, tensor in initializers.items():
            types.setdefault(value, TensorType(tensor.dtype, tensor.shape))
        self.depth -= 1
        return Graph(name, inputs, outputs, nodes, initializers, types=types if outer is None else {})

    def inputs(self, frame: Frame, types: Types, initializers: dict[Value, Tensor]) -> tuple[Value, ...]:
        """Read and define the inputs of a graph or function; one may have a default: `float[2] x = {1, 2}`."""
        reader = self.reader
        found = []
        if reader.take("("):
            while not reader.at(")"):
                name, kind, at = self.info()
                value = self.define(name, frame, at)
                found.append(value)
                if kind is not None:
                    types[value] = kind
                if reader.take("="):
                    initializers[value] = read_tensor(reader, kind, name, at)
                if not reader.take(","):
                    break
            reader.expect(")")
        return tuple(found)

    def info(self) -> Info:
        """Read a name with or without a type before it."""
        kind = self.type() if begins_type(self.reader) else None
        at = self.reader.start
        return self.reader.name("a name"), kind, at

    def infos(self, opening: str, closing: str) -> list[Info]:
        """Read a list of names with or without types."""
        reader = self.reader
        found = []
        reader.expect(opening)
        while not reader.at(closing):
            found.append(self.info())
            if not reader.take(","):
                break
        reader.expect(closing)
        return found

    def constants(self, frame: Frame, initializers: dict[Value, Tensor]) -> list[Info]:
        """Read `<float[2] w = {1, 2}, float[N] t>`: define the initializers, return the declarations."""
        reader = self.reader
        found = []
        reader.expect("<")
        while not reader.at(">"):
            name, kind, at = self.info()
            if reader.take("="):
                value = frame.values.get(name)
                if value is None or value in initializers:
                    value = self.define(name, frame, at)
                initializers[value] = read_tensor(reader, kind, name, at)
            else:
                found.append((name, kind, at))
            if not reader.take(","):
                break
        reader.expect(">")
        return found

    def define(self, name: str, frame: Frame, at: int) -> Value:
        """Make the value of a name."""
        if name in frame.values:
            self.reader.fail(f"{name!r} is defined twice", code="value-twice", at=at)
        if not name:
            self.reader.fail("a value needs a name", at=at)
        value = frame.values[name] = Value(name)
        return value

    def find(self, name: str, frame: Frame, at: int) -> Value:
        """Return the value of a name."""
        value = frame.find(name)
        if value is None:
            self.reader.fail(f"{name!r} is not defined up to here", code="value-undefined", at=at)
        return value

    def results(self, infos: list[Info], frame: Frame) -> tuple[Value, ...]:
        """Find the outputs once all nodes are read."""
        return tuple(self.find(name, frame, at) for name, _, at in infos)

    def declare(self, infos: list[Info], frame: Frame, types: Types) -> None:
        """Take declared types; of several for one value the first, as `load` does."""
        for name, kind, _ in infos:
            value = frame.values.get(name)
            if value is not None and kind is not None:
                types.setdefault(value, kind)

    # --- nodes

    def nodes(self, frame: Frame, types: Types) -> tuple[Node, ...]:
        """Read nodes in braces."""
        found = []
        self.reader.expect("{")
        while not self.reader.take("}"):
            found.append(self.node(frame, types))
        return tuple(found)

    def node(self, frame: Frame, types: Types) -> Node:
        """Read `[label] y, z = domain.Op:overload <attributes> (x, "", w)`; attributes may also come last."""
        reader = self.reader
        label = ""
        if reader.take("["):
            label = "" if reader.at("]") else reader.name("the node's name")
            reader.expect("]")
        outputs = self.names("=")
        reader.expect("=")
        words = [reader.name("an operator")]
        while reader.take("."):
            words.append(reader.name("an operator"))
        overload = reader.name("an overload") if reader.take(":") else ""
        attrs = self.attributes(frame, types) if reader.at("<") else {}
        reader.expect("(")
        inputs = tuple(self.find(name, frame, at) if name else None for name, at in self.names(")"))
        reader.expect(")")
        if not attrs and reader.at("<"):
            attrs = self.attributes(frame, types)
        return Node(
            words[-1],
            inputs,
            tuple(self.define(name, frame, at) if name else None for name, at in outputs),
            attrs,
            domain=".".join(words[:-1]),
            overload=overload,
            name=label,
        )

    def names(self, closing: str) -> list[tuple[str, int]]:
        """Read names with commas between; `""` and nothing before a comma are omitted ones."""
        reader = self.reader
        found = []
        while not reader.at(closing):
            at = reader.start
            found.append(("" if reader.at(",") else reader.name("a name"), at))
            if not reader.take(","):
                break
        return found

    def attributes(self, frame: Frame | None, types: Types) -> dict[str, Attr | AttrRef]:
        """Read attributes in angle brackets."""
        reader = self.reader
        found: dict[str, Attr | AttrRef] = {}
        reader.expect("<")
        while not reader.at(">"):
            at = reader.start
            attr = self.attribute(reader.name("an attribute"), frame, types)
            if attr.name in found:
                reader.fail(f"attribute {attr.name!r} is given twice", at=at)
            found[attr.name] = attr
            if not reader.take(","):
                break
        reader.expect(">")
        return found

    def attribute(self, name: str, frame: Frame | None, types: Types) -> Attr | AttrRef:
        """Read the rest of an attribute: `: ints = [1, 2]`, the kind being optional."""
        reader = self.reader
        kind = AttrKind.UNDEFINED
        if reader.take(":"):
            at = reader.start
            word = reader.identifier("a kind of attribute")
            if word not in KINDS:
                reader.fail(f"{word!r} is not a kind of attribute", at=at)
            kind = KINDS[word]
        reader.expect("=")
        if reader.take("@"):
            return AttrRef(name, kind, reader.name("the function's attribute"))
        if not reader.take("["):
            return Attr(name, *self.one(kind, frame, types))
        found = []
        if reader.at("]") and kind not in SINGULAR:
            reader.fail(f"an empty list needs a kind, as in {name}: ints = []")
        if kind and kind not in SINGULAR:
            reader.fail(f"{kind.name.lower()} is not a list")
        element = SINGULAR.get(kind, AttrKind.UNDEFINED)
        while not reader.at("]"):
            element, value = self.one(element, frame, types)
            found.append(value)
            if not reader.take(","):
                break
        reader.expect("]")
        return Attr(name, kind or PLURAL[element], tuple(found))

    def one(self, wanted: AttrKind, frame: Frame | None, types: Types) -> tuple[AttrKind, Any]:
        """Read one value of an attribute, of the kind that is wanted unless that is UNDEFINED."""
        at = self.reader.start
        kind, value = self.value(wanted, frame, types)
        if wanted is AttrKind.FLOAT and kind is AttrKind.INT:
            return wanted, single(self.reader, float(value), at)
        if wanted and kind is not wanted:
            self.reader.fail(f"expected a value of kind {wanted.name.lower()}, found {kind.name.lower()}", at=at)
        return kind, value

    def value(self, wanted: AttrKind, frame: Frame | None, types: Types) -> tuple[AttrKind, Any]:
        """Read one value and see what kind it is."""
        reader = self.reader
        at = reader.start
        if begins_type(reader):
            kind = self.type()
            if reader.kind in ("identifier", "string") or reader.at("{") or reader.at("=") or reader.at("["):
                name = "" if reader.kind == "mark" else reader.name("a name")
                reader.take("=")
                return AttrKind.TENSOR, read_tensor(reader, kind, name, at)
            return AttrKind.TYPE_PROTO, kind
        if reader.at("-") or (reader.kind == "identifier" and SPECIAL_FLOAT.fullmatch(reader.value)):
            return AttrKind.FLOAT, read_float(reader)
        if reader.kind == "number":
            if reader.value.lstrip("-").isdigit():
                number = reader.integer("a number")
                if not -(1 << 63) <= number < 1 << 63:
                    reader.fail(f"{number} does not fit 64 bits", at=at)
                return AttrKind.INT, number
            return AttrKind.FLOAT, single(reader, read_float(reader), at)
        if reader.kind == "string" and wanted is not AttrKind.GRAPH:
            text = reader.string("a string")
            if not reader.at("("):
                return AttrKind.STRING, to_bytes(text)
            reader.back_to(at)
        if reader.kind not in ("identifier", "string"):
            reader.fail(f"expected a value, found {reader.found()}")
        return AttrKind.GRAPH, self.graph(frame, types)

    # --- functions

    def function(self) -> Function:
        """Read `<header> name <attributes> (inputs) => (outputs) <types> { nodes }`."""
        reader = self.reader
        header = self.header(FUNCTION_KEYS)
        name = reader.name("the name of a function")
        required, defaults = self.formal_attributes()
        frame = Frame(None)
        types: Types = {}
        if self.plain is None:
            self.plain = set()
        inputs = self.inputs(frame, types, {})
        reader.expect("=>")
        results = self.infos("(", ")")
        infos = self.infos("<", ">") if reader.at("<") else []
        self.depth += 1
        nodes = self.nodes(frame, types)
        self.depth -= 1
        outputs = self.results(results, frame)
        self.declare(results + infos, frame, types)
        graph = Graph(name, inputs, outputs, nodes, types=types)
        return Function(
            header.get("domain", ""),
            name,
            header.get("overload", ""),
            tuple(value.name for value in inputs),
            tuple(result[0] for result in results),
            required,
            defaults,
            header.get("opset_import", {}),
            graph,
            details=Written(header.get("doc_string", ""), header.get("metadata_props", {})),
        )

    def formal_attributes(self) -> tuple[tuple[str, ...], dict[str, Attr | AttrRef]]:
        """Read `<alpha, beta: float = 1.0>`: attributes without a default, and those with one."""
        reader = self.reader
        required: list[str] = []
        defaults: dict[str, Attr | AttrRef] = {}
        if reader.take("<"):
            while not reader.at(">"):
                name = reader.name("an attribute")
                if reader.at(":") or reader.at("="):
                    defaults[name] = self.attribute(name, None, {})
                else:
                    required.append(name)
                if not reader.take(","):
                    break
            reader.expect(">")
        return tuple(required), defaults
