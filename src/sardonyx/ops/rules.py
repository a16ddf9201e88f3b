"""Register what operators mean, and find the rule for an operator under an opset.

A rule is a pure function from a `Call` to the types of the node's outputs. `since` is the opset from which a rule
holds; it ends where the next one for the same operator begins. The built-in tables are filled when a model first needs
one of their domains, and closed after that; rules of users and of other packages live in an overlay that is looked up
first.
"""

from __future__ import annotations

from bisect import bisect_right
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Call, Fact

    Answer: TypeAlias = "Type | Fact | None"
    Rule: TypeAlias = "Callable[[Call], Answer | tuple[Answer, ...]]"


class Rules:
    """The rules of one domain."""

    def __init__(self, domain: str) -> None:
        self.domain = "" if domain == "ai.onnx" else domain
        self.known: dict[str, tuple[list[int], list[Rule]]] = {}
        """Operator to the opsets at which rules begin, ascending, and the rules."""
        self.closed = False

    def __call__(self, op_type: str, *, since: int = 1) -> Callable[[Rule], Rule]:
        """Register the decorated function for an operator, from opset `since` on."""

        def register(rule: Rule) -> Rule:
            self.add(op_type, since, rule)
            return rule

        return register

    def table(self, rule: Rule, since: Mapping[str, int]) -> None:
        """Register one rule for a family of operators, each from its own opset on."""
        for op_type, version in since.items():
            self.add(op_type, version, rule)

    def add(self, op_type: str, since: int, rule: Rule) -> None:
        """Register a rule.

        Raises:
            ValueError: there is one already for this operator with this start, or the table is closed.
        """
        if self.closed:
            raise ValueError(f"the rules of {self.domain or 'ai.onnx'} are closed; use sardonyx.rules({self.domain!r})")
        starts, found = self.known.setdefault(op_type, ([], []))
        at = bisect_right(starts, since)
        if at and starts[at - 1] == since:
            raise ValueError(f"{op_type} has a rule from opset {since} on already")
        starts.insert(at, since)
        found.insert(at, rule)

    def find(self, op_type: str, opset: int) -> Rule | None:
        """Return the rule in force for an operator under an opset, or None."""
        entry = self.known.get(op_type)
        if entry is None:
            return None
        at = bisect_right(entry[0], opset)
        return entry[1][at - 1] if at else None


PACKAGES: Mapping[str, tuple[str, ...]] = {
    "": ("onnx", "microsoft"),
    "ai.onnx.preview": ("onnx",),
    "ai.onnx.preview.training": ("onnx",),
    "ai.onnx.ml": ("ml",),
    "com.microsoft": ("microsoft",),
    "com.microsoft.nchwc": ("microsoft",),
}
"""Domain to the packages below `sardonyx.ops` that have rules for it, in the order in which they are asked.

onnxruntime registers a few operators of its own in the default domain; they are looked up last.
"""
LOADED: dict[str, Mapping[str, Rules]] = {}
"""Package to its tables by domain; an entry appears when the package is first asked, complete and closed."""
OVERLAY: dict[str, Rules] = {}
"""Domain to the rules that users registered; they come first."""


def rules(domain: str) -> Rules:
    """Return the table in which rules for a domain can be registered: `@sx.rules("my.domain")("MyOp")`.

    What is registered here comes before the built-in rules.
    """
    domain = "" if domain == "ai.onnx" else domain
    return OVERLAY.setdefault(domain, Rules(domain))


def built_in(package: str) -> Mapping[str, Rules]:
    """Return the tables of a package of rules by domain; the first call imports it and closes them."""
    tables = LOADED.get(package)
    if tables is None:
        made: dict[str, Rules] = {}
        for table in import_module(f"sardonyx.ops.{package}").TABLES:
            known = made.setdefault(table.domain, Rules(table.domain))
            for op_type, (starts, found) in table.known.items():
                for since, rule in zip(starts, found, strict=True):
                    known.add(op_type, since, rule)
        for known in made.values():
            known.closed = True
        tables = LOADED[package] = made  # at once, so that another thread never sees half of it
    return tables


ENTRY_POINTS = "sardonyx.rules"
asked: set[str] = set()


def find_rule(domain: str, op_type: str, opset: int) -> Rule | None:
    """Return the rule for an operator: a user's, then a built-in one, then one that another package ships.

    Packages offer rules for a domain by an entry point of the group `sardonyx.rules` whose name is the domain; it is
    loaded on the first look-up in that domain, and registers with `sardonyx.rules(domain)`.
    """
    table = OVERLAY.get(domain)
    found = None if table is None else table.find(op_type, opset)
    if found is not None:
        return found
    for package in PACKAGES.get(domain, ()):
        found = built_in(package)[domain].find(op_type, opset)
        if found is not None:
            return found
    if domain not in PACKAGES and domain not in asked:
        asked.add(domain)
        from importlib.metadata import entry_points

        for entry in entry_points(group=ENTRY_POINTS, name=domain):
            entry.load()
        if domain in OVERLAY:
            return OVERLAY[domain].find(op_type, opset)
    return None
