"""Build the optional extension: the wire codec, compiled. Everything works without it, at a third of the speed."""

from __future__ import annotations

import os

from setuptools import Extension, setup

DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,  # the types are in codec.pxd; annotations are for the type checker
    "boundscheck": False,
    "cdivision": True,
}


def extensions() -> list[Extension]:
    """Return the codec as an extension, or nothing without Cython or with SARDONYX_NO_EXTENSION in the environment."""
    if os.environ.get("SARDONYX_NO_EXTENSION"):
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    without_symbols = [] if os.name == "nt" else ["-g0"]
    codec = Extension("sardonyx.wire.codec", ["src/sardonyx/wire/codec.py"], extra_compile_args=without_symbols)
    made: list[Extension] = cythonize([codec], compiler_directives=DIRECTIVES)
    for extension in made:
        extension.optional = True  # a missing compiler is no error; cythonize drops this when it is set before
    return made


setup(ext_modules=extensions())
