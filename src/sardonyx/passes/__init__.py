"""Name every pass, and run several in a row: a pass takes a model and returns a model, its input untouched."""

from __future__ import annotations

import ast
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from sardonyx.ir.graph import Model

    Pass = Callable[..., Model]
    Step = tuple[str, dict[str, Any]]

PASSES: Mapping[str, str] = {
    "dead_code": "sardonyx.passes.dead_code:drop_dead_code",
    "identity": "sardonyx.passes.identity:drop_identities",
    "inline": "sardonyx.passes.inline_functions:inline_functions",
    "scans": "sardonyx.passes.inline_scans:inline_scans",
}
"""Name of a pass to `module:function`; the module is imported when the pass is first asked for."""


def find(name: str) -> Pass:
    """Return the function of a pass.

    Raises:
        ValueError: no pass has this name; the message lists them.
    """
    where = PASSES.get(name)
    if where is None:
        raise ValueError(f"there is no pass {name!r}; there are {', '.join(PASSES)}")
    module, function = where.split(":")
    found: Pass = getattr(import_module(module), function)
    return found


def parse(pipeline: str) -> list[Step]:
    """Read a pipeline: names of passes with commas between, options in parentheses as Python literals.

    `"identity, fold(limit=1024), dead_code"` gives `[("identity", {}), ("fold", {"limit": 1024}), ("dead_code", {})]`.

    Raises:
        ValueError: the text is not of this form, or names a pass that does not exist.
    """
    try:
        listed = ast.parse(f"[{pipeline}]", mode="eval").body
    except SyntaxError as problem:
        raise ValueError(f"{pipeline!r} is not a list of passes: {problem.msg}") from None
    steps = [parse_step(one, pipeline) for one in getattr(listed, "elts", ())]
    for name, _ in steps:
        find(name)
    return steps


def parse_step(node: ast.expr, pipeline: str) -> Step:
    """Read one step of a pipeline."""
    call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    if not isinstance(call.func, ast.Name) or call.args:
        raise ValueError(f"{ast.unparse(node)!r} in {pipeline!r} is not of the form name or name(option=value)")
    try:
        return call.func.id, {str(option.arg): ast.literal_eval(option.value) for option in call.keywords}
    except ValueError:
        raise ValueError(f"the options of {ast.unparse(node)!r} are not all literals") from None


def run(model: Model, pipeline: str) -> Model:
    """Run the passes of a pipeline in order; the same model when none of them changes anything."""
    for name, options in parse(pipeline):
        model = find(name)(model, **options)
    return model
