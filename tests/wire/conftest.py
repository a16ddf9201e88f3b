"""Run the codec's tests in both builds: the module as written, and compiled if it has been built."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from sardonyx.wire import codec, reader
from sardonyx.wire.messages import ModelProto


def load_uncompiled():
    """Import codec.py from its source, whether or not a compiled one is beside it."""
    path = Path(reader.__file__).with_name("codec.py")
    spec = importlib.util.spec_from_file_location("codec_uncompiled", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def decoder(build):
    """Return `decode` as it works with the given build of the codec."""
    tables = {}

    def decode(data, message_class=ModelProto, start=0, end=None, *, max_nesting=128, source="<bytes>"):
        end = len(data) if end is None else end
        return reader.decode_with(build, tables, data, message_class, start, end, max_nesting, source)

    return decode


@pytest.fixture(scope="session")
def interpreted():
    return decoder(load_uncompiled())


@pytest.fixture(scope="session")
def compiled():
    if not codec.is_compiled:
        pytest.skip("the compiled codec has not been built")
    return decoder(codec)


@pytest.fixture(scope="session", params=["interpreted", "compiled"])
def decode(request):
    """`decode`, in the build that the parameter names."""
    return request.getfixturevalue(request.param)
