"""Lifetimes: what a model still shows after `close` (M03, M05, M06, M08 of the checklist)."""

from __future__ import annotations

import gc
import mmap
import os
import weakref
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

import sardonyx as sx
from sardonyx.ir.source import Lifetime, Source
from sardonyx.ir.tensor import Stored, Tensor
from sardonyx.ir.types import DType
from tests.io.tensor_models import STRING, first, model_bytes, proto, refused

EVERY_CONTENT = {
    "stored": proto(TensorProto.UINT8, (3,), raw_data=b"abc"),
    "converted": proto(TensorProto.UINT8, (3,), int32_data=b"abc"),
    "empty": proto(TensorProto.UINT8, (0,)),
    "strings": proto(STRING, (1,), string_data=[b"abc"]),
}


def test_m03_views_keep_the_callers_buffer_alive_and_look_into_it() -> None:
    class Buffer(np.ndarray):
        pass

    data = np.frombuffer(model_bytes(proto(TensorProto.UINT8, (3,), raw_data=b"abc")), np.uint8).copy().view(Buffer)
    gone = weakref.ref(data)
    tensor = first(sx.load(memoryview(data)))
    data[data.tobytes().index(b"abc")] = ord("x")
    del data
    gc.collect()
    assert bytes(tensor.data) == b"xbc"
    assert gone() is not None


@pytest.mark.parametrize("content", EVERY_CONTENT)
@pytest.mark.parametrize("used_before", [False, True])
def test_m05_after_close_the_bytes_are_refused_and_the_rest_stays(content: str, used_before: bool) -> None:
    def use(tensor: sx.Tensor) -> object:
        return tensor.strings if content == "strings" else tensor.data

    model = sx.load(model_bytes(EVERY_CONTENT[content]))
    tensor = first(model)
    if used_before:
        use(tensor)
    model.close()
    error = refused("Io", "source-closed", use, tensor)
    assert (error.source, error.place.value) == ("<bytes>", "t")
    assert "tensor.copy()" in str(error.hint)
    assert (tensor.name, tensor.shape, model.graph.nodes) == ("t", tuple(EVERY_CONTENT[content].dims), ())


def test_m06_closing_twice_is_harmless_and_a_with_block_closes() -> None:
    model = sx.load(model_bytes(EVERY_CONTENT["stored"]))
    model.close()
    model.close()
    with sx.load(model_bytes(EVERY_CONTENT["stored"])) as model:
        assert bytes(first(model).data) == b"abc"
    refused("Io", "source-closed", lambda: first(model).data)


@pytest.mark.parametrize("content", ["stored", "converted", "empty"])
def test_m08_views_and_arrays_are_read_only_even_over_a_writable_buffer(content: str) -> None:
    tensor = first(sx.load(bytearray(model_bytes(EVERY_CONTENT[content]))))
    assert tensor.data.readonly
    assert not tensor.numpy().flags.writeable
    if tensor.size:
        with pytest.raises(ValueError, match="WRITEABLE"):
            tensor.numpy().flags.writeable = True


def mapped(path: Path) -> Source:
    path.write_bytes(b"0123456789")
    with path.open("rb") as file:
        return Source(mmap.mmap(file.fileno(), 10, access=mmap.ACCESS_READ), str(path), os.dup(file.fileno()))


def test_closing_a_map_leaves_views_alone_and_strict_closing_tells(tmp_path: Path) -> None:
    for strict in (False, True):
        lifetime, source = Lifetime(), mapped(tmp_path / "w")
        lifetime.add(source)
        view = source.view(2, 5)
        if strict:
            with pytest.raises(BufferError, match="a view of the mapped file is still held"):
                lifetime.close(strict=True)
        else:
            lifetime.close()
        assert (bytes(view), source.closed, source.fd) == (b"234", True, None)
        refused("Io", "source-closed", source.read, 0, 1)


def test_a_map_goes_with_its_last_array(tmp_path: Path) -> None:
    source = mapped(tmp_path / "w")
    buffer = weakref.ref(source.buffer)
    array = Tensor(DType.UINT8, (2, 2), Stored(source, 0, 4)).numpy()[1:]
    source.close()
    gc.collect()
    assert buffer() is not None
    assert array.tolist() == [[50, 51]]
    del array
    gc.collect()
    assert buffer() is None


def test_a_source_that_is_dropped_closes_its_descriptor(tmp_path: Path) -> None:
    source = mapped(tmp_path / "w")
    fd = source.fd
    del source
    gc.collect()
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(fd)


def test_a_closed_lifetime_takes_nothing_in() -> None:
    lifetime = Lifetime()
    lifetime.close()
    source = Source(b"abc", "late")
    refused("Io", "source-closed", lifetime.add, source)
    assert source.closed


def test_bytes_of_any_item_size_are_seen_as_bytes() -> None:
    source = Source(memoryview(np.arange(3, dtype="<i4")), "x")
    assert (source.size, source.read(4, 5)) == (12, b"\1")
    assert source.descriptor() is None
