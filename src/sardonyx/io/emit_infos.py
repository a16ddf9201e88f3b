"""Turn what is known of values into ValueInfoProto: inputs, outputs and value_info of one graph.

A declaration is copied as it stands while the type table says what some declaration of the value says; where inference
has found another type, it is written with that. A value that has a type and no declaration gets a value_info, except
initializers, which carry their own type.
"""

from __future__ import annotations

from sardonyx.io.chunks import Chunks
from sardonyx.io.emit_types import is_complete, payload
from sardonyx.io.origins import Read
from sardonyx.io.rebuild import copy, copy_all, keep, known_field, rebuild, surviving
from sardonyx.ir.graph import NOTHING
from sardonyx.ir.types import TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sardonyx.io.emit import Emission
    from sardonyx.ir.graph import Declared, Details, Graph, Value
    from sardonyx.ir.source import Origin
    from sardonyx.ir.types import Type

NAME, TYPE = 1, 2


def gather_claims(graph: Graph) -> dict[Value, list[Type]]:
    """Return every type that a graph or its bodies declare for each value, initializers' own types included."""
    from sardonyx.ir.walk import bodies_within

    into: dict[Value, list[Type]] = {}
    for one in (graph, *bodies_within(graph.nodes)):
        for claim in one.declared:
            if claim.value is not None and claim.type is not None:
                into.setdefault(claim.value, []).append(claim.type)
        for value, tensor in one.initializers.items():
            into.setdefault(value, []).append(TensorType(tensor.dtype or None, tensor.shape))
    return into


class InfoWriter:
    """Writes the ValueInfoProtos of one graph."""

    def __init__(self, graph: Graph, emission: Emission) -> None:
        self.graph = graph
        self.emission = emission
        self.claims: dict[tuple[str, Value], list[Declared]] = {}
        for claim in graph.declared:
            if claim.value is not None and claim.role != "value_info":
                self.claims.setdefault((claim.role, claim.value), []).append(claim)

    def interface(self, role: str, number: int, values: Sequence[Value]) -> Chunks:
        """Return the field `input` or `output` of the graph."""
        out = Chunks()
        taken: dict[Value, int] = {}
        for value in values:
            claims = self.claims.get((role, value), ())
            at = taken.get(value, 0)  # a graph may return one value twice, each with a declaration of its own
            taken[value] = at + 1
            self.put(out, number, value, claims[min(at, len(claims) - 1)] if claims else None)
        return out

    def value_infos(self, number: int, of_function: bool = False) -> Chunks:
        """Return the field `value_info`: the declarations of the file in their order, then new ones in graph order.

        In a graph, inputs and outputs are declared elsewhere; those of a function are only names, so that theirs are
        here too.
        """
        out = Chunks()
        graph, table = self.graph, self.emission.table
        made = [value for node in graph.nodes for value in node.outputs if value is not None] if table else []
        done = set() if of_function else {*graph.outputs, *graph.inputs}
        claims = [claim for claim in graph.declared if claim.role == "value_info"]
        if claims:
            self.put_claims(out, number, claims, done)
        for value in (*graph.inputs, *made):
            if value in table and value not in done and is_complete(table[value]):
                done.add(value)
                self.put(out, number, value, None)
        return out

    def put_claims(self, out: Chunks, number: int, claims: Iterable[Declared], done: set[Value]) -> None:
        """Append the declarations of the file that still hold, or whose value has another type now.

        Those of one value that follow the first are written only while the type is theirs; a name that no value has
        keeps its declaration. Values that need no declaration any more are added to `done`.
        """
        emission, table = self.emission, self.emission.table
        own = set(self.graph.values)
        names: set[str] | None = None
        unchanged: list[Origin] = []
        for claim in claims:
            value = claim.value
            if value is None:
                if names is None:
                    names = {emission.name(one) for one in own}
                if claim.name not in names:
                    unchanged.append(claim.origin)
            elif value in own:
                is_unchanged = self.is_unchanged(value, claim)
                if is_unchanged and claim.origin.exact:
                    unchanged.append(claim.origin)
                elif is_unchanged or (value not in done and is_complete(table.get(value))):
                    copy_all(out, number, unchanged)
                    unchanged.clear()
                    self.put(out, number, value, claim)
                done.add(value)
        copy_all(out, number, unchanged)

    def is_unchanged(self, value: Value, claim: Declared) -> bool:
        """Whether the type table says what some declaration in the file says, this one or another; so it stands."""
        known = self.emission.table.get(value)
        if known is not None and known is claim.type:
            return True
        claimed = self.emission.claims.get(value, ())
        if known is None:
            return not claimed
        return any(known is one for one in claimed) or any(known == one for one in claimed)

    def put(self, out: Chunks, number: int, value: Value, claim: Declared | None) -> None:
        """Append one ValueInfoProto."""
        emission = self.emission
        kind = emission.table.get(value)
        if claim is None:
            name = emission.name(value).encode()
            typed = b"" if kind is None else payload(TYPE, emission.types.encode(kind))
            out.blob(number, payload(NAME, name) + typed)
            return
        is_unchanged = self.is_unchanged(value, claim)
        if is_unchanged and claim.origin.exact:
            copy(out, number, claim.origin)
            return
        fresh = {NAME: Chunks()}
        fresh[NAME].text(NAME, emission.name(value))
        if not is_unchanged:
            fresh[TYPE] = Chunks()
            if kind is not None:
                fresh[TYPE].blob(TYPE, self.typed(kind, claim))
        emission.put_details(fresh, claim.details, claim.origin, 3, 4)
        out.message(number, rebuild(claim.origin, fresh))

    def typed(self, kind: Type, claim: Declared) -> bytes:
        """Encode a type; denotations of the declaration that it takes the place of stay."""
        types = self.emission.types
        from sardonyx.wire.messages import ValueInfoProto
        from sardonyx.wire.reader import MOST_NESTING, decode

        source = claim.origin.source
        before = decode(
            source.data(), ValueInfoProto, claim.origin.start, claim.origin.stop, max_nesting=MOST_NESTING
        ).message.type
        if before is None:
            return types.encode(kind)
        denotations: list[str] = []
        tensor = before.tensor_type or before.sparse_tensor_type
        if tensor is not None and tensor.shape is not None and isinstance(kind, TensorType) and kind.shape is not None:
            named = [dim.denotation for dim in tensor.shape.dim]
            denotations = named if len(named) == len(kind.shape) and any(named) else []
        made = types.encode(kind, denotations)
        if before.denotation:
            whole = Chunks()
            whole.put(made)
            whole.text(6, before.denotation)
            return whole.join()
        return made


def same_origin(details: Details, origin: Origin | None) -> bool:
    """Whether details are those of the message at an origin (which doubles as its details, see io/origins.py)."""
    return (
        isinstance(details, Read)
        and origin is not None
        and (details.source, details.start, details.stop) == (origin.source, origin.start, origin.stop)
    )


def written_details(details: Details, doc: int, metadata: int) -> dict[int, Chunks]:
    """Return the fields of documentation and metadata, for details that code gave or that another message has."""
    fresh = {doc: Chunks(), metadata: Chunks()}
    if details is NOTHING:
        return fresh
    if isinstance(details, Read):
        source, message = details.source, details.message
        target = {"doc_string": doc, "metadata_props": metadata}
        for piece in surviving(source, details.start, details.stop, message):
            known = known_field(message, piece[0], piece[1])
            if known is not None and known.name in target:
                number = target[known.name]
                if number == known.number:
                    keep(fresh[number], source, piece, message)
                else:
                    fresh[number].span(number, source, piece[3], piece[4])
        return fresh
    if details.doc_string:
        fresh[doc].text(doc, details.doc_string)
    for name, text in details.metadata.items():
        entry = Chunks()
        entry.text(1, name)
        entry.text(2, text)
        fresh[metadata].message(metadata, entry)
    return fresh
