"""Run models under onnxruntime: the extra `sardonyx[run]`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sardonyx.runtime.decode import DecodeSession as DecodeSession

HOMES = {"DecodeSession": "decode"}
__all__ = [*HOMES]


def __getattr__(name: str) -> Any:
    home = HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sardonyx.runtime' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"sardonyx.runtime.{home}"), name)
