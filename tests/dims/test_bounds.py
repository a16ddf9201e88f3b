"""How small and how large an expression can be."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sardonyx.dims import Scope

BOUNDS = [
    ("s + t + 3", 3, None),
    ("3 - s", None, 3),
    ("s - t", None, None),
    ("s*t", 0, None),
    ("s % 4", 0, 3),
    ("-(s % 4)", -3, 0),
    ("s - s//2", 0, None),
    ("s//2 - s", None, 0),
    ("2*(s//2) - s", -1, 0),
    ("(s + 1)//2 - s//2", 0, 1),
    ("t*(s//2) - t*s", None, 0),
    ("max(s, 3)", 3, None),
    ("min(s, 3)", 0, 3),
    ("max(s, t) - s", 0, None),
    ("min(s, t) - s", None, 0),
    ("min(s, 5) + min(t, 7)", 0, 12),
    ("min(s, 5)*min(t, 7)", 0, 35),
    ("broadcast(s, t)", 0, None),
    ("broadcast(s + 2, t + 3)", 2, None),
    ("(s if t - 3 >= 0 else 8)", 0, None),
    ("(min(s, 4) if t - 3 >= 0 else 8)", 0, 8),
    ("s/2", 0, None),
    ("(s + 1)/4", 1, None),
    ("s//t", 0, None),
    ("s//t - s", None, 0),
    ("(s + 1)/t", 1, None),
    ("s//2 + t//2 - (s + t)//2", -1, 0),
]


@pytest.mark.parametrize(("text", "low", "high"), BOUNDS)
def test_bounds_of_an_expression(text, low, high):
    scope = Scope()
    assert scope.bounds(scope.parse(text)) == (low, high)


def test_facts_sharpen_bounds():
    scope = Scope()
    s, t = scope.symbol("s"), scope.symbol("t")
    assert scope.assume_at_least(s, 3)
    assert scope.assume_at_least(20, 2 * s)
    assert scope.bounds(s) == (3, 10)
    assert scope.bounds(s * s) == (9, 100)
    assert scope.bounds(s * t - t) == (0, None)
    assert scope.bounds(15 // s) == (0, 15)


def test_inequalities_chain():
    scope = Scope()
    a, b, c, d = (scope.symbol(name) for name in "abcd")
    for one, other in ((a, b), (b, c), (c, d)):
        assert scope.assume_at_least(one, other)
    assert scope.at_least(a, d) is True
    assert scope.at_least(d, a) is None


def test_many_facts_cost_no_more_than_the_few_that_matter():
    scope = Scope()
    symbols = [scope.symbol(f"s{i}") for i in range(3000)]
    for one, other in pairwise(symbols):
        assert scope.assume_at_least(one, other)
    assert scope.at_least(symbols[0], symbols[2]) is True
    assert scope.at_least(symbols[2], symbols[0]) is None


def test_a_fact_about_an_operation_on_itself_has_an_end():
    scope = Scope()
    a, b = scope.symbol("a"), scope.fresh(signed=True)
    low = scope.minimum(a, b * a - 3)
    scope.assume_at_least(low, scope.minimum(low * b, a - b))
    assert scope.bounds(low)[1] is None or isinstance(scope.bounds(low)[1], int)
