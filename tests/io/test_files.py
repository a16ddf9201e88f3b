"""Opening model files: what is read, what is mapped, what is refused (M01, M02, M09, R06 of the checklist)."""

from __future__ import annotations

import os
import tracemalloc
from array import array
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

import sardonyx as sx
from sardonyx.io.files import READ_AT_MOST, open_source, read_range
from tests.io.odd_files import make_device, make_fifo, make_socket, within_a_minute
from tests.io.tensor_models import first, model_bytes, proto, refused

MIB = 1 << 20


def model_of_size(size: int) -> bytes:
    """A model file of exactly this many bytes."""
    room = size - len(model_bytes(proto(TensorProto.UINT8, (size,), raw_data=bytes(size)))) + size
    data = model_bytes(proto(TensorProto.UINT8, (room,), raw_data=b"\7" * room))
    assert len(data) == size
    return data


@pytest.mark.parametrize(("size", "kind"), [(1000, bytes), (MIB, bytes), (MIB + 1, mmap)])
def test_m01_files_of_up_to_a_mebibyte_are_read_and_larger_ones_mapped(tmp_path: Path, size: int, kind: type) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of_size(size))
    with sx.load(path) as model:
        tensor = first(model)
        assert type(tensor.content.source.buffer) is kind
        assert set(bytes(tensor.data)) == {7}
        assert (tensor.content.source.fd is None) is (kind is bytes)


@pytest.mark.parametrize(("size", "kind"), [(MIB, bytes), (MIB + 1, mmap)])
def test_m01_data_files_follow_the_same_rule(tmp_path: Path, size: int, kind: type) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model_bytes(proto(TensorProto.UINT8, (2,), external={"location": "w"})))
    (tmp_path / "w").write_bytes(bytes(size))
    with sx.load(path) as model:
        assert type(first(model).content.stored().source.buffer) is kind


def test_m02_the_initializers_of_a_mapped_model_share_the_map_and_cost_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    tensors = [proto(TensorProto.UINT8, (MIB,), raw_data=bytes(MIB)) for _ in range(16)]
    for i, tensor in enumerate(tensors):
        tensor.name = f"t{i}"
    path.write_bytes(model_bytes(*tensors))
    sx.load(path).close()  # modules come with the first load
    tracemalloc.start()
    with sx.load(path) as model:
        arrays = [tensor.numpy() for tensor in model.graph.initializers.values()]
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        sources = {id(tensor.content.source) for tensor in model.graph.initializers.values()}
    assert peak < MIB
    assert len(sources) == 1
    assert len(arrays) == 16


def test_m09_a_mapped_file_can_be_deleted_and_replaced_after_close(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of_size(MIB + 100))
    with sx.load(path) as model:
        copy = first(model).copy()
    path.unlink()
    path.write_bytes(b"")
    assert set(bytes(copy.data)) == {7}


def test_a_source_of_a_mapped_file_lends_its_descriptor(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of_size(MIB + 100))
    model = sx.load(path)
    source = first(model).content.source
    path.unlink()
    fd = source.descriptor()
    assert fd != source.fd
    assert len(read_range(fd, 0, 2 * MIB)) == MIB + 100
    os.close(fd)
    kept = source.fd
    model.close()
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(kept)


def test_r06_a_missing_model_file_is_an_io_error(tmp_path: Path) -> None:
    path = tmp_path / "nothing.onnx"
    error = refused("Io", "not-found", sx.load, path)
    assert error.source == str(path)
    refused("Io", "not-found", sx.load, str(path / "deeper"))
    refused("Io", "not-found", sx.load, str(tmp_path / "a\0b"))


def test_r06_a_folder_is_no_model(tmp_path: Path) -> None:
    refused("Io", "is-a-folder", sx.load, tmp_path)


@pytest.mark.parametrize("make", [make_fifo, make_socket, make_device])
def test_pipes_sockets_and_devices_are_refused_without_blocking(tmp_path: Path, make) -> None:
    make(tmp_path / "model.onnx")
    error = within_a_minute(lambda: sx.load(tmp_path / "model.onnx"))
    assert (error.kind.value, error.code) == ("Io", "not-a-file")


def test_the_systems_refusals_are_io_errors(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"")
    for number, code in ((13, "permission"), (1, "permission"), (5, "not-readable")):

        def fail(name, *args, number=number, **options):
            raise OSError(number, os.strerror(number), name)

        monkeypatch.setattr("sardonyx.io.files.os.open", fail)
        refused("Io", code, open_source, path)


def test_the_size_is_checked_before_anything_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    with path.open("wb") as file:
        file.truncate(2**31)  # a sparse file: takes no room
    refused("Unsupported", "file-too-large", sx.load, path)
    refused("Unsupported", "limit-exceeded", sx.load, path, limits=sx.Limits(max_file_bytes=1000))


def test_without_mapping_a_large_model_is_read(tmp_path: Path, monkeypatch) -> None:
    def refuse(*args, **options):
        raise OSError(19, "no mapping on this file system")

    path = tmp_path / "model.onnx"
    path.write_bytes(model_of_size(MIB + 1))
    monkeypatch.setattr("mmap.mmap", refuse)
    with sx.load(path) as model:
        assert type(first(model).content.source.buffer) is bytes
        assert set(bytes(first(model).data)) == {7}
    assert READ_AT_MOST == MIB


def test_a_name_replaces_the_path_in_errors(tmp_path: Path) -> None:
    assert refused("Io", "not-found", open_source, tmp_path / "x", name="shown").source == "shown"


def test_whatever_shows_its_bytes_is_viewed_and_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of_size(1000))
    with open(path, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
        for buffer in (mapped, array("B", mapped[:]), np.frombuffer(mapped, np.uint8).copy(), bytearray(mapped)):
            with sx.load(buffer) as model:
                assert model.source == "<bytes>"
                assert np.shares_memory(np.frombuffer(first(model).data, np.uint8), np.frombuffer(buffer, np.uint8))
            del model
