"""Small models to run commands on."""

from __future__ import annotations

from pathlib import Path

import onnx.helper
import onnx.parser
import pytest

from tests.cli.runs import EXAMPLE, write


@pytest.fixture
def example() -> Path:
    """The bundled model."""
    return EXAMPLE


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """One Add."""
    return write(
        tmp_path / "small.onnx",
        '<ir_version: 9, opset_import: ["": 18]> g (float[n, 2] x) => (float[n, 2] y) { y = Add (x, x) }',
    )


@pytest.fixture
def cut_short(tmp_path: Path) -> Path:
    """A model whose end is missing."""
    path = tmp_path / "cut.onnx"
    path.write_bytes(EXAMPLE.read_bytes()[:5000])
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Three faults: a value that nothing defines, one that is defined twice, and one of these in a body."""
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["": 18]>
        g (float[2] x, bool c) => (float[2] y) {
          a = Add (x, missing)
          twice = Neg (x)
          z = If (c) <then_branch = t () => (float[2] p) { p = Abs (absent) },
                      else_branch = e () => (float[2] q) { q = Abs (x) }>
          y = Add (a, z)
        }"""
    )
    model.graph.node[2].attribute[1].g.node.append(onnx.helper.make_node("Abs", ["x"], ["q"]))
    path = tmp_path / "broken.onnx"
    path.write_bytes(model.SerializeToString())
    return path
