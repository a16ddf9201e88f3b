"""Pipelines: how they are written, and what is wrong with those that are not."""

from __future__ import annotations

import re

import pytest

from sardonyx import passes
from sardonyx.ir.graph import Model
from sardonyx.ir.text import parse_graph


def test_every_name_leads_to_a_function() -> None:
    assert all(callable(passes.find(name)) for name in passes.PASSES)


def test_a_pipeline_is_names_with_commas_between() -> None:
    assert passes.parse("identity, dead_code") == [("identity", {}), ("dead_code", {})]


def test_an_empty_pipeline_does_nothing() -> None:
    model = Model(parse_graph("g (float x) => (x) {}"), {})
    assert passes.parse("") == []
    assert passes.run(model, "") is model


def test_options_are_literals_in_parentheses() -> None:
    assert passes.parse("identity(depth=2, keep=('a', None))") == [("identity", {"depth": 2, "keep": ("a", None)})]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shrink", "there is no pass 'shrink'; there are "),
        ("identity dead_code", "is not a list of passes"),
        ("identity(2)", "'identity(2)' in 'identity(2)' is not of the form name or name(option=value)"),
        ("'identity'", "is not of the form name or name(option=value)"),
        ("identity(depth=two)", "the options of 'identity(depth=two)' are not all literals"),
    ],
)
def test_a_wrong_pipeline_is_the_callers_mistake(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        passes.parse(text)


def test_passes_run_in_order() -> None:
    model = Model(
        parse_graph("g (float x) => (float y) { a = Neg(x) b = Identity(a) c = Abs(b) y = Neg(b) }"), {"": 18}
    )
    result = passes.run(model, "identity, dead_code")
    assert [node.op for node in result.graph.nodes] == ["Neg", "Neg"]
