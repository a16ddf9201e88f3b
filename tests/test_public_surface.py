"""The names that `import sardonyx` offers, compared with the table of the architecture."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import sardonyx as sx

PROMISED = {
    "files": "load save to_bytes External Limits",
    "graph": "Model Graph Function Node Value Attr AttrRef Tensor SparseTensor Rewrite",
    "types": "DType TensorType SparseTensorType SequenceType OptionalType MapType OpaqueType Dim Symbol Scope",
    "work": "lower inline_functions infer_shapes inline_single_trip_scan_bodies check compare dump diff passes rules",
    "trouble": "OnnxError ErrorKind Issue CODES",
}

NOT_YET = {"compare"}
"""What is not built yet. Names leave this list and never join it."""

NAMES = {name for names in PROMISED.values() for name in names.split()} - NOT_YET


def test_the_public_names_are_those_of_the_table() -> None:
    assert set(sx.__all__) == NAMES


def test_dir_lists_the_public_names_and_the_version() -> None:
    assert set(dir(sx)) == NAMES | {"__version__"}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_public_name_can_be_imported_and_says_what_it_is(name: str) -> None:
    found = getattr(sx, name)
    if inspect.isfunction(found) or inspect.isclass(found):
        assert inspect.getdoc(found)


def test_no_module_hides_a_function_of_the_same_name() -> None:
    folder = Path(sx.__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix in ("", ".py")}
    assert modules & (NAMES | NOT_YET) <= {"passes"}  # which is a module


@pytest.mark.parametrize("name", sorted(NOT_YET))
def test_a_name_that_is_not_built_is_not_there(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(sx, name)


def test_load_takes_the_documented_options() -> None:
    parameters = inspect.signature(sx.load).parameters
    defaults: dict[str, Any] = {name: one.default for name, one in parameters.items() if name != "source"}
    assert defaults == {
        "external_data": "strict",
        "external_data_dir": None,
        "links": "inside",
        "max_nesting": 128,
        "limits": None,
    }


def test_the_version_is_the_one_of_the_package() -> None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("sardonyx")
    except PackageNotFoundError:
        pytest.skip("sardonyx is not installed, only on the path")
    assert sx.__version__ == installed
