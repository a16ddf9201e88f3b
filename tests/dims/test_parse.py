"""What reads as arithmetic, what is a name, and what is neither however hostile it is."""

from __future__ import annotations

import pytest

from sardonyx.dims import Scope

EXPORTED = [
    ("floor(s/2)", "s//2"),
    ("floor(s/2 + 1/2)", "(s + 1)//2"),
    ("floor((s - 1)/2) + 1", "(s + 1)//2"),
    ("floor(0.5*s)", "s//2"),
    ("ceil(s/2)", "(s + 1)//2"),
    ("ceiling(s/3)", "(s + 2)//3"),
    ("CeilDiv(s, 3)", "(s + 2)//3"),
    ("FloorDiv(s, 3)", "s//3"),
    ("Mod(s, 2)", "s - 2*(s//2)"),
    ("PythonMod(s, 2)", "s - 2*(s//2)"),
    ("CleanDiv(s, 2)", "s/2"),
    ("Max(1, s)", "max(s, 1)"),
    ("Min(s, 448)", "min(s, 448)"),
    ("s0**2*4", "4*s0**2"),
    ("2*s0 + 1", "2*s0 + 1"),
    ("past_len+seq_len", "past_len + seq_len"),
    ("4*((h + 3)//4)", "4*((h + 3)//4)"),
    ("(s)", "s"),
    ("- - s", "s"),
    ("-s**2", "-s**2"),
    ("-(s//2)", "-(s//2)"),
    ("a - b - c", "a - b - c"),
    ("a - (b - c)", "a + c - b"),
    ("a//b//c", "a//b//c"),
    ("a//(b//c)", "a//(b//c)"),
    ("'batch size' + 1", "'batch size' + 1"),
    ("'it\\'s' * 'a\\\\b'", "'a\\\\b'*'it\\'s'"),
    ("'if' + 'lambda'", "'if' + 'lambda'"),
    ("größe*2", "2*größe"),
    ("12", "12"),
    ("(a if x < y else (b if x >= 2 else c))", "(a if y - x - 1 >= 0 else (b if x - 2 >= 0 else c))"),
    ("a if x >= 0 else b", "(a if x >= 0 else b)"),
    ("max*(max + min)", "max**2 + max*min"),
]


@pytest.mark.parametrize(("text", "expected"), EXPORTED)
def test_arithmetic_is_read_and_printed(text, expected):
    scope = Scope()
    dim = scope.parse(text)
    assert str(dim) == expected
    assert scope.parse(expected) == dim


NOT_ARITHMETIC = [
    "", " ", "+", "a +", "a b", "a ++", "(a", "a)", "a + ?", "f(a)", "max()", "max(a", "Mod(a)", "a if b",
    "a if b else c", "a if x >= else c", "a//0", "a % 0", "a/0", "1.5", "a*0.5.5", "a.", "1e5", "a**b", "a**-1",
    "a**99", "a[0]", "a.b", "a; b", "a = b", "a == b", "'a", "'", "0x10", "1_000", "٣", "7/2", "(2*a + 1)/2",
    "floor(a % (b/2))", "a,b", "lambda: a", "broadcast(2, 3)", "__import__('os')", "a\nb",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_ARITHMETIC)
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match="is not arithmetic over names"):
        Scope().parse(text)


HOSTILE = {
    "nested parentheses": "(" * 4000 + "a" + ")" * 4000,
    "open parentheses": "(" * 8000,
    "signs": "-" * 8000 + "a",
    "powers of powers": "a" + "**32" * 1000,
    "power tower of numbers": "9**32" * 1 + "*9**32" * 500,
    "a huge power": "a**99999999999999999999",
    "a huge number": "9" * 5000,
    "a huge product": "*".join(["9" * 30] * 200),
    "a product of sums": "*".join(["(a + b + c + d + e)"] * 300),
    "a long sum": " + ".join(f"s{i}" for i in range(1200)),
    "a long product": "*".join(["a"] * 4000),
    "nested remainders": "(" * 35 + "a" + "".join(f"%s{i})" for i in range(35)),
    "nested maxima": "max(a*" * 39 + "b" + ", c)" * 39,
    "nested choices": "(a if x >= 0 else " * 39 + "b" + ")" * 39,
    "many operands": "max(" + ",".join(f"s{i}" for i in range(1000)) + ")",
    "a long name list": "min(a, " * 300 + "b" + ")" * 300,
    "nested calls of floor": "floor(a/" * 39 + "b" + ")" * 39,
    "fractions of fractions": "floor(" + "/".join(f"s{i}" for i in range(800)) + ")",
    "more text than is read": "a + " * 10_000 + "a",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_refused_or_read_in_bounded_time(text):
    scope = Scope()
    scope.symbol("a")
    names = {"a", "b", "c", "d", "e", "x"} | {f"s{i}" for i in range(1200)}
    opaque = scope.dim_param(text, names)
    assert len(str(opaque)) <= 2 * len(text) + 100
    try:
        dim = scope.parse(text)
    except ValueError:
        return
    assert scope.parse(str(dim)) == dim


def test_a_dim_param_is_arithmetic_only_over_names_of_the_inputs():
    scope = Scope()
    s, past = scope.symbol("s"), scope.symbol("past")
    names = {"s", "past"}
    assert scope.dim_param("s", names) is s
    assert scope.dim_param("2*s + past", names) is 2 * s + past
    assert scope.dim_param("2*s + past", names) is 2 * s + past
    for text in (
        "2*s + other",
        "batch size",
        "?",
        "Layer:0",
        "unk__3",
        "12",
        "7//2",
        "s s",
        "s +",
        "s//0",
        "''",
        "s.1",
    ):
        dim = scope.dim_param(text, names)
        assert dim.is_symbol
        assert dim.name == text
        assert scope.dim_param(text, names) is dim
        assert str(dim) == text


def test_an_opaque_name_that_looks_like_arithmetic_reads_back_as_itself():
    scope = Scope()
    opaque = scope.dim_param("2*t + 1", {"s"})
    assert scope.parse(str(opaque)) is opaque
    assert scope.parse(str(opaque + 1)) is opaque + 1
    assert str(opaque + 1) == "'2*t + 1' + 1"


def test_a_long_dim_param_is_a_name():
    scope = Scope()
    text = "s + " * 200 + "s"
    assert scope.dim_param(text, {"s"}).name == text
    other = Scope()
    assert other.parse(text) is 201 * other.symbol("s")


def test_a_file_full_of_arithmetic_is_read_up_to_a_limit():
    scope = Scope()
    dims = [scope.dim_param(f"s + {'s + ' * 99}{number:038}", {"s"}) for number in range(600)]
    arithmetic = [dim for dim in dims if not dim.is_symbol]
    assert 300 < len(arithmetic) < 600
    assert all(dim.is_symbol for dim in dims[len(arithmetic) :])


def test_a_closed_scope_reads_its_own_names_only():
    scope = Scope()
    s = scope.symbol("s")
    scope.close()
    assert scope.parse("s + 1") is s + 1
    with pytest.raises(ValueError, match="arithmetic"):
        scope.parse("t + 1")
