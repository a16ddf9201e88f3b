"""Run models in onnxruntime with every value exposed, in a process of their own, and keep what was seen.

onnxruntime can die of a size that a model cannot run with, so no test runs it in its own process here. The program that
observes is `oracle.py` of the shared tools; this file is also the child that calls it.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "traces"
LONGEST = 300
"""Seconds after which a child is given up."""


@dataclass
class Observed:
    """What one value was in a run."""

    kind: str
    """tensor, seq, map or optional."""
    dtype: str
    """The type as onnxruntime prints it."""
    shapes: list[tuple[int, ...]]
    """Every shape it had; of a sequence, those of its elements."""
    lengths: list[int]
    """Every length that a sequence had."""


@dataclass
class Trace:
    """One run."""

    sizes: dict[str, int]
    scopes: dict[tuple[str, ...], dict[str, Observed]]
    """Values by name, per scope: () is the main graph, `"<first output>:<attribute>"` steps lead to a body."""
    notes: list[str]
    """What was not observed, and why."""


class DidNotRun(Exception):
    """The model does not run with these sizes."""


def observe(tools, model, runs):
    """Return a `Trace` for each run, given as (sizes, hints about values); what was seen before is not run again."""
    made = [(sizes, hints, trace_file(tools, model, sizes, hints)) for sizes, hints in runs]
    missing = [(sizes, hints, str(path)) for sizes, hints, path in made if not path.exists()]
    if missing:
        KEPT.mkdir(parents=True, exist_ok=True)
        asked = json.dumps({"tools": str(tools), "model": str(model), "runs": missing})
        child = subprocess.run(
            [sys.executable, "-W", "ignore", __file__], input=asked, capture_output=True, text=True, timeout=LONGEST
        )
        if child.returncode:
            raise DidNotRun(f"{model.name}: the process ended with {child.returncode}: {child.stderr[-400:]}")
    return [read(path, sizes) for sizes, _, path in made]


def trace_file(tools, model, sizes, hints):
    """Return where the trace of a run is kept: a name that changes with everything that decides it."""
    parts = hashlib.sha256(model.read_bytes())
    parts.update((tools / "oracle.py").read_bytes())
    parts.update(json.dumps([sizes, hints, version("onnxruntime"), version("onnx")], sort_keys=True).encode())
    return KEPT / f"{model.stem}-{parts.hexdigest()[:16]}.json"


def read(path, sizes):
    """Read a trace that was kept."""
    found = json.loads(path.read_text())
    if "error" in found:
        raise DidNotRun(f"{path.stem} with {sizes}: {found['error']}")
    scopes = {
        tuple(filter(None, key.split("/"))): {
            name: Observed(one["kind"], one["dtype"], [tuple(s) for s in one["shapes"]], one.get("lengths", []))
            for name, one in facts.items()
        }
        for key, facts in found["scopes"].items()
    }
    return Trace(found["symbols"], scopes, [note for note in found["notes"] if "random weights" not in note])


def main():
    """Be the child: run what standard input asks for."""
    asked = json.loads(sys.stdin.read())
    sys.path.insert(0, asked["tools"])
    import oracle

    class Run(oracle.Runner):
        def graph(self, scope, key, graph, feeds, outer, consts):
            # a slash in a value's name must not look like a step
            return super().graph(tuple(step.replace("/", "\\") for step in scope), key, graph, feeds, outer, consts)

    oracle.Runner = Run
    for sizes, hints, path in asked["runs"]:
        try:
            found = oracle.run(Path(asked["model"]), sizes, hints, functions=True).to_json()
        except Exception as problem:  # the reason goes to the test
            found = {"error": f"{type(problem).__name__}: {problem}"[:600]}
        part = f"{path}.{os.getpid()}"
        Path(part).write_text(json.dumps(found))
        os.replace(part, path)


if __name__ == "__main__":
    main()
