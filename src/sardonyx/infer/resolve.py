"""Resolve operators to what inference needs of them, once for all models: rules and signatures do not change."""

from __future__ import annotations

from sardonyx.infer.activation import Entry, Opsets
from sardonyx.infer.signed import checks_of
from sardonyx.ops.rules import OVERLAY, find_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 4096
"""Entries that are kept: opset numbers come from files, and there is no end to them."""

kept: dict[tuple[str, str, int], Entry] = {}
"""(domain, op_type, opset) to what comes with the package."""
common: dict[int, dict[str, Entry]] = {}
"""Opset to the operators of the default domain that were met under it, for models that define none of their own."""


def opsets(imports: Mapping[str, int], overridden: bool) -> Opsets:
    """Return what opset imports resolve operators to, as far as it is known already.

    With `overridden`, the model has functions in the default domain, which go before operators.
    """
    version = imports.get("", 1)
    full = version not in common and len(common) >= MOST
    if full or "" in OVERLAY or overridden:
        return Opsets(imports, {}, {})
    return Opsets(imports, common.setdefault(version, {}), {})


def resolve(domain: str, op_type: str, opset: int) -> Entry:
    """Return the rule and the signature in force for an operator under an opset; the domain is canonical."""
    if domain in OVERLAY:  # rules of users come and go
        return Entry(find_rule(domain, op_type, opset), None, opset, checks_of(domain, op_type, opset))
    key = (domain, op_type, opset)
    entry = kept.get(key)
    if entry is None:
        entry = Entry(find_rule(domain, op_type, opset), None, opset, checks_of(domain, op_type, opset))
        if entry.checks is not None:  # a name that nobody knows may get a rule later, and names have no end
            if len(kept) >= MOST:
                kept.clear()
            kept[key] = entry
    return entry
