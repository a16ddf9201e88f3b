"""Models to and from the onnx package."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import sardonyx as sx
from sardonyx.errors import OnnxError
from sardonyx.interop import onnx_proto
from sardonyx.interop.onnx_proto import from_onnx, to_onnx
from tests.io.everything import everything


def test_a_model_comes_back_as_the_proto_it_was_loaded_from() -> None:
    proto = everything()
    assert to_onnx(sx.load(proto)) == proto


def test_the_proto_is_not_changed() -> None:
    proto = everything()
    before = proto.SerializeToString()
    assert from_onnx(proto) == before == proto.SerializeToString()


def test_a_proto_that_is_too_large_is_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_proto, "MAX_FILE_BYTES", 1000)
    with pytest.raises(OnnxError) as caught:
        from_onnx(everything())
    assert (caught.value.code, caught.value.kind) == ("file-too-large", sx.ErrorKind.Unsupported)
    assert "external data" in str(caught.value.hint)


def test_references_stay_unless_they_are_to_be_read_in(tmp_path: Path) -> None:
    from sardonyx.io.save import External, save

    proto = everything()
    save(sx.load(proto), tmp_path / "m.onnx", external=External(threshold=0))
    with sx.load(tmp_path / "m.onnx") as model:
        assert to_onnx(model).graph.initializer[0].external_data
        again = to_onnx(model, external="embed").graph.initializer[0]
    assert again.raw_data == proto.graph.initializer[0].raw_data


def test_without_the_onnx_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    model = sx.load(everything())
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'sardonyx\[onnx\]'"):
        to_onnx(model)
