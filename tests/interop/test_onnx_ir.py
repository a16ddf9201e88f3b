"""Models from the onnx-ir package."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import sardonyx as sx
from sardonyx.errors import OnnxError

onnx_ir = pytest.importorskip("onnx_ir")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from sardonyx.interop import onnx_ir as interop  # noqa: E402
from sardonyx.interop.onnx_ir import from_onnx_ir  # noqa: E402
from sardonyx.io.save import External, save  # noqa: E402


def weights(value: float) -> np.ndarray:
    return np.full((30, 30), value, np.float32)


def saved(folder: Path, name: str, value: float) -> Path:
    """A model with one weight in `w.data`, one in an attribute in a body."""
    folder.mkdir(parents=True, exist_ok=True)
    constant = helper.make_node("Constant", [], ["b"], value=numpy_helper.from_array(weights(value), "inner " + name))
    body = helper.make_graph([constant], "body", [], [helper.make_tensor_value_info("b", 1, None)])
    graph = helper.make_graph(
        [helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)],
        "g",
        [helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(weights(value), name)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    save(sx.load(model), folder / "m.onnx", external=External(location="w.data"))
    return folder / "m.onnx"


def loaded(data: bytes, folder: str | None) -> dict[str, float]:
    """The first element of every initializer."""
    with sx.load(data, external_data_dir=folder) as model:
        return {value.name: float(tensor.numpy()[0, 0]) for value, tensor in model.graph.initializers.items()}


def test_a_model_in_memory_needs_no_folder(tmp_path: Path) -> None:
    model = onnx_ir.load(saved(tmp_path, "w", 1))
    model.graph.initializers["w"].const_value = onnx_ir.tensor(weights(5), name="w")
    data, folder = from_onnx_ir(model)
    assert folder is None
    assert loaded(data, None) == {"w": 5}


def test_external_tensors_stay_in_their_file(tmp_path: Path) -> None:
    model = onnx_ir.load(saved(tmp_path, "w", 2))
    data, folder = from_onnx_ir(model)
    assert folder == str(tmp_path)
    assert len(data) < weights(2).nbytes * 3
    assert loaded(data, folder) == {"w": 2}
    assert sx.load(model).graph.initializers.keys()


def test_data_files_in_several_folders_are_found_from_the_folder_of_them_all(tmp_path: Path) -> None:
    one, other = (onnx_ir.load(saved(tmp_path / name, name, value)) for name, value in (("a", 1), ("b/c", 2)))
    tensor = other.graph.initializers["b/c"].const_value
    one.graph.register_initializer(onnx_ir.Value(name="b/c", const_value=tensor))
    data, folder = from_onnx_ir(one)
    assert folder == str(tmp_path)
    assert loaded(data, folder) == {"a": 1, "b/c": 2}
    assert tensor.location == "w.data"


def test_two_tensors_that_only_their_folder_tells_apart_are_refused(tmp_path: Path) -> None:
    one, other = (onnx_ir.load(saved(tmp_path / name, "w", value)) for name, value in (("a", 1), ("b", 2)))
    [branch, _] = [attribute.value for attribute in one.graph[0].attributes.values()]
    branch[0].attributes["value"] = onnx_ir.AttrTensor("value", other.graph.initializers["w"].const_value)
    with pytest.raises(ValueError, match=r"two tensors named 'w' lie at 'w\.data'"):
        from_onnx_ir(one)


def test_an_external_tensor_of_an_attribute_in_a_body_is_found(tmp_path: Path) -> None:
    model = onnx_ir.load(saved(tmp_path, "w", 3))
    [branch, _] = [attribute.value for attribute in model.graph[0].attributes.values()]
    outside = model.graph.initializers["w"].const_value
    branch[0].attributes["value"] = onnx_ir.AttrTensor("value", outside)
    model.graph.initializers["w"].const_value = onnx_ir.tensor(weights(4), name="w")
    data, folder = from_onnx_ir(model)
    assert folder == str(tmp_path)
    with sx.load(data, external_data_dir=folder) as again:
        constant = again.graph.nodes[0].bodies["then_branch"].nodes[0]
        assert constant.attrs["value"].value.numpy()[0, 0] == 3


def test_a_model_that_is_too_large_is_refused_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = onnx_ir.load(saved(tmp_path, "w", 1))
    monkeypatch.setattr(interop, "MAX_FILE_BYTES", 100)
    with pytest.raises(OnnxError) as caught:
        from_onnx_ir(model)
    assert caught.value.code == "file-too-large"
    assert "onnx_ir.save" in str(caught.value.hint)


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx_ir.serde", None)
    with pytest.raises(ImportError, match=r"pip install 'sardonyx\[onnx-ir\]'"):
        from_onnx_ir(None)
