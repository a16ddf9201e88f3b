"""Show that something is going on when it takes longer than a second."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 1.0
"""Seconds before anything is shown."""


@contextmanager
def working(what: str, quiet: bool = False) -> Iterator[Callable[..., None]]:
    """Show `what` and a bar on standard error while the block runs, when that is a terminal and the work is long.

    The block gets a function `tell(stage, done=None, total=None)`: what is being done now, and, where it is known, how
    many bytes of how many. The display disappears with the block.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda *told: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from sardonyx.cli.output import one_line, size

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(one_line(what), total=None)

    def tell(stage: str, done: int | None = None, total: int | None = None) -> None:
        amount = "" if done is None or total is None else f" {size(done)} of {size(total)}"
        bar.update(task, description=one_line(stage) + amount, completed=done or 0, total=total)

    start = threading.Timer(PATIENCE, bar.start)
    start.daemon = True
    start.start()
    try:
        yield tell
    finally:
        start.cancel()
        start.join()
        if bar.live.is_started:
            bar.stop()
