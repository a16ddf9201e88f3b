"""Hold a resolved model: values, nodes, graphs, functions. Nothing here changes after construction.

A value is identified by the object, never by its name; names matter when a file is read and when one is written. A
transform writes a new tuple of nodes in which untouched nodes are the same objects. What can be derived (producers,
users, captures) is derived on first use and kept, see ir/index.py.
"""

from __future__ import annotations

from types import MappingProxyType

from sardonyx.errors import OnnxError, plain
from sardonyx.ir.attrs import AttrKind
from sardonyx.records import FROZEN, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType
    from typing import Any

    from sardonyx.dims import Scope
    from sardonyx.errors import Issue
    from sardonyx.ir.attrs import Attr, AttrRef
    from sardonyx.ir.index import Index
    from sardonyx.ir.source import Lifetime, Origin
    from sardonyx.ir.tensor import SparseTensor, Tensor
    from sardonyx.ir.types import Type

    Body = "Graph | tuple[Graph, ...]"
    FunctionKey = tuple[str, str, str]


def canonical(domain: str) -> str:
    """Return the one spelling of a domain under which things are compared: `ai.onnx` is the empty domain."""
    return "" if domain == "ai.onnx" else domain


class Value:
    """Something a node reads or writes. Equal only to itself; the name is a label."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Value({self.name!r})"


class Details:
    """The rarely needed parts of a message: documentation, metadata, fields that the graph does not model.

    Read from the origin when asked for. Subclassed where messages are known (io); this one is empty.
    """

    __slots__ = ()

    @property
    def doc_string(self) -> str:
        """Documentation for people."""
        return ""

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata_props as a dictionary; of a key that occurs twice, the last."""
        return {}


NOTHING = Details()
EMPTY: Any = MappingProxyType({})
"""The mapping without entries, shared by everything that has none."""


@record
class Written(Details):
    """Details given by code rather than read from a file."""

    doc_string: str = ""  # a field here, a property where it is read lazily
    metadata: Mapping[str, str] = EMPTY


class Documented:
    """What nodes, graphs, functions and models have in common: documentation and metadata, read when asked for."""

    __slots__ = ()

    if TYPE_CHECKING:
        details: Details

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata_props as a dictionary; of a key that occurs twice, the last."""
        return self.details.metadata

    @property
    def doc_string(self) -> str:
        """Documentation for people."""
        return self.details.doc_string


class Node(Documented):
    """One operator or one function call."""

    __slots__ = ("attrs", "bodies", "details", "domain", "inputs", "name", "op_type", "origin", "outputs", "overload")

    op_type: str
    """The operator's or function's name."""
    inputs: tuple[Value | None, ...]
    """What it reads, by position; None for an omitted optional."""
    outputs: tuple[Value | None, ...]
    """What it defines, by position; None for an omitted optional."""
    attrs: Mapping[str, Attr | AttrRef]
    """Attributes by name, in file order; bodies included."""
    domain: str
    """The domain as written; compare `op`, which folds the two spellings of the default domain."""
    overload: str
    """Which of several functions of the same name is called."""
    name: str
    """A label, possibly empty, not necessarily unique."""
    bodies: Mapping[str, Graph | tuple[Graph, ...]]
    """The graph-valued attributes: name to graph, or to a tuple for GRAPHS."""
    details: Details
    """Documentation and metadata."""
    origin: Origin | None
    """Where the NodeProto was read from."""

    def __init__(
        self,
        op_type: str,
        inputs: tuple[Value | None, ...] = (),
        outputs: tuple[Value | None, ...] = (),
        attrs: Mapping[str, Attr | AttrRef] = EMPTY,
        *,
        domain: str = "",
        overload: str = "",
        name: str = "",
        bodies: Mapping[str, Graph | tuple[Graph, ...]] | None = None,
        details: Details = NOTHING,
        origin: Origin | None = None,
    ) -> None:
        self.op_type = op_type
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs
        self.domain = domain
        self.overload = overload
        self.name = name
        self.bodies = bodies_of(attrs) if bodies is None else bodies
        self.details = details
        self.origin = origin

    @property
    def op(self) -> str:
        """The operator in one string: `MatMul` in the default domain, `com.microsoft::Attention` in another."""
        domain = self.domain
        return self.op_type if domain == "" or domain == "ai.onnx" else f"{domain}::{self.op_type}"

    @property
    def reads(self) -> tuple[Value, ...]:
        """Every value the node needs: inputs, then what its bodies capture; each once."""
        found = dict.fromkeys(value for value in self.inputs if value is not None)
        for body in body_list(self):
            found.update(dict.fromkeys(body.captures))
        return tuple(found)

    def replace(self, **changes: Any) -> Node:
        """Return a node like this one with some fields changed; `bodies` follow `attrs`."""
        origin = self.origin
        return Node(
            changes.get("op_type", self.op_type),
            changes.get("inputs", self.inputs),
            changes.get("outputs", self.outputs),
            changes.get("attrs", self.attrs),
            domain=changes.get("domain", self.domain),
            overload=changes.get("overload", self.overload),
            name=changes.get("name", self.name),
            bodies=None if "attrs" in changes else self.bodies,
            details=changes.get("details", self.details),
            origin=None if origin is None else origin.changed(),
        )

    def __repr__(self) -> str:
        outputs = ", ".join("" if value is None else value.name for value in self.outputs)
        inputs = ", ".join("" if value is None else value.name for value in self.inputs)
        return f"<{outputs} = {self.op}({inputs})>"


def bodies_of(attrs: Mapping[str, Attr | AttrRef]) -> Mapping[str, Graph | tuple[Graph, ...]]:
    """Pick the graph-valued attributes."""
    found: Mapping[str, Graph | tuple[Graph, ...]] = EMPTY
    if attrs:
        found = {
            name: attr.value
            for name, attr in attrs.items()
            if (attr.kind is AttrKind.GRAPH or attr.kind is AttrKind.GRAPHS) and attr.value is not None
        } or EMPTY
    return found


def body_list(node: Node) -> tuple[Graph, ...]:
    """Return the bodies of a node in order, lists flattened."""
    if not node.bodies:
        return ()
    found: list[Graph] = []
    for body in node.bodies.values():
        if isinstance(body, tuple):
            found.extend(body)
        else:
            found.append(body)
    return tuple(found)


@record
class Declared:
    """One ValueInfoProto as the file has it: a claim about a value's type."""

    role: str
    """`input`, `output` or `value_info`."""
    name: str
    """The name it is about, which a value_info need not share with any value."""
    value: Value | None
    """The value of that name in the graph."""
    type: Type | None
    """The type it declares."""
    details: Details
    """Documentation and metadata."""
    origin: Origin
    """Where the ValueInfoProto was read from."""


@record
class Graph(Documented):
    """A list of nodes in topological order, and what flows in and out."""

    name: str
    inputs: tuple[Value, ...]
    """The graph's formal inputs."""
    outputs: tuple[Value, ...]
    """Its results: node outputs, inputs, initializers, or (in a body) captured values."""
    nodes: tuple[Node, ...]
    """In topological order."""
    initializers: Mapping[Value, Tensor] = EMPTY
    """Constants; one whose value is among `inputs` is that input's default."""
    sparse_initializers: Mapping[Value, SparseTensor] = EMPTY
    """Sparse constants."""
    types: Mapping[Value, Type] = EMPTY
    """What is known of values, bodies' values included; only the table of the outermost graph counts."""
    nodes_were_reordered: bool = False
    """Whether the file had the nodes in an order that was not topological."""
    declared: tuple[Declared, ...] = ()
    """Every ValueInfoProto of the file: inputs, outputs, value_info, in file order within each."""
    details: Details = NOTHING
    """Documentation and metadata."""
    origin: Origin | None = None
    """Where the GraphProto was read from."""
    _index: Index | None = None
    _captures: tuple[Value, ...] | None = None

    @property
    def values(self) -> tuple[Value, ...]:
        """Every value the graph defines: inputs, initializers, sparse initializers, node outputs; each once."""
        found = dict.fromkeys(self.inputs)
        found.update(dict.fromkeys(self.initializers))
        found.update(dict.fromkeys(self.sparse_initializers))
        for node in self.nodes:
            for value in node.outputs:
                if value is not None:
                    found[value] = None
        return tuple(found)

    def type(self, value: Value) -> Type | None:
        """Return what is known of a value, or None. Ask the outermost graph: its table covers all bodies."""
        return self.types.get(value)

    @property
    def index(self) -> Index:
        """Producers and users, derived on first use."""
        if self._index is None:
            from sardonyx.ir.index import build_index

            keep(self, "_index", build_index(self))
        return self._index  # type: ignore[return-value]

    def producer(self, value: Value) -> Node | None:
        """Return the node that defines a value; None for inputs, initializers and captured values."""
        return self.index.producers.get(value)

    def users(self, value: Value) -> tuple[Node, ...]:
        """Return the nodes that read a value, themselves or in a body, in order, each once.

        Graph outputs are not users; ask `value in graph.outputs`.
        """
        return self.index.users.get(value, ())

    @property
    def captures(self) -> tuple[Value, ...]:
        """The outer values that this body, or a body inside it, reads or outputs; in order of first read, each once."""
        if self._captures is None:
            from sardonyx.ir.index import find_captures

            keep(self, "_captures", find_captures(self))
        return self._captures  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"<Graph {self.name!r}: {len(self.inputs)} inputs, {len(self.nodes)} nodes, {len(self.outputs)} outputs>"


def keep(owner: Graph, name: str, value: Any) -> None:
    """Fill a cache of a record."""
    object.__setattr__(owner, name, value)


def label_of(domain: str, name: str, overload: str) -> str:
    """Word a function for a person: `domain::name` or `domain::name:overload`."""
    return f"{plain(canonical(domain) or 'ai.onnx')}::{plain(name)}" + (f":{plain(overload)}" if overload else "")


@record
class Function(Documented):
    """A model-local function, as written: a faulty body is no fault of the model until somebody asks for `graph`."""

    domain: str
    name: str
    overload: str
    inputs: tuple[str, ...]
    """Formal inputs."""
    outputs: tuple[str, ...]
    """Formal outputs."""
    attributes: tuple[str, ...]
    """Attributes without a default (FunctionProto.attribute)."""
    defaults: Mapping[str, Attr | AttrRef]
    """Attributes with a default (FunctionProto.attribute_proto)."""
    opset_imports: Mapping[str, int]
    """Domain as written to version, the function's own imports only."""
    body: Graph
    """The body as far as it could be resolved. Its `types` come from the function's value_info."""
    faults: tuple[Issue, ...] = ()
    """What kept the body from being a valid graph."""
    details: Details = NOTHING
    """Documentation and metadata."""
    origin: Origin | None = None
    """Where the FunctionProto was read from."""

    @property
    def key(self) -> FunctionKey:
        """What a call must match: (domain, name, overload), with `ai.onnx` as the empty domain."""
        return (canonical(self.domain), self.name, self.overload)

    @property
    def graph(self) -> Graph:
        """The body as a graph: values, scopes and order resolved.

        Raises:
            OnnxError: InvalidModel when the body is not a valid graph.
        """
        if self.faults:
            fault = self.faults[0]
            raise OnnxError(fault if self.origin is None else self.origin.locate(fault))
        return self.body

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The body's nodes in file order, names taken as they stand, faults and all."""
        nodes = self.body.nodes
        if self.body.nodes_were_reordered:
            return tuple(sorted(nodes, key=lambda node: 0 if node.origin is None else node.origin.start))
        return nodes

    @property
    def label(self) -> str:
        """The function as messages name it: `domain::name` or `domain::name:overload`."""
        return label_of(self.domain, self.name, self.overload)

    def __repr__(self) -> str:
        return f"<Function {self.label}({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})>"


@record
class Model(Documented):
    """A graph with everything it needs: functions, opset imports, and the files its weights lie in."""

    graph: Graph
    opset_imports: Mapping[str, int]
    """Domain as written to version."""
    functions: Mapping[FunctionKey, Function] = EMPTY
    """Model-local functions by (domain, name, overload), in file order."""
    ir_version: int = 10
    producer_name: str = ""
    producer_version: str = ""
    domain: str = ""
    model_version: int = 0
    issues: tuple[Issue, ...] = ()
    """What was odd but defined in the input, and what transforms had to tell."""
    scope: Scope | None = None
    """The symbols that dims are written in; closed after loading and shared by derived models."""
    lifetime: Lifetime | None = None
    """The opened files, shared by every model derived from one load."""
    source: str | None = None
    """What errors call the input."""
    details: Details = NOTHING
    """Documentation and metadata."""
    origin: Origin | None = None
    """Where the ModelProto was read from."""

    def opset_version(self, domain: str) -> int | None:
        """Return the version imported for a domain (`""` and `ai.onnx` are one), or None."""
        imports = self.opset_imports
        if domain == "" or domain == "ai.onnx":
            return imports.get("", imports.get("ai.onnx"))
        return imports.get(domain)

    def function(self, node: Node) -> Function | None:
        """Return the function that a node calls, or None when it is an operator."""
        return self.functions.get((canonical(node.domain), node.op_type, node.overload)) if self.functions else None

    def to_onnx(self) -> Any:
        """Return the model as an `onnx.ModelProto`; references to data files stay references.

        Raises:
            ImportError: the onnx package is not installed (`pip install sardonyx[onnx]`).
            OnnxError: as for `sardonyx.to_bytes`.
        """
        from importlib import (
            import_module,
        )  # the graph knows nothing of the edges; the name is looked up when asked for

        return import_module("sardonyx.interop.onnx_proto").to_onnx(self)

    def close(self, strict: bool = False) -> None:
        """Let go of the files; reading tensor data afterwards raises `source-closed`. A second call does nothing.

        Structure, types and names stay usable. A view or array that is still held keeps its mapping alive.

        Raises:
            BufferError: with `strict`, when such a view is held.
        """
        if self.lifetime is not None:
            self.lifetime.close(strict)

    def __enter__(self) -> Model:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        opsets = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in self.opset_imports.items())
        return f"<Model {self.source or self.graph.name!r}: {len(self.graph.nodes)} nodes, opsets {opsets}>"


def each_body(graph: Graph) -> Iterator[tuple[Node, str, Graph]]:
    """Yield every body directly below a graph: the node, the attribute's name (`name[i]` in a list), the body."""
    for node in graph.nodes:
        if node.bodies:
            for name, body in node.bodies.items():
                if isinstance(body, tuple):
                    for i, one in enumerate(body):
                        yield node, f"{name}[{i}]", one
                else:
                    yield node, name, body


if FROZEN:

    def refuse(self: Any, name: str, value: Any) -> None:
        """Refuse a second assignment to a field."""
        if hasattr(self, name):
            raise AttributeError(f"{type(self).__name__}.{name} cannot be assigned: nodes and values never change")
        object.__setattr__(self, name, value)

    Node.__setattr__ = refuse  # type: ignore[method-assign]
    Value.__setattr__ = refuse  # type: ignore[method-assign]
