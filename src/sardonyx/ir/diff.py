"""Say what changed between two models.

    print(sx.diff(before, after) or "the same")

Works on descriptions (ir/describe.py), so two models differ exactly when their dumps differ. Nodes are paired by what
they define, then by operator and name; a node that only moved is reported as an order, not as removed and added.
"""

from __future__ import annotations

from sardonyx.ir.changes import Change, Diff
from sardonyx.ir.describe import Describer, quoted
from sardonyx.ir.dump import attribute_lines, constant_text, function_label, node_text, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from sardonyx.ir.graph import Model

    Facts = Mapping[str, Any]
    Key = tuple[Any, ...]


def diff(before: Model, after: Model) -> Diff:
    """Return what changed from one model to another; `bool(result)` is whether anything did.

    Constants are compared by SHA-256, each hashed once even when both models share it, and values by name. Where the
    bytes lie (in the model file, in which data file) is no difference.

    Raises:
        OnnxError: Io `source-closed` when a model was closed and constants would have to be read.
    """
    describer = Describer()
    found = Comparison()
    found.model(describer.model(before), describer.model(after))
    return Diff(tuple(found.changes))


class Comparison:
    """Collects the changes between two descriptions."""

    def __init__(self) -> None:
        self.changes: list[Change] = []

    def note(self, where: str, subject: str, name: str, aspect: str, before: str | None, after: str | None) -> None:
        """Add a change when the two sides differ."""
        if before != after:
            self.changes.append(Change(where, subject, name, aspect, before, after))

    def model(self, a: Facts, b: Facts) -> None:
        """Compare two models."""
        for field in ("ir_version", "producer_name", "producer_version", "domain", "model_version"):
            self.note("", "model", "", field, str(a[field]), str(b[field]))
        self.notes("", "model", "", a, b)
        self.opsets("", a, b)
        self.graph("", a["graph"], b["graph"])
        old, new = by_key(a["functions"], function_key), by_key(b["functions"], function_key)
        for key in old:
            label = function_label(old[key])
            if key not in new:
                self.note("", "function", label, "", f"{len(old[key]['nodes'])} nodes", None)
            elif old[key] != new[key]:
                self.function(f"function {label}", old[key], new[key])
        for key in new:
            if key not in old:
                self.note("", "function", function_label(new[key]), "", None, f"{len(new[key]['nodes'])} nodes")
        self.order("", "functions", [function_label(old[k]) for k in old if k in new], [
            function_label(new[k]) for k in new if k in old
        ])  # fmt: skip

    def function(self, where: str, a: Facts, b: Facts) -> None:
        """Compare two functions of one name."""
        for field in ("domain", "inputs", "outputs", "attributes"):
            self.note(where, "function", "", field, listed(a[field]), listed(b[field]))
        self.notes(where, "function", "", a, b)
        self.opsets(where, a, b)
        self.attributes(where, "function", "", "default", a["defaults"], b["defaults"])
        self.named(where, "claim", a["claims"], b["claims"])
        self.nodes(where, a["nodes"], b["nodes"])

    def graph(self, where: str, a: Facts, b: Facts) -> None:
        """Compare two graphs, bodies of their nodes included."""
        if a == b:
            return
        self.note(where, "graph", "", "name", quoted(a["name"]), quoted(b["name"]))
        self.notes(where, "graph", "", a, b)
        for field in ("inputs", "outputs", "claims", "initializers", "sparse_initializers"):
            self.named(where, field[:-1], a[field], b[field])
        self.nodes(where, a["nodes"], b["nodes"])

    def named(self, where: str, subject: str, a: Sequence[Facts], b: Sequence[Facts]) -> None:
        """Compare two lists of things that have names."""
        if a == b:
            return
        old, new = by_key(a, named_key), by_key(b, named_key)
        for key, one in old.items():
            if key not in new:
                self.note(where, subject, quoted(one["name"]), "", fact_text(one), None)
            else:
                aspect = "type" if "type" in one else "value"
                self.note(where, subject, quoted(one["name"]), aspect, fact_text(one), fact_text(new[key]))
        for key, one in new.items():
            if key not in old:
                self.note(where, subject, quoted(one["name"]), "", None, fact_text(one))
        kept = [quoted(one["name"]) for key, one in old.items() if key in new]
        self.order(where, f"{subject}s", kept, [quoted(one["name"]) for key, one in new.items() if key in old])

    def order(self, where: str, subject: str, a: list[str], b: list[str]) -> None:
        """Report that what both models have stands in another order, from the first place where it does."""
        for old, new in zip(a, b, strict=True):
            if old != new:
                self.note(where, subject, "", "order", f"first {old}", f"first {new}")
                return

    def opsets(self, where: str, a: Facts, b: Facts) -> None:
        """Compare opset imports."""
        old, new = a["opset_imports"], b["opset_imports"]
        self.entries(where, "opset", old, new)

    def entries(self, where: str, subject: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Compare two dictionaries."""
        for key in {**old, **new}:
            before, after = plain(old.get(key)), plain(new.get(key))
            self.note(where, subject, quoted(key), "value" if key in old and key in new else "", before, after)
        self.order(where, f"{subject} entries", [k for k in old if k in new], [k for k in new if k in old])

    def notes(self, where: str, subject: str, name: str, a: Facts, b: Facts) -> None:
        """Compare documentation and metadata."""
        self.note(where, subject, name, "doc", plain(a.get("doc_string")), plain(b.get("doc_string")))
        old, new = a.get("metadata", {}), b.get("metadata", {})
        if old != new or list(old) != list(new):
            label = f"{subject} {name}".rstrip()
            self.entries(where, f"metadata of {label}", old, new)

    # Nodes

    def nodes(self, where: str, a: Sequence[Facts], b: Sequence[Facts]) -> None:
        """Compare two lists of nodes: paired by their outputs, then by operator and name, in linear time."""
        if a == b:
            return
        partner = paired(a, b)
        taken = set(partner.values())
        for at, node in enumerate(a):
            if at not in partner:
                self.note(where, "node", node_label(node), "", node_text(node), None)
            elif node != b[partner[at]]:
                self.node(where, node, b[partner[at]])
        for at, node in enumerate(b):
            if at not in taken:
                self.note(where, "node", node_label(node), "", None, node_text(node))
        kept = [node_label(node) for at, node in enumerate(a) if at in partner]
        back = {new: old for old, new in partner.items()}
        self.order(where, "nodes", kept, [node_label(a[back[at]]) for at in range(len(b)) if at in back])

    def node(self, where: str, a: Facts, b: Facts) -> None:
        """Compare two nodes that stand for each other."""
        name = node_label(a)
        for field in ("domain", "op_type", "overload", "name"):
            self.note(where, "node", name, field, quoted(a[field]), quoted(b[field]))
        self.note(where, "node", name, "inputs", listed(a["inputs"]), listed(b["inputs"]))
        old, new = [one["name"] for one in a["outputs"]], [one["name"] for one in b["outputs"]]
        self.note(where, "node", name, "outputs", listed(old), listed(new))
        types = {one["name"]: one["type"] for one in b["outputs"]}
        for one in a["outputs"]:
            if one["name"] in types:
                self.note(where, "value", quoted(one["name"]), "type", one["type"], types[one["name"]])
        self.attributes(where, "node", name, "attribute", a["attributes"], b["attributes"])
        self.notes(where, "node", name, a, b)

    def attributes(
        self, where: str, subject: str, name: str, word: str, a: Sequence[Facts], b: Sequence[Facts]
    ) -> None:
        """Compare two lists of attributes; bodies are compared part by part."""
        if a == b:
            return
        old, new = {attr["name"]: attr for attr in a}, {attr["name"]: attr for attr in b}
        for key in {**old, **new}:
            one, other = old.get(key), new.get(key)
            if one == other:
                continue
            inside = ": ".join(filter(None, (where, f"{subject} {name}".rstrip())))
            if one and other and bodies(one) and len(bodies(one)) == len(bodies(other)):
                for i, (left, right) in enumerate(zip(bodies(one), bodies(other), strict=True)):
                    self.graph(f"{inside}.{key}" + (f"[{i}]" if one["kind"] == "GRAPHS" else ""), left, right)
                self.note(where, subject, name, f"{word} {quoted(key)}", one["kind"], other["kind"])
            else:
                self.note(where, subject, name, f"{word} {quoted(key)}", attr_text(one), attr_text(other))
        same = [key for key in old if key in new]
        if same != [key for key in new if key in old]:
            self.note(where, subject, name, f"order of {word}s", listed(same), listed(k for k in new if k in old))


def paired(a: Sequence[Facts], b: Sequence[Facts]) -> dict[int, int]:
    """Map positions in `a` to positions in `b` of the nodes that stand for each other."""
    makers: dict[str, int] = {}
    for at, node in enumerate(b):
        for output in node["outputs"]:
            if output["name"]:
                makers.setdefault(output["name"], at)
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for at, node in enumerate(a):
        for output in node["outputs"]:
            other = makers.get(output["name"]) if output["name"] else None
            if other is not None and other not in taken:
                pairs[at] = other
                taken.add(other)
                break
    free: dict[Key, list[int]] = {}
    for at in range(len(b) - 1, -1, -1):  # backwards, so that the first is popped first
        if at not in taken:
            free.setdefault(node_key(b[at]), []).append(at)
    for at, node in enumerate(a):
        if at not in pairs and free.get(node_key(node)):
            pairs[at] = free[node_key(node)].pop()
    return pairs


def node_key(node: Facts) -> Key:
    """What two nodes with other outputs must share to be called one node; a nameless one must read the same values."""
    return (node["domain"], node["op_type"], node["overload"], node["name"] or tuple(node["inputs"]))


def by_key(parts: Iterable[Facts], key: Any) -> dict[Key, Facts]:
    """Index parts by their key; of parts with one key, the second has 1 behind its key, and so on."""
    found: dict[Key, Facts] = {}
    counts: dict[Key, int] = {}
    for part in parts:
        name = key(part)
        counts[name] = counts.get(name, -1) + 1
        found[name + (counts[name],)] = part  # noqa: RUF005
    return found


def named_key(part: Facts) -> Key:
    """Key of something that has a name."""
    return (part.get("role"), part["name"])


def function_key(part: Facts) -> Key:
    """Key of a function; the two spellings of the default domain are one."""
    return ("" if part["domain"] == "ai.onnx" else part["domain"], part["name"], part["overload"])


def node_label(node: Facts) -> str:
    """Name a node for a person: by name, else by what it defines."""
    if node["name"]:
        return f"{node['name']!r} ({node['op_type']})"
    made = ", ".join(quoted(one["name"]) for one in node["outputs"])
    return f"-> {made} ({node['op_type']})"


def fact_text(part: Facts) -> str:
    """Write what there is to say of something that has a name."""
    if "type" in part:
        return part["type"] or "no type"
    return constant_text(part)


def attr_text(attr: Facts | None) -> str | None:
    """Write an attribute's kind and value in one line; bodies by their number of nodes."""
    if attr is None:
        return None
    if bodies(attr):
        return f"{attr['kind']} of {', '.join(str(len(body['nodes'])) for body in bodies(attr))} nodes"
    lines: list[str] = []
    attribute_lines(lines, "", attr)
    return " ".join(line.strip() for line in lines).partition(": ")[2]


def bodies(attr: Facts) -> list[Facts]:
    """Return the graphs that an attribute holds."""
    if attr["kind"] == "GRAPH" and "value" in attr:
        return [attr["value"]]
    return attr["value"] if attr["kind"] == "GRAPHS" and "value" in attr else []


def listed(names: Iterable[str]) -> str:
    """Write a list of names."""
    return f"({', '.join(map(quoted, names))})"


def plain(value: Any) -> str | None:
    """Write a number, a text, or a long text's hash; None stays None."""
    if value is None or isinstance(value, int):
        return None if value is None else str(value)
    return text(value)
