"""Lists of bodies, without recursion."""

from __future__ import annotations

from sardonyx.ir.graph import Graph
from sardonyx.ir.text import parse_graph
from sardonyx.ir.walk import bodies_within, defined_values

TEXT = """
g (c) => (y) {
   a = If (c) <t = t () => (p) { p = If (c) <u = u () => (q) { q = R() }, v = v (s) => (w) <float[1] w = {1}> {}> }>
   y = Many (c) <l = [m () => (c) {}, n () => (c) {}]>
}
"""


def test_bodies_come_innermost_first_and_in_file_order() -> None:
    assert [body.name for body in bodies_within(parse_graph(TEXT).nodes)] == ["u", "v", "t", "m", "n"]


def test_what_is_not_wanted_is_left_out_with_all_inside_it() -> None:
    def wanted(body: Graph) -> bool:
        return body.name != "t"

    assert [body.name for body in bodies_within(parse_graph(TEXT).nodes, wanted)] == ["m", "n"]


def test_defined_values_are_those_of_bodies_too() -> None:
    names = [value.name for value in defined_values(parse_graph(TEXT).nodes)]
    assert sorted(names) == ["a", "p", "q", "s", "w", "y"]
