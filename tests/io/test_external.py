"""Section 5 of the import document, line by line (E01 to E38 of the checklist), and the links of hub caches."""

from __future__ import annotations

import hashlib
import io
import os
import threading
from pathlib import Path

import pytest
from onnx import TensorProto, helper

import sardonyx as sx
from sardonyx.io import containment, external, files
from sardonyx.io.checksums import verify_checksum
from sardonyx.io.external import ExternalFiles
from sardonyx.ir.source import Lifetime
from tests.io.odd_files import make_device, make_fifo, make_socket, within_a_minute
from tests.io.tensor_models import first, model_bytes, proto, refused

BYTES = b"0123456789abcdef"

needs_links = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")


class Home:
    """A folder with a model and data files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def data(self, name: str = "w.bin", content: bytes = BYTES) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def model(self, location: str | None = "w.bin", count: int = 16, **entries: str) -> Path:
        """Write a model whose one initializer is `count` bytes at this location."""
        where = {} if location is None else {"location": location}
        path = self.folder / "model.onnx"
        path.write_bytes(model_bytes(proto(TensorProto.UINT8, (count,), external={**where, **entries})))
        return path

    def read(
        self, location: str | None = "w.bin", count: int = 16, options: dict | None = None, **entries: str
    ) -> bytes:
        with sx.load(self.model(location, count, **entries), **(options or {})) as model:
            return bytes(first(model).data)

    def refused(self, code: str, location: str | None = "w.bin", kind: str = "ExternalData", **entries) -> sx.OnnxError:
        """Expect the model to be refused when it is loaded strictly, and on first access when lazily."""
        error = refused(kind, code, self.read, location, **entries)
        assert error.place.value == "t"
        assert error.source == str(self.folder / "model.onnx")
        options = {**entries.pop("options", {}), "external_data": "lazy"}
        refused(kind, code, self.read, location, options=options, **entries)
        return error


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "m")


# --- the text of the location


def test_e01_a_location_is_required(home: Home) -> None:
    home.refused("external-key", None, offset="0")


def test_e02_an_empty_location_is_refused(home: Home) -> None:
    home.refused("external-location", "")


def test_e03_a_nul_in_a_location_is_refused(home: Home) -> None:
    home.data()
    home.refused("external-location", "w.bin\0")


def test_a_location_longer_than_any_path_is_refused_at_once(home: Home) -> None:
    home.refused("external-location", "a" + "/x" * 2048)


def test_e04_a_location_from_the_root_is_refused(home: Home) -> None:
    home.refused("external-location", str(home.data()))


def test_e05_a_location_that_starts_with_a_backslash_is_refused(home: Home) -> None:
    home.refused("external-location", "\\w.bin")


@pytest.mark.parametrize("location", ["C:x", "c:\\x", "C:/x", "z:"])
def test_e06_a_drive_letter_is_refused_on_every_platform(home: Home, location: str) -> None:
    home.refused("external-location", location)


@pytest.mark.parametrize("location", ["..", "../w.bin", "a/../w.bin", "a/..", "./../m/w.bin"])
def test_e07_a_location_that_climbs_is_refused_even_if_it_comes_back(home: Home, location: str) -> None:
    home.data()
    (home.folder / "a").mkdir()
    home.refused("external-location", location)


@pytest.mark.parametrize("location", ["..\\w.bin", "a\\..\\w.bin", "a/..\\w.bin", "a\\.."])
def test_e08_backslashes_separate_climbing_segments_too(home: Home, location: str) -> None:
    home.refused("external-location", location)


@pytest.mark.parametrize("location", ["a..b", "...", "..a", "a..", "d.../w"])
def test_e09_dots_that_are_part_of_a_name_are_fine(home: Home, location: str) -> None:
    home.data(location)
    assert home.read(location) == BYTES


@pytest.mark.parametrize("location", ["./w.bin", "a//b", "././a/./b"])
def test_e10_empty_and_dot_segments_are_fine(home: Home, location: str) -> None:
    home.data("w.bin")
    home.data("a/b")
    assert home.read(location) == BYTES


@pytest.mark.parametrize("location", [".", "a/", "a/.", "w.bin/"])
def test_e10_a_location_that_ends_like_a_folder_is_refused(home: Home, location: str) -> None:
    home.data("w.bin")
    home.data("a/b")
    home.refused("external-location", location)


def test_e11_a_name_may_be_written_in_any_script(home: Home) -> None:
    home.data("gewichte-ä-重み.bin")
    assert home.read("gewichte-ä-重み.bin") == BYTES


# --- links


@needs_links
def test_e12_a_link_to_a_file_in_the_folder_is_followed(home: Home) -> None:
    home.data("deep/real.bin")
    (home.folder / "w.bin").symlink_to("deep/real.bin")
    (home.folder / "also").symlink_to("deep")
    assert home.read("w.bin") == BYTES
    assert home.read("also/real.bin") == BYTES


@needs_links
def test_e13_a_link_to_a_file_outside_is_refused(home: Home, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(BYTES)
    (home.folder / "w.bin").symlink_to(tmp_path / "secret")
    assert "leads out of the model's folder" in home.refused("external-link").message


@needs_links
def test_e14_a_linked_folder_outside_is_refused(home: Home, tmp_path: Path) -> None:
    Home(tmp_path / "other").data()
    (home.folder / "sub").symlink_to(tmp_path / "other")
    home.refused("external-link", "sub/w.bin")


@needs_links
def test_e15_a_link_to_itself_is_refused(home: Home) -> None:
    (home.folder / "w.bin").symlink_to("v.bin")
    (home.folder / "v.bin").symlink_to("w.bin")
    home.refused("external-link")


@needs_links
def test_e16_the_model_folder_itself_may_be_reached_through_a_link(home: Home, tmp_path: Path) -> None:
    home.data()
    home.model()
    (tmp_path / "link").symlink_to(home.folder)
    with sx.load(tmp_path / "link" / "model.onnx") as model:
        assert bytes(first(model).data) == BYTES


@needs_links
def test_e17_a_folder_whose_name_merely_starts_the_same_is_outside(home: Home, tmp_path: Path) -> None:
    Home(tmp_path / "m2").data()
    (home.folder / "w.bin").symlink_to(tmp_path / "m2" / "w.bin")
    home.refused("external-link")


@needs_links
def test_a_link_to_the_model_folder_itself_is_not_a_file(home: Home) -> None:
    (home.folder / "w.bin").symlink_to(home.folder)
    home.refused("external-link")


@needs_links
@pytest.mark.parametrize("location", ["w.bin", "also/real.bin"])
def test_never_refuses_every_link(home: Home, location: str) -> None:
    home.data("deep/real.bin")
    (home.folder / "w.bin").symlink_to("deep/real.bin")
    (home.folder / "also").symlink_to("deep")
    home.refused("external-link", location, options={"links": "never"})
    assert home.read("deep/real.bin", options={"links": "never"}) == BYTES


@needs_links
def test_never_refuses_a_file_with_two_names_and_inside_does_not(home: Home) -> None:
    os.link(home.data(), home.folder / "twin.bin")
    assert home.read() == BYTES
    assert "hard links" in home.refused("external-link", options={"links": "never"}).message


@needs_links
def test_a_link_that_is_put_there_after_the_check_opens_nothing(home: Home, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "secret").write_bytes(BYTES)
    path = home.data()
    below = containment.open_below

    def swap(*args):
        path.unlink()
        path.symlink_to(tmp_path / "secret")
        return below(*args)

    monkeypatch.setattr(containment, "open_below", swap)
    home.model()
    refused("ExternalData", "external-not-a-file", sx.load, home.folder / "model.onnx")


@needs_links
@pytest.mark.parametrize("walks", [True, False])
def test_a_file_that_is_swapped_while_it_is_opened_is_refused(home: Home, monkeypatch, walks: bool) -> None:
    path = home.data()
    opens, swapped = os.open, []

    def swap(name, *args, **options):
        if str(name).endswith("w.bin") and not swapped:
            swapped.append(path.rename(home.folder / "old"))  # kept, so that the new file is not the same inode
            path.write_bytes(BYTES)
        return opens(name, *args, **options)

    home.model()
    monkeypatch.setattr(containment, "WALKS", walks)
    monkeypatch.setattr(containment.os, "open", swap)
    error = refused("ExternalData", "external-link", sx.load, home.folder / "model.onnx")
    assert swapped
    assert "replaced while" in error.message


def test_platforms_that_cannot_walk_open_the_resolved_path(home: Home, monkeypatch) -> None:
    monkeypatch.setattr(containment, "WALKS", False)
    home.data("a/w.bin")
    assert home.read("a/w.bin") == BYTES


# --- hub caches


class Hub:
    """A repository in a hub cache: snapshots are links into blobs."""

    def __init__(self, folder: Path, depth: str = "") -> None:
        self.repository = folder / "models--a--b"
        self.blobs = self.repository / "blobs"
        self.snapshot = self.repository / "snapshots" / "0123abc" / depth
        self.snapshot.mkdir(parents=True)
        self.blobs.mkdir()

    def put(self, name: str, content: bytes) -> Path:
        blob = self.blobs / hashlib.sha256(content).hexdigest()
        blob.write_bytes(content)
        (self.snapshot / name).symlink_to(os.path.relpath(blob, self.snapshot))
        return self.snapshot / name

    def model(self, location: str = "w.bin") -> Path:
        return self.put("model.onnx", model_bytes(proto(TensorProto.UINT8, (16,), external={"location": location})))


def read(path: Path, **options) -> bytes:
    with sx.load(path, **options) as model:
        return bytes(first(model).data)


@needs_links
@pytest.mark.parametrize("depth", ["", "onnx", "onnx/deep"])
@pytest.mark.parametrize("mode", ["strict", "lazy"])
def test_a_model_in_a_hub_cache_finds_its_data_among_the_blobs(tmp_path: Path, depth: str, mode: str) -> None:
    hub = Hub(tmp_path, depth)
    hub.put("w.bin", BYTES)
    assert read(hub.model(), external_data=mode) == BYTES


@needs_links
def test_a_hub_cache_behind_a_link_works_too(tmp_path: Path) -> None:
    hub = Hub(tmp_path / "real")
    hub.put("w.bin", BYTES)
    path = hub.model()
    (tmp_path / "cache").symlink_to(tmp_path / "real")
    assert read(tmp_path / "cache" / path.relative_to(tmp_path / "real")) == BYTES


@needs_links
def test_a_hub_cache_opens_up_nothing_but_its_own_blobs(tmp_path: Path) -> None:
    hub, other = Hub(tmp_path), Hub(tmp_path / "other")
    (tmp_path / "secret").write_bytes(BYTES)
    (hub.repository / "refs").write_bytes(BYTES)
    targets = [tmp_path / "secret", hub.repository / "refs", other.put("w.bin", BYTES).resolve()]
    for i, target in enumerate(targets):
        (hub.snapshot / f"w{i}").symlink_to(target)
        path = hub.snapshot / "model.onnx"
        path.unlink(missing_ok=True)
        refused("ExternalData", "external-link", read, hub.model(f"w{i}"))


@needs_links
def test_blobs_stay_closed_to_a_model_that_is_none_of_them(tmp_path: Path) -> None:
    hub = Hub(tmp_path)
    hub.put("w.bin", BYTES)
    path = hub.snapshot / "model.onnx"
    path.write_bytes(model_bytes(proto(TensorProto.UINT8, (16,), external={"location": "w.bin"})))
    refused("ExternalData", "external-link", read, path)


@needs_links
def test_blobs_stay_closed_to_a_model_outside_snapshots(tmp_path: Path) -> None:
    hub = Hub(tmp_path)
    hub.put("w.bin", BYTES)
    elsewhere = tmp_path / "work"
    elsewhere.mkdir()
    (elsewhere / "model.onnx").symlink_to(hub.model().resolve())
    (elsewhere / "w.bin").symlink_to((hub.snapshot / "w.bin").resolve())
    refused("ExternalData", "external-link", read, elsewhere / "model.onnx")


@needs_links
def test_never_refuses_the_links_of_a_hub_cache(tmp_path: Path) -> None:
    hub = Hub(tmp_path)
    hub.put("w.bin", BYTES)
    refused("ExternalData", "external-link", read, hub.model(), links="never")


# --- what is there


@pytest.mark.parametrize("make", [Path.mkdir, make_fifo, make_socket, make_device])
@pytest.mark.parametrize("mode", ["strict", "lazy"])
def test_e18_what_is_not_a_regular_file_is_refused_without_blocking(home: Home, make, mode: str) -> None:
    make(home.folder / "w.bin")
    error = within_a_minute(lambda: home.read(options={"external_data": mode}))
    assert (error.kind.value, error.code) == ("ExternalData", "external-not-a-file")


def test_e19_a_missing_file_is_an_external_data_error(home: Home) -> None:
    error = home.refused("external-missing")
    assert "'w.bin' is not in" in error.message
    home.data("file")
    home.refused("external-missing", "file/w.bin")
    home.refused("external-missing", "x" * 4000)


def test_e19_lazy_loading_tells_of_each_missing_file_once(home: Home) -> None:
    home.data()
    tensors = [
        proto(TensorProto.UINT8, (16,), external={"location": location})
        for location in ("gone.bin", "./gone.bin", "w.bin", "lost.bin")
    ]
    for i, tensor in enumerate(tensors):
        tensor.name = f"t{i}"
    path = home.model()
    path.write_bytes(model_bytes(*tensors))
    with sx.load(path, external_data="lazy") as model:
        assert [(issue.code, issue.severity, issue.place.value) for issue in model.issues] == [
            ("external-missing", "warning", "t0"),
            ("external-missing", "warning", "t3"),
        ]
        home.data("lost.bin")
        assert bytes(list(model.graph.initializers.values())[3].data) == BYTES


def test_e20_a_file_that_may_not_be_read_is_an_io_error(home: Home, monkeypatch) -> None:
    home.data()
    opens = os.open

    def deny(name, *args, **options):
        if str(name).endswith("w.bin"):
            raise PermissionError(13, "Permission denied", name)
        return opens(name, *args, **options)

    monkeypatch.setattr(containment.os, "open", deny)
    home.refused("permission", kind="Io")


def test_any_other_refusal_of_the_system_is_an_io_error(home: Home, monkeypatch) -> None:
    home.data()
    opens = os.open

    def fail(name, *args, **options):
        if str(name).endswith("w.bin"):
            raise OSError(24, "Too many open files", name)
        return opens(name, *args, **options)

    monkeypatch.setattr(containment.os, "open", fail)
    assert "Too many open files" in home.refused("not-readable", kind="Io").message


# --- numbers


def test_e21_the_offset_defaults_to_0_and_the_length_to_what_the_shape_needs(home: Home) -> None:
    home.data()
    assert home.read(count=3) == b"012"
    assert home.read(count=3, offset="4") == b"456"
    assert home.read(count=3, offset="4", length="3") == b"456"


@pytest.mark.parametrize("text", ["-1", "0x10", "1e3", "+4", " 4", "4 ", "1_0", "", "٤", "²", "4\n", "4.0"])
@pytest.mark.parametrize("key", ["offset", "length"])
def test_e22_only_plain_decimal_numbers_are_read(home: Home, text: str, key: str) -> None:
    home.data()
    home.refused("external-number", **{key: text})


def test_e23_leading_zeros_are_fine(home: Home) -> None:
    home.data()
    assert home.read(count=7, offset="007", length="0" * 5000 + "7") == b"789abcd"


@pytest.mark.parametrize("number", [2**63, 2**64, 10**30, 10**4000])
def test_e24_numbers_of_64_bits_and_more_do_not_wrap(home: Home, number: int) -> None:
    home.data()
    home.refused("external-number", offset=str(number))
    home.refused("external-number", length=str(number))


def test_e25_a_range_may_end_with_the_file_and_no_later(home: Home) -> None:
    home.data()
    assert home.read(count=4, offset="12") == b"cdef"
    error = home.refused("external-range", offset="1")
    assert error.message == "the tensor needs bytes 1 to 17 of 'w.bin', which has 16"


def test_e26_a_huge_offset_does_not_wrap(home: Home) -> None:
    home.data()
    home.refused("external-range", offset=str(2**63 - 1))


@pytest.mark.parametrize("length", ["15", "17", "0"])
def test_e27_a_length_must_be_what_the_shape_needs(home: Home, length: str) -> None:
    home.data()
    home.refused("external-length", length=length)


def test_e28_a_tensor_without_elements_needs_no_bytes(home: Home) -> None:
    home.data()
    assert home.read(count=0, offset="16") == b""
    refused("ExternalData", "external-range", home.read, count=0, offset="17")
    home.data("empty", b"")
    assert home.read("empty", count=0) == b""


def test_e29_load_ignores_the_checksum(home: Home) -> None:
    home.data()
    assert home.read(checksum="wrong") == BYTES


def test_e29_a_checksum_can_be_verified(home: Home) -> None:
    home.data()
    right = hashlib.sha1(BYTES).hexdigest()
    for given, code in (
        (right, None),
        (right.upper(), None),
        ("00" * 20, "external-checksum"),
        ("", "external-checksum"),
    ):
        with sx.load(home.model(count=3, checksum=given)) as model:
            issue = verify_checksum(first(model))
            assert (issue and issue.code) == code
    with sx.load(home.model()) as model:
        assert verify_checksum(first(model)) is None
    assert verify_checksum(first(sx.load(model_bytes(proto(TensorProto.UINT8, (), raw_data=b"a"))))) is None


def test_e29_a_file_is_hashed_once_for_all_its_tensors_and_must_be_there(home: Home, monkeypatch) -> None:
    home.data()
    entries = {"location": "w.bin", "checksum": hashlib.sha1(BYTES).hexdigest()}
    path = home.model()
    tensors = [proto(TensorProto.UINT8, (1,), external={**entries, "offset": str(i)}) for i in range(3)]
    for i, tensor in enumerate(tensors):
        tensor.name = f"t{i}"
    path.write_bytes(model_bytes(*tensors))
    hashed, sha1_of = [], external.sha1_of
    monkeypatch.setattr(external, "sha1_of", lambda fd: hashed.append(fd) or sha1_of(fd))
    model = sx.load(path)
    assert [verify_checksum(tensor) for tensor in model.graph.initializers.values()] == [None] * 3
    assert len(hashed) == 1
    (home.folder / "w.bin").unlink()
    assert verify_checksum(first(model)).code == "external-missing"
    model.close()
    assert verify_checksum(first(model)).code == "source-closed"


def test_e30_an_unknown_key_is_ignored_with_an_issue(home: Home) -> None:
    home.data()
    with sx.load(home.model(prepacked="x")) as model:
        assert [(issue.code, issue.severity) for issue in model.issues] == [("external-key-unknown", "warning")]
        assert "'prepacked'" in model.issues[0].message
        assert bytes(first(model).data) == BYTES


@pytest.mark.parametrize("key", ["location", "offset", "length", "checksum"])
def test_e31_a_repeated_key_is_refused(home: Home, key: str) -> None:
    home.data()
    tensor = proto(TensorProto.UINT8, (16,), external={"location": "w.bin"})
    tensor.external_data.add(key=key, value="0")
    tensor.external_data.add(key=key, value="0")
    path = home.model()
    path.write_bytes(model_bytes(tensor))
    refused("ExternalData", "external-key", sx.load, path)
    refused("ExternalData", "external-key", sx.load, path, external_data="lazy")


# --- folders


def test_e32_locations_start_at_the_folder_of_the_model_file(home: Home, tmp_path: Path, monkeypatch) -> None:
    home.data()
    path = home.model()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.bin").write_bytes(b"x" * 16)
    assert read(Path("m/model.onnx")) == BYTES
    monkeypatch.chdir(home.folder)
    with sx.load("model.onnx", external_data="lazy") as model:
        monkeypatch.chdir(tmp_path)
        assert bytes(first(model).data) == BYTES
    assert read(path, external_data_dir=tmp_path) == b"x" * 16


def test_e33_bytes_and_streams_need_a_folder(home: Home) -> None:
    home.data()
    data = home.model().read_bytes()
    for source in (data, io.BytesIO(data)):
        error = refused("ExternalData", "external-no-folder", sx.load, source)
        assert "external_data_dir" in str(error.hint)
    for source in (data, memoryview(data), io.BytesIO(data)):
        assert bytes(first(sx.load(source, external_data_dir=str(home.folder))).data) == BYTES
    lazy = sx.load(data, external_data="lazy")
    assert [issue.code for issue in lazy.issues] == ["external-no-folder"]
    refused("ExternalData", "external-no-folder", lambda: first(lazy).data)


def test_e34_the_rules_hold_in_attributes_bodies_functions_and_sparse_parts(tmp_path: Path) -> None:
    def outside() -> TensorProto:
        return proto(TensorProto.INT64, (1,), external={"location": "../w.bin"})

    constant = helper.make_node("Constant", [], ["c"], value=outside())
    plain = helper.make_graph([constant], "g", [], [])
    condition = helper.make_node("Constant", [], ["b"], value=helper.make_tensor("", TensorProto.BOOL, [], [True]))
    body = helper.make_graph([], "body", [], [helper.make_tensor_value_info("t", TensorProto.INT64, [1])], [outside()])
    branch = helper.make_node("If", ["b"], ["y"], then_branch=body, else_branch=body)
    nested = helper.make_graph([condition, branch], "g", [], [])
    sparse = helper.make_sparse_tensor(outside(), helper.make_tensor("", TensorProto.INT64, [1], [0]), [5])
    thin = helper.make_graph([helper.make_node("Constant", [], ["c"], sparse_value=sparse)], "g", [], [])
    thinner = helper.make_graph([], "g", [], [], sparse_initializer=[sparse])
    imports = [helper.make_opsetid("", 21)]
    function = helper.make_function("d", "f", [], ["c"], [constant], imports)
    empty = helper.make_graph([], "g", [], [])
    for graph, functions in ((plain, []), (nested, []), (thin, []), (thinner, []), (empty, [function])):
        model = helper.make_model(graph, opset_imports=imports, functions=functions)

        def use(data: bytes = model.SerializeToString()) -> None:
            for found in sx.load(data, external_data_dir=tmp_path).functions.values():
                assert found.graph.nodes[0].attrs["value"].value

        refused("ExternalData", "external-location", use)


# --- mapping


def big(size: int = (1 << 20) + 1) -> bytes:
    return bytes(range(256)) * (size // 256) + bytes(range(size % 256))


@needs_links
def test_e35_a_file_is_mapped_once_however_it_is_spelled(home: Home, monkeypatch) -> None:
    home.data("a", big())
    (home.folder / "link").symlink_to("a")
    maps, map_file = [], external.map_file
    monkeypatch.setattr(external, "map_file", lambda *args: maps.append(args) or map_file(*args))
    tensors = [proto(TensorProto.UINT8, (4,), external={"location": name}) for name in ("a", "./a", "link", "a")]
    for i, tensor in enumerate(tensors):
        tensor.name = f"t{i}"
    path = home.model()
    path.write_bytes(model_bytes(*tensors))
    with sx.load(path) as model:
        assert not maps
        found = list(model.graph.initializers.values())
        assert [bytes(tensor.data) for tensor in found] == [b"\0\1\2\3"] * 4
        assert len({id(tensor.content.stored().source) for tensor in found}) == 1
    assert len(maps) == 1


def test_strict_loading_opens_each_file_once_and_closes_it(home: Home, monkeypatch) -> None:
    home.data()
    opened, open_inside = [], external.open_inside
    monkeypatch.setattr(external, "open_inside", lambda *args: opened.append(open_inside(*args)) or opened[-1])
    tensors = [proto(TensorProto.UINT8, (4,), external={"location": "w.bin"}) for _ in range(5)]
    for i, tensor in enumerate(tensors):
        tensor.name = f"t{i}"
    path = home.model()
    path.write_bytes(model_bytes(*tensors))
    model = sx.load(path)
    assert len(opened) == 1
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(opened[0].fd)
    for tensor in model.graph.initializers.values():
        bytes(tensor.data)
    assert len(opened) == 2
    model.close()


def test_e36_an_offset_need_not_be_aligned(home: Home) -> None:
    home.data("w.bin", b"\xff" + (123456).to_bytes(8, "little") + big())
    path = home.model()
    path.write_bytes(model_bytes(proto(TensorProto.INT64, (1,), external={"location": "w.bin", "offset": "1"})))
    with sx.load(path) as model:
        assert first(model).numpy().tolist() == [123456]


def test_e37_without_mapping_only_the_range_is_read(home: Home, monkeypatch) -> None:
    def refuse(*args, **options):
        raise OSError(19, "no mapping on this file system")

    monkeypatch.setattr("mmap.mmap", refuse)
    ranges, read_range = [], external.read_range
    monkeypatch.setattr(external, "read_range", lambda fd, *args: ranges.append(args) or read_range(fd, *args))
    home.data("w.bin", big())
    model = sx.load(home.model(count=4, offset="1048570"))
    assert bytes(first(model).data) == big()[1048570:1048574]
    assert ranges == [(1048570, 1048574)]
    model.close()
    refused("Io", "source-closed", lambda: first(model).data)


def test_e38_a_file_that_shrinks_after_load_is_found_out_when_it_is_mapped(home: Home) -> None:
    path = home.data()
    model = sx.load(home.model())
    path.write_bytes(BYTES[:9])
    error = refused("ExternalData", "external-range", lambda: first(model).data)
    assert (error.place.value, error.source) == ("t", str(home.folder / "model.onnx"))


# --- lifetime


def test_a_mapped_file_can_be_opened_again_for_copies_unless_it_was_replaced(home: Home) -> None:
    path = home.data("w.bin", big())
    model = sx.load(home.model())
    source = first(model).content.stored().source
    fd = source.descriptor()
    assert os.read(fd, 5) == big()[:5]
    os.close(fd)
    path.unlink()
    assert source.descriptor() is None
    path.write_bytes(big())
    assert source.descriptor() is None
    model.close()
    assert source.descriptor() is None


def test_after_close_no_data_file_is_opened_any_more(home: Home, monkeypatch) -> None:
    home.data()
    for options in ({}, {"external_data": "lazy"}):
        model = sx.load(home.model(), **options)
        model.close()
        monkeypatch.setattr(external, "open_inside", lambda *args: pytest.fail("opened"))
        error = refused("Io", "source-closed", lambda model=model: first(model).data)
        assert error.place.value == "t"
        monkeypatch.undo()


def test_after_close_a_file_that_was_open_is_out_of_reach_but_views_stay(home: Home) -> None:
    home.data("w.bin", big())
    model = sx.load(home.model())
    view = first(model).data
    model.close()
    assert bytes(view) == big()[:16]
    refused("Io", "source-closed", lambda: first(model).data)


def test_collecting_reports_a_bad_file_once_and_access_raises(home: Home) -> None:
    from sardonyx.io.load import load_source

    tensors = [proto(TensorProto.UINT8, (4,), external={"location": "w.bin"}) for _ in range(2)]
    for i, tensor in enumerate(tensors):
        tensor.name = f"t{i}"
    path = home.model()
    path.write_bytes(model_bytes(*tensors))
    model = load_source(path, collect=True)
    assert [(issue.code, issue.place.value) for issue in model.issues] == [("external-missing", "t0")]
    for tensor in model.graph.initializers.values():
        refused("ExternalData", "external-missing", lambda tensor=tensor: tensor.data)


def test_threads_that_ask_at_once_share_one_map(home: Home, monkeypatch) -> None:
    home.data("w.bin", big())
    maps, map_file = [], external.map_file
    monkeypatch.setattr(external, "map_file", lambda *args: maps.append(args) or map_file(*args))
    with sx.load(home.model()) as model:
        tensor = first(model)
        threads = [threading.Thread(target=lambda: tensor.data) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(maps) == 1


def test_a_relative_folder_does_not_move_with_the_working_directory(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    files_ = ExternalFiles("d", None, "inside", "lazy", Lifetime())
    assert files_.given == str(tmp_path / "d")
    assert files.READ_AT_MOST == 1 << 20
