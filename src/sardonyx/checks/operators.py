"""Compare every node with the signature of its operator: does it exist, and is it given what it takes?"""

from __future__ import annotations

from sardonyx.checks.actuals import check_attributes, check_counts, check_types
from sardonyx.errors import Issue, Place, node_label
from sardonyx.ir.graph import canonical
from sardonyx.ops.signatures import domains, latest_opset, signature, versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sardonyx.ir.graph import Function, Graph, Model, Node, Value
    from sardonyx.ir.types import Type
    from sardonyx.ops.signatures import Signature


def check_operators(model: Model, types: Mapping[Value, Type]) -> list[Issue]:
    """Return what is wrong with the nodes of a model, its bodies and functions; `types` is what is known of values.

    A function with faults of its own is left out: they are reported already.
    """
    imports = canonical_imports(model.opset_imports)
    check = Check(model, types)
    check.imports(imports, None)
    check.graph(model.graph, imports, None)
    for function in model.functions.values():
        if not function.faults:
            label = f"function {function.label}"
            own = canonical_imports(function.opset_imports)
            check.imports(own, label)
            check.graph(function.body, {**imports, **own}, label)
    return check.issues


def canonical_imports(imports: Mapping[str, int]) -> dict[str, int]:
    """Return opset imports with the default domain spelled one way."""
    return {canonical(domain): version for domain, version in imports.items()}


class Check:
    """The check of one model."""

    def __init__(self, model: Model, types: Mapping[Value, Type]) -> None:
        self.model = model
        self.types = types
        self.issues: list[Issue] = []
        self.found: dict[tuple[str, str, int], Signature | None] = {}

    def imports(self, imports: Mapping[str, int], label: str | None) -> None:
        """Report versions that are newer than what is known."""
        for domain, version in imports.items():
            newest = latest_opset(domain)
            if newest is not None and version > newest:
                self.note(
                    "opset-newer",
                    f"opset {version} of {domain or 'ai.onnx'} is newer than {newest}, the newest that is known here; "
                    f"operators are read as {newest} defines them",
                    Place(graph=label),
                    "warning",
                )

    def graph(self, graph: Graph, imports: Mapping[str, int], label: str | None) -> None:
        """Check the nodes of a graph and of the bodies in it."""
        for node, place in every_node(graph, label):
            domain = canonical(node.domain)
            function = self.model.functions.get((domain, node.op_type, node.overload))
            if function is not None:
                self.call(node, function, place)
                continue
            version = imports.get(domain)
            if version is None:
                continue  # reported at load
            key = (domain, node.op_type, version)
            try:
                known = self.found[key]
            except KeyError:
                known = self.found[key] = signature(domain, node.op_type, version)
            if known is None:
                self.unknown(node, domain, version, place)
                continue
            if known.deprecated:
                self.note(
                    "operator-deprecated",
                    f"{node.op} is withdrawn from opset {known.since_version} on, and opset {version} is imported",
                    place,
                )
                continue
            severity = "error" if known.standard and domain in STANDARD else "warning"
            for finding in (
                *check_counts(node, known),
                *check_attributes(node, known),
                *check_types(node, known, self.types),
            ):
                self.note(finding.code, finding.message, place, finding.severity or severity, finding.attribute)

    def unknown(self, node: Node, domain: str, version: int, place: Place) -> None:
        """Report an operator that the imported opset does not have."""
        if domain not in domains():
            return  # nobody but its owner knows
        newest = latest_opset(domain)
        since = versions(domain, node.op_type, standard=False)
        if since:
            text = f"{node.op} came with opset {since[0]}, but opset {version} is imported"
            self.note("operator-too-new", text, place)
        elif newest is None or version <= newest:
            text = f"there is no operator {node.op} in opset {version}"
            self.note("operator-unknown", text, place, "error" if domain in STANDARD else "warning")

    def call(self, node: Node, function: Function, place: Place) -> None:
        """Check a call of a model-local function."""
        for what, given, formal in (
            ("inputs", node.inputs, function.inputs),
            ("outputs", node.outputs, function.outputs),
        ):
            if len(given) > len(formal):
                text = f"the call has {len(given)} {what}, but {function.label} has {len(formal)}"
                self.note("too-many-actuals", text, place)
        for name in function.attributes:
            if name not in node.attrs:
                text = f"{function.label} needs attribute {name!r}, which has no default"
                self.note("attribute-not-given", text, place, attribute=name)

    def note(
        self, code: str, message: str, place: Place, severity: str = "error", attribute: str | None = None
    ) -> None:
        """Record a finding."""
        at = Place(self.model.source, graph=place.graph, node=place.node, attribute=attribute)
        self.issues.append(Issue(code, message, at, severity=severity))


STANDARD = frozenset(("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training"))
"""Domains that ONNX defines. What others add to theirs is only known in part, so that oddities there are warnings."""


def every_node(graph: Graph, label: str | None) -> Iterator[tuple[Node, Place]]:
    """Yield the nodes of a graph and of its bodies, in order, with their places; without recursion."""
    waiting = [nodes_of(graph, label)]
    while waiting:
        found = next(waiting[-1], None)
        if found is None:
            waiting.pop()
            continue
        node, place = found
        yield found
        inner = []
        for name, held in node.bodies.items():
            inside = place.node if place.graph is None else f"{place.graph} > {place.node}"
            if isinstance(held, tuple):
                inner += [nodes_of(body, f"{inside}.{name}[{i}]") for i, body in enumerate(held)]
            else:
                inner.append(nodes_of(held, f"{inside}.{name}"))
        waiting.extend(reversed(inner))


def nodes_of(graph: Graph, label: str | None) -> Iterator[tuple[Node, Place]]:
    """Yield the nodes of one graph."""
    for index, node in enumerate(graph.nodes):
        yield node, Place(graph=label, node=node_label(node.name, node.op_type, index))
