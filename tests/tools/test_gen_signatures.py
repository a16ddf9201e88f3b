"""The generator of the signature table: what it writes is what is committed, and what it cannot write it refuses."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from sardonyx.ops import signature_table
from tests.conftest import ROOT

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_signatures", ROOT / "tools" / "gen_signatures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def skip_unless_same_versions() -> None:
    wanted = (signature_table.ONNX_VERSION, signature_table.ONNXRUNTIME_VERSION)
    installed = (onnx.__version__, onnxruntime.__version__)
    if installed != wanted:
        pytest.skip(f"the table is from onnx {wanted[0]} and onnxruntime {wanted[1]}, installed are {installed}")


def test_the_committed_table_is_what_the_generator_writes(generator: ModuleType) -> None:
    skip_unless_same_versions()
    assert generator.TABLE.read_text(encoding="utf-8") == generator.module_text()


def test_check_tells_a_stale_table(
    generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generator, "TABLE", tmp_path / "signature_table.py")
    assert generator.main(["--check"]) == 1
    assert generator.main([]) == 0
    assert generator.main(["--check"]) == 0
    generator.TABLE.write_text(generator.TABLE.read_text(encoding="utf-8").replace("Conv 11", "Conv 12"))
    assert generator.main(["--check"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == "signature_table.py is not what would be written"


def test_the_table_stays_small() -> None:
    assert len(signature_table.TABLE) < 300_000


def parameter(name: str, option: object = onnx.defs.OpSchema.FormalParameterOption.Single, least: int = 1) -> object:
    return onnx.defs.OpSchema.FormalParameter(name, "T", param_option=option, min_arity=least)


def schema(**more: object) -> object:
    return onnx.defs.OpSchema("Foo", "test", 3, type_constraints=[("T", ["tensor(float)"], "")], **more)


def test_a_schema_is_one_line(generator: ModuleType) -> None:
    option = onnx.defs.OpSchema.FormalParameterOption
    kind = onnx.defs.OpSchema.AttrType
    sets: dict[str, str] = {}
    line = generator.line_of(
        schema(
            inputs=[parameter("a"), parameter("b", option.Optional), parameter("c", option.Variadic, 2)],
            outputs=[parameter("y")],
            attributes=[
                onnx.defs.OpSchema.Attribute("axis", kind.INT, "", required=True),
                onnx.defs.OpSchema.Attribute("alpha", onnx.helper.make_attribute("alpha", 0.5), ""),
            ],
        ),
        "F",
        sets,
    )
    [(key, types)] = sets.items()
    assert types == "tensor(float)"
    assert (line.op_type, line.since, line.flags) == ("Foo", 3, "F")
    assert line.columns == f"a:T b:T? c:T*2 | y:T | alpha:FLOAT=0.5 axis:INT! | T={key}"


def test_empty_columns_are_a_dash(generator: ModuleType) -> None:
    line = generator.line_of(onnx.defs.OpSchema("Foo", "test", 3), "", {})
    assert line.columns == "- | - | - | -"


@pytest.mark.parametrize("value", ["two words", "a|b", "two\nlines"])
def test_a_default_that_the_form_cannot_hold_is_refused(generator: ModuleType, value: str) -> None:
    default = onnx.helper.make_attribute("mode", value)
    with pytest.raises(ValueError, match="has no written form"):
        generator.attribute_text(onnx.defs.OpSchema.Attribute("mode", default, ""))


def test_a_tensor_as_default_is_refused(generator: ModuleType) -> None:
    default = onnx.helper.make_attribute("value", onnx.helper.make_tensor("t", 1, [1], [0.0]))
    with pytest.raises(ValueError, match="TensorProto has no written form"):
        generator.attribute_text(onnx.defs.OpSchema.Attribute("value", default, ""))


def test_two_sets_of_types_never_share_a_key(generator: ModuleType) -> None:
    sets: dict[str, str] = {}
    key = generator.type_set(["tensor(float)", "map(int64, float)"], sets)
    assert sets == {key: "map(int64,tensor(float)) tensor(float)"}
    assert generator.type_set(["map(int64,float)", "tensor(float)"], sets) == key
    sets[key] = "something else"
    with pytest.raises(ValueError, match="share the key"):
        generator.type_set(["tensor(float)", "map(int64, float)"], sets)
