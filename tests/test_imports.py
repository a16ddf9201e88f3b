"""What comes into memory with `import sardonyx` and with the first load of a small file."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "sardonyx"
EXAMPLE = ROOT / "examples" / "motion.onnx"

HEAVY = {"numpy", "ml_dtypes", "onnx", "onnx_ir", "onnxruntime", "rich", "typer", "click", "google", "dask"}
SLOW_PARTS_OF_PYTHON = {"dataclasses", "typing", "inspect", "ast", "json", "logging", "pathlib", "importlib.metadata"}

LAYERS = [
    {"records"},
    {"errors"},
    {"wire", "dims", "limits"},
    {"ir"},
    {"io", "ops"},
    {"infer", "passes"},
    {"checks"},
    {"findings", "interop"},
    {"api"},
    {"pipeline"},
    {"runtime", "report", "sweep"},
    {"cli"},
]
"""Each package imports only from those before it, and never from another one of its own row (architecture 2.2)."""


def modules_after(code: str) -> set[str]:
    """Run code in a fresh interpreter without site-packages hooks; return what it imported beyond a bare start."""
    probe = f"import sys; before = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def test_importing_sardonyx_imports_nothing_else() -> None:
    assert modules_after("import sardonyx") == {"sardonyx", "__future__"}


def test_loading_a_small_model_needs_no_heavy_package() -> None:
    loaded = modules_after(f"import sardonyx as sx\nsx.load({str(EXAMPLE)!r}).close()")
    assert "sardonyx.api" in loaded
    assert {name for name in loaded if name.partition(".")[0] in HEAVY} == set()
    assert loaded & SLOW_PARTS_OF_PYTHON == set()


def test_numpy_arrives_only_with_the_first_array() -> None:
    shown = modules_after(
        f"import sardonyx as sx\nmodel = sx.load({str(EXAMPLE)!r})\n"
        "tensor = next(iter(model.graph.initializers.values()))\nlen(tensor.data)\n"
        "assert 'numpy' not in sys.modules\ntensor.numpy()"
    )
    assert "numpy" in shown


def test_version_and_help_do_not_load_the_library() -> None:
    for argument in ("--version", "--help"):
        start = f"sys.argv = ['sardonyx', {argument!r}]\nfrom sardonyx.cli import main"
        loaded = modules_after(f"{start}\ntry: main()\nexcept SystemExit: pass")
        assert "sardonyx.cli.app" in loaded
        assert loaded & {"sardonyx.api", "numpy", "onnx", "onnxruntime"} == set()


def imports_of(path: Path) -> set[str]:
    """Return the packages of sardonyx that a file imports, under `if TYPE_CHECKING` too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sardonyx."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("sardonyx.")}
    return found


PACKAGES = sorted(
    path.stem for path in SOURCE.iterdir() if not path.name.startswith("_") and path.suffix in ("", ".py")
)


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_imports_only_from_the_layers_below_it(package: str) -> None:
    rank = {name: at for at, row in enumerate(LAYERS) for name in row}
    assert package in rank, f"say in LAYERS where {package} stands"
    files = (
        [SOURCE / f"{package}.py"] if (SOURCE / f"{package}.py").is_file() else sorted((SOURCE / package).rglob("*.py"))
    )
    wrong = {
        f"{path.relative_to(SOURCE)} imports {other}"
        for path in files
        for other in imports_of(path)
        if other != package and rank[other] >= rank[package]
    }
    assert wrong == set()
