"""Stand in for Cython's shadow module when Cython is not installed."""

from __future__ import annotations

compiled = False
