"""Say which sardonyx this is and how it was built."""

from __future__ import annotations

import platform

import sardonyx


def version_line() -> str:
    """Return `sardonyx 0.1.0 (compiled codec, CPython 3.12.1, Linux x86_64)`."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.machine()}"
    return f"sardonyx {sardonyx.__version__} ({codec_build()} codec, {python}, {system})"


def codec_build() -> str:
    """Return `compiled` or `interpreted`: which build of the wire codec is in use."""
    from sardonyx.wire import codec

    return "interpreted" if (codec.__file__ or "").endswith(".py") else "compiled"
