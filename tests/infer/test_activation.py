"""The place in the nest of graphs: its path, in steps and in words."""

from __future__ import annotations

import pytest

from tests.infer.models import infer

HEAD = '<domain: "my", opset_import: ["" : 21, "my" : 1]>'


def chain(count):
    """Return a model of functions that call the next one; each has a node that cannot run."""
    lines = [f"g (float[n] x) => (y) {{ y = my.F{count} (x) }}"]
    for at in range(count, 0, -1):
        inner = f"b = my.F{at - 1} (a)" if at > 1 else "b = Relu (a)"
        lines.append(f"{HEAD} F{at} (a) => (b) {{ {inner} c = Transpose <perm = [0, 0]> (a) }}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("depth", "text"),
    [
        (1, "call of node 0 (F1)"),
        (2, "call of node 0 (F2) > call of node 0 (F1)"),
        (8, " > ".join(f"call of node 0 (F{at})" for at in range(8, 0, -1))),
        (
            9,
            "call of node 0 (F9) > call of node 0 (F8) > call of node 0 (F7) > call of node 0 (F6) > "
            "call of node 0 (F5) > 2 more > call of node 0 (F2) > call of node 0 (F1)",
        ),
        (
            300,
            "call of node 0 (F300) > call of node 0 (F299) > call of node 0 (F298) > call of node 0 (F297) > "
            "call of node 0 (F296) > 293 more > call of node 0 (F2) > call of node 0 (F1)",
        ),
    ],
)
def test_a_long_path_is_told_by_its_beginning_and_its_end(depth, text):
    inference = infer(chain(depth))
    deepest = max(inference.frames.each(), key=lambda frame: frame.level.depth)
    assert deepest.level.text == text
    assert deepest.path == deepest.level.path == ((0, None),) * depth


def test_the_main_graph_needs_no_words():
    assert infer(chain(1)).frame().level.text is None


def test_what_is_told_of_a_deep_chain_grows_with_its_length_alone():
    few, many = infer(chain(100)), infer(chain(800))
    assert len(many.issues) == 800
    sizes = [sum(len(str(issue)) for issue in one.issues) for one in (few, many)]
    assert sizes[1] < 10 * sizes[0]
