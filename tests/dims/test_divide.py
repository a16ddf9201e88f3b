"""Division: what is pulled out, what merges, what is exact, and what is refused because a size may be 0."""

from __future__ import annotations

import pytest

from sardonyx.dims import Scope, evaluate

TEXTS = [
    # published vectors, in this project's spelling; `/` is exact
    ("a + b - a", "b"),
    ("3*x + 2*x", "5*x"),
    ("b + a", "a + b"),
    ("CeilToInt(b + c, 2)", "(b + c + 1)//2"),
    ("1024*a//2", "512*a"),
    ("(2*x + 4)//2", "x + 2"),
    ("(a + b)*c", "a*c + b*c"),
    ("x//2 + (x + 1)//2", "x"),
    ("x//5//2", "x//10"),
    ("(a - 3)//2 + 1", "(a - 1)//2"),
    ("2*(H//2)", "2*(H//2)"),
    ("2*(H/2)", "H"),
    ("(2*H)//2", "H"),
    ("(2*H)/2", "H"),
    ("batch*seq*4/(batch*seq*2)", "2"),
    ("5 + x - 2 + 3", "x + 6"),
    # rounding down
    ("7//2", "3"),
    ("-7//2", "-4"),
    ("x//1", "x"),
    ("x//-1", "-x"),
    ("x//-3", "-((x + 2)//3)"),
    ("-x//2", "-((x + 1)//2)"),
    ("(x + 8)//4", "x//4 + 2"),
    ("(4*x + 6)//8", "(x + 1)//2"),
    ("(4*x + 3)//8", "x//2"),
    ("(6*x + 5)//4", "3*x//2 + 1"),
    ("(6*x + 4*y + 1)//2", "3*x + 2*y"),
    ("((x + 1)//2 + 1)//2", "(x + 3)//4"),
    ("(((x + 1)//2 + 1)//2 + 1)//2", "(x + 7)//8"),
    ("(x//2 + y)//3", "(x + 2*y)//6"),
    ("(2*(x//3))//5", "2*(x//3)//5"),
    ("x//3 + (x + 1)//3 + (x + 2)//3", "x"),
    ("2*(x//2) + 2*((x + 1)//2)", "2*x"),
    ("y*(x//2) + y*((x + 1)//2)", "x*y"),
    ("(x + 5)//2 + (x + 2)//2", "x + 3"),
    ("x % 4", "x - 4*(x//4)"),
    ("(4*x + 5) % 4", "1"),
    ("x//y", "x//y"),
    ("6*x//(4*y)", "3*x//(2*y)"),
    ("x//y//z", "x//y//z"),
    ("x//(y*z)", "x//(y*z)"),
    ("x//(-y)", "-x//y"),
    # exact
    ("H/2", "H/2"),
    ("4*(H/2)", "2*H"),
    ("2*(H/4)", "H/2"),
    ("(H + 4)/2", "H/2 + 2"),
    ("(H + 3)/2", "(H + 1)/2 + 1"),
    ("H/2/3", "H/6"),
    ("H/2//3", "H//6"),
    ("(a*b + a*c)/(b + c)", "a"),
    ("a*b/(a*c)", "b/c"),
    ("c*(a/(b*c))", "a/b"),
    ("b*c*(a/(b*c))", "a"),
    ("a/b/c", "a/(b*c)"),
    ("(a + b)/a", "b/a + 1"),
    ("-H/2", "-(H/2)"),
    ("0/x", "0"),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_division_has_one_form(text, expected):
    scope = Scope()
    dim = scope.parse(text)
    assert str(dim) == expected
    assert scope.parse(expected) == dim


CANCELLING = [("2*batch//batch", 2), ("batch//batch", 1), ("batch*7//(batch*2)", 3), ("0//batch", 0)]


@pytest.mark.parametrize(("text", "expected"), CANCELLING)
def test_a_divisor_cancels_only_where_it_is_known_not_to_be_zero(text, expected):
    scope = Scope()
    batch = scope.symbol("batch")
    dim = scope.simplify(scope.parse(text))
    assert not isinstance(dim, int)
    with pytest.raises(ZeroDivisionError):
        evaluate(dim, {batch: 0})
    scope.assume_at_least(batch, 1)
    assert scope.simplify(dim) == expected


POSITIVE = [
    ("(a*b + a)//a", "b + 1"),
    ("(a*b + b - 1)//b", "a"),
    ("(a*b + c)//b", "a + c//b"),
    ("(a*b + a*c)//(b + c)", "a"),
    ("(a*c)//(b*c)", "a//b"),
    ("a//(a + 1)", "0"),
    ("(a - 1)//a", "0"),
    ("min(a, 3)//4", "0"),
    ("(a % 4)//4", "0"),
    ("(a % b)//b", "0"),
    ("a % a", "0"),
]


@pytest.mark.parametrize(("text", "expected"), POSITIVE)
def test_sizes_of_at_least_one_divide_like_numbers(text, expected):
    scope = Scope()
    for name in "abc":
        scope.assume_at_least(scope.symbol(name), 1)
    assert str(scope.simplify(scope.parse(text))) == expected


def test_exact_division_takes_the_divisor_for_not_zero():
    scope = Scope()
    b, s = scope.symbol("b"), scope.symbol("s")
    assert scope.exact_div(b * s * 768, b * s * 12) == 64
    assert scope.exact_div(b * 768, 768) is b
    assert scope.floordiv(b * s * 768, b * s * 12) != 64


def test_exact_division_that_cannot_come_out_is_refused():
    scope = Scope()
    x = scope.symbol("x")
    for n, d, message in [
        (7, 2, "7 is not a multiple of 2"),
        (2 * x + 1, 2, "2\\*x \\+ 1 is never a multiple of 2"),
        (12 * x + 6, 8, "12\\*x \\+ 6 is never a multiple of 8"),
    ]:
        with pytest.raises(ValueError, match=message):
            scope.exact_div(n, d)


def test_division_by_the_number_zero_is_an_error():
    scope = Scope()
    x = scope.symbol("x")
    for divide in (scope.floordiv, scope.ceildiv, scope.mod, scope.exact_div):
        for n in (x, 5):
            with pytest.raises(ZeroDivisionError):
                divide(n, 0)
    with pytest.raises(ZeroDivisionError):
        x // 0


def test_operators_and_scope_agree_where_no_bound_matters():
    scope = Scope()
    x, y = scope.symbol("x"), scope.symbol("y")
    assert scope.floordiv(3 * x + 5, 4) is (3 * x + 5) // 4
    assert scope.mod(x, 3) is x % 3
    assert scope.ceildiv(x, 3) is (x + 2) // 3
    assert scope.floordiv(x, y) is x // y
    assert [scope.floordiv(7, 2), scope.ceildiv(7, 2), scope.mod(-7, 3), scope.exact_div(8, 2)] == [3, 4, 2, 4]
