"""Run commands in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import onnx.parser
from typer.testing import CliRunner

from sardonyx.cli.app import app

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "motion.onnx"


class Ran(NamedTuple):
    """What became of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The JSON on standard output; it must be all there is."""
        return json.loads(self.out)


def sardonyx(*arguments: object, stdin: bytes | None = None) -> Ran:
    """Run `sardonyx` with these arguments; whatever is not an exit is raised."""
    result = CliRunner().invoke(app, [str(one) for one in arguments], input=stdin, prog_name="sardonyx")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


def write(path: Path, text: str) -> Path:
    """Write the model that ONNX text describes."""
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    return path
