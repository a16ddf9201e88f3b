"""Every example of the README and of docs/ runs and prints what the page says it prints.

Python blocks of a page run in order in one namespace; a `text` block directly below one is its output. In `console`
blocks the `sardonyx` commands run, and the lines below a command are its output. `...` stands for anything.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GENERATED = {"codes.md", "conformance.md"}
PAGES = [
    path
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "examples" / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
    )
    if path.name not in GENERATED
]

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(text: str) -> list[tuple[str, str, bool]]:
    """Return the fenced blocks of a page: (language, content, whether it stands directly below the one before)."""
    found = []
    last = 0
    for match in FENCE.finditer(text):
        found.append((match[1], match[2], not text[last : match.start()].strip()))
        last = match.end()
    return found


def same(want: str, got: str) -> bool:
    """Compare output, with `...` as a wild card."""
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in an empty folder that has nothing but the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_of_a_page_do_what_the_page_says(page: Path, folder: Path) -> None:
    namespace: dict[str, object] = {"__name__": "page"}
    output: str | None = None
    for language, content, follows in blocks_of(page.read_text()):
        if language == "python":
            caught = io.StringIO()
            with contextlib.redirect_stdout(caught):
                exec(compile(content, page.name, "exec"), namespace)
            output = caught.getvalue()
        elif language == "text" and follows and output is not None:
            assert same(content, output), f"the page says\n{content}\nbut it prints\n{output}"
            output = None
        elif language == "console":
            run_console(content)


def run_console(content: str) -> None:
    """Run the `sardonyx` commands of a block and compare what they print."""
    for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
        line, _, want = part.partition("\n")
        if not line.startswith("sardonyx "):
            continue
        line, _, comment = line.partition("  # exit status ")
        command = [sys.executable, "-m", "sardonyx", *shlex.split(line)[1:]]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert same(want, done.stdout), f"$ {line}\nthe page says\n{want}\nbut it prints\n{done.stdout}"
        assert done.returncode == int(comment or 0), f"$ {line} ended with {done.returncode}"


def test_every_link_between_pages_leads_somewhere() -> None:
    dead = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert dead == []
