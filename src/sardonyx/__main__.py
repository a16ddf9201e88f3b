"""Run the command line: `python -m sardonyx`."""

from __future__ import annotations

from sardonyx.cli import main

if __name__ == "__main__":
    main()
