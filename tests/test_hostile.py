"""Every hostile file is refused, for the reason that its name gives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sardonyx as sx
from tests.hostile import generate

FILES = generate.files()
LIMITS = sx.Limits(max_tensor_bytes=2**31 - 1)


def kind_in(name: str) -> str:
    """The kind in a file's name, as `ErrorKind` spells it in lower case."""
    return name.partition("-")[0]


def refusal(path: Path, name: str) -> sx.OnnxError:
    """Load a hostile file in its surroundings and return the error."""
    source = path.read_bytes() if name == "externaldata-no-directory.onnx" else path
    with pytest.raises(sx.OnnxError) as caught:
        sx.load(source, limits=LIMITS)
    return caught.value


def test_d05_the_committed_files_are_those_the_generator_makes() -> None:
    committed = {path.name: path.read_bytes() for path in generate.DATA.iterdir()}
    assert committed == FILES


def test_the_file_that_the_others_are_made_from_is_fine() -> None:
    assert [node.op for node in sx.load(generate.VALID).graph.nodes] == ["Relu"]
    assert sx.load(generate.model(generate.nested(42))).graph.nodes


@pytest.mark.parametrize("name", FILES)
def test_d06_a_hostile_file_is_refused_with_the_kind_in_its_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    if kind_in(name) == "externaldata":
        if os.name != "posix":
            pytest.skip("the surroundings need links and fifos")
        generate.lay_out(folder)
    path = folder / name
    path.write_bytes(FILES[name])
    error = refusal(path, name)
    assert error.kind.value.lower() == kind_in(name), str(error)


def test_d06_a_path_that_cannot_be_read_is_refused_as_io(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.onnx", tmp_path):
        with pytest.raises(sx.OnnxError) as caught:
            sx.load(path)
        assert caught.value.kind is sx.ErrorKind.Io
        assert caught.value.source == str(path)


@pytest.mark.parametrize("name", [name for name in FILES if kind_in(name) == "malformed"])
def test_a_malformed_file_is_refused_at_a_byte_of_the_file(name: str) -> None:
    error = refusal(generate.DATA / name, name)
    assert error.offset is not None
    assert 0 <= error.offset <= len(FILES[name])
    assert error.path is not None
    assert error.path.startswith("ModelProto")
