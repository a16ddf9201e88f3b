"""The normal form: sums and products, numbers that stay numbers, one object for equal expressions."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sardonyx.dims import DIM_MAX, Expr, Scope, Symbol, TooLarge, evaluate, total


@pytest.fixture
def scope() -> Scope:
    return Scope()


def test_what_cancels_to_a_number_is_a_plain_int(scope):
    d = scope.symbol("d")
    for dim, number in [(d - d, 0), (d + 5 - d, 5), (2 * d + 1 - d - d, 1), (d * 0, 0), (d**0, 1), (d - (d - 7), 7)]:
        assert type(dim) is int
        assert dim == number


def test_adding_and_taking_away_gives_the_same_object_back(scope):
    d = scope.symbol("d")
    assert (d + 5) - 5 is d
    assert d * 1 is d
    assert 2 * d - d is d


def test_equal_forms_are_one_object_and_hash_alike(scope):
    a, b = scope.symbol("a"), scope.symbol("b")
    assert a * b is b * a
    assert a + b is b + a
    assert (a + b) * (a - b) is a * a - b**2
    assert {a + 1: "x"}[1 + a] == "x"


def test_equality_is_sameness_of_form_and_nothing_else(scope):
    a = scope.symbol("a")
    assert a != "a"
    assert a + 1 != a
    assert a * 0 + 3 == 3
    assert a != 3


def test_the_truth_of_an_expression_is_refused(scope):
    with pytest.raises(TypeError, match="s \\+ 1 is not known"):
        bool(scope.symbol("s") + 1)


def test_numbers_work_on_both_sides(scope):
    s = scope.symbol("s")
    shown = [5 + s, 5 - s, 3 * s, 7 // s, s // 2, s % 2, -s, +s, 7 % s]
    assert [str(dim) for dim in shown] == [
        "s + 5", "5 - s", "3*s", "7//s", "s//2", "s - 2*(s//2)", "-s", "s", "7 - s*(7//s)",
    ]  # fmt: skip


def test_other_types_are_refused(scope):
    s = scope.symbol("s")
    for other in (1.5, "s", None):
        with pytest.raises(TypeError):
            s + other
        with pytest.raises(TypeError):
            s * other
        with pytest.raises(TypeError):
            s // other


def test_negative_powers_are_refused(scope):
    with pytest.raises(ValueError, match="negative power -1"):
        scope.symbol("s") ** -1


def test_symbols_are_listed_once_in_order_of_use_and_from_inside_operations(scope):
    a, b, c = (scope.symbol(name) for name in "abc")
    assert (a * b + scope.maximum(c, b) // 2).symbols == (a, b, c)
    assert a.symbols == (a,)


def test_a_bare_symbol_says_so(scope):
    a = scope.symbol("a")
    assert a.is_symbol
    assert a.symbol is a
    assert isinstance(a, Symbol)
    assert isinstance(a, Expr)
    assert not (a + 1).is_symbol
    assert (a + 1).symbol is None


def test_total_adds_many_dims_at_once(scope):
    a, b = scope.symbol("a"), scope.symbol("b")
    assert total([a, 3, b, a, -3]) is 2 * a + b
    assert total([]) == 0
    assert total([a // 2, (a + 1) // 2]) is a


def test_numbers_never_wrap(scope):
    big = 2**20
    assert big * big * big * big > DIM_MAX
    d = scope.symbol("d")
    assert evaluate(d * d * d * d, {"d": big}) == 2**80


def test_too_many_terms_are_refused(scope):
    with pytest.raises(TooLarge, match="129 terms"):
        total(scope.symbol(f"s{i}") for i in range(129))
    assert len(total(scope.symbol(f"s{i}") for i in range(128)).terms) == 128


def repeat(grow, dim):
    for _ in range(1000):
        dim = grow(dim)


def test_growth_without_end_is_refused_in_bounded_time(scope):
    a, b = scope.symbol("a"), scope.symbol("b")
    for grow in (
        lambda dim: dim * a,  # degree
        lambda dim: dim + dim,  # coefficient
        lambda dim: dim * (a + b + 1),  # terms
        lambda dim: scope.maximum(dim // 3 + a * dim, b),  # nesting and size
        lambda dim: (dim * 2 + 1) % (a + 2),
    ):
        with pytest.raises(TooLarge):
            repeat(grow, a + b)


def test_dims_of_two_models_do_not_mix(scope):
    with pytest.raises(ValueError, match="unrelated"):
        scope.symbol("a") + Scope().symbol("b")


def test_importing_the_package_is_light():
    program = "import sys; import sardonyx.dims; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "sardonyx.dims.scope" in loaded
    heavy = {"typing", "dataclasses", "re", "fractions", "ast", "numpy", "sympy", "sardonyx.dims.parse"}
    assert not heavy & set(loaded)
