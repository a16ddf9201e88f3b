"""Measure one thing in a process of its own, and print it as JSON.

    python bench/measure.py TOOL ACTION PATH [REPEATS]

TOOL is sardonyx, onnx or onnx_ir; ACTION is load, save or rss. `load` and `save` give the best time of several runs in
milliseconds; `rss` gives how far one load (or, for `rss-save`, a load and save) raises RssAnon and the peak resident
size, in MiB, imports not counted.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import threading
import time
from typing import Any


def status(name: str) -> float:
    """Read a size from /proc/self/status, in MiB."""
    with open("/proc/self/status") as lines:
        for line in lines:
            if line.startswith(name + ":"):
                return int(line.split()[1]) / 1024
    return 0.0


def loader(tool: str) -> Any:
    """Return the tool's load function, imported and warm."""
    if tool == "sardonyx":
        import sardonyx

        mode = "strict"  # every check on

        def load(path: str) -> Any:
            nonlocal mode
            try:
                return sardonyx.load(path, external_data=mode)
            except sardonyx.OnnxError as problem:
                if problem.code != "external-missing":
                    raise
                mode = "lazy"  # a corpus model whose weights were dropped
                return load(path)

        return load
    if tool == "onnx":
        import onnx

        return lambda path: onnx.load(path, load_external_data=False)
    import onnx_ir

    return onnx_ir.load


def saver(tool: str) -> Any:
    """Return the tool's save function."""
    if tool == "sardonyx":
        import sardonyx

        return sardonyx.save
    if tool == "onnx":
        import onnx

        return onnx.save
    import onnx_ir

    return onnx_ir.save


def best(action: Any, repeats: int) -> float:
    """Return the best time of an action in milliseconds, the collector off."""
    times = []
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        kept = action()
        times.append(time.perf_counter() - start)
        gc.enable()
        del kept
    return min(times) * 1e3


class Watch(threading.Thread):
    """Note the largest RssAnon while something runs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0.0
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.002):
            self.most = max(self.most, status("RssAnon"))


def main() -> None:
    """Do what the command line says."""
    tool, action, path = sys.argv[1:4]
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    load = loader(tool)
    if action == "load":
        load(path)
        print(json.dumps({"ms": best(lambda: load(path), repeats)}))
        return
    if action == "save":
        model, save = load(path), saver(tool)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
            print(json.dumps({"ms": best(lambda: save(model, os.path.join(folder, "out.onnx")), repeats)}))
        return
    before = status("RssAnon")
    peak_before = status("VmHWM")
    watch = Watch()
    watch.start()
    start = time.perf_counter()
    kept = load(path)
    if action == "rss-save":
        with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
            saver(tool)(kept, os.path.join(folder, "out.onnx"))
    took = time.perf_counter() - start
    after = status("RssAnon")
    watch.done.set()
    watch.join()
    peak = max(watch.most, after)
    print(
        json.dumps(
            {"anon": after - before, "anon_peak": peak - before, "peak": status("VmHWM") - peak_before, "s": took}
        )
    )
    del kept


if __name__ == "__main__":
    main()
