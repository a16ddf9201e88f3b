"""Arguments in, a library call, a table or JSON out."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the installed `sardonyx` script and `python -m sardonyx` start here."""
    from sardonyx.cli.app import run

    run()
