"""The page of error codes, and that no code exists which no test provokes."""

from __future__ import annotations

from pathlib import Path

from sardonyx.errors import CODES
from tests.conftest import ROOT
from tests.tools.running import tool

generator = tool("gen_codes_doc")


def test_the_committed_page_is_what_would_be_written() -> None:
    assert generator.PAGE.read_text(encoding="utf-8") == generator.page()


def test_check_fails_when_the_page_is_stale(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(generator, "PAGE", tmp_path / "codes.md")
    assert generator.main(["--check"]) == 1


def test_every_code_is_named_by_a_test() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    assert [code for code in CODES if not any(f'"{code}"' in text for text in texts)] == []


def test_every_code_that_the_source_raises_is_in_the_table() -> None:
    raised = set(code_strings(ROOT / "src"))
    assert raised <= set(CODES), sorted(raised - set(CODES))


def code_strings(folder: Path) -> list[str]:
    """Find the first argument of every `error(...)`, `warn(...)` and `Issue(...)` call that is a literal."""
    import ast

    found = []
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in ("error", "warn", "Issue", "Fault") and isinstance(node.args[0].value, str):
                    found.append(node.args[0].value)
    return found
