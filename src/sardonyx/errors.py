"""Say what is wrong with an input: one exception, five kinds, a closed table of codes.

An `Issue` is the value: what was found, where, and what to do about it. `OnnxError` carries one. Code that collects
(`sx.check`, inference) and code that raises (`sx.load`) print through the same lines, so a fault reads the same
wherever it is met.
"""

from __future__ import annotations

from enum import Enum

from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class ErrorKind(Enum):
    """The five ways in which an input can be wrong."""

    Malformed = "Malformed"
    InvalidModel = "InvalidModel"
    Unsupported = "Unsupported"
    ExternalData = "ExternalData"
    Io = "Io"

    @property
    def display(self) -> str:
        """The kind in kebab-case, as error texts print it."""
        return KEBAB[self.value]


KEBAB = {
    "Malformed": "malformed",
    "InvalidModel": "invalid-model",
    "Unsupported": "unsupported",
    "ExternalData": "external-data",
    "Io": "io",
}


@record
class Place:
    """Where a fault is, as far as it is known; every field may be None."""

    source: str | None = None
    """Name of the input: a path as given, or `<bytes>`."""
    offset: int | None = None
    """Byte offset from the start of the file or byte array."""
    path: str | None = None
    """Field path in the message: `ModelProto.graph.node[3].attribute[1].t`."""
    graph: str | None = None
    """Graph path: empty or None for the main graph, `node 'x'.body` and so on for a body, `function d::f`."""
    node: str | None = None
    """The node, as `node_label` words it."""
    value: str | None = None
    """Name of a value or tensor."""
    attribute: str | None = None
    """Name of an attribute."""

    def __str__(self) -> str:
        head = []
        if self.source is not None:
            head.append(escaped(self.source))
        where = []
        if self.offset is not None:
            where.append(f"byte {self.offset}")
        if self.path:
            where.append(self.path)
        if self.graph:
            where.append(escaped(self.graph))
        if self.node:
            where.append(escaped(self.node))
        if self.value is not None:
            where.append(f"value {quoted(self.value)}")
        if self.attribute is not None:
            where.append(f"attribute {quoted(self.attribute)}")
        if where:
            head.append(", ".join(where))
        return ": ".join(head)

    def within(self, outer: Place) -> Place:
        """Return this place with what it does not know taken from `outer`."""
        return Place(*[getattr(outer, name) if getattr(self, name) is None else getattr(self, name) for name in FIELDS])


FIELDS = ("source", "offset", "path", "graph", "node", "value", "attribute")


LONGEST = 300
"""Characters of a name that are shown; a name may be as long as its file, and stands in every finding about it."""
SHOWN = 100
"""Characters that are shown of a longer one."""


def escaped(text: str) -> str:
    """Return a name of a model on one line, with what could steer a terminal as escapes."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def plain(name: str) -> str:
    """Return a name of a model as it can stand in a sentence without quotes."""
    if len(name) <= LONGEST:
        return escaped(name)
    return f"{escaped(name[:SHOWN])}... ({len(name):,} characters)"


def quoted(name: str) -> str:
    """Return a name of a model in quotes."""
    return repr(name) if len(name) <= LONGEST else f"{name[:SHOWN]!r}... ({len(name):,} characters)"


def node_label(name: str, op_type: str, index: int | None = None) -> str:
    """Word a node for a person: by its name, or by its position in the file when it has none."""
    if name:
        return f"node {quoted(name)} ({plain(op_type)})"
    if index is None:
        return f"unnamed node ({plain(op_type)})"
    return f"node {index} ({plain(op_type)})"


@record
class Issue:
    """One finding about an input."""

    code: str
    """A key of `CODES`."""
    message: str
    """What was found and what was expected, in one sentence without a full stop."""
    place: Place
    hint: str | None = None
    """What to do about it, when there is something to do."""
    severity: str = "error"
    """`error`, or `warning` for what is odd but defined."""
    also: ErrorKind | None = None
    """A kind that differs from the one `CODES` gives for this code."""

    @property
    def kind(self) -> ErrorKind:
        """Which of the five kinds this is."""
        return self.also or CODES[self.code].kind

    def __str__(self) -> str:
        tag = f"[{self.kind.display}: {self.code}]"
        place = str(self.place)
        message = "\n".join(escaped(line) for line in self.message.split("\n"))
        text = f"{place}:\n    {message}  {tag}" if place else f"{message}  {tag}"
        if self.hint:
            text += f"\n    hint: {self.hint}"
        return text

    def within(self, outer: Place) -> Issue:
        """Return this issue with the unknown parts of its place taken from `outer`."""
        return Issue(self.code, self.message, self.place.within(outer), self.hint, self.severity, self.also)

    def at(self, offset: int | None) -> Issue:
        """Return this issue at another byte."""
        here = self.place
        place = Place(here.source, offset, None, here.graph, here.node, here.value, here.attribute)
        return Issue(self.code, self.message, place, self.hint, self.severity, self.also)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain data: what `--json` prints."""
        place = {name: getattr(self.place, name) for name in FIELDS if getattr(self.place, name) is not None}
        return {
            "kind": self.kind.value,
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "place": place,
            "hint": self.hint,
        }


class OnnxError(Exception):
    """Something is wrong with an input; `issue` says what.

    Attributes: `kind` (ErrorKind), `code`, `message`, `hint`, `source`, `offset`, `path`, `place`, `issue`.
    A caller's mistake is an ordinary TypeError or ValueError instead.
    """

    def __init__(self, issue: Issue) -> None:
        super().__init__(issue)
        self.issue = issue

    def __str__(self) -> str:
        return str(self.issue)

    @property
    def kind(self) -> ErrorKind:
        """Which of the five kinds this is."""
        return self.issue.kind

    @property
    def code(self) -> str:
        """The key of `CODES`."""
        return self.issue.code

    @property
    def message(self) -> str:
        """What was found and what was expected."""
        return self.issue.message

    @property
    def hint(self) -> str | None:
        """What to do about it."""
        return self.issue.hint

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.issue.place

    @property
    def source(self) -> str | None:
        """Name of the input."""
        return self.issue.place.source

    @property
    def offset(self) -> int | None:
        """Byte offset from the start of the input, when known."""
        return self.issue.place.offset

    @property
    def path(self) -> str | None:
        """Field path in the message, when known."""
        return self.issue.place.path


def error(
    code: str,
    message: str,
    *,
    hint: str | None = None,
    also: ErrorKind | None = None,
    source: str | None = None,
    offset: int | None = None,
    path: str | None = None,
    graph: str | None = None,
    node: str | None = None,
    value: str | None = None,
    attribute: str | None = None,
) -> OnnxError:
    """Build an `OnnxError` from its parts; the caller raises it."""
    place = Place(source, offset, path, graph, node, value, attribute)
    return OnnxError(Issue(code, message, place, hint, "error", also))


@record
class Code:
    """One entry of `CODES`."""

    kind: ErrorKind
    sentence: str


MALFORMED, INVALID = ErrorKind.Malformed, ErrorKind.InvalidModel
UNSUPPORTED, EXTERNAL, IO = ErrorKind.Unsupported, ErrorKind.ExternalData, ErrorKind.Io

CODES: Mapping[str, Code] = {
    code: Code(kind, sentence)
    for code, kind, sentence in (
        # --- malformed: the bytes are not valid protobuf
        ("bad-utf8", MALFORMED, "A field that protobuf declares as text holds bytes that are not UTF-8."),
        ("bad-field-number", MALFORMED, "A key has field number 0."),
        ("bad-key", MALFORMED, "A key does not fit in 32 bits."),
        ("bad-varint", MALFORMED, "A varint does not fit in 64 bits."),
        ("bad-wire-type", MALFORMED, "A key has wire type 3 or 4 (groups, which ONNX never uses), 6 or 7 (undefined)."),
        ("cut-short", MALFORMED, "A message ends in the middle of a key, a number or a fixed-width field."),
        ("length-past-end", MALFORMED, "A length runs past the end of the message that holds it."),
        ("ragged-packed", MALFORMED, "The length of a packed run is not a multiple of its element size."),
        # --- invalid-model: valid protobuf, not a valid model
        ("no-ir-version", INVALID, "The model has no ir_version, so it cannot be told which rules it follows."),
        ("ir-version-too-old", INVALID, "The model's ir_version is below 3."),
        ("no-graph", INVALID, "The model has no graph."),
        ("attribute-empty", INVALID, "An attribute has neither a type, nor a value, nor a reference."),
        ("attribute-incomplete", INVALID, "An attribute of type TENSOR, GRAPH, SPARSE_TENSOR or TYPE_PROTO lacks it."),
        ("attribute-type-unknown", INVALID, "An attribute's type is none of AttributeProto.AttributeType."),
        ("attribute-twice", INVALID, "A node has two attributes of one name."),
        ("attribute-unnamed", INVALID, "An attribute has no name."),
        ("negative-dim", INVALID, "A tensor has a negative dimension; in a declared type it is read as unknown."),
        ("too-many-elements", INVALID, "The dims of a tensor multiply to more than 2^60 elements."),
        ("no-element-type", INVALID, "A tensor has elements but element type 0, which is none."),
        ("data-location", INVALID, "A tensor's data_location is neither DEFAULT (0) nor EXTERNAL (1)."),
        ("data-sources", INVALID, "A tensor's values are given in more than one place."),
        ("data-length", INVALID, "A tensor has more or fewer values than its shape needs."),
        ("no-data", INVALID, "A tensor has elements but no values."),
        ("wrong-field", INVALID, "A tensor's values are in a field that belongs to another element type."),
        ("sparse-incomplete", INVALID, "A sparse tensor lacks its values or its indices."),
        ("input-unnamed", INVALID, "A graph input has no name."),
        ("initializer-unnamed", INVALID, "An initializer has no name."),
        ("output-unnamed", INVALID, "A graph output has no name."),
        ("value-twice", INVALID, "One name is defined twice in a graph."),
        ("value-undefined", INVALID, "A node input or graph output names a value that nothing defines."),
        ("domain-not-imported", INVALID, "A node's domain is not among the opset imports."),
        ("opset-conflict", INVALID, "One domain is imported twice with different versions."),
        ("cycle", INVALID, "Nodes need each other's outputs, so no order lets them run."),
        ("function-twice", INVALID, "Two functions share domain, name and overload."),
        ("bad-text", INVALID, "A text is not in the ONNX text syntax."),
        ("not-sorted", INVALID, "A node reads a value that only it or a later node of the same graph defines."),
        ("out-of-scope", INVALID, "A value is read outside the graph that defines it and the bodies within."),
        ("name-shadowed", INVALID, "A body defines a name that is visible from outside, which IR.md forbids."),
        ("captured-output", INVALID, "A body outputs a value of a graph around it, which checker and runtimes refuse."),
        ("type-stray", INVALID, "A type is recorded for a value that no graph defines."),
        ("reference-outside-function", INVALID, "A node outside all functions refers to an attribute of a function."),
        ("absent-returned", INVALID, "A function returns an input that a call of it leaves out."),
        (
            "attribute-not-given",
            INVALID,
            "A call lacks an attribute that its function refers to and has no default for.",
        ),
        ("function-recursive", INVALID, "Functions call each other in a circle, so that inlining would not end."),
        (
            "function-over-operator",
            INVALID,
            "A function has the name of an operator of its domain; runtimes differ on which of the two a node means.",
        ),
        ("function-unused", INVALID, "A function that nothing calls was dropped."),
        ("too-many-actuals", INVALID, "A call has more inputs or outputs than its function."),
        # --- invalid-model: an operator cannot run as it stands
        ("rule-failed", UNSUPPORTED, "The rule of an operator failed by itself; the outputs of the node stay unknown."),
        ("dim-too-large", UNSUPPORTED, "The expression of a dim outgrew what is kept of one, so the dim is unknown."),
        ("no-rule", UNSUPPORTED, "Nothing is known of an operator, so its outputs stay unknown."),
        ("wrong-kind", INVALID, "An input is a sequence, map or optional where a tensor is needed, or the reverse."),
        ("missing-input", INVALID, "A required input of an operator is not given."),
        ("missing-attribute", INVALID, "A required attribute of an operator is not given."),
        ("attribute-kind", INVALID, "An attribute has another kind than the operator, or the function's node, takes."),
        ("bad-element-type", INVALID, "An attribute or input has an element type that the operator does not take."),
        ("bad-attribute", INVALID, "An attribute has a value that the operator does not take."),
        ("bad-input", INVALID, "An input has a type, shape or content with which the operator cannot run."),
        ("axis-out-of-range", INVALID, "An axis is not among the axes of the tensor."),
        ("axis-twice", INVALID, "One axis is named twice."),
        ("bad-permutation", INVALID, "A list of axes is not a permutation of all axes."),
        ("rank-mismatch", INVALID, "A tensor has another number of dims than the operator takes."),
        ("dim-mismatch", INVALID, "Two dims that must be equal, or broadcast, provably differ."),
        ("operator-unknown", INVALID, "The imported opset of a known domain has no operator of this name."),
        ("operator-too-new", INVALID, "An operator came with a later opset than the one that is imported."),
        ("operator-deprecated", INVALID, "An operator is withdrawn in the opset that is imported."),
        (
            "opset-newer",
            UNSUPPORTED,
            "An opset is newer than any that is known; operators are read as the newest has them.",
        ),
        ("too-many-inputs", INVALID, "A node has more inputs than its operator takes."),
        ("too-many-outputs", INVALID, "A node lists more outputs than its operator has."),
        ("missing-output", INVALID, "An output that is not optional is not listed."),
        ("attribute-unknown", INVALID, "A node has an attribute that its operator does not have."),
        ("types-differ", INVALID, "Inputs that must be of one type are of different ones."),
        ("sparse-counts", INVALID, "A sparse tensor's values, positions and shape do not go together."),
        ("size-too-large", INVALID, "A dim would be negative or above 2^63-1; it is left unknown."),
        (
            "window-too-large",
            INVALID,
            "A window is larger than the padded axis it slides over; runtimes disagree there.",
        ),
        ("body-interface", INVALID, "A body takes or returns another number of values than its node gives or needs."),
        ("wrong-count", INVALID, "A node has more or fewer inputs or outputs than its operator can have."),
        ("claim-contradicted", INVALID, "A declared type cannot be true of what the nodes compute."),
        # --- unsupported: valid, but beyond what is read
        ("limit-exceeded", UNSUPPORTED, "The model is over a limit that the caller set (see `Limits`)."),
        ("element-type-unknown", UNSUPPORTED, "An element type above 28, from an ONNX version that is not known yet."),
        ("array-shape", UNSUPPORTED, "A tensor has more dims, or larger ones beside a 0, than numpy can hold."),
        ("file-too-large", UNSUPPORTED, "A model file of 2^31 bytes or more: protobuf cannot express it."),
        ("fields-dropped", UNSUPPORTED, "A node was rewritten, so fields that are not understood were left out."),
        ("segment", UNSUPPORTED, "A tensor is one segment of a larger one."),
        ("opset-changes-operator", UNSUPPORTED, "Merging opset imports would change what an operator in use means."),
        ("nesting-too-deep", UNSUPPORTED, "Messages nest deeper than `max_nesting` allows."),
        ("not-in-text", UNSUPPORTED, "Something in the model has no form in the ONNX text syntax."),
        # --- external-data
        ("external-checksum", EXTERNAL, "A data file is not the one that the tensor's checksum was taken from."),
        ("external-key", EXTERNAL, "External data has no location, or one of its keys twice."),
        ("external-key-unknown", EXTERNAL, "External data has a key that means nothing; it is ignored."),
        ("external-length", EXTERNAL, "The length given for external data is not what the tensor's shape needs."),
        ("external-link", EXTERNAL, "External data is reached through a link that may not be followed."),
        ("external-location", EXTERNAL, "A location of external data is not a relative path that stays in its folder."),
        ("external-missing", EXTERNAL, "A data file is not there."),
        ("external-no-folder", EXTERNAL, "External data of a model that was loaded from bytes, and no folder given."),
        (
            "external-not-a-file",
            EXTERNAL,
            "A location of external data leads to a folder, a pipe, a device or a socket.",
        ),
        ("external-number", EXTERNAL, "An offset or length of external data is not a non-negative decimal integer."),
        ("external-range", EXTERNAL, "External data reaches past the end of its file."),
        ("external-unused", EXTERNAL, "A tensor has external_data entries but does not use them; they are ignored."),
        (
            "reference-kept",
            EXTERNAL,
            "A reference to a data file was saved as text, though the file is not found from there.",
        ),
        # --- io
        ("not-found", IO, "There is no file at this path."),
        ("is-a-folder", IO, "The path leads to a folder where a file is needed."),
        ("not-a-file", IO, "The path leads to a pipe, a device or a socket."),
        ("permission", IO, "The file may not be read."),
        ("not-readable", IO, "The operating system failed to read the file."),
        ("source-closed", IO, "Tensor data was asked for after the model was closed."),
        ("source-cut", IO, "A file that weights are copied from is shorter than when it was opened."),
        ("write-failed", IO, "The operating system failed to write the model; nothing was left behind."),
        ("file-in-use", IO, "The model is mapped from the file that it is to replace, which Windows does not allow."),
        ("data-file-exists", IO, "A data file of the name that was asked for exists, and is not overwritten."),
    )
}
"""Every code that an `Issue` can have, with its usual kind and one sentence of explanation."""
