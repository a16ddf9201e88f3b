"""Whatever is built, it means what integer arithmetic means; whatever is proved, no size contradicts it."""

from __future__ import annotations

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from sardonyx.dims import DimMismatch, Scope, TooLarge, evaluate, substitute
from tests.dims.trees import NAMES, NoRun, build, number, python_value, sizes, trees

SETTINGS = settings(max_examples=150, deadline=None)


def fresh_scope():
    scope = Scope()
    symbols = {name: scope.symbol(name) for name in "abc"}
    symbols["z"] = scope.fresh("z", signed=True)
    scope.assume_at_least(symbols["b"], 1)
    return scope, symbols


def built(tree, at):
    """Return scope, symbols and dim; skip sizes that break the fact `b >= 1` and trees beyond the limits."""
    at = [each | {"b": max(each["b"], 1)} for each in at]
    scope, symbols = fresh_scope()
    try:
        dim = build(tree, scope, symbols)
    except TooLarge:
        reject()
    except (DimMismatch, ValueError, ZeroDivisionError):
        dim = None
    if dim is None:  # a refusal is a claim too: there is no run (or it concerns a branch that is not taken)
        assert "select" in str(tree) or not list(runs(tree, at))
        reject()
    return scope, symbols, dim, at


def runs(tree, at):
    for each in at:
        try:
            yield each, number(tree, each)
        except NoRun:
            continue


@SETTINGS
@given(trees, st.lists(sizes, min_size=4, max_size=8))
def test_every_operation_agrees_with_integer_arithmetic(tree, at):
    _, symbols, dim, at = built(tree, at)
    for each, expected in runs(tree, at):
        by_symbol = {symbols[name]: each[name] for name in NAMES}
        assert evaluate(dim, by_symbol) == expected
        assert substitute(dim, by_symbol) == expected


@SETTINGS
@given(trees, st.lists(sizes, min_size=4, max_size=8))
def test_python_reads_the_text_as_the_same_number(tree, at):
    _, symbols, dim, at = built(tree, at)
    text = str(dim)
    for each, expected in runs(tree, at):
        named = {name: each[name] for name in "abc"} | {symbols["z"].name: each["z"]}
        assert python_value(text, named) == expected


@SETTINGS
@given(trees)
def test_the_text_reads_back_as_the_same_expression(tree):
    scope = Scope()
    symbols = {name: scope.symbol(name) for name in NAMES}
    try:
        dim = build(tree, scope, symbols)
    except (TooLarge, ValueError, ZeroDivisionError):
        reject()
    assert scope.parse(str(dim)) == dim


@SETTINGS
@given(trees, st.lists(sizes, min_size=4, max_size=8))
def test_bounds_hold(tree, at):
    scope, _, dim, at = built(tree, at)
    low, high = scope.bounds(dim)
    for _, value in runs(tree, at):
        assert low is None or value >= low
        assert high is None or value <= high


@SETTINGS
@given(trees, trees, st.lists(sizes, min_size=6, max_size=10))
def test_answers_are_never_wrong(left, right, at):
    scope, symbols, one, at = built(left, at)
    try:
        other = build(right, scope, symbols)
    except (TooLarge, ValueError, ZeroDivisionError):
        reject()
    equal, at_least = scope.equal(one, other), scope.at_least(one, other)
    for each, value in runs(left, at):
        try:
            second = number(right, each)
        except NoRun:
            continue
        assert equal in (None, value == second)
        assert at_least in (None, value >= second)


@SETTINGS
@given(trees, trees, st.lists(sizes, min_size=8, max_size=12))
def test_a_recorded_inequality_proves_nothing_wrong(fact, tree, at):
    scope, symbols, known, at = built(fact, at)
    if not scope.assume_at_least(known, 0):
        return
    try:
        dim = build(tree, scope, symbols)
    except (TooLarge, ValueError, ZeroDivisionError):
        reject()
    low, high = scope.bounds(dim)
    for each, value in runs(fact, at):
        if value < 0:
            continue
        try:
            found = number(tree, each)
        except NoRun:
            continue
        assert evaluate(dim, {symbols[name]: each[name] for name in NAMES}) == found
        assert low is None or found >= low
        assert high is None or found <= high


polynomials = st.recursive(
    st.one_of(st.sampled_from("abc"), st.integers(-5, 5)),
    lambda inner: st.tuples(st.sampled_from("+-*"), inner, inner),
    max_leaves=8,
)


@SETTINGS
@given(polynomials, polynomials)
def test_polynomials_are_equal_exactly_when_they_are_the_same_function(left, right):
    scope = Scope()
    symbols = {name: scope.symbol(name) for name in "abc"}
    one, other = build(left, scope, symbols), build(right, scope, symbols)
    # A degree below 9 in each variable is decided by 9 values far enough apart: one point with growing powers.
    at = {"a": 10**9, "b": 10**90, "c": 10**900}
    assert (one == other) == (number(left, at) == number(right, at))


@SETTINGS
@given(polynomials, polynomials, polynomials)
def test_sums_and_products_do_not_depend_on_order_or_grouping(x, y, z):
    scope = Scope()
    symbols = {name: scope.symbol(name) for name in "abc"}
    try:
        x, y, z = (build(each, scope, symbols) for each in (x, y, z))
        assert x + y == y + x
        assert (x + y) + z == x + (y + z)
        assert x * y == y * x
        assert (x * y) * z == x * (y * z)
        assert x * (y + z) == x * y + x * z
        assert scope.maximum(x, y) == scope.maximum(y, x)
    except TooLarge:
        reject()


@SETTINGS
@given(trees, trees)
def test_forgetting_a_symbol_and_putting_a_number_back_changes_nothing(tree, value):
    """Substitution of a dim agrees with building the tree over that dim."""
    scope, symbols = fresh_scope()
    try:
        dim, replacement = build(tree, scope, symbols), build(value, scope, symbols)
        replaced = substitute(dim, {symbols["a"]: replacement})
    except (TooLarge, ValueError, ZeroDivisionError):
        reject()
    for base in (0, 1, 2, 5, 7):
        at = {"a": base, "b": 3, "c": base + 1, "z": -2}
        try:
            inner = number(value, at)
            expected = number(tree, at | {"a": inner})
        except NoRun:
            continue
        if inner >= 0:  # `dim` was built knowing a >= 0
            assert evaluate(replaced, {symbols[name]: at[name] for name in NAMES}) == expected
