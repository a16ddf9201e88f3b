"""Every hostile file is refused, for the reason that its name gives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sardonyx as sx
from tests.hostile import generate

FILES = generate.files()
LIMITS = sx.Limits(max_tensor_bytes=2**31 - 1)


CODE_OF = {
    "malformed-key-cut": "cut-short",
    "malformed-key-over-32-bits": "bad-key",
    "malformed-field-zero": "bad-field-number",
    "malformed-group-open": "bad-wire-type",
    "malformed-group-close": "bad-wire-type",
    "malformed-group-balanced": "bad-wire-type",
    "malformed-wire-6": "bad-wire-type",
    "malformed-wire-7": "bad-wire-type",
    "malformed-varint-cut": "cut-short",
    "malformed-varint-tenth-byte-2": "bad-varint",
    "malformed-varint-eleven-bytes": "bad-varint",
    "malformed-fixed32-cut": "cut-short",
    "malformed-fixed64-cut": "cut-short",
    "malformed-length-past-end": "length-past-end",
    "malformed-length-past-parent": "length-past-end",
    "malformed-length-2p63": "length-past-end",
    "malformed-length-max": "length-past-end",
    "malformed-utf8-name": "bad-utf8",
    "malformed-utf8-surrogate": "bad-utf8",
    "malformed-packed-float-ragged": "ragged-packed",
    "malformed-packed-varint-cut": "cut-short",
    "malformed-trailing-byte": "bad-field-number",
    "invalidmodel-empty": "no-ir-version",
    "invalidmodel-no-ir-version": "no-ir-version",
    "invalidmodel-ir-version-2": "ir-version-too-old",
    "invalidmodel-no-graph": "no-graph",
    "invalidmodel-attr-no-type-no-value": "attribute-empty",
    "invalidmodel-attr-tensor-missing": "attribute-incomplete",
    "invalidmodel-attr-graph-missing": "attribute-incomplete",
    "invalidmodel-dim-negative": "negative-dim",
    "invalidmodel-count-over-2p60": "too-many-elements",
    "invalidmodel-raw-short": "data-length",
    "invalidmodel-raw-long": "data-length",
    "invalidmodel-raw-and-typed": "data-sources",
    "invalidmodel-two-typed": "data-sources",
    "invalidmodel-external-and-raw": "data-sources",
    "invalidmodel-no-source": "no-data",
    "invalidmodel-field-for-other-type": "wrong-field",
    "invalidmodel-int32-count-odd": "data-length",
    "invalidmodel-complex-odd": "data-length",
    "invalidmodel-string-count": "data-length",
    "invalidmodel-string-raw": "wrong-field",
    "invalidmodel-input-unnamed": "input-unnamed",
    "invalidmodel-input-twice": "value-twice",
    "invalidmodel-initializer-twice": "value-twice",
    "invalidmodel-output-redefines-input": "value-twice",
    "invalidmodel-output-twice": "value-twice",
    "invalidmodel-input-undefined": "value-undefined",
    "invalidmodel-graph-output-undefined": "value-undefined",
    "invalidmodel-domain-not-imported": "domain-not-imported",
    "invalidmodel-cycle-two": "cycle",
    "invalidmodel-cycle-self": "cycle",
    "invalidmodel-cycle-through-subgraph": "cycle",
    "invalidmodel-subgraph-undefined-capture": "value-undefined",
    "unsupported-nesting-over-limit": "nesting-too-deep",
    "unsupported-segment": "segment",
    "unsupported-tensor-over-2gib": "limit-exceeded",
    "unsupported-type-code-29": "element-type-unknown",
    "externaldata-no-location": "external-key",
    "externaldata-empty": "external-location",
    "externaldata-nul": "external-location",
    "externaldata-absolute": "external-location",
    "externaldata-backslash": "external-location",
    "externaldata-drive": "external-location",
    "externaldata-dotdot": "external-location",
    "externaldata-dotdot-backslash": "external-location",
    "externaldata-link-out": "external-link",
    "externaldata-link-dir-out": "external-link",
    "externaldata-folder": "external-not-a-file",
    "externaldata-fifo": "external-not-a-file",
    "externaldata-missing": "external-missing",
    "externaldata-offset-negative": "external-number",
    "externaldata-offset-text": "external-number",
    "externaldata-offset-overflow": "external-number",
    "externaldata-length-mismatch": "external-length",
    "externaldata-past-end": "external-range",
    "externaldata-no-directory": "external-no-folder",
}
"""What is wrong with each file, so that none is refused for another reason than its own."""


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
    assert error.code == CODE_OF[path.stem], str(error)


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
