"""Do the main job in one call: read a model, lower it, write it, and tell what was done.

The stages are a table; each takes a model and gives a model, and one that has nothing to do gives the same object.
"""

from __future__ import annotations

import time

from sardonyx.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from sardonyx.api import Readable
    from sardonyx.errors import Issue
    from sardonyx.infer.inference import Inference
    from sardonyx.io.save import Saved
    from sardonyx.io.shards import External
    from sardonyx.ir.graph import Model
    from sardonyx.limits import Limits
    from sardonyx.passes.inline_scans import ScanInlining
    from sardonyx.passes.inlining.report import InlineReport

    Tell = Callable[..., None]


@record
class Lowering:
    """What `lower` did."""

    model: Model
    """The lowered model; it still holds the input's files, so close it or use it in a `with` block."""
    inlined: InlineReport
    """Which functions were inlined, how often, and what was kept."""
    inference: Inference
    """What was inferred of the model that was written."""
    scans: ScanInlining
    """Which Scans were replaced by their bodies, and why the others were not."""
    saved: Saved | None
    """What was written; None when no output was asked for."""
    timings: Mapping[str, float]
    """Stage to seconds, in order."""
    nodes: Mapping[str, int]
    """Stage to the number of nodes after it, bodies counted."""
    issues: tuple[Issue, ...]
    """Everything odd that came up: in the input, in a stage, in writing."""

    def __enter__(self) -> Lowering:
        return self

    def __exit__(self, *trouble: object) -> None:
        self.model.close()


def lower(
    source: Readable | Model,
    path: str | PathLike[str] | None = None,
    *,
    external: External | str | None = None,
    external_data: str = "strict",
    external_data_dir: str | PathLike[str] | None = None,
    links: str = "inside",
    max_nesting: int = 128,
    limits: Limits | None = None,
    opset_conflict: str = "error",
    assume_single_trip: bool = False,
    progress: Tell | None = None,
) -> Lowering:
    """Read a model, inline its functions, infer its types, inline single-trip Scans, and write the result to `path`.

    Args:
        source: what `sardonyx.load` takes, or a model that was loaded already.
        path: where to write; None writes nothing.
        external: as for `sardonyx.save`.
        external_data, external_data_dir, links, max_nesting, limits: as for `sardonyx.load`.
        opset_conflict: as for `sardonyx.inline_functions`.
        assume_single_trip: as for `sardonyx.inline_single_trip_scan_bodies`.
        progress: called as `progress(stage)`, and in writing as `progress(stage, done, total)` with bytes.

    Raises:
        OnnxError: from the stage that could not go on; nothing is written then.
    """
    from sardonyx.api import load
    from sardonyx.infer.inference import infer_shapes
    from sardonyx.io.save import save
    from sardonyx.ir.graph import Model
    from sardonyx.passes.inline_functions import inline_functions
    from sardonyx.passes.inline_scans import inline_single_trip_scan_bodies
    from sardonyx.passes.inlining.report import InlineReport

    tell = progress or (lambda *told: None)
    timings: dict[str, float] = {}
    nodes: dict[str, int] = {}
    report = InlineReport()
    inferred: list[Inference] = []
    scans: list[ScanInlining] = []
    owned = not isinstance(source, Model)

    def timed(stage: str, work: Callable[[], Model]) -> Model:
        tell(stage)
        start = time.perf_counter()
        model = work()
        timings[stage] = time.perf_counter() - start
        nodes[stage] = count_nodes(model)
        return model

    def read() -> Model:
        if isinstance(source, Model):
            return source
        return load(
            source,
            external_data=external_data,
            external_data_dir=external_data_dir,
            links=links,
            max_nesting=max_nesting,
            limits=limits,
        )

    def infer(given: Model) -> Model:
        inferred.append(infer_shapes(given, limits=limits))
        return inferred[-1].model

    def inline_scans(given: Model) -> Model:
        scans.append(inline_single_trip_scan_bodies(given, assume_single_trip=assume_single_trip))
        found = scans[0]
        if found.model is given:
            return given
        scans[0] = replace(found, model=infer(found.model))  # what the bodies left has no types yet
        return scans[0].model

    stages: tuple[tuple[str, Callable[[Model], Model]], ...] = (
        ("inline", lambda m: inline_functions(m, opset_conflict=opset_conflict, limits=limits, report=report)),
        ("infer", infer),
        ("scans", inline_scans),
    )
    model = timed("load", read)
    try:
        for name, work in stages:
            before = model
            model = timed(name, lambda work=work, before=before: work(before))  # type: ignore[misc]
        saved = None
        if path is not None:
            tell("save")
            start = time.perf_counter()
            saved = save(model, path, external=external, progress=lambda done, total: tell("save", done, total))
            timings["save"] = time.perf_counter() - start
    except BaseException:
        if owned:
            model.close()
        raise
    found = {str(issue): issue for one in inferred for issue in one.issues}  # the second may repeat the first
    issues = (*model.issues, *found.values(), *(() if saved is None else saved.issues))
    return Lowering(model, report, inferred[-1], scans[0], saved, timings, nodes, issues)


def count_nodes(model: Model) -> int:
    """Count the nodes of the main graph and all bodies."""
    from sardonyx.ir.graph import body_list

    total = 0
    graphs = [model.graph]
    while graphs:
        graph = graphs.pop()
        total += len(graph.nodes)
        for node in graph.nodes:
            if node.bodies:
                graphs.extend(body_list(node))
    return total
