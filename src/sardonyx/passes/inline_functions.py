"""Replace calls of model-local functions by what the functions say."""

from __future__ import annotations

import gc

from sardonyx.errors import Issue, Place
from sardonyx.ir.graph import EMPTY
from sardonyx.ir.names import Names
from sardonyx.ir.walk import defined_values, outputs_of
from sardonyx.limits import DEFAULT
from sardonyx.ops.signatures import signature
from sardonyx.passes.inlining.calls import Calls
from sardonyx.passes.inlining.cost import check_cost
from sardonyx.passes.inlining.instantiate import Inliner
from sardonyx.passes.inlining.lost import lost_fields
from sardonyx.passes.inlining.opsets import Opsets
from sardonyx.passes.inlining.plan import Compiler
from sardonyx.passes.inlining.report import InlineReport, Kept
from sardonyx.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sardonyx.ir.graph import Function, Graph, Model, Node
    from sardonyx.limits import Limits

__all__ = ["InlineReport", "inline_functions"]


def inline_functions(
    model: Model,
    *,
    keep: Callable[[Node, Function], bool] | None = None,
    opset_conflict: str = "error",
    missing_attributes: str = "error",
    limits: Limits | None = None,
    report: InlineReport | None = None,
) -> Model:
    """Return the model with every call of a model-local function replaced by the nodes of the function.

    Calls are found in the main graph, in bodies at any depth and in functions; a call matches a function by domain,
    name and overload. Every value and node that is made has a name that is new in the whole model
    (`__fn{K}_{name}`, K counting calls), and metadata `sardonyx.inlined_from` that says which calls it came from.

    Args:
        model: it stays as it is.
        keep: asked once for each call that is written in the model, with the node and the function; calls for which it
            answers true stay calls, and their functions, and what those call, stay in the model as they are.
        opset_conflict: what to do when the merged opset imports (the highest version of each domain) change the meaning
            of an operator that was written for a lower one: `"error"` refuses, `"highest"` merges all the same.
        missing_attributes: what to do when a call gives no value for an attribute that has no default and that the
            function refers to: `"error"` refuses, `"omit"` leaves out what refers to it, as IR.md has it.
        limits: `max_inlined_nodes` is decided before anything is made.
        report: filled with what was done.

    Returns:
        The new model, whose `issues` also name functions that nothing called (they are dropped), inlined functions that
        have the name of an operator (a runtime might have run the operator), and fields that were lost; the same object
        when there is nothing to do.

    Raises:
        OnnxError: InvalidModel, for recursion, for a function body that is not valid, and for calls that do not fit
            their function; Unsupported, for a model beyond the limits and for opsets that cannot be merged.
        ValueError: an option has a value that means nothing.
    """
    if opset_conflict not in ("error", "highest"):
        raise ValueError(f"opset_conflict is {opset_conflict!r}; it must be 'error' or 'highest'")
    if missing_attributes not in ("error", "omit"):
        raise ValueError(f"missing_attributes is {missing_attributes!r}; it must be 'error' or 'omit'")
    report = InlineReport() if report is None else report
    report.clear()
    if not model.functions:
        return model
    calls = Calls(model, keep)
    dropped = calls.dropped()
    report.kept_calls = [Kept(call, function.label) for function, call in calls.kept_calls.values()]
    report.kept_functions = {function.label: reason for function, reason in calls.kept.items()}
    report.dropped = [function.label for function in dropped]
    if not calls.targets and not dropped:
        return model
    issues = [unused(function, model) for function in dropped]
    left = {key: function for key, function in model.functions.items() if function in calls.kept} or EMPTY
    if not calls.targets:
        return changed(model, functions=left, issues=(*model.issues, *issues))
    check_cost(model, calls, limits or DEFAULT)
    opsets = Opsets(model, calls)
    if opset_conflict == "error":
        opsets.check_texts()
    compiler = Compiler(calls, opsets, strict_opsets=opset_conflict == "error")
    inliner = Inliner(model, Names(model), compiler, opsets, omit_missing=missing_attributes == "omit")
    collecting = gc.isenabled()
    gc.disable()  # a million objects and no garbage: collections would double the time
    try:
        graph = inlined(model.graph, inliner)
    finally:
        if collecting:
            gc.enable()
    if inliner.identities:
        if ("", "Identity", "") in left:
            raise ValueError(
                "keep keeps a function named Identity in the default domain, where a copy needs the operator"
            )
        opsets.need_identity()
    report.inlined = compiler.counts()
    report.opsets = opsets.raised()
    report.nodes_made = inliner.made
    issues += [over_operator(function, model) for function in calls.order if names_operator(function, model)]
    issues += lost_fields(model, calls)
    return changed(model, graph=graph, opset_imports=opsets.imports, functions=left, issues=(*model.issues, *issues))


def changed(model: Model, **changes: Any) -> Model:
    """Return a model with some fields changed."""
    made: Model = replace(model, **changes)
    return made


def inlined(graph: Graph, inliner: Inliner) -> Graph:
    """Return the main graph with its calls inlined."""
    nodes = tuple(inliner.nodes(graph))
    types = graph.types
    if inliner.types or inliner.vanished:
        types = {**types, **inliner.types}
        kept = set(outputs_of(inliner.vanished))
        for value in defined_values(inliner.vanished):
            if value not in kept:
                types.pop(value, None)
    made: Graph = replace(graph, nodes=nodes, types=types)
    return made


def unused(function: Function, model: Model) -> Issue:
    """Say that a function was dropped."""
    return Issue(
        "function-unused",
        "nothing calls the function, so it was dropped",
        Place(source=model.source, graph=f"function {function.label}"),
        None,
        "warning",
    )


def names_operator(function: Function, model: Model) -> bool:
    """Tell whether the model's imports also have an operator of the name and domain of a function."""
    domain, name, overload = function.key
    version = model.opset_version(domain)
    return not overload and version is not None and signature(domain, name, version) is not None


def over_operator(function: Function, model: Model) -> Issue:
    """Say that a function was taken where a runtime may take an operator: onnx.proto leaves it to the runtime."""
    return Issue(
        "function-over-operator",
        f"calls of {function.label} were inlined, though an operator of that name exists, which onnxruntime prefers",
        Place(source=model.source, graph=f"function {function.label}"),
        "rename the function, or keep the calls if the operator is meant",
        "warning",
    )
