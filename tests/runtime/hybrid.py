"""The hybrid model of the worked example, and steps of it run the plain way."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnxruntime

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "decode.py"


@cache
def example() -> ModuleType:
    """The worked example as a module."""
    spec = importlib.util.spec_from_file_location("decode_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def hybrid(layers: int = 4) -> bytes:
    """A model of three layers of the gated delta rule and one of attention."""
    data: bytes = example().build(layers).SerializeToString()
    return data


def ids(count: int, seed: int = 0, batch: int = 1) -> dict[str, Any]:
    """Tokens for one step."""
    return {"ids": np.random.default_rng(seed).integers(0, 100, (batch, count))}


class Plain:
    """The untouched model, stepped through numpy: what every other way must equal."""

    def __init__(self, data: bytes, states: dict[str, str]) -> None:
        self.session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        self.wiring = states
        self.states: dict[str, np.ndarray[Any, Any]] = {}
        self.names = [one.name for one in self.session.get_outputs()]

    def step(self, inputs: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
        """Run one step; a state that is not there yet starts as zeros, a growing one empty."""
        if not self.states:
            batch = len(inputs["ids"])
            for one in self.session.get_inputs():
                if one.name in self.wiring:
                    shape = [
                        batch if dim in ("b", "batch") else 0 if isinstance(dim, str) else dim for dim in one.shape
                    ]
                    self.states[one.name] = np.zeros(shape, np.float32)
        found = dict(zip(self.names, self.session.run(None, {**inputs, **self.states}), strict=True))
        self.states = {before: found[after] for before, after in self.wiring.items()}
        return {name: value for name, value in found.items() if name not in set(self.wiring.values())}
