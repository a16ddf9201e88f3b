"""Measure shape inference beside onnx, onnx-shape-inference and onnxruntime: over the corpus, and as models grow.

    python bench/bench_infer.py                    everything
    python bench/bench_infer.py corpus [NAME ...]  every corpus model, the geometric means at the end
    python bench/bench_infer.py weights            437 MB of weights inside the file
    python bench/bench_infer.py growth [--small]   chains and blocks to 1,000,000 nodes, loops to 50,000 bodies
    python bench/bench_infer.py functions          calls of functions, as they are and inlined first

Each tool starts from what it works on (a loaded Model, a ModelProto, an onnx_ir.Model), with every value_info removed
and functions inlined for those that cannot follow calls, and its best of several runs counts, in CPU time, so that a
busy machine matters less. Every tool and model has a process of its own. The interpreted column runs a copy of the
package without its extensions. A tool that takes longer than two minutes is given up. The section on functions sets
sardonyx beside itself, the three ways in turns in one process: inferred as it is, inlined and then inferred, and the
inlined model alone.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "shared"
LONGEST = 120
TOOLS = ("sardonyx", "interpreted", "onnx", "osi", "ort")
HEADS = {
    "sardonyx": "sardonyx",
    "interpreted": "interpreted",
    "onnx": "onnx",
    "osi": "onnx-shape-inference",
    "ort": "onnxruntime",
}


# ---------------------------------------------------------------- the child: one tool, one model


def prepared(path: Path, inline: bool) -> Any:
    """Return the ModelProto without value_info; functions inlined where the tool does not follow calls."""
    import onnx
    import onnx.inliner

    model = onnx.load(path, load_external_data=False)
    if inline and model.functions:
        model = onnx.inliner.inline_local_functions(model)
    waiting = [model.graph, *model.functions]
    while waiting:
        graph = waiting.pop()
        del graph.value_info[:]
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    waiting.append(attribute.g)
                waiting.extend(attribute.graphs)
    return model


def action(tool: str, path: Path) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """Return how a tool's input is made, and what is measured on it."""
    if tool in ("sardonyx", "interpreted"):
        import sardonyx as sx

        data = prepared(path, inline=False).SerializeToString()
        model = sx.load(data, external_data="lazy", external_data_dir=path.parent)
        return lambda: model, sx.infer_shapes
    if tool == "onnx":
        import onnx

        proto = prepared(path, inline=False)
        return lambda: proto, lambda one: onnx.shape_inference.infer_shapes(one, data_prop=True)
    if tool == "osi":
        import onnx_ir
        import onnx_shape_inference

        proto = prepared(path, inline=True)
        return (
            lambda: onnx_ir.from_proto(proto),
            lambda one: onnx_shape_inference.infer_symbolic_shapes(one, warn_on_missing=False),
        )
    proto = prepared(path, inline=True)
    if any(one.data_location for one in proto.graph.initializer):
        stand_in(proto)

    def infer(one: Any) -> Any:
        from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

        found = SymbolicShapeInference(2**31 - 1, True, False, 0)
        found._preprocess(one)
        while found.run_:
            found._infer_impl()
        found._update_output_from_vi()
        return found

    def copy() -> Any:
        import onnx

        made = onnx.ModelProto()
        made.CopyFrom(proto)
        return made

    return copy, infer


def stand_in(proto: Any) -> None:
    """Put empty files of the right length where weights that are not there would be, in the working directory."""
    ends: dict[str, int] = {}
    for one in proto.graph.initializer:
        told = {entry.key: entry.value for entry in one.external_data}
        if "location" in told:
            end = int(told.get("offset", 0)) + int(told.get("length", 0))
            ends[told["location"]] = max(ends.get(told["location"], 0), end)
    for name, end in ends.items():
        with open(name, "wb") as file:
            file.truncate(end)


def child(tool: str, path: Path, budget: float) -> None:
    """Measure one tool on one model; print the best time in milliseconds and the number of nodes."""
    make, infer = action(tool, path)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        infer(make())  # imports, tables, caches
        times: list[float] = []
        while len(times) < 3 or (sum(times) < budget and len(times) < 30):
            given = make()
            gc.collect()
            start = time.process_time()
            kept = infer(given)
            times.append(time.process_time() - start)
            del kept
            if sum(times) > 6 * budget:
                break
    print(json.dumps({"ms": min(times) * 1e3}))


# ---------------------------------------------------------------- models with functions

HEAD = '<ir_version: 10, opset_import: ["" : 21, "my" : 1]>\n'
BODIES = {
    "one op": "y = Relu (x)",
    "five ops": "a = Relu (x) b = Neg (a) c = Add (a, b) d = Tanh (c) y = Mul (d, x)",
    "shape arithmetic": """k = Shape (x) i = Constant <value_ints = [0]> () j = Constant <value_ints = [1]> ()
        s = Slice (k, i, j) m = Constant <value_ints = [-1]> () t = Concat <axis = 0> (s, m) y = Reshape (x, t)""",
}


def calls(count: int, body: str, differ: bool) -> str:
    """Return a model that calls one function so often, with arguments of one type or each of another."""
    names = [f"x{at if differ else 0}" for at in range(count)]
    inputs = ", ".join(f"float[b, {at + 2}] x{at}" for at in range(count if differ else 1))
    outputs = ", ".join(f"float[] y{at}" for at in range(count))
    nodes = "\n".join(f"y{at} = my.one ({name})" for at, name in enumerate(names))
    return f"""{HEAD} g ({inputs}) => ({outputs}) {{ {nodes} }}
        <domain: "my", opset_import: ["" : 21]> one (x) => (y) {{ {body} }}"""


def chain(levels: int, body: str) -> str:
    """Return a model whose functions each call the previous one as `body` says; F stands for that one."""
    text = '<domain: "my", opset_import: ["" : 21]> f0 (x) => (y) { y = Relu (x) }\n'
    for at in range(1, levels):
        own = body.replace("F", f"my.f{at - 1}")
        text += f'<domain: "my", opset_import: ["" : 21, "my" : 1]> f{at} (x) => (y) {{ {own} }}\n'
    return f"{HEAD} g (float[n] x) => (float[] y) {{ y = my.f{levels - 1} (x) }}\n{text}"


def function_models() -> Iterator[tuple[str, Any]]:
    """Yield models with functions, each with its name: those of the corpus, and made ones."""
    import sardonyx as sx
    from sardonyx.ir.text import parse_model

    for path in sorted((SHARED / "corpus").glob("*.onnx")):
        model = sx.load(path, external_data="lazy")
        if model.functions:
            yield path.stem, model
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "calls.onnx"
        command = [sys.executable, str(SHARED / "tools" / "make_scale.py"), "calls", "20000", str(made)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        yield "1,000 calls, each of 20 ops in 3 levels", sx.load(made)
    for count in (1, 100, 10_000):
        for name, body in BODIES.items():
            for differ in (False, True)[: 1 if count == 1 else 2]:
                types = "" if count == 1 else ", types all different" if differ else ", types equal"
                yield f"{count:,} call{'s' * (count > 1)} of {name}{types}", parse_model(calls(count, body, differ))
    yield "a chain of 30 functions", parse_model(chain(30, "h = F (x) y = Neg (h)"))
    yield "12 functions that call twice", parse_model(chain(12, "h = F (x) y = F (h)"))
    yield "30 functions that call twice", parse_model(chain(30, "h = F (x) y = F (h)"))
    growing = "h = F (x) m = Concat <axis = 0> (h, x) y = F (m)"
    yield "30 functions that call twice, types all different", parse_model(chain(30, growing))


def functions() -> None:
    """Print what inference of functions costs, and what inlining first does."""
    import sardonyx as sx

    print("\n## Functions, milliseconds (CPU)\n")
    header("model", "as it is", "inlined, then inferred", "the inlined one alone", "as it is / inlined first")
    for name, model in function_models():
        ways: list[Callable[[], Any]] = [lambda model=model: sx.infer_shapes(model)]  # type: ignore[misc]
        try:
            flat = sx.inline_functions(model)
            ways += [
                lambda model=model: sx.infer_shapes(sx.inline_functions(model)),  # type: ignore[misc]
                lambda flat=flat: sx.infer_shapes(flat),  # type: ignore[misc]
            ]
        except sx.OnnxError:  # too many nodes
            pass
        took = in_turns(ways)
        inlined, alone = (took[1], took[2]) if len(took) > 1 else (None, None)
        row(name, shown(took[0]), shown(inlined), shown(alone), f"{took[0] / inlined:.2f}" if inlined else "-")


def in_turns(ways: list[Callable[[], Any]]) -> list[float]:
    """Return the best time of each of some ways, in milliseconds of CPU; whatever slows the machine slows all."""
    times: list[list[float]] = [[] for _ in ways]
    for way in ways:
        way()
    while len(times[0]) < 9 or (sum(map(sum, times)) < 2 and len(times[0]) < 300):
        for way, took in zip(ways, times, strict=True):
            gc.collect()
            gc.disable()
            start = time.process_time()
            kept = way()
            took.append(time.process_time() - start)
            gc.enable()
            del kept
    return [min(took) * 1e3 for took in times]


# ---------------------------------------------------------------- the parent


class Bench:
    """Runs children and prints tables."""

    def __init__(self, folder: Path) -> None:
        import sardonyx

        self.folder = folder
        self.pure = folder / "pure"
        shutil.copytree(
            Path(sardonyx.__file__).parent,
            self.pure / "sardonyx",
            ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"),
        )

    def measure(self, tool: str, path: Path, budget: float = 2.0) -> float | None:
        """Return milliseconds, or None when the tool fails or takes too long."""
        environment = {**os.environ}
        if tool == "interpreted":
            environment["PYTHONPATH"] = str(self.pure)
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", str(HERE / "bench_infer.py"), "--child", tool, str(path), str(budget)],
                env=environment, cwd=self.folder, capture_output=True, text=True, timeout=LONGEST,
            )  # fmt: skip
            return float(json.loads(done.stdout)["ms"])
        except (subprocess.TimeoutExpired, ValueError, KeyError):
            return None

    def corpus(self, names: list[str]) -> None:
        """Print a line per corpus model, and the geometric means of the ratios."""
        entries = json.loads((SHARED / "corpus" / "MANIFEST.json").read_text())["models"]
        print("\n## The corpus, milliseconds (CPU) for one inference\n")
        header("model", "nodes", *(HEADS[tool] for tool in TOOLS), "sardonyx, us a node", "sardonyx / onnx")
        ratios: dict[tuple[str, str], list[float]] = {}
        for entry in entries:
            if names and entry["name"] not in names:
                continue
            path = SHARED / "corpus" / f"{entry['name']}.onnx"
            took = {tool: self.measure(tool, path) for tool in TOOLS}
            ours, nodes = took["sardonyx"], entry["nodes_total"]
            for mine in ("sardonyx", "interpreted"):
                for peer in ("onnx", "osi", "ort"):
                    if took[mine] and took[peer]:
                        ratios.setdefault((mine, peer), []).append(took[mine] / took[peer])  # type: ignore[operator]
            each = "-" if ours is None else f"{ours / nodes * 1e3:.1f}"
            ratio = f"{ours / took['onnx']:.2f}" if ours and took["onnx"] else "-"
            row(entry["name"], f"{nodes:,}", *(shown(took[tool]) for tool in TOOLS), each, ratio)
        print()
        for (mine, peer), found in ratios.items():
            mean = math.exp(sum(map(math.log, found)) / len(found))
            text = f"{mean:.3f} in the geometric mean of {len(found)}"
            print(f"{mine} / {HEADS[peer]}: {text} ({1 / mean:.1f} times faster)")

    def weights(self) -> None:
        """Print what weights inside the file cost."""
        path = HERE / "data" / "bert_embedded.onnx"
        if not path.exists():
            print(f"\n{path.name} is not there; bench/make_large.py makes it")
            return
        print(f"\n## {path.stat().st_size / 1e6:.0f} MB of weights in the file\n")
        header("tool", "ms")
        for tool in ("sardonyx", "interpreted", "onnx"):
            row(HEADS[tool], shown(self.measure(tool, path, 8.0)))

    def growth(self, small: bool) -> None:
        """Print how the time for one node changes with the size of the model."""
        sizes = {"chain": (1_000, 10_000, 100_000, 1_000_000), "block": (1_000, 10_000, 100_000, 1_000_000)}
        sizes["loops"] = (500, 5_000, 50_000)
        print("\n## Growth, microseconds (CPU) for one node, or one body of loops\n")
        header("model", "size", *(HEADS[tool] for tool in ("sardonyx", "interpreted", "onnx")))
        for kind, counts in sizes.items():
            for count in counts[:-1] if small else counts:
                path = self.folder / f"{kind}-{count}.onnx"
                asked = str(count * BODY if kind == "loops" else count)
                subprocess.run(
                    [sys.executable, str(SHARED / "tools" / "make_scale.py"), kind, asked, str(path)],
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
                took = {tool: self.measure(tool, path, 1.0) for tool in ("sardonyx", "interpreted", "onnx")}
                row(kind, f"{count:,}", *(shown(one and one / count * 1e3) for one in took.values()))
                path.unlink()


BODY = 20
"""Nodes that make_scale.py counts for one loop: its body and what is around it."""


def header(*cells: str) -> None:
    """Print the head of a Markdown table."""
    row(*cells)
    print("|---|" + "---:|" * (len(cells) - 1))


def row(*cells: str) -> None:
    """Print a row of a Markdown table."""
    print(f"| {' | '.join(cells)} |", flush=True)


def shown(number: float | None) -> str:
    """Write a number with three digits."""
    return "-" if number is None else f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def main(words: list[str]) -> None:
    """Run the parts that are asked for."""
    if words[:1] == ["--child"]:
        child(words[1], Path(words[2]), float(words[3]))
        return
    known = ("corpus", "weights", "growth", "functions")
    parts = [word for word in words if word in known] or list(known)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        if "corpus" in parts:
            bench.corpus([word for word in words if word not in parts and not word.startswith("--")])
        if "weights" in parts:
            bench.weights()
        if "growth" in parts:
            bench.growth("--small" in words)
        if "functions" in parts:
            functions()


if __name__ == "__main__":
    main(sys.argv[1:])
