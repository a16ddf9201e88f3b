"""Arguments in, a library call, a table or JSON out."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the installed `sardonyx` script and `python -m sardonyx` start here."""
    try:
        from sardonyx.cli.app import run

        run()
    except KeyboardInterrupt:  # while the program is still being imported; commands take care of their own
        raise SystemExit(130) from None
