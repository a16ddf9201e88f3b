"""Measure reading and writing beside the peers, in one run, and print the tables of bench/RESULTS.md.

    python bench/run.py [DATADIR] [--quick]

Needs sardonyx with its compiled codec, onnx and onnx-ir, and the shared corpus. Large files are made in DATADIR (by
default bench/data, about 2 GB) when they are not there. Every figure is the best of several runs in a process of its
own; tools take turns. The interpreted column runs a copy of the package without the extension.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "shared"
ROUNDS = 3


def interpreted_copy(folder: Path) -> Path:
    """Copy the package without its extension; return the folder to put on the path."""
    import sardonyx

    source = Path(sardonyx.__file__).parent
    target = folder / "sardonyx"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    return folder


def measure(tool: str, action: str, path: Path, pure: Path | None = None) -> dict[str, float]:
    """Run bench/measure.py in a fresh process."""
    environment = {**os.environ}
    if pure is not None:
        environment["PYTHONPATH"] = str(pure)
    done = subprocess.run(
        [sys.executable, str(HERE / "measure.py"), tool, action, str(path)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def best_times(action: str, path: Path, peers: list[str], pure: Path) -> dict[str, float]:
    """Return the best time of each tool, the tools taking turns."""
    found: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, where in [("sardonyx", None), ("interpreted", pure), *[(peer, None) for peer in peers]]:
            tool = "sardonyx" if name == "interpreted" else name
            took = measure(tool, action, path, where)["ms"]
            found[name] = min(found.get(name, took), took)
    return found


def startup(statement: str) -> float:
    """Return the best time in milliseconds that a fresh interpreter takes for a statement, start included."""
    import time

    times = []
    for _ in range(15):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True, cwd=HERE)
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def table(title: str, head: list[str], rows: list[list[str]]) -> None:
    """Print a Markdown table."""
    print(f"\n## {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def load_tables(files: list[tuple[str, Path, str]], pure: Path) -> None:
    """Compare load times."""
    rows = []
    for name, path, peer in files:
        times = best_times("load", path, [peer], pure)
        other = times[peer]
        rows.append(
            [
                name,
                f"{peer} {other:.1f} ms",
                f"{times['sardonyx']:.1f} ms",
                f"{other / times['sardonyx']:.1f}x",
                f"{times['interpreted']:.1f} ms",
                f"{other / times['interpreted']:.1f}x",
            ]
        )
    table("Load", ["model", "peer", "compiled", "times faster", "interpreted", "times faster"], rows)


def memory_tables(files: list[tuple[str, Path, str]]) -> None:
    """Compare what a load adds to anonymous memory and to the peak resident size."""
    rows = []
    for name, path, peer in files:
        for tool in ("sardonyx", peer):
            found = measure(tool, "rss", path)
            rows.append([name, tool, f"{found['anon']:.1f} MiB", f"{found['peak']:.0f} MiB"])
    table("Memory of one load", ["model", "tool", "RssAnon", "peak resident"], rows)


def growth_table(sizes: list[int], folder: Path) -> None:
    """Show that time and memory grow with the number of nodes."""
    rows = []
    folder = folder / "scale"  # away from the data file of another model
    folder.mkdir(exist_ok=True)
    for size in sizes:
        path = folder / f"block_{size}.onnx"
        if not path.exists():
            subprocess.run(
                [sys.executable, str(SHARED / "tools" / "make_scale.py"), "block", str(size), str(path)],
                check=True,
                capture_output=True,
            )
        rounds = "3" if size < 500_000 else "1"
        done = subprocess.run(
            [sys.executable, str(HERE / "measure.py"), "sardonyx", "load", str(path), rounds],
            check=True,
            capture_output=True,
            text=True,
        )
        took = json.loads(done.stdout)["ms"]
        memory = measure("sardonyx", "rss", path)
        rows.append(
            [f"{size:,}", f"{took:.1f} ms", f"{took * 1e3 / size:.1f}", f"{memory['anon']:.0f} MiB",
             f"{memory['anon'] * 1048576 / size:.0f}"]
        )  # fmt: skip
    table("Growth of load", ["nodes", "load", "microseconds a node", "RssAnon", "bytes a node"], rows)


def main() -> None:
    """Print all tables, each as soon as it is there."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    quick = "--quick" in sys.argv
    folder = Path(words[0]).resolve() if words else HERE / "data"
    subprocess.run([sys.executable, str(HERE / "make_large.py"), str(folder)], check=True)
    bert, external = folder / "bert_embedded.onnx", folder / "external_1600mb.onnx"
    qwen = SHARED / "corpus" / "qwen2_24l_dynamo_raw.onnx"
    print("# Reading and writing beside the peers\n")
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; ", end="")
    print(", ".join(f"{name} {version(name)}" for name in ("sardonyx", "onnx", "onnx-ir", "protobuf", "numpy")))
    print("\nCommand: `python bench/run.py`. Read the ratios; the milliseconds are this machine's.")
    with tempfile.TemporaryDirectory() as scratch:
        pure = interpreted_copy(Path(scratch))
        load_tables(
            [
                ("BERT, 437 MB embedded", bert, "onnx"),
                ("synthetic, 1.6 GB external", external, "onnx_ir"),
                ("Qwen2 24 layers, 9 MB of graph", qwen, "onnx_ir"),
            ],
            pure,
        )
    memory_tables([("BERT, 437 MB embedded", bert, "onnx"), ("synthetic, 1.6 GB external", external, "onnx_ir")])
    growth_table([1_000, 10_000, 100_000] if quick else [1_000, 10_000, 100_000, 1_000_000], folder)
    saved = measure("sardonyx", "rss-save", external)
    embedded = measure("sardonyx", "rss-save", bert)
    table(
        "Load and save to another folder",
        ["model", "RssAnon at most", "peak resident", "seconds"],
        [
            [name, f"{found['anon_peak']:.1f} MiB", f"{found['peak']:.0f} MiB", f"{found['s']:.1f}"]
            for name, found in (("synthetic, 1.6 GB external", saved), ("BERT, 437 MB embedded", embedded))
        ],
    )
    small = HERE.parent / "examples" / "motion.onnx"
    bare, loaded = startup("pass"), startup(f"import sardonyx as sx; sx.load({str(small)!r})")
    rows = [
        ["import sardonyx", f"{startup('import sardonyx') - bare:.1f} ms over a bare start"],
        [
            f"import sardonyx as sx; sx.load({small.name})",
            f"{loaded:.1f} ms in all, of which a bare start {bare:.1f}",
        ],
    ]
    table("Start-up", ["statement", "time"], rows)


if __name__ == "__main__":
    main()
