"""Make what is not a regular file, and open it without the risk of waiting for ever."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import sardonyx as sx


def within_a_minute(act: Callable[[], object]) -> sx.OnnxError:
    """Run in a thread, so that an open that blocks is a failure and not the end of the run."""
    caught: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as problem:
            caught.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "blocked"
    assert len(caught) == 1
    assert isinstance(caught[0], sx.OnnxError), caught[0]
    return caught[0]


def make_fifo(path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names here")
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    if not hasattr(socket, "AF_UNIX"):
        pytest.skip("no sockets with names here")
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path may have about 100 bytes only
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def make_device(path: Path) -> None:
    try:
        os.mknod(path, 0o20666, os.makedev(1, 5))  # /dev/zero: readable for ever
    except (AttributeError, PermissionError):
        pytest.skip("only root makes devices")
