"""The manners that all commands share: exit codes, errors, JSON, streams."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.runs import sardonyx

LOADING = ["inspect", "dump", "infer"]
COMMANDS = ["lower", "inline", "inline-scans", "infer", "explain", "inspect", "check", "dump", "diff", "where"]


def start(*arguments: str, **options: object) -> subprocess.Popen[str]:
    """Start the program as a user does, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "sardonyx", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


@pytest.mark.parametrize("command", LOADING)
def test_a_file_that_cannot_be_loaded_gives_status_3_and_the_error_on_stderr(command: str, cut_short: Path) -> None:
    ran = sardonyx(command, cut_short)
    assert (ran.code, ran.out) == (3, "")
    assert "[malformed: length-past-end]" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("command", LOADING)
def test_with_json_the_error_is_an_object_on_stdout(command: str, cut_short: Path) -> None:
    ran = sardonyx(command, cut_short, "--json")
    assert (ran.code, ran.err) == (3, "")
    shown = ran.json
    error = shown.pop("error")
    assert shown == {"schema": 1, "command": command}
    assert error["kind"] == "Malformed"
    assert error["code"] == "length-past-end"
    assert error["place"]["source"] == str(cut_short)
    assert error["place"]["offset"] > 0


@pytest.mark.parametrize("command", [*LOADING, "check"])
def test_a_missing_file_gives_status_3(command: str, tmp_path: Path) -> None:
    ran = sardonyx(command, tmp_path / "nowhere.onnx")
    assert ran.code == 3
    assert "nowhere.onnx" in ran.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_without_arguments_shows_its_help_and_gives_status_2(command: str) -> None:
    ran = sardonyx(command)
    assert ran.code == 2
    assert f"sardonyx {command}" in ran.out + ran.err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command: str) -> None:
    ran = sardonyx(command, "--help")
    assert ran.code == 0
    assert ran.out.count(f"sardonyx {command} ") >= 2  # the usage line and at least one example


def test_an_unknown_option_is_wrong_usage(small: Path) -> None:
    assert sardonyx("inspect", small, "--nonsense").code == 2


def test_a_link_policy_that_does_not_exist_is_wrong_usage(small: Path) -> None:
    ran = sardonyx("inspect", small, "--links", "always")
    assert ran.code == 2
    assert "always" in ran.err


def test_a_nesting_limit_out_of_range_is_wrong_usage(small: Path) -> None:
    assert sardonyx("inspect", small, "--max-nesting", "3").code == 2


def test_the_nesting_limit_reaches_the_reader(example: Path) -> None:
    ran = sardonyx("inspect", example, "--max-nesting", "8", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (3, "nesting-too-deep")
    assert sardonyx("inspect", example, "--max-nesting", "20").code == 0


def test_version_names_the_build_and_the_python() -> None:
    ran = sardonyx("--version")
    assert ran.code == 0
    assert ran.out.startswith("sardonyx ")
    assert "compiled codec" in ran.out or "interpreted codec" in ran.out
    assert ".".join(map(str, sys.version_info[:3])) in ran.out


def test_the_program_runs_as_a_module(small: Path) -> None:
    process = start("check", str(small))
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert out == f"{small}: no issues\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise on Windows")
def test_a_reader_that_goes_away_ends_the_command_quietly(example: Path) -> None:
    process = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m sardonyx dump '{example}' | head -n 1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=True,
    )
    first, status = process.stdout.splitlines()
    assert first == "ir_version 9"
    assert status in ("0", "141")  # 0 when everything fitted into the pipe
    assert process.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="needs a pipe without a writer")
def test_ctrl_c_ends_the_command_with_130_and_without_a_traceback() -> None:
    import fcntl
    import termios

    read, write = os.pipe()  # standard input that never ends
    os.write(write, b"x")
    process = start("inspect", "-", stdin=read)
    try:
        while fcntl.ioctl(read, termios.FIONREAD, bytes(4)) != bytes(4) and process.poll() is None:
            time.sleep(0.01)  # until the byte is taken: then it waits for more
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    finally:
        os.close(read)
        os.close(write)
    assert process.returncode == 130
    assert (out, err.strip()) == ("", "")


@pytest.mark.skipif(sys.platform != "linux", reason="needs file names that are not text")
def test_a_file_name_that_is_not_text_is_shown_escaped(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.onnx"
    process = start("inspect", os.fsdecode(name))
    out, err = process.communicate()
    assert process.returncode == 3
    assert "caf\\udce9.onnx" in err
    assert out == ""
