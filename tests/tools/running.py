"""Import a script as a module."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from tests.conftest import ROOT


def tool(name: str, folder: str = "tools") -> ModuleType:
    """Return <folder>/<name>.py as a module, without running its `main`."""
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
