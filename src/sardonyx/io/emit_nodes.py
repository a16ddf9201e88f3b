"""Write nodes: runs of unchanged ones as ranges of the file, most others straight to bytes.

A transform may leave a hundred thousand new nodes behind, so that what recurs (names, operators, attributes and details
that many copies of a function share) is encoded once and remembered.
"""

from __future__ import annotations

from sardonyx.errors import Issue, Place, node_label
from sardonyx.io.chunks import Chunks
from sardonyx.io.emit_attributes import BODIES, put_attribute
from sardonyx.io.emit_infos import written_details
from sardonyx.io.origins import Read
from sardonyx.io.rebuild import copy_all, numbers_beyond, rebuild
from sardonyx.ir.graph import NOTHING
from sardonyx.wire.schema import LENGTH
from sardonyx.wire.writer import header, key, sized

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from sardonyx.io.emit import Emission
    from sardonyx.ir.attrs import Attr, AttrRef
    from sardonyx.ir.graph import Details, Node, Value
    from sardonyx.ir.source import Origin

INPUT, OUTPUT, NAME, OP_TYPE, ATTRIBUTE, DOC, DOMAIN, OVERLOAD, METADATA = range(1, 10)
INPUT_KEY, OUTPUT_KEY, NAME_KEY, OP_TYPE_KEY, _, DOC_KEY, DOMAIN_KEY, OVERLOAD_KEY, METADATA_KEY = (
    key(number, LENGTH) for number in range(INPUT, METADATA + 1)
)

MOST = 1 << 13
"""Entries that a memo holds: a graph's names recur close together, so that more would be memory for nothing."""

SHORT = 1 << 10
"""Bytes up to which an attribute is copied into the node that is made; a longer one stays a range of its file."""


class Memo(dict):  # type: ignore[type-arg]
    """What a function makes of each key, made on first use and forgotten when there are too many."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make

    def __missing__(self, key: Any) -> Any:
        if len(self) >= MOST:
            self.clear()
        made = self[key] = self.make(key)
        return made


class NodeWriter:
    """Writes the nodes of one model."""

    def __init__(self, emission: Emission) -> None:
        self.emission = emission
        self.names: dict[Value | None, bytes] = Memo(self.name)
        self.operators: dict[tuple[str, str, str], tuple[bytes, bytes]] = Memo(operator)
        self.attributes: dict[Attr | AttrRef, bytes | None] = Memo(self.attribute)
        self.details: dict[Details, tuple[bytes, bytes]] = Memo(encode_details)

    def put(self, out: Chunks, number: int, nodes: Iterable[Node]) -> None:
        """Append a field for each node; neighbours that are as they were read become one range."""
        moving = self.emission.placement
        heads = Memo(lambda size: header(number, size))
        unchanged: list[Origin] = []
        for node in nodes:
            origin = node.origin
            exact = origin is not None and origin.exact
            if origin is not None and exact and not node.bodies and not (moving and self.moves(node)):
                unchanged.append(origin)
                continue
            if unchanged:
                copy_all(out, number, unchanged)
                unchanged.clear()
            if exact:
                out.message(number, rebuild(origin, {ATTRIBUTE: self.emission.attributes(ATTRIBUTE, node.attrs)}))
                continue
            body = self.encode(node)
            if isinstance(body, bytes):
                out.put(heads[len(body)] + body)
            else:
                out.message(number, body)
            if origin is not None:
                self.report_lost(node, origin)
        copy_all(out, number, unchanged)

    def moves(self, node: Node) -> bool:
        """Whether a tensor of a node has its bytes moved."""
        return any(map(self.emission.moves, node.attrs.values()))

    def encode(self, node: Node) -> bytes | Chunks:
        """Return the payload of a node that is not as it was read, in the order of its fields."""
        names, inputs, outputs, name = self.names, node.inputs, node.outputs, node.name
        body = INPUT_KEY + INPUT_KEY.join(map(names.__getitem__, inputs)) if inputs else b""
        if outputs:
            body += OUTPUT_KEY + OUTPUT_KEY.join(map(names.__getitem__, outputs))
        if name:
            body += NAME_KEY + sized(name.encode())
        doc, metadata = NO_DETAILS if node.details is NOTHING else self.details[node.details]
        before, after = self.operators[node.op_type, node.domain, node.overload]
        body += before
        after = doc + after + metadata
        if not node.attrs:
            return body + after
        parts = [body]
        for attr in node.attrs.values():
            encoded = self.attributes[attr]
            if encoded is None:
                return self.in_chunks(body, node, after)
            parts.append(encoded)
        parts.append(after)
        return b"".join(parts)

    def in_chunks(self, before: bytes, node: Node, after: bytes) -> Chunks:
        """Return the payload of a node with a long attribute or a body."""
        out = Chunks()
        out.put(before)
        out.add(self.emission.attributes(ATTRIBUTE, node.attrs))
        out.put(after)
        return out

    def name(self, value: Value | None) -> bytes:
        """Return the name that a value is written with, its length before it; that of an omitted one is empty."""
        if value is None:
            return sized(b"")
        return sized((value.name or self.emission.given.get(value, "")).encode())

    def attribute(self, attr: Attr | AttrRef) -> bytes | None:
        """Return the field that holds an attribute, or None when it is long, or holds graphs.

        Attributes of functions are shared by all nodes that were copied from there.
        """
        if attr.kind in BODIES:
            return None
        out = Chunks()
        put_attribute(out, ATTRIBUTE, attr, self.emission)
        return out.join() if out.size <= SHORT else None

    def report_lost(self, node: Node, origin: Origin) -> None:
        """Note the fields of a rewritten node's original that are not written."""
        lost = numbers_beyond(METADATA, origin)
        if not lost:
            return
        shown = ", ".join("device_configurations" if one == 10 else f"unknown field {one}" for one in lost)
        self.emission.issues.append(
            Issue(
                "fields-dropped",
                f"the node was rewritten, so its {shown} may not hold any more and was left out",
                Place(source=self.emission.source, node=node_label(node.name, node.op_type)),
                None,
                "warning",
            )
        )


NO_DETAILS = b"", b""


def operator(called: tuple[str, str, str]) -> tuple[bytes, bytes]:
    """Return the fields that name what a node calls, op_type and those behind the attributes."""
    op_type, domain, overload = called
    after = [head + sized(text.encode()) for head, text in ((DOMAIN_KEY, domain), (OVERLOAD_KEY, overload)) if text]
    return OP_TYPE_KEY + sized(op_type.encode()), b"".join(after)


def encode_details(details: Details) -> tuple[bytes, bytes]:
    """Return documentation and metadata as fields of a node; those that were read are found in their file."""
    if not isinstance(details, Read):
        entries = [
            sized(b"\n" + sized(name.encode()) + b"\x12" + sized(text.encode()))  # the fields key and value
            for name, text in details.metadata.items()
        ]
        doc = details.doc_string.encode()
        return DOC_KEY + sized(doc) if doc else b"", b"".join([METADATA_KEY + entry for entry in entries])
    fresh = written_details(details, DOC, METADATA)
    return fresh[DOC].join(), fresh[METADATA].join()
