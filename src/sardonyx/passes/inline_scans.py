"""Replace each Scan that runs its body once by the body itself.

In decoding, a recurrent Scan gets one token a step, and running it as a loop costs more than its work. Which Scans
qualify, and what the result looks like, follows the source document and decisions C1 to C4.
"""

from __future__ import annotations

from sardonyx.errors import node_label
from sardonyx.ir.graph import Model, each_body
from sardonyx.ir.names import Names
from sardonyx.ir.rewrite import Rewrite, each_graph
from sardonyx.passes.scans.eligible import REASONS, Extent, Ineligible, plan_for
from sardonyx.passes.scans.splice import Splicer, has_scan
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sardonyx.ir.graph import Graph, Node, Value


@record
class InlinedScan:
    """A Scan that is gone."""

    node: str
    """The node, as messages name it."""
    where: str
    """Path of the graph that held it; empty for the main graph."""
    to_check: tuple[Extent, ...]
    """What was vouched for: extents that the caller must know to be 1 in every run. Empty when that is certain."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        extents = [
            {"value": one.value.name, "axis": one.axis, "dim": None if one.dim is None else str(one.dim)}
            for one in self.to_check
        ]
        return {"node": self.node, "where": self.where, "to_check": extents}


@record
class SkippedScan:
    """A Scan that was left alone."""

    node: str
    """The node, as messages name it."""
    where: str
    """Path of the graph that holds it; empty for the main graph."""
    reason: str
    """A key of `REASONS`."""

    @property
    def explanation(self) -> str:
        """The reason in words."""
        return REASONS[self.reason]

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return {"node": self.node, "where": self.where, "reason": self.reason, "explanation": self.explanation}


@record
class ScanInlining:
    """What `inline_single_trip_scan_bodies` did."""

    model: Model
    """The new model; the same object when no Scan was inlined."""
    inlined: tuple[InlinedScan, ...]
    """The Scans that are gone, innermost graphs first."""
    skipped: tuple[SkippedScan, ...]
    """The Scans that were left alone, each with the reason."""

    def to_json(self) -> dict[str, Any]:
        """Return what was done as plain data."""
        return {
            "inlined": [one.to_json() for one in self.inlined],
            "skipped": [one.to_json() for one in self.skipped],
        }


def inline_single_trip_scan_bodies(
    model: Model, *, assume_single_trip: bool = False, require_state: bool = True
) -> ScanInlining:
    """Replace every Scan that provably runs its body exactly once by one iteration of the body.

    A scan axis of extent 1 is the proof; extents come from the model's types, so infer shapes first. Scans are looked
    for in the main graph and in bodies at any depth, innermost first, so that a Scan whose body held another one can
    follow it. A Scan whose body contains other control flow, one in opset-8 form, and one in a function stay.

    Args:
        model: it stays as it is.
        assume_single_trip: inline Scans of a symbolic or unknown extent too. The result is the same computation only in
            runs where that extent is 1; `inlined[i].to_check` lists what to check before a run.
        require_state: leave a Scan without recurrent state alone.

    Returns:
        The new model (the same object when there is nothing to do), and what became of each Scan. Graph inputs and
        outputs keep their values, names and types. Types of values inside are left to inference.
    """
    opset = model.opset_version("") or 1
    types = model.graph.types
    places = scan_places(model.graph)
    inlined: list[InlinedScan] = []
    skipped: list[SkippedScan] = []
    names: Names | None = None

    def change(graph: Graph) -> Graph:
        nonlocal names
        if not has_scan(graph):
            return graph
        out = Rewrite(graph)
        splicer: Splicer | None = None
        for index, node in enumerate(graph.nodes):
            if node.op != "Scan":
                out.keep(node)
                continue
            label, where = node_label(node.name, node.op_type, index), places.get(first_output(node), "")
            try:
                plan = plan_for(
                    node, types.get, opset, assume_single_trip=assume_single_trip, require_state=require_state
                )
            except Ineligible as problem:
                skipped.append(SkippedScan(label, where, problem.reason))
                out.keep(node)
                continue
            if splicer is None:
                names = names or Names(model)
                splicer = Splicer(out, names, types.get, opset, model.ir_version)
            splicer.splice(plan)
            inlined.append(InlinedScan(label, where, plan.to_check))
        return out.finish()

    made = each_graph(model, change)
    for function in model.functions.values():
        for place, graph in [(f"function {function.label}", function.body), *bodies(function.body, function.label)]:
            for index, node in enumerate(graph.nodes):
                if node.op == "Scan":
                    skipped.append(SkippedScan(node_label(node.name, node.op_type, index), place, "in-function"))
    return ScanInlining(made, tuple(inlined), tuple(skipped))


def inline_scans(model: Model, *, assume_single_trip: bool = False, require_state: bool = True) -> Model:
    """Do the same as a step of a pipeline: return the new model alone."""
    return inline_single_trip_scan_bodies(
        model, assume_single_trip=assume_single_trip, require_state=require_state
    ).model


def scan_places(graph: Graph) -> dict[Value | None, str]:
    """Map the first output of each Scan in a body to the path of the body; the main graph's path is empty."""
    found: dict[Value | None, str] = {}
    for path, body in bodies(graph, ""):
        for node in body.nodes:
            if node.op == "Scan":
                found[first_output(node)] = path
    return found


def bodies(graph: Graph, path: str) -> list[tuple[str, Graph]]:
    """List every body below a graph with its path."""
    found: list[tuple[str, Graph]] = []
    queue = [(path, graph)]
    while queue:
        prefix, at = queue.pop()
        labels = {node: node_label(node.name, node.op_type, i) for i, node in enumerate(at.nodes) if node.bodies}
        for node, name, body in each_body(at):
            found.append((" > ".join(part for part in (prefix, f"{labels[node]}.{name}") if part), body))
            queue.append(found[-1])
    return found


def first_output(node: Node) -> Value | None:
    """Return a value that only this node defines, by which it is known again when it was rebuilt."""
    return next((value for value in node.outputs if value is not None), None)
