"""Registering rules and finding them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sardonyx as sx
from sardonyx.infer import resolve
from sardonyx.ops import rules as module
from sardonyx.ops.rules import PACKAGES, Rules, built_in, find_rule, rules


@pytest.fixture(autouse=True)
def overlay(monkeypatch):
    """Let no registration outlive its test."""
    monkeypatch.setattr(module, "OVERLAY", {})
    monkeypatch.setattr(module, "asked", set())


def first(call):
    return call.tensor(0)


def second(call):
    return call.tensor(0)


def test_a_rule_holds_from_its_opset_until_the_next_one_begins():
    table = Rules("d")
    table("Op", since=7)(second)
    table("Op", since=1)(first)
    found = [table.find("Op", opset) for opset in (1, 6, 7, 99)]
    assert found == [first, first, second, second]
    assert table.find("Other", 1) is None
    table("Late", since=5)(first)
    assert table.find("Late", 4) is None


def test_a_family_shares_one_rule():
    table = Rules("d")
    table.table(first, {"A": 1, "B": 3})
    assert (table.find("A", 1), table.find("B", 2), table.find("B", 3)) == (first, None, first)


def test_the_same_start_cannot_be_registered_twice():
    table = rules("my.domain")
    table("Op")(first)
    with pytest.raises(ValueError, match="Op has a rule from opset 1 on already"):
        table("Op")(second)


def test_built_in_tables_are_closed():
    with pytest.raises(ValueError, match="are closed"):
        built_in("onnx")[""]("MyOp")(first)


def test_a_users_rule_comes_before_a_built_in_one():
    assert find_rule("", "Relu", 14) is not None
    rules("ai.onnx")("Relu")(first)
    assert find_rule("", "Relu", 14) is first


def test_a_users_rule_types_an_operator_of_an_own_domain():
    rules("my.domain")("Halve")(lambda call: call.tensor(0).with_shape((call.tensor(0).shape[0] // 2,)))
    text = '<ir_version: 8, opset_import: ["" : 18, "my.domain" : 1]> g (float[n] x) => (y) { y = my.domain.Halve(x) }'
    from onnx import parser

    model = sx.load(parser.parse_model(text))
    graph = sx.infer_shapes(model).model.graph
    assert str(graph.type(graph.outputs[0])) == "tensor(float)[n//2]"


def test_a_users_rule_counts_from_then_on_in_models_like_one_inferred_before(monkeypatch):
    monkeypatch.setattr(resolve, "OVERLAY", module.OVERLAY)
    from onnx import parser

    text = '<ir_version: 8, opset_import: ["" : 18]> g (float[n] x) => (y) { y = Relu(x) }'
    model = sx.load(parser.parse_model(text))
    [y] = model.graph.outputs
    assert str(sx.infer_shapes(model).model.graph.type(y)) == "tensor(float)[n]"
    rules("")("Relu")(lambda call: call.tensor(0).with_shape((7,)))
    assert str(sx.infer_shapes(model).model.graph.type(y)) == "tensor(float)[7]"


def test_another_package_ships_rules_by_an_entry_point(monkeypatch):
    asked = []

    class Entry:
        def load(self):
            asked.append("loaded")
            rules("shipped.domain")("Op")(first)

    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group, name: [Entry()] if name == "shipped.domain" else []
    )
    assert find_rule("shipped.domain", "Op", 1) is first
    assert find_rule("shipped.domain", "Other", 1) is None
    assert find_rule("silent.domain", "Op", 1) is None
    assert asked == ["loaded"]


def test_every_domain_with_rules_is_listed_with_its_packages():
    found: dict[str, set[str]] = {}
    for package in ("onnx", "ml", "microsoft"):
        for domain in built_in(package):
            found.setdefault(domain, set()).add(package)
    assert {domain: set(packages) for domain, packages in PACKAGES.items()} == found


def test_no_rule_hides_another_with_the_same_start():
    seen: dict[tuple[str, str, int], str] = {}
    for package in ("onnx", "ml", "microsoft"):
        for domain, table in built_in(package).items():
            for op_type, (starts, _) in table.known.items():
                for since in starts:
                    other = seen.setdefault((domain, op_type, since), package)
                    assert other == package, f"{op_type} from {since} on is in {other} and in {package}"


def test_a_model_loads_the_rules_of_its_own_domains_only():
    program = (
        "import sys, sardonyx as sx\n"
        "model = sx.load(open(0, 'rb').read())\n"
        "sx.infer_shapes(model)\n"
        "print([name for name in sys.modules if name in ('sardonyx.ops.ml', 'sardonyx.ops.microsoft')])\n"
    )
    from onnx import parser

    text = '<ir_version: 8, opset_import: ["" : 18]> g (float[n] x) => (y) { y = Relu(x) }'
    data = parser.parse_model(text).SerializeToString()
    done = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
