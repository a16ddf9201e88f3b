"""What the fuzzer found: each input once broke a claim of fuzz/README.md."""

from __future__ import annotations

import sardonyx as sx
from tests.hostile.generate import attribute, block, model, node, number, relu, value


def test_values_without_a_name_in_a_graph_and_in_its_body_are_both_reported() -> None:
    body = node("Relu", ["x"], ["inner"]) + block(2, "body") + value(11, "") + value(12, "inner")
    graph = relu(node("Op", ["x"], ["z"], attribute("body", number(20, 5), block(6, body))), value(11, ""))
    codes = [issue.code for issue in sx.check(model(graph))]
    assert codes.count("input-unnamed") == 2
