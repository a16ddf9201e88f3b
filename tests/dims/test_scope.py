"""Symbols, names, facts, and what can be proved from them."""

from __future__ import annotations

import pytest

from sardonyx.dims import Scope, Symbol


def test_a_name_gives_the_same_symbol_every_time():
    scope = Scope()
    s = scope.symbol("batch size")
    assert scope.symbol("batch size") is s
    assert str(s) == "batch size"
    assert s.name == "batch size"
    assert not s.anonymous


def test_a_closed_scope_refuses_new_names_and_its_children_do_not():
    scope = Scope()
    s = scope.symbol("s")
    scope.close()
    assert scope.symbol("s") is s
    with pytest.raises(ValueError, match="'t' is not a dim of this model"):
        scope.symbol("t")
    child = scope.child()
    assert child.symbol("s") is s
    assert str(child.symbol("t") + s) == "s + t"
    assert scope.find("t") is None


def test_an_anonymous_symbol_is_equal_to_itself_only():
    scope = Scope()
    one, other = scope.fresh(), scope.fresh()
    assert one.anonymous
    assert one == one
    assert one != other
    assert scope.equal(one, other) is None
    assert one - other != 0


def test_anonymous_names_are_stable_and_never_those_of_declared_symbols():
    scope = Scope()
    scope.symbol("_d0")
    first, second, third = scope.fresh(), scope.fresh("NonZero"), scope.fresh("max pool:0")
    assert [str(dim) for dim in (first, second, third)] == ["_d3", "_NonZero1", "_max_pool_0_2"]
    assert str(first) == "_d3"


def test_a_name_declared_later_takes_the_text_from_an_anonymous_symbol():
    scope = Scope()
    anonymous = scope.fresh()
    assert str(anonymous) == "_d0"
    declared = scope.symbol("_d0")
    assert declared is not anonymous
    assert str(declared) == "_d0"
    assert str(anonymous) == "_d1"


def test_two_inferences_over_one_model_print_alike():
    scope = Scope()
    here = scope.fresh()
    scope.close()
    texts = []
    for _ in range(2):
        child = scope.child()
        body = child.child()
        texts.append(str(child.fresh() + body.fresh() + child.fresh() + here))
    assert texts == ["_d0 + _d1 + _d2 + _d3"] * 2


def test_dims_of_the_bodies_of_one_inference_mix():
    model = Scope()
    s = model.symbol("s")
    model.close()
    inference = model.child()
    one, other = inference.child(), inference.child()
    assert str(one.fresh() + other.fresh() + s) == "_d0 + _d1 + s"


def test_what_an_inference_makes_stays_out_of_the_model():
    model = Scope()
    s = model.symbol("s")
    model.close()
    before = len(model.pool.sums_kept), len(model.pool.atoms)
    child = model.child()
    child.maximum(child.fresh() + s, 3 * s * child.fresh() + 1)
    assert (len(model.pool.sums_kept), len(model.pool.atoms)) <= (before[0] + 2, before[1])


def test_sizes_are_not_negative_and_elements_may_be():
    scope = Scope()
    s, z = scope.symbol("s"), scope.fresh(signed=True)
    assert scope.bounds(s) == (0, None)
    assert scope.bounds(z) == (None, None)
    assert scope.at_least(s, 0) is True
    assert scope.at_least(z, 0) is None
    assert not scope.is_positive(s)
    assert scope.is_positive(s + 1)
    assert scope.bounds(7) == (7, 7)


def test_facts_about_differences_are_used():
    scope = Scope()
    past, total, seq = (scope.symbol(name) for name in ("past", "total", "seq"))
    assert scope.at_least(total, past) is None
    assert scope.assume_at_least(total, past + seq)
    assert scope.at_least(total, past) is True
    assert scope.at_least(total + 1, past + seq) is True
    assert scope.at_least(past, total + 1) is False
    assert scope.maximum(total, seq) is total
    assert scope.maximum(total - past, 0) is total - past
    assert scope.at_least(2 * total, 2 * past + seq) is True


def test_equalities_prove_and_do_not_rename():
    scope = Scope()
    a, b = scope.symbol("a"), scope.symbol("b")
    assert scope.equal(a, b) is None
    assert scope.assume_equal(a, b)
    assert scope.equal(a, b) is True
    assert scope.equal(a + 3, b + 3) is True
    assert scope.equal(a + 1, b) is False
    assert str(a + b) == "a + b"


def test_facts_of_a_child_stay_there():
    scope = Scope()
    s = scope.symbol("s")
    scope.close()
    child = scope.child()
    assert child.assume_at_least(s, 1)
    assert child.is_positive(s)
    assert child.child().is_positive(s)
    assert not scope.is_positive(s)
    assert child.floordiv(s, s) == 1
    assert scope.floordiv(s, s) != 1


def test_a_fact_that_is_provably_wrong_is_refused_and_not_recorded():
    scope = Scope()
    s = scope.symbol("s")
    assert not scope.assume_at_least(-1, s)
    assert not scope.assume_at_least(2, 3)
    assert not scope.assume_equal(s + 1, s)
    assert not scope.assume_equal(2 * s, 7)
    assert scope.bounds(s) == (0, None)
    assert scope.assume_at_least(3, 2)


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("s", "s", True),
        ("s + 1", "s", False),
        ("s", "t", None),
        ("2*s", "2*t + 1", False),
        ("s - s//2", "(s + 1)//2", True),
        ("3*s//2", "s + s//2", True),
        ("s % 3", "5", False),
        ("s % 3", "2", None),
        ("max(s, 4)", "3", False),
        ("max(s, 4) - 4", "max(s - 4, 0)", True),
        ("s*t", "t*s", True),
        ("7", "7", True),
        ("7", "8", False),
        ("s*(t + 1)", "s*t", None),  # both are 0 where s is
        ("s*t + s", "s*t - s", None),
        ("(s + 1)*(t + 1)", "(s + 1)*t", False),
        ("s*max(t, 1)", "s*t", None),
        ("s*(t - t//2)", "s*((t + 1)//2)", True),
    ],
)
def test_equal_proves_or_says_nothing(one, other, answer):
    scope = Scope()
    assert scope.equal(scope.parse(one), scope.parse(other)) is answer
    assert scope.equal(scope.parse(other), scope.parse(one)) is answer
    assert scope.same(scope.parse(one), scope.parse(other)) is (answer is True)
    assert scope.same(scope.parse(other), scope.parse(one)) is (answer is True)


def test_new_facts_change_the_answer_to_a_question_asked_before():
    scope = Scope()
    s, t = scope.symbol("s"), scope.symbol("t")
    assert scope.equal(s * t, s * t + s) is None
    assert not scope.reaches(s - 3, 0)
    assert scope.simplify(scope.parse("max(s//4, 1) + t")) == scope.parse("max(s//4, 1) + t")
    scope.assume_at_least(s, 4)
    assert scope.equal(s * t, s * t + s) is False
    assert [scope.reaches(s - 3, number) for number in (0, 1, 2)] == [True, True, False]
    assert scope.simplify(scope.parse("max(s//4, 1) + t")) == scope.parse("s//4 + t")


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("s + 1", "s", True),
        ("2*s", "2*t + 1", True),
        ("s", "t", False),
        ("s", "s", False),
        ("s*t", "s*t + s", False),
        ("s % 3", "5", False),  # a search would show it
        ("3", "4", True),
        ("4", "4", False),
    ],
)
def test_differs_says_what_is_plain(one, other, differ):
    scope = Scope()
    assert scope.differs(scope.parse(one), scope.parse(other)) is differ
    assert scope.differs(scope.parse(other), scope.parse(one)) is differ


def test_symbols_have_types_a_user_can_test():
    scope = Scope()
    assert isinstance(scope.symbol("s"), Symbol)
    assert isinstance(scope.fresh(), Symbol)
    assert repr(scope.symbol("s") + 1) == "<dim s + 1>"
