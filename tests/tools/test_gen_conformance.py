"""The page of rules and tests: every rule has a test, and the committed page is the one that would be written."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import ROOT
from tests.tools.running import tool

generator = tool("gen_conformance")


def test_there_are_241_rules_numbered_without_gaps() -> None:
    counts: dict[str, int] = {}
    for rule in generator.RULES:
        letter, number = rule[0], int(rule[1:])
        counts[letter] = counts.get(letter, 0) + 1
        assert number == counts[letter]
    assert counts == {"W": 53, "A": 26, "T": 50, "G": 51, "E": 38, "M": 9, "R": 8, "D": 6}


def test_every_rule_has_a_test_and_every_numbered_test_a_rule() -> None:
    found = generator.tests_by_rule(ROOT / "tests")
    assert [rule for rule in generator.RULES if not found[rule]] == []
    assert [rule for rule in found if rule not in generator.RULES] == []


def test_the_committed_page_is_what_would_be_written() -> None:
    found = generator.tests_by_rule(ROOT / "tests")
    assert generator.PAGE.read_text(encoding="utf-8") == generator.page(found)


def test_a_test_holds_the_rules_at_the_front_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("def test_w26_w27_text(): ...\ndef test_plain(): ...\ndef helper_w01(): ...\n")
    found = generator.tests_by_rule(tmp_path)
    assert {rule: tests for rule, tests in found.items() if tests} == {
        "W26": [("test_x.py", "test_w26_w27_text")],
        "W27": [("test_x.py", "test_w26_w27_text")],
    }


def test_check_fails_when_the_page_is_stale(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(generator, "PAGE", tmp_path / "conformance.md")
    assert generator.main(["--check"]) == 1
