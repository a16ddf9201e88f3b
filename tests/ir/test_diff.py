"""What changed between two models."""

from __future__ import annotations

import json
import random

import pytest

import sardonyx as sx
from tests.hostile.generate import attribute, block, entries, floats, model, node, number, relu, tensor, value


def build(*rest: bytes, tail: bytes = b"", **options: int) -> sx.Model:
    """Return y = Relu(x) with more in its graph, and more behind the graph."""
    return sx.load(model(relu(*rest), **options) + tail)


def lines(before: sx.Model, after: sx.Model) -> list[str]:
    return str(sx.diff(before, after)).splitlines()


def op(name: str, inputs: list[str], outputs: list[str], *rest: bytes, label: str = "") -> bytes:
    return node(name, inputs, outputs, *([block(3, label)] if label else []), *rest)


def ints(name: str, number_: int) -> bytes:
    return attribute(name, number(20, 2), number(3, number_))


def test_equal_models_have_an_empty_falsy_diff() -> None:
    found = sx.diff(build(), build())
    assert not found
    assert len(found) == 0
    assert str(found) == ""
    assert found.to_json() == {"schema": 1, "changes": []}


def test_nodes_are_added_and_removed() -> None:
    before, after = build(op("Abs", ["y"], ["z"])), build(op("Neg", ["y"], ["q"], label="minus"))
    assert lines(before, after) == ["- node -> z (Abs): Abs(y)", "+ node 'minus' (Neg): Neg(y)"]


def test_a_node_is_the_one_that_defines_the_same_value() -> None:
    before = build(op("Abs", ["x"], ["z"], ints("axis", 1), label="one"))
    after = build(op("Neg", ["y"], ["z"], ints("axis", 2), label="two"))
    assert lines(before, after) == [
        "~ node 'one' (Abs): op_type: Abs -> Neg",
        "~ node 'one' (Abs): name: one -> two",
        "~ node 'one' (Abs): inputs: (x) -> (y)",
        "~ node 'one' (Abs): attribute axis: INT 1 -> INT 2",
    ]


def test_a_node_with_new_outputs_is_found_by_operator_and_name() -> None:
    before, after = build(op("Abs", ["x"], ["z"], label="one")), build(op("Abs", ["x"], ["q"], label="one"))
    assert lines(before, after) == ["~ node 'one' (Abs): outputs: (z) -> (q)"]


def test_attributes_come_and_go() -> None:
    before, after = build(op("Abs", ["x"], ["z"], ints("a", 1))), build(op("Abs", ["x"], ["z"], ints("b", 1)))
    assert lines(before, after) == [
        "~ node -> z (Abs): attribute a: INT 1 -> nothing",
        "~ node -> z (Abs): attribute b: nothing -> INT 1",
    ]


def test_a_body_is_compared_part_by_part() -> None:
    def with_body(op_type: str) -> sx.Model:
        body = op(op_type, ["x"], ["r"]) + block(2, "body") + value(12, "r")
        return build(op("If", ["x"], ["z"], attribute("then_branch", number(20, 5), block(6, body)), label="choose"))

    assert lines(with_body("Abs"), with_body("Neg")) == [
        "~ node 'choose' (If).then_branch: node -> r (Abs): op_type: Abs -> Neg"
    ]


def test_weights_are_compared_by_hash() -> None:
    before, after = build(tensor(block(9, floats(1, 2)))), build(tensor(block(9, floats(1, 3))))
    (change,) = sx.diff(before, after)
    assert (change.verb, change.subject, change.name, change.aspect) == ("changed", "initializer", "w", "value")
    assert change.before != change.after
    assert not sx.diff(before, build(tensor(block(4, floats(1, 2)))))


def test_weights_that_are_not_there_are_told_apart_by_where_they_should_be() -> None:
    before, same, after = (sx.load(entries(location=name), external_data="lazy") for name in ("a", "a", "b"))
    assert not sx.diff(before, same)
    assert lines(before, after) == [
        "~ initializer w: value: float[2] unavailable location=a -> float[2] unavailable location=b"
    ]


def test_types_opsets_functions_and_metadata_are_compared() -> None:
    old = block(25, block(1, "F"), block(10, "org"), function_node("Op"))
    new = block(25, block(1, "F"), block(10, "org"), function_node("Other"))
    extra = block(25, block(1, "G"), block(10, "org"))
    typed = block(13, block(1, "z"), block(2, block(1, number(1, 7))))
    before = build(op("Abs", ["x"], ["z"]), tail=old)
    after = build(op("Abs", ["x"], ["z"]), typed, opset=19, tail=new + extra + block(14, block(1, "k"), block(2, "v")))
    assert lines(before, after) == [
        '+ metadata of model k: "v"',
        '~ opset "": value: 18 -> 19',
        "~ value z: type: nothing -> tensor(int64)",
        "~ function org::F: node -> o (Op): op_type: Op -> Other",
        "+ function org::G: 0 nodes",
    ]


def function_node(op_type: str) -> bytes:
    """A node of a function: there field 7, not 1."""
    return block(7, block(2, "o"), block(4, op_type))


def test_a_changed_order_is_one_change() -> None:
    first, second = op("Abs", ["x"], ["a"]), op("Neg", ["x"], ["b"])
    assert lines(build(first, second), build(second, first)) == ["~ nodes: order: first -> a (Abs) -> first -> b (Neg)"]


def test_json_says_the_same() -> None:
    found = sx.diff(build(), build(ir_version=9))
    assert json.loads(json.dumps(found.to_json())) == {
        "schema": 1,
        "changes": [
            {
                "change": "changed",
                "where": "",
                "subject": "model",
                "name": "",
                "aspect": "ir_version",
                "before": "8",
                "after": "9",
            }
        ],
    }


@pytest.mark.parametrize("seed", range(200))
def test_a_diff_is_empty_exactly_when_the_dumps_are_equal(seed: int) -> None:
    chance = random.Random(seed)
    before, after = random_model(chance), random_model(chance)
    assert bool(sx.diff(before, after)) == (sx.dump(before) != sx.dump(after))
    assert not sx.diff(before, before)


def random_model(chance: random.Random) -> sx.Model:
    """Return a small model of few choices, so that two of them are often nearly equal."""
    parts = []
    for at in range(chance.randrange(3)):
        attrs = [ints(name, chance.randrange(2)) for name in chance.sample("ab", chance.randrange(3))]
        if chance.randrange(2):
            body = op(chance.choice(["Abs", "Neg"]), ["x"], ["r"]) + block(2, "body") + value(12, "r")
            bodies = [block(11, body)] * chance.randrange(3)
            attrs.append(attribute("bodies", number(20, 10), *bodies))
        parts.append(op("Op", ["x"], [f"v{at}"], *attrs, label=chance.choice(["", "n"])))
    if chance.randrange(2):
        parts.append(tensor(block(9, floats(1, chance.randrange(2)))))
    chance.shuffle(parts)
    functions = [block(25, block(1, name), block(6, "k"), block(7, block(4, "Op"))) for name in "FG"]
    tail = b"".join(chance.sample(functions, chance.randrange(3)))
    notes = [block(14, block(1, key), block(2, "v")) for key in "kl"]
    return build(*parts, tail=tail + b"".join(chance.sample(notes, chance.randrange(3))))
