"""The display of long work."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from sardonyx.cli import progress


class Terminal(io.StringIO):
    """Standard error of a person."""

    def isatty(self) -> bool:
        return True


def test_long_work_is_shown_on_a_terminal_with_names_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setenv("TERM", "xterm")
    with progress.working("reading \x07[bold].onnx") as tell:
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.join()  # the display has started
        tell("writing", 500, 1000)
    assert "reading \\x07[bold].onnx" in terminal.getvalue()
    assert "writing 500 B of 1 kB" in terminal.getvalue()
    assert "\x07" not in terminal.getvalue()


def test_short_work_and_quiet_work_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.working("reading") as tell:
        tell("writing", 1, 2)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    with progress.working("reading", quiet=True) as tell:
        tell("writing", 1, 2)
    assert terminal.getvalue() == ""


def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    with progress.working("reading") as tell:
        tell("writing", 1, 2)
    assert pipe.getvalue() == ""
