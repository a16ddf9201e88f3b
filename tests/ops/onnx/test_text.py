"""Check rules for strings."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_strings_are_joined_and_matched_one_by_one():
    case("StringConcat", "str[a,1] str[b]", "str[a,b]")
    case("RegexFullMatch", "str[a,b]", "bool[a,b]", pattern="x.*")


def test_splitting_adds_an_axis_whose_length_the_data_decides():
    case("StringSplit", "str[a,b]", "str[a,b,?] i64[a,b]")
    case("StringSplit", "str", "str i64")
    outcome = case("StringSplit", "str[a]", "str[a,?] i64[a]", maxsplit=2)
    assert outcome.scope.upper(outcome.facts[0].type.shape[1]) == 3


def test_dropping_words_leaves_at_least_one():
    case("StringNormalizer", "str[4]", "str[4]", case_change_action="LOWER")
    case("StringNormalizer", "str[c]", "str[max(c,1)]")
    case("StringNormalizer", "str[1,c]", "str[1,c]", least={"c": 1})
    outcome = case("StringNormalizer", "str[1,c]", "str[1,?]", stopwords=["monday"], least={"c": 1})
    left = outcome.facts[0].type.shape[1]
    assert outcome.scope.lower(left) == 1
    assert outcome.scope.at_least(outcome.scope.symbol("c"), left)
    fails("StringNormalizer", "str[a,b,c]", "rank-mismatch")


def test_counts_of_n_grams_go_up_to_the_highest_index():
    given = {"ngram_indexes": [0, 4, 2], "ngram_counts": [0, 2], "mode": "TF"}
    case("TfIdfVectorizer", "i64[c]", "f32[5]", **given)
    case("TfIdfVectorizer", "str[n,c]", "f32[n,5]", **given)
    case("TfIdfVectorizer", "str", "f32", **given)
    fails("TfIdfVectorizer", "str[a,b,c]", "rank-mismatch", **given)
    fails("TfIdfVectorizer", "str[a,b]", "missing-attribute")
    fails("TfIdfVectorizer", "str[a,b]", "bad-attribute", ngram_indexes=[-1])
