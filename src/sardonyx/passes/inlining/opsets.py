"""Merge the opset imports of inlined functions into the model's, and find operators that would change meaning.

A domain ends up with the highest version that the model or an inlined function imports. A node that was written for a
lower one must mean the same under the higher one, or the call is refused (decisions F5).
"""

from __future__ import annotations

from sardonyx.errors import OnnxError, error, node_label
from sardonyx.ir.graph import canonical
from sardonyx.ir.walk import bodies_within
from sardonyx.ops.changes import difference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sardonyx.ir.graph import Function, Model, Node
    from sardonyx.passes.inlining.calls import Calls

FOR_IDENTITY = 17
"""The version of the default domain to import where nothing imports one and an `Identity` is made."""


class Opsets:
    """The imports of one model, before and after."""

    def __init__(self, model: Model, calls: Calls) -> None:
        self.model = model
        self.calls = calls
        self.before = {canonical(domain): version for domain, version in model.opset_imports.items()}
        self.spelling = {canonical(domain): domain for domain in model.opset_imports}
        self.imports: dict[str, int] = {}
        """What the model imports when all is done; domains as the model spells them."""
        after = dict(self.before)
        for function in calls.edges:
            for domain, version in function.opset_imports.items():
                domain = canonical(domain)
                after[domain] = max(version, after.get(domain, version))
        self.after = after
        for domain, version in after.items():
            self.imports[self.spelling.get(domain, domain)] = version
        self.settled: dict[tuple[str, str, int], bool] = {}

    def need_identity(self) -> None:
        """See to it that the default domain is imported."""
        if "" not in self.after:
            self.imports[""] = self.after[""] = FOR_IDENTITY

    def raised(self) -> dict[str, tuple[int | None, int]]:
        """Return the domains whose version is another one now, or that are new: before and after."""
        return {
            domain: (self.before.get(domain), version)
            for domain, version in self.after.items()
            if self.before.get(domain) != version
        }

    def versions(self, function: Function | None) -> Mapping[str, int]:
        """Return the versions that a text was written for: the model's, overridden by the function's own."""
        if function is None:
            return self.before
        own = {canonical(domain): version for domain, version in function.opset_imports.items()}
        return {**self.before, **own}

    def moves(self, versions: Mapping[str, int]) -> bool:
        """Tell whether any of these versions is another one after the merge."""
        after = self.after
        return any(after[domain] != version for domain, version in versions.items())

    def is_open(self, node: Node, versions: Mapping[str, int]) -> bool:
        """Tell whether it depends on the node itself if it means the same under the merged imports."""
        domain = canonical(node.domain)
        old, new = versions.get(domain), self.after.get(domain)
        if old is None or new is None or old == new or self.calls.function(node) is not None:
            return False
        key = domain, node.op_type, old
        found = self.settled.get(key)
        if found is None:
            found = self.settled[key] = difference(domain, node.op_type, old, new) is not None
        return found

    def check(self, node: Node, versions: Mapping[str, int], where: str | None) -> None:
        """Refuse a node, its actual inputs and attributes in place, that would mean something else.

        Raises:
            OnnxError: Unsupported, code `opset-changes-operator`.
        """
        domain = canonical(node.domain)
        old, new = versions[domain], self.after[domain]
        reason = difference(domain, node.op_type, old, new, node)
        if reason is not None:
            raise self.refusal(node, old, new, reason, where)

    def refusal(self, node: Node, old: int, new: int, reason: str, where: str | None) -> OnnxError:
        """Build the error that names operator, domain and both versions."""
        domain = canonical(node.domain)
        move = f"from opset {old} of {domain or 'ai.onnx'} to {new}{self.cause(domain)}"
        return error(
            "opset-changes-operator",
            f"inlining would move {node.op_type} {move}, where it may mean something else: {reason}",
            source=self.model.source,
            graph=where,
            node=node_label(node.name, node.op_type),
            hint="convert the model or the function to one opset, keep the call, or take the highest version "
            'all the same with opset_conflict="highest"',
        )

    def check_texts(self) -> None:
        """Check what stays as it is written: the main graph and its bodies, and what the kept functions take from it.

        Raises:
            OnnxError: as `check` does.
        """
        if all(self.before[domain] == self.after[domain] for domain in self.before):
            return
        self.check_nodes(self.model.graph.nodes, self.before, None)
        for function in self.calls.kept:
            own = {canonical(domain) for domain in function.opset_imports}
            taken = {domain: version for domain, version in self.before.items() if domain not in own}
            self.check_nodes(function.nodes, taken, f"function {function.label}")

    def check_nodes(self, nodes: Sequence[Node], versions: Mapping[str, int], where: str | None) -> None:
        """Check nodes and those in their bodies."""
        for listed in (nodes, *[body.nodes for body in bodies_within(nodes)]):
            for node in listed:
                if self.is_open(node, versions):
                    self.check(node, versions, where)

    def cause(self, domain: str) -> str:
        """Say which function asks for the higher version of a domain."""
        for function in self.calls.edges:
            for own, version in function.opset_imports.items():
                if canonical(own) == domain and version == self.after[domain]:
                    return f", which function {function.label} imports"
        return ""
