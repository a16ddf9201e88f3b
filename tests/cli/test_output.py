"""Pages for people: escaping, amounts, folding."""

from __future__ import annotations

import pytest

from sardonyx.cli.output import Page, clean, count, one_line, size


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("größe 尺寸", "größe 尺寸"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\rb\x9bc", "a\\rb\\x9bc"),
        ("\u202eabc", "\\u202eabc"),
        ("\udce9", "\\udce9"),
        ("\U000e0001", "\\U000e0001"),
        ("two\nlines", "two\nlines"),
    ],
)
def test_what_could_steer_a_terminal_is_escaped(raw: str, shown: str) -> None:
    assert clean(raw) == shown


def test_a_name_never_spreads_over_lines() -> None:
    assert one_line("two\nlines") == "two\\nlines"


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (33_508, "33.5 kB"), (999_600, "1 MB"), (1_610_000_000, "1.61 GB")],
)
def test_amounts_of_bytes_have_three_digits(number: int, shown: str) -> None:
    assert size(number) == shown


def test_counts_are_worded() -> None:
    assert [count(1, "node"), count(0, "node"), count(12_345, "node")] == ["1 node", "0 nodes", "12,345 nodes"]


def test_a_line_for_a_pipe_is_as_long_as_it_needs_to_be_whatever_it_has_in_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = Page()
    long = "x" * 150_000
    page.title("top \x1b[31m ")
    page.title("")
    page.line(f"[bold]{long}\n\n  two  ", "red")
    assert capsys.readouterr().out == f"top \\x1b[31m\n\n\n[bold]{long}\n\n  two\n"


def test_a_terminal_of_80_columns_gets_folded_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    page = Page()
    page.rows([("name", "word " * 30)])
    page.rows([("x" * 200, "type")])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "".join(lines).count("word") == 30
    assert "".join(lines).count("x") == 200
