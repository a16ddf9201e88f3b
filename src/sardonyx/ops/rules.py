"""Register what operators mean, and find the rule for an operator under an opset.

A rule is a pure function from a `Call` to the types of the node's outputs. `since` is the opset from which a rule
holds; it ends where the next one for the same operator begins. The built-in tables are filled when their modules are
imported and closed after that; rules of users and of other packages live in an overlay that is looked up first.
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


BUILT_IN: dict[str, Rules] = {}
"""Domain to the rules that come with the package; filled by `load_built_in`."""
OVERLAY: dict[str, Rules] = {}
"""Domain to the rules that users registered; they come first."""


def rules(domain: str) -> Rules:
    """Return the table in which rules for a domain can be registered: `@sx.rules("my.domain")("MyOp")`.

    What is registered here comes before the built-in rules.
    """
    domain = "" if domain == "ai.onnx" else domain
    return OVERLAY.setdefault(domain, Rules(domain))


def load_built_in() -> None:
    """Import the built-in rules, once, and close their tables."""
    if BUILT_IN:
        return
    for package in ("onnx", "ml", "microsoft"):
        for table in import_module(f"sardonyx.ops.{package}").TABLES:
            known = BUILT_IN.setdefault(table.domain, Rules(table.domain))
            for op_type, (starts, found) in table.known.items():
                for since, rule in zip(starts, found, strict=True):
                    known.add(op_type, since, rule)
    for table in BUILT_IN.values():
        table.closed = True


ENTRY_POINTS = "sardonyx.rules"
asked: set[str] = set()


def find_rule(domain: str, op_type: str, opset: int) -> Rule | None:
    """Return the rule for an operator: a user's, then a built-in one, then one that another package ships.

    Packages offer rules for a domain by an entry point of the group `sardonyx.rules` whose name is the domain; it is
    loaded on the first look-up in that domain, and registers with `sardonyx.rules(domain)`.
    """
    load_built_in()
    for tables in (OVERLAY, BUILT_IN):
        table = tables.get(domain)
        found = table.find(op_type, opset) if table is not None else None
        if found is not None:
            return found
    if domain not in BUILT_IN and domain not in asked:
        asked.add(domain)
        from importlib.metadata import entry_points

        for entry in entry_points(group=ENTRY_POINTS, name=domain):
            entry.load()
        if domain in OVERLAY:
            return OVERLAY[domain].find(op_type, opset)
    return None
