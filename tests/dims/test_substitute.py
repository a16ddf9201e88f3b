"""Dims in place of symbols, numbers in place of everything, and a second look with more facts."""

from __future__ import annotations

import pytest

from sardonyx.dims import Scope, evaluate, substitute


@pytest.fixture
def scope() -> Scope:
    return Scope()


def test_substitution_puts_dims_in_place_of_symbols(scope):
    a, b = scope.symbol("a"), scope.symbol("b")
    dim = (a + 1) // 2 * b + scope.maximum(a, b)
    assert scope.substitute(dim, {a: 2 * b + 1}) is (b + 1) * b + 2 * b + 1
    assert str(substitute(dim, {a: b + 2})) == "2*b + b*((b + 1)//2) + 2"
    assert substitute(dim, {a: 3, b: 5}) == 15
    assert substitute(dim, {}) is dim
    assert substitute(7, {a: b}) == 7


def test_substitution_leaves_out_the_branch_that_is_not_taken(scope):
    a, b = scope.symbol("a"), scope.symbol("b")
    dim = scope.select(b - 1, a // b, 0)
    assert str(dim) == "(a//b if b - 1 >= 0 else 0)"
    assert substitute(dim, {b: 0}) == 0
    assert evaluate(dim, {"a": 9, "b": 0}) == 0
    assert evaluate(dim, {"a": 9, "b": 2}) == 4


def test_evaluation_takes_sizes_by_symbol_or_by_name_and_wants_all(scope):
    a, b = scope.symbol("a"), scope.symbol("b")
    assert evaluate(a * b + 1, {"a": 2, b: 3}) == 7
    assert evaluate(4, {}) == 4
    with pytest.raises(KeyError, match="b"):
        evaluate(a * b, {"a": 2})
    with pytest.raises(ZeroDivisionError):
        evaluate(a // b, {"a": 2, "b": 0})
    with pytest.raises(ValueError, match="3 is not a multiple of 2"):
        evaluate(scope.exact_div(a, 2), {"a": 3})


def test_simplifying_applies_what_became_known(scope):
    a, b = scope.symbol("a"), scope.symbol("b")
    dim = 2 * (a * b // b) + scope.parse("max(a, 4)") * 3
    assert str(dim) == "2*(a*b//b) + 3*max(a, 4)"
    assert scope.simplify(dim) is dim
    scope.assume_at_least(b, 1)
    assert str(scope.simplify(dim)) == "2*a + 3*max(a, 4)"
    scope.assume_at_least(a, 4)
    assert scope.simplify(dim) is 5 * a
    assert scope.simplify(3) == 3
