"""Declared names come back to anonymous symbols; declared names are never identified with each other."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sardonyx.dims import Scope, Symbol, solve


@pytest.fixture
def scope() -> Scope:
    scope = Scope()
    for name in ("batch", "past", "seq", "total"):
        scope.symbol(name)
    return scope


def solved(scope, *pairs):
    return {str(symbol): str(dim) for symbol, dim in solve(scope, pairs).items()}


def test_a_declared_name_goes_to_the_anonymous_symbol(scope):
    u = scope.fresh()
    assert solve(scope, [(scope.symbol("seq"), u)]) == {u: scope.symbol("seq")}


def test_a_sum_is_solved_for_its_one_unknown(scope):
    u = scope.fresh()
    assert solved(scope, (scope.symbol("total"), u + scope.symbol("past"))) == {"_d0": "total - past"}
    assert solved(scope, (scope.symbol("total"), 5 - u)) == {"_d0": "5 - total"}


def test_a_multiple_is_divided_exactly(scope):
    u = scope.fresh()
    assert solved(scope, (scope.symbol("total"), 4 * u)) == {"_d0": "total/4"}
    assert solved(scope, (12, 4 * u)) == {"_d0": "3"}


def test_a_product_is_divided_only_by_what_is_not_zero(scope):
    u, batch = scope.fresh(), scope.symbol("batch")
    assert solved(scope, (scope.symbol("total"), batch * u)) == {}
    scope.assume_at_least(batch, 1)
    assert solved(scope, (scope.symbol("total"), batch * u)) == {"_d0": "total/batch"}


def test_an_unknown_inside_an_operation_is_left_alone(scope):
    u = scope.fresh()
    for dim in (u // 2, scope.maximum(u, 4), u + u // 2, u * u, u * (u // 3)):
        assert solved(scope, (scope.symbol("total"), dim)) == {}


def test_declared_names_are_never_identified(scope):
    assert solved(scope, (scope.symbol("seq"), scope.symbol("total"))) == {}
    u = scope.fresh()
    assert solved(scope, (scope.symbol("seq"), u), (scope.symbol("total"), u)) == {"_d0": "seq"}


def test_what_is_solved_helps_to_solve_the_rest_in_any_order(scope):
    u, v, w = scope.fresh(), scope.fresh(), scope.fresh()
    pairs = [(scope.symbol("total"), u + v + w), (scope.symbol("past"), v + w), (scope.symbol("seq"), w)]
    expected = {"_d2": "seq", "_d1": "past - seq", "_d0": "total - past"}
    assert solved(scope, *pairs) == expected
    assert solved(scope, *reversed(pairs)) == expected


def test_two_unknowns_that_nothing_settles_stay(scope):
    u, v = scope.fresh(), scope.fresh()
    assert solved(scope, (scope.symbol("total"), u + v)) == {}


def test_a_long_chain_is_solved_in_one_go(scope):
    links = [scope.fresh() for _ in range(500)]
    pairs = list(pairwise(links))
    assert solve(scope, [*pairs, (scope.symbol("seq"), links[-1])]) == dict.fromkeys(
        reversed(links), scope.symbol("seq")
    )


def test_a_size_that_would_be_negative_or_a_fraction_is_no_solution(scope):
    u = scope.fresh()
    assert solved(scope, (3, u + 5)) == {}
    assert solved(scope, (3, 2 * u)) == {}
    signed = scope.fresh(signed=True)
    assert solve(scope, [(3, signed + 5)]) == {signed: -2}


def test_results_hold_no_anonymous_symbols(scope):
    u, v = scope.fresh(), scope.fresh()
    result = solve(scope, [(scope.symbol("total"), u + v), (scope.symbol("seq"), 2 * v)])
    assert result[u].symbols == (scope.symbol("total"), scope.symbol("seq"))
    assert all(isinstance(symbol, Symbol) and symbol.anonymous for symbol in result)
