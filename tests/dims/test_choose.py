"""Choices: max and min up to shared parts, the dim that broadcasts, the branch a comparison selects."""

from __future__ import annotations

import pytest

from sardonyx.dims import DimMismatch, Scope, TooLarge, evaluate

TEXTS = [
    ("max(a, b)", "max(a, b)"),
    ("max(b, a)", "max(a, b)"),
    ("max(3, 5)", "5"),
    ("max(a, a)", "a"),
    ("max(a + 1, a + 3, a)", "a + 3"),
    ("max(a, max(b, c))", "max(a, b, c)"),
    ("max(max(a, b) + 1, c)", "max(a + 1, b + 1, c)"),
    ("max(a + 2, b + 2) - 2", "max(a, b)"),
    ("max(a + c, b + c)", "c + max(a, b)"),
    ("max(2*a, 2*b)", "2*max(a, b)"),
    ("2*max(a, b)", "2*max(a, b)"),
    ("max(a - 3, 0)", "max(a - 3, 0)"),
    ("max(a, 3) - 3", "max(a - 3, 0)"),
    ("max(a - b, 0)", "max(a - b, 0)"),
    ("max(a, 1, b)", "max(a, b, 1)"),
    ("min(a + 1, b + 1)", "min(a, b) + 1"),
    ("min(a, min(b, 7))", "min(a, b, 7)"),
    ("-max(-a, -b)", "a + b - max(a, b)"),
    ("min(a, 5) - max(b, 5)", "min(a, 5) - max(b, 5)"),
    ("max(-min(a, 5), b)", "max(-a, b, -5)"),
    ("broadcast(b, a)", "broadcast(a, b)"),
    ("broadcast(a, 1)", "a"),
    ("broadcast(a, 8)", "8"),
    ("broadcast(a, 0)", "0"),
    ("broadcast(1, 1)", "1"),
    ("broadcast(a, broadcast(b, a))", "broadcast(a, b)"),
    ("broadcast(a, min(a, 1024))", "a"),
    ("broadcast(min(a + 1, 1024), a + 1)", "a + 1"),
    ("broadcast(a, min(a, 1))", "broadcast(a, min(a, 1))"),
    ("(a if x >= 0 else a)", "a"),
    ("(a if 3 >= 0 else b)", "a"),
    ("(a if -3 >= 0 else b)", "b"),
    ("(a if 2*x - 3 >= 0 else b)", "(a if x - 2 >= 0 else b)"),
    ("(a if x > y else b)", "(a if x - y - 1 >= 0 else b)"),
    ("(a if x <= 4 else b)", "(a if 4 - x >= 0 else b)"),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_choice_has_one_form(text, expected):
    scope = Scope()
    dim = scope.parse(text)
    assert str(dim) == expected
    assert scope.parse(expected) == dim


def known(text: str, **least: int) -> str:
    scope = Scope()
    for name, number in least.items():
        scope.assume_at_least(scope.symbol(name), number)
    return str(scope.simplify(scope.parse(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max(s, 0)", "s"),
        ("max(s, -1)", "s"),
        ("max(s + 1, 1)", "s + 1"),
        ("max(2*s + 1, s)", "2*s + 1"),
        ("max(s, s//2)", "s"),
        ("max((s + 1)//2, s//2)", "(s + 1)//2"),
        ("min(s, s//2 + 5, s//2)", "s//2"),
        ("max(s, s % 7)", "s"),
        ("max(s % 7, 7)", "7"),
        ("max(s, t)", "max(s, t)"),
        ("max(min(s, 5), 0)", "min(s, 5)"),
        ("min(max(s - 3, 0), s)", "max(s - 3, 0)"),
        ("(a if s + 1 >= 0 else b)", "a"),
        ("(a if -s - 1 >= 0 else b)", "b"),
    ],
)
def test_an_operand_that_never_wins_is_dropped(text, expected):
    assert known(text) == expected


def test_more_facts_drop_more():
    assert known("max(s, 4)") == "max(s, 4)"
    assert known("max(s, 4)", s=4) == "s"
    assert known("broadcast(s, t)") == "broadcast(s, t)"
    assert known("broadcast(s, t)", t=2) == "t"


def test_numbers_that_do_not_broadcast_are_refused_with_both():
    with pytest.raises(DimMismatch, match="3 and 4 do not broadcast") as raised:
        Scope().broadcast(3, 1, 4)
    assert raised.value.sizes == (3, 4)
    with pytest.raises(DimMismatch):
        Scope().broadcast(0, 2)


def test_a_broadcast_is_the_size_that_is_not_one_even_zero():
    scope = Scope()
    dim = scope.broadcast(scope.symbol("a"), scope.symbol("b"))
    assert [evaluate(dim, {"a": a, "b": b}) for a, b in [(1, 1), (1, 7), (7, 1), (7, 7), (0, 1), (1, 0)]] == [
        1, 7, 7, 7, 0, 0,
    ]  # fmt: skip
    with pytest.raises(DimMismatch):
        evaluate(dim, {"a": 2, "b": 3})


def test_choices_among_too_many_are_refused():
    scope = Scope()
    symbols = [scope.symbol(f"s{i}") for i in range(100)]
    for choose in (scope.maximum, scope.minimum, scope.broadcast):
        with pytest.raises(TooLarge):
            choose(*symbols)
        assert choose(*symbols[:16]).symbols == tuple(symbols[:16])


def test_the_largest_of_nothing_is_refused():
    with pytest.raises(ValueError, match="max of nothing"):
        Scope().maximum()
