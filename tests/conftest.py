"""Where the shared material is, and what to do without it."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared material (corpus, cases, tools), or skip."""
    if not (SHARED / "corpus").is_dir():
        pytest.skip("the shared corpus is not beside this checkout")
    return SHARED
