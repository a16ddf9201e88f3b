"""Write a model as a message: unchanged parts as ranges of the file they were read from, the others encoded.

A message that is encoded keeps what the graph does not model, found in the original (see io/rebuild.py). The exception
is a node that a transform wrote: its unknown fields may not hold for it any more, so they go, with an issue.
"""

from __future__ import annotations

from sardonyx.io.chunks import Chunks
from sardonyx.io.emit_attributes import TENSORS, put_attribute
from sardonyx.io.emit_infos import InfoWriter, gather_claims, same_origin, written_details
from sardonyx.io.emit_nodes import NodeWriter
from sardonyx.io.emit_tensors import put_sparse, put_tensor
from sardonyx.io.emit_types import TypeWriter
from sardonyx.io.rebuild import copy, keep, message_at, rebuild
from sardonyx.io.scopes import name_values
from sardonyx.ir.graph import EMPTY
from sardonyx.ir.tensor import SparseTensor
from sardonyx.wire.pieces import pieces
from sardonyx.wire.schema import LENGTH
from sardonyx.wire.writer import key, varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sardonyx.errors import Issue
    from sardonyx.io.emit_tensors import Placement
    from sardonyx.ir.attrs import Attr, AttrRef
    from sardonyx.ir.graph import Details, Function, Graph, Model, Value
    from sardonyx.ir.source import Origin
    from sardonyx.ir.tensor import Tensor
    from sardonyx.ir.types import Type

FUNCTION_INFOS = 10
"""The first IR version in which a function has value_info."""


def emit(model: Model, placement: Placement = EMPTY) -> tuple[Chunks, tuple[Issue, ...]]:
    """Return the ModelProto of a model, and what was lost on the way; tensors in `placement` have their bytes moved.

    Raises:
        OnnxError: Io, `source-closed`, after `model.close()`; InvalidModel, `value-twice` or `value-undefined`, when
            names would not say what the graph says; ExternalData when bytes are needed that are not there.
    """
    emission = Emission(model, placement)
    return emission.model(model), tuple(emission.issues)


class Emission:
    """One model on its way out."""

    def __init__(self, model: Model, placement: Placement) -> None:
        self.placement = placement
        self.types = TypeWriter()
        self.nodes = NodeWriter(self)
        self.issues: list[Issue] = []
        self.given = name_values(model)
        self.source = model.source
        self.ir_version = model.ir_version
        self.table: Mapping[Value, Type] = EMPTY
        """The types of the outermost graph, which cover its bodies."""
        self.outermost = model.graph
        self.known_claims: dict[Value, list[Type]] | None = None
        self.enter(model.graph)

    def enter(self, graph: Graph) -> None:
        """Turn to another outermost graph."""
        self.outermost = graph
        self.table = graph.types
        self.known_claims = None

    @property
    def claims(self) -> Mapping[Value, Sequence[Type]]:
        """Every type that the file declares for a value; gathered when a type is not simply that of its declaration."""
        if self.known_claims is None:
            self.known_claims = gather_claims(self.outermost)
        return self.known_claims

    def name(self, value: Value) -> str:
        """Return the name that a value is written with."""
        return value.name or self.given.get(value, "")

    def moves(self, attr: Attr | AttrRef) -> bool:
        """Whether a tensor of an attribute has its bytes moved."""
        if not self.placement or attr.kind not in TENSORS or attr.value is None:
            return False
        held: Iterable[Tensor | SparseTensor] = attr.value if isinstance(attr.value, tuple) else (attr.value,)
        return any(tensor in self.placement for one in held for tensor in parts(one))

    # --- messages

    def model(self, model: Model) -> Chunks:
        """Encode a ModelProto."""
        fresh = {1: number(1, model.ir_version), 5: number(5, model.model_version), 7: Chunks()}
        optional = [5] if not model.model_version else []
        named = {2: model.producer_name, 3: model.producer_version, 4: model.domain}
        put_texts(fresh, optional, named)
        fresh[7].message(7, self.graph(model.graph))
        self.put_imports(fresh, 8, model.opset_imports, model.origin)
        fresh[25] = Chunks()
        for function in model.functions.values():
            self.function(fresh[25], function)
        self.put_details(fresh, model.details, model.origin, 6, 14)
        return rebuild(model.origin, fresh, optional)

    def graph(self, graph: Graph) -> Chunks:
        """Encode a GraphProto; its bodies use the type table of the outermost graph, as this one does."""
        infos = InfoWriter(graph, self)
        fresh = {1: Chunks(), 5: Chunks(), 15: Chunks()}
        optional: list[int] = []
        self.nodes.put(fresh[1], 1, graph.nodes)
        put_texts(fresh, optional, {2: graph.name})
        for value, tensor in graph.initializers.items():
            put_tensor(fresh[5], 5, tensor, self.name(value), self.placement)
        for value, sparse in graph.sparse_initializers.items():
            put_sparse(fresh[15], 15, sparse, self.name(value), self.placement)
        fresh[11] = infos.interface("input", 11, graph.inputs)
        fresh[12] = infos.interface("output", 12, graph.outputs)
        fresh[13] = infos.value_infos(13)
        self.put_details(fresh, graph.details, graph.origin, 10, 16)
        return rebuild(graph.origin, fresh, optional)

    def attributes(self, field: int, attrs: Mapping[str, Attr | AttrRef]) -> Chunks:
        """Encode attributes in order."""
        out = Chunks()
        for attr in attrs.values():
            put_attribute(out, field, attr, self)
        return out

    def function(self, out: Chunks, function: Function) -> None:
        """Append a function of the model; one that is as it was read is copied, even one whose body is faulty."""
        origin = function.origin
        if origin is not None and origin.exact:
            if not (self.placement and self.moves_in(function)):
                copy(out, 25, origin)
                return
            fresh = {7: Chunks(), 11: self.attributes(11, function.defaults)}
            self.nodes.put(fresh[7], 7, function.nodes)
            out.message(25, rebuild(origin, fresh))
            return
        graph = function.graph
        outer = self.outermost
        self.enter(graph)
        fresh = {7: Chunks(), 11: self.attributes(11, function.defaults)}
        optional: list[int] = []
        put_texts(fresh, optional, {1: function.name, 10: function.domain, 13: function.overload})
        for field, listed in ((4, function.inputs), (5, function.outputs), (6, function.attributes)):
            fresh[field] = Chunks()
            for name in listed:
                fresh[field].text(field, name)
        self.nodes.put(fresh[7], 7, graph.nodes)
        self.put_imports(fresh, 9, function.opset_imports, origin)
        if self.ir_version >= FUNCTION_INFOS:
            fresh[12] = InfoWriter(graph, self).value_infos(12, of_function=True)
        self.put_details(fresh, function.details, origin, 8, 14)
        out.message(25, rebuild(origin, fresh, optional))
        self.enter(outer)

    def moves_in(self, function: Function) -> bool:
        """Whether a tensor anywhere in a function has its bytes moved."""
        from sardonyx.ir.walk import bodies_within

        bodies = bodies_within(function.nodes)
        attrs = list(function.defaults.values())
        for nodes in (function.nodes, *[body.nodes for body in bodies]):
            attrs += [attr for node in nodes for attr in node.attrs.values()]
        constants = [tensor for body in bodies for tensor in body.initializers.values()]
        constants += [part for body in bodies for one in body.sparse_initializers.values() for part in parts(one)]
        return any(map(self.moves, attrs)) or any(tensor in self.placement for tensor in constants)

    # --- fields

    def put_imports(
        self, fresh: dict[int, Chunks], field: int, imports: Mapping[str, int], origin: Origin | None
    ) -> None:
        """Fill in the opset imports: those that the original has and that still hold stay as they stand."""
        out = fresh[field] = Chunks()
        written: set[str] = set()
        if origin is not None:
            from sardonyx.wire.messages import OperatorSetIdProto
            from sardonyx.wire.reader import decode

            source = origin.source
            for piece in pieces(source.data(), origin.start, origin.stop):
                if piece[0] == field and piece[1] == LENGTH:
                    one = decode(source.data(), OperatorSetIdProto, piece[3], piece[4]).message
                    if imports.get(one.domain) == one.version:
                        keep(out, source, piece, message_at(origin))
                        written.add(one.domain)
        for domain, version in imports.items():
            if domain not in written:
                one_import = Chunks()
                if domain:
                    one_import.text(1, domain)
                one_import.put(key(2, 0) + varint(version))
                out.message(field, one_import)

    def put_details(
        self, fresh: dict[int, Chunks], details: Details, origin: Origin | None, doc: int, metadata: int
    ) -> None:
        """Fill in documentation and metadata, unless they are the original's and stay where they are."""
        if not same_origin(details, origin):
            fresh.update(written_details(details, doc, metadata))


def put_texts(fresh: dict[int, Chunks], optional: list[int], texts: Mapping[int, str]) -> None:
    """Fill in string fields; empty ones are optional."""
    for number, text in texts.items():
        fresh[number] = Chunks()
        fresh[number].text(number, text)
        if not text:
            optional.append(number)


def number(field: int, value: int) -> Chunks:
    """Return an integer field."""
    out = Chunks()
    out.put(key(field, 0) + varint(value))
    return out


def parts(one: Tensor | SparseTensor) -> tuple[Tensor, ...]:
    """Return the dense tensors that a constant consists of."""
    return (one.values, one.indices) if isinstance(one, SparseTensor) else (one,)
