"""Files: whole or not at all, weights where they were asked for, nothing overwritten that somebody may use."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sardonyx as sx
from sardonyx.errors import OnnxError
from sardonyx.io import publish, shards, stream
from sardonyx.io import save as save_module
from sardonyx.io.save import External, Saved, save, to_bytes
from sardonyx.ir.tensor import tensor_of
from tests.wire.bytes_of import number, payload

onnx = pytest.importorskip("onnx")
from onnx import ModelProto, TensorProto, helper, numpy_helper  # noqa: E402

PAGE = 4096
RANDOM = np.random.default_rng(0)
BIG = RANDOM.standard_normal((700, 500)).astype(np.float32)  # over a MiB: its file is mapped
SMALL = np.arange(4, dtype=np.float32)
HALF = RANDOM.standard_normal(5000).astype(np.float16)


def proto(**fields: Any) -> ModelProto:
    """A model with a large, a middling and a small weight, strings, typed data, and a weight in a body."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["inner"], ["b"])],
        "body",
        [],
        [helper.make_tensor_value_info("b", TensorProto.FLOAT16, None)],
        [numpy_helper.from_array(HALF, "inner")],
    )
    typed = TensorProto(name="typed", data_type=TensorProto.INT64, dims=[600], int64_data=range(600))
    strings = helper.make_tensor("strings", TensorProto.STRING, [1], [b"s" * 5000])
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "big"], ["y"]),
            helper.make_node("If", ["c"], ["z"], then_branch=body, else_branch=body),
            helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(BIG[:10], "value")),
        ],
        "main",
        [helper.make_tensor_value_info("x", 1, ["n", 700]), helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", 1, ["n", 500])],
        [*(numpy_helper.from_array(one, name) for one, name in ((BIG, "big"), (SMALL, "small"))), typed, strings],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    for name, value in fields.items():
        setattr(model, name, value)
    return model


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The model in a folder of its own."""
    folder = tmp_path / "original"
    folder.mkdir()
    path = folder / "model.onnx"
    path.write_bytes(proto().SerializeToString())
    return path


@pytest.fixture
def split(path: Path) -> Path:
    """The same model with its weights in a data file `w.data`."""
    target = path.parent.parent / "split" / "model.onnx"
    target.parent.mkdir()
    with sx.load(path) as model:
        save(model, target, external=External(location="w.data"))
    return target


def listing(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


def external(path: Path) -> dict[str, dict[str, str]]:
    """The external_data of each initializer that has any, as the onnx package reads it."""
    model = onnx.load(path, load_external_data=False)
    graphs = [model.graph]
    for node in model.graph.node:
        graphs += [one.g for one in node.attribute if one.HasField("g")]
    return {
        one.name: {entry.key: entry.value for entry in one.external_data}
        for graph in graphs
        for one in graph.initializer
        if one.data_location == TensorProto.EXTERNAL
    }


def same_weights(path: Path) -> None:
    """Both readers find the weights that the model has."""
    with sx.load(path) as model:
        found = {value.name: tensor for value, tensor in model.graph.initializers.items()}
        inner = next(iter(model.graph.nodes[1].bodies["then_branch"].initializers.values()))
        assert found["big"].numpy().tobytes() == BIG.tobytes()
        assert found["small"].numpy().tolist() == SMALL.tolist()
        assert found["typed"].numpy().tolist() == list(range(600))
        assert found["strings"].strings == (b"s" * 5000,)
        assert inner.numpy().tobytes() == HALF.tobytes()
    weights = {one.name: one for one in onnx.load(path).graph.initializer}
    assert numpy_helper.to_array(weights["big"]).tobytes() == BIG.tobytes()


# --- one file


def test_a_saved_model_is_byte_for_byte_what_was_loaded(path: Path, tmp_path: Path) -> None:
    with sx.load(path) as model:
        done = save(model, tmp_path / "out.onnx")
    assert (tmp_path / "out.onnx").read_bytes() == path.read_bytes()
    assert isinstance(done, Saved)
    assert (done.path, done.data_files, done.issues) == (str(tmp_path / "out.onnx"), (), ())
    assert done.nbytes == path.stat().st_size


def test_saving_over_the_file_the_model_is_mapped_from_leaves_the_mapping_alone(path: Path) -> None:
    data = path.read_bytes()
    with sx.load(path) as model:
        big = next(iter(model.graph.initializers.values()))
        save(model.replace(producer_name="new"), path)
        assert big.numpy().tobytes() == BIG.tobytes()
        save(model, path)
    assert path.read_bytes() == data
    assert [one.name for one in path.parent.iterdir()] == ["model.onnx"]


def test_a_path_relative_to_the_working_folder_will_do(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with sx.load(path) as model:
        done = save(model, "out.onnx", external=External())
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_file()) == sorted(["out.onnx", *done.data_files])
    same_weights(tmp_path / "out.onnx")


@pytest.mark.skipif(os.name == "nt", reason="permission bits of POSIX")
def test_the_new_file_has_the_mode_of_the_old_one_or_what_the_umask_allows(path: Path, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with sx.load(path) as model:
            save(model, tmp_path / "new.onnx", external=External(location="d"))
            path.chmod(0o604)
            save(model, path)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.onnx").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o640
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_is_replaced_and_what_it_leads_to_is_left_alone(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    link = tmp_path / "link.onnx"
    link.symlink_to(path)
    with sx.load(link) as model:
        save(model.replace(producer_name="new"), link)
    assert not link.is_symlink()
    assert path.read_bytes() == data


def test_progress_counts_up_to_all_bytes(path: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    with sx.load(path) as model:
        done = save(model, tmp_path / "a.onnx", external=External(), progress=lambda *now: seen.append(now))
    assert len({total for _, total in seen}) == 1
    assert [count for count, _ in seen] == sorted(count for count, _ in seen)
    assert seen[-1][0] <= seen[-1][1] == done.nbytes


# --- weights in data files


def test_weights_move_to_one_data_file_with_an_unused_name(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    with sx.load(path) as model:
        [name] = save(model, target, external=External()).data_files
    assert name.startswith("out-")
    assert name.endswith(".data")
    entries = external(target)
    assert set(entries) == {"big", "inner", "typed"}  # not the small one, the strings, the attribute
    assert {one["location"] for one in entries.values()} == {name}
    assert all(int(one["offset"]) % PAGE == 0 for one in entries.values())
    same_weights(target)


def test_the_same_save_gives_the_same_bytes_and_names(path: Path, tmp_path: Path) -> None:
    found = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        with sx.load(path) as model:
            save(model, tmp_path / folder / "out.onnx", external=External())
        found.append(listing(tmp_path / folder))
    assert found[0] == found[1]


def test_saving_again_leaves_the_older_data_file_as_it_is(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    with sx.load(path) as model:
        first = save(model, target, external=External()).data_files
        before = (tmp_path / first[0]).read_bytes()
        second = save(model, target, external=External()).data_files
    assert second[0] == first[0].replace(".data", "-2.data")
    assert (tmp_path / first[0]).read_bytes() == before
    same_weights(target)


def test_threshold_and_alignment_are_as_asked(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    with sx.load(path) as model:
        save(model, target, external=External(threshold=0, align=64))
    entries = external(target)
    assert set(entries) == {"big", "small", "inner", "typed"}
    assert all(int(one["offset"]) % 64 == 0 for one in entries.values())
    assert any(int(one["offset"]) % PAGE for one in entries.values())
    same_weights(target)


def test_shards_stay_within_their_size_unless_one_tensor_is_larger(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    with sx.load(path) as model:
        done = save(model, target, external=External(shard_size=40000, location="w.bin"))
    assert done.data_files == ("w-00001-of-00002.bin", "w-00002-of-00002.bin")
    assert [(tmp_path / name).stat().st_size > 40000 for name in done.data_files] == [True, False]
    same_weights(target)


def test_one_range_of_the_source_is_written_once(path: Path, tmp_path: Path) -> None:
    with sx.load(path) as model:
        big, *others = model.graph.initializers.items()
        tied = {big[0]: big[1], sx.Value("tied"): big[1].replace(name="tied"), **dict(others)}
        save(model.replace(graph=model.graph.replace(initializers=tied)), tmp_path / "out.onnx", external=External())
    entries = external(tmp_path / "out.onnx")
    assert entries["big"] == entries["tied"]
    same_weights(tmp_path / "out.onnx")


def test_a_tensor_made_by_code_moves_too(path: Path, tmp_path: Path) -> None:
    made = np.arange(3000, dtype=np.int32)
    with sx.load(path) as model:
        table = {**model.graph.initializers, sx.Value("made"): tensor_of(made)}
        save(model.replace(graph=model.graph.replace(initializers=table)), tmp_path / "out.onnx", external=External())
    assert "made" in external(tmp_path / "out.onnx")
    with sx.load(tmp_path / "out.onnx") as model:
        assert [*model.graph.initializers.values()][-1].numpy().tolist() == made.tolist()


def test_moved_tensors_keep_their_documentation(tmp_path: Path) -> None:
    model = proto()
    model.graph.initializer[0].doc_string = "why"
    model.graph.initializer[0].external_data.add(key="location", value="ignored beside raw data")
    save(sx.load(model.SerializeToString()), tmp_path / "out.onnx", external=External())
    [found] = [one for one in onnx.load(tmp_path / "out.onnx").graph.initializer if one.name == "big"]
    assert found.doc_string == "why"
    same_weights(tmp_path / "out.onnx")


@pytest.mark.parametrize("location", ["", ".", "..", "a/b", "../w", "a\\b", "c:w", "w\0"])
def test_a_location_must_be_a_plain_name(path: Path, tmp_path: Path, location: str) -> None:
    with sx.load(path) as model, pytest.raises(ValueError, match="location"):
        save(model, tmp_path / "out.onnx", external=External(location=location))
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize("wrong", [{"threshold": -1}, {"align": 0}, {"shard_size": 0}])
def test_sizes_that_mean_nothing_are_refused(path: Path, tmp_path: Path, wrong: dict[str, int]) -> None:
    with sx.load(path) as model, pytest.raises(ValueError, match="at least"):
        save(model, tmp_path / "out.onnx", external=External(**wrong))


@pytest.mark.parametrize("wrong", ["yes", True, 1024])
def test_another_value_of_external_is_refused(path: Path, tmp_path: Path, wrong: Any) -> None:
    with sx.load(path) as model:
        with pytest.raises(ValueError, match="external"):
            save(model, tmp_path / "out.onnx", external=wrong)
        with pytest.raises(ValueError, match="external"):
            to_bytes(model, external=wrong)


def test_an_existing_file_of_the_location_asked_for_is_not_overwritten(path: Path, tmp_path: Path) -> None:
    (tmp_path / "w.data").write_bytes(b"another model's")
    with sx.load(path) as model, pytest.raises(OnnxError) as caught:
        save(model, tmp_path / "out.onnx", external=External(location="w.data"))
    assert (caught.value.code, caught.value.kind) == ("data-file-exists", sx.ErrorKind.Io)
    assert listing(tmp_path) == {"w.data": b"another model's"}


@pytest.mark.skipif(os.name == "nt", reason="names that Windows does not allow")
@pytest.mark.parametrize("stem", ["c:x", "a\\b", "\udcff", "..."])
def test_a_name_that_no_location_may_have_gives_a_data_file_that_is_found(
    path: Path, tmp_path: Path, stem: str
) -> None:
    target = tmp_path / f"{stem}.onnx"
    with sx.load(path) as model:
        save(model, target, external=External())
    with sx.load(target) as model:
        assert next(iter(model.graph.initializers.values())).numpy().tobytes() == BIG.tobytes()


# --- models that have data files


def test_references_stay_when_the_data_file_is_the_same_from_the_new_place(split: Path) -> None:
    before = split.read_bytes()
    with sx.load(split) as model:
        done = save(model, split.with_name("copy.onnx"))
        save(model, split)
    assert done.data_files == done.issues == ()
    assert split.read_bytes() == split.with_name("copy.onnx").read_bytes() == before


def test_in_another_folder_the_weights_are_copied_to_a_new_data_file(split: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    with sx.load(split) as model:
        done = save(model, target)
    assert len(done.data_files) == 1
    assert set(external(target)) == {"big", "inner", "typed"}
    same_weights(target)


def test_a_file_of_the_same_name_in_the_new_folder_is_not_taken_for_the_data(split: Path, tmp_path: Path) -> None:
    (tmp_path / "w.data").write_bytes(b"x" * (split.parent / "w.data").stat().st_size)
    with sx.load(split) as model:
        save(model, tmp_path / "out.onnx")
    same_weights(tmp_path / "out.onnx")
    assert (tmp_path / "w.data").read_bytes()[:1] == b"x"


def test_a_model_is_not_saved_over_the_data_file_that_its_weights_are_in(split: Path, tmp_path: Path) -> None:
    before = (split.parent / "w.data").read_bytes()
    os.symlink(split.parent / "w.data", tmp_path / "other name")
    os.link(split.parent / "w.data", tmp_path / "hard link")
    with sx.load(split) as model:
        for target in (split.parent / "w.data", split.parent / "." / "w.data", tmp_path / "hard link"):
            for external in (None, "embed", "keep", External()):
                with pytest.raises(OnnxError) as caught:
                    save(model, target, external=external)
                assert caught.value.code == "data-file-exists"
        save(model, tmp_path / "other name", external="embed")  # the link is replaced
    assert (split.parent / "w.data").read_bytes() == before


def test_a_model_does_not_take_the_name_of_a_file_that_it_refers_to(split: Path, tmp_path: Path) -> None:
    (tmp_path / "w.data").write_bytes(b"of another model")
    with sx.load(split) as model, pytest.raises(OnnxError) as caught:
        save(model, tmp_path / "w.data", external="keep")
    assert caught.value.code == "data-file-exists"
    assert (tmp_path / "w.data").read_bytes() == b"of another model"


def test_a_name_that_another_process_takes_meanwhile_is_left_to_it(path: Path, tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    with sx.load(path) as model:
        (name,) = save(model, tmp_path / "first" / "new.onnx", external=External()).data_files

        def take(done: int, total: int) -> None:
            (tmp_path / name).write_bytes(b"of another process")

        saved = save(model, tmp_path / "new.onnx", external=External(), progress=take)
        assert (tmp_path / name).read_bytes() == b"of another process"
        assert len(saved.data_files) == 1
        assert name not in saved.data_files
        with sx.load(tmp_path / "new.onnx") as again:
            assert not sx.diff(model, again)

        def take_too(done: int, total: int) -> None:
            (tmp_path / "w.data").write_bytes(b"of another process")

        with pytest.raises(OnnxError) as caught:
            save(model, tmp_path / "named.onnx", external=External(location="w.data"), progress=take_too)
        assert caught.value.code == "data-file-exists"
    assert not (tmp_path / "named.onnx").exists()


@pytest.mark.parametrize("location", ["new.onnx", "NEW.onnx"])
def test_weights_and_model_cannot_have_one_name(path: Path, tmp_path: Path, location: str) -> None:
    with sx.load(path) as model, pytest.raises(ValueError, match="the name of the model file itself"):
        save(model, tmp_path / "new.onnx", external=External(location=location))
    assert not (tmp_path / "new.onnx").exists()


@pytest.mark.parametrize("stem", ["m" * 250, "模" * 83])
@pytest.mark.parametrize("nameless", [publish.NAMELESS, 0])
def test_a_name_as_long_as_names_can_be_will_do(
    path: Path, tmp_path: Path, stem: str, nameless: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "NAMELESS", nameless)
    target = tmp_path / f"{stem}.onnx"
    with sx.load(path) as model:
        saved = save(model, target, external=External())
        with sx.load(target) as again:
            assert not sx.diff(model, again)
    assert len(saved.data_files) == 1


def test_weights_behind_a_link_out_of_the_folder_are_copied(split: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    os.symlink(split.parent / "w.data", folder / "w.data")
    with sx.load(split) as model:
        saved = save(model, folder / "new.onnx")
        with sx.load(folder / "new.onnx") as again:
            assert not sx.diff(model, again)
    assert len(saved.data_files) == 1


@pytest.mark.parametrize("name", ["lowered.onnx", "model.onnx"])
def test_what_is_saved_beside_a_model_of_a_hub_cache_can_be_loaded(split: Path, tmp_path: Path, name: str) -> None:
    blobs, snapshot = tmp_path / "repository" / "blobs", tmp_path / "repository" / "snapshots" / "1a2b"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for blob, file in (("aa", split), ("bb", split.parent / "w.data")):
        (blobs / blob).write_bytes(file.read_bytes())
        os.symlink(Path("..", "..", "blobs", blob), snapshot / file.name)
    with sx.load(snapshot / "model.onnx") as model:
        save(model, snapshot / name)
        with sx.load(snapshot / name) as again:
            assert not sx.diff(model, again)


def test_embed_reads_everything_into_the_model(split: Path, path: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    with sx.load(split) as model:
        assert save(model, target, external="embed").data_files == ()
        assert ModelProto.FromString(to_bytes(model, external="embed")) == onnx.load(target)
        assert external(target) == {}
        assert to_bytes(model) == split.read_bytes()
    same_weights(target)


def test_a_new_layout_moves_large_tensors_and_takes_small_ones_in(split: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    with sx.load(split) as model:
        save(model, target, external=External(threshold=6000))
    assert set(external(target)) == {"big", "inner"}
    same_weights(target)


def test_keep_leaves_references_as_text_and_says_which_are_not_found(split: Path, tmp_path: Path) -> None:
    with sx.load(split) as model:
        done = save(model, tmp_path / "out.onnx", external="keep")
        assert save(model, split.with_name("copy.onnx"), external="keep").issues == ()
    assert (tmp_path / "out.onnx").read_bytes() == split.read_bytes()
    [issue] = done.issues
    assert (issue.code, issue.severity) == ("reference-kept", "warning")
    assert "4 tensors refer to the data file 'w.data'" in issue.message


@pytest.mark.parametrize("wanted", [None, "embed", External()])
def test_references_to_missing_files_are_kept_with_an_issue(split: Path, tmp_path: Path, wanted: Any) -> None:
    (split.parent / "w.data").unlink()
    with sx.load(split, external_data="lazy") as model:
        done = save(model, tmp_path / "out.onnx", external=wanted)
    assert (tmp_path / "out.onnx").read_bytes() == split.read_bytes()
    assert [issue.code for issue in done.issues] == ["reference-kept"]


def test_external_tensors_of_attributes_functions_and_sparse_parts_follow(tmp_path: Path) -> None:
    folder = tmp_path / "from"
    folder.mkdir()
    (folder / "w.data").write_bytes(BIG.tobytes() + np.int64(3).tobytes())

    def outside(name: str, shape: tuple[int, ...], kind: int = TensorProto.FLOAT, offset: int = 0) -> TensorProto:
        made = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "w.data"), ("offset", str(offset))):
            made.external_data.add(key=key, value=value)
        return made

    model = proto()
    model.graph.node[2].attribute[0].t.CopyFrom(outside("value", (3, 5)))
    sparse = model.graph.sparse_initializer.add(dims=[9])
    sparse.values.CopyFrom(outside("s", (1,)))
    sparse.indices.CopyFrom(outside("i", (1,), TensorProto.INT64, BIG.nbytes))
    node = helper.make_node("Constant", [], ["b"], value=outside("value", (7,)))
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("d", 1)]
    model.functions.append(helper.make_function("d", "f", [], ["b"], [node], imports))
    model.opset_import.append(imports[1])
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    with sx.load(folder / "m.onnx") as loaded:
        [name] = save(loaded, tmp_path / "out.onnx").data_files
    again = onnx.load(tmp_path / "out.onnx", load_external_data=False)
    tensors = [
        again.graph.node[2].attribute[0].t,
        again.graph.sparse_initializer[0].values,
        again.graph.sparse_initializer[0].indices,
        again.functions[0].node[0].attribute[0].t,
    ]
    assert {one.external_data[0].value for one in tensors} == {name}
    with sx.load(tmp_path / "out.onnx") as loaded:
        assert loaded.graph.nodes[2].attrs["value"].value.numpy().tolist() == BIG.ravel()[:15].reshape(3, 5).tolist()
        [one] = loaded.graph.sparse_initializers.values()
        assert (one.values.numpy()[0], one.indices.numpy()[0]) == (BIG[0, 0], 3)
        [function] = loaded.functions.values()
        assert function.nodes[0].attrs["value"].value.numpy().tolist() == BIG.ravel()[:7].tolist()


def test_a_small_data_file_that_is_read_not_mapped_is_known_again(tmp_path: Path) -> None:
    model = helper.make_model(helper.make_graph([], "g", [], [], [numpy_helper.from_array(SMALL, "w")]))
    made = sx.load(model.SerializeToString())
    save(made, tmp_path / "a.onnx", external=External(threshold=0, location="w.data"))
    with sx.load(tmp_path / "a.onnx") as loaded:
        assert save(loaded, tmp_path / "b.onnx").data_files == ()


# --- too large for protobuf


def test_weights_move_by_themselves_when_the_file_would_be_too_large(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(save_module, "MAX_FILE_BYTES", 100_000)
    with sx.load(path) as model:
        done = save(model, tmp_path / "out.onnx")
        assert len(done.data_files) == 1
        with pytest.raises(OnnxError) as caught:
            to_bytes(model)
        assert (caught.value.code, caught.value.hint) == (
            "file-too-large",
            "save it to a file, with external=sx.External()",
        )
    same_weights(tmp_path / "out.onnx")


def test_tensors_of_attributes_move_when_that_is_not_enough(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(save_module, "MAX_FILE_BYTES", 10_000)
    with sx.load(path) as model:
        save(model, tmp_path / "out.onnx")
    constant = onnx.load(tmp_path / "out.onnx", load_external_data=False).graph.node[2].attribute[0].t
    assert constant.data_location == TensorProto.EXTERNAL
    same_weights(tmp_path / "out.onnx")


def test_a_model_that_is_too_large_without_its_weights_is_refused(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(save_module, "MAX_FILE_BYTES", 3000)
    with sx.load(path) as model, pytest.raises(OnnxError) as caught:
        save(model, tmp_path / "out.onnx")
    assert (caught.value.code, caught.value.kind) == ("file-too-large", sx.ErrorKind.Unsupported)
    assert not listing(tmp_path)


# --- failures leave nothing behind

NAMELESS = [True, False] if publish.NAMELESS else [False]


@pytest.fixture(params=NAMELESS, ids=["nameless" if one else "named" for one in NAMELESS])
def kind_of_file(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Run with files that have no name until they are whole, and with such as have one from the start."""
    if not request.param:
        monkeypatch.setattr(publish, "NAMELESS", 0)
    return bool(request.param)


def fail_after(monkeypatch: pytest.MonkeyPatch, name: str, count: int, problem: BaseException) -> None:
    """Let a function of `os` fail from its n-th call on."""
    original = getattr(os, name)
    calls = []

    def failing(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        if len(calls) > count:
            raise problem
        return original(*args, **kwargs)

    monkeypatch.setattr(os, name, failing)


FULL = OSError(errno.ENOSPC, "No space left on device")
STEPS = [("write", 0), ("write", 1), ("write", 2), ("fsync", 0), ("fsync", 1), ("replace", 0), ("ftruncate", 0)]


@pytest.mark.usefixtures("kind_of_file")
@pytest.mark.parametrize("problem", [FULL, KeyboardInterrupt()], ids=["disk full", "interrupted"])
@pytest.mark.parametrize(("name", "count"), STEPS)
def test_whatever_fails_the_folder_is_as_before(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str, count: int, problem: BaseException
) -> None:
    monkeypatch.setattr(stream, "WAYS", [])  # so that every byte goes through os.write
    before = listing(path.parent)
    with sx.load(path) as model:
        fail_after(monkeypatch, name, count, problem)
        with pytest.raises((OnnxError, KeyboardInterrupt)) as caught:
            save(model, path, external=External())
        monkeypatch.undo()
    if isinstance(caught.value, OnnxError):
        assert (caught.value.code, caught.value.kind) == ("write-failed", sx.ErrorKind.Io)
        assert "No space left on device" in caught.value.message
        assert caught.value.hint == "the disk is full"
        assert caught.value.__cause__ is problem
    assert listing(path.parent) == before


@pytest.mark.usefixtures("kind_of_file")
def test_a_failing_progress_callback_leaves_nothing_behind(path: Path, tmp_path: Path) -> None:
    def complain(done: int, total: int) -> None:
        raise ZeroDivisionError

    with sx.load(path) as model, pytest.raises(ZeroDivisionError):
        save(model, tmp_path / "out.onnx", external=External(), progress=complain)
    assert not listing(tmp_path)


@pytest.mark.usefixtures("kind_of_file")
def test_an_interrupt_after_the_model_has_its_name_does_not_take_its_weights(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.onnx"
    replace = os.replace

    def interrupted(*args: Any) -> None:
        replace(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with sx.load(path) as model, pytest.raises(KeyboardInterrupt):
        save(model, target, external=External())
    same_weights(target)


@pytest.mark.usefixtures("kind_of_file")
def test_files_are_complete_with_and_without_a_name_from_the_start(path: Path, tmp_path: Path) -> None:
    with sx.load(path) as model:
        done = save(model, tmp_path / "out.onnx", external=External())
        save(model, tmp_path / "out.onnx", external=External())
    assert len(listing(tmp_path)) == 3
    assert len(done.data_files) == 1
    same_weights(tmp_path / "out.onnx")


@pytest.mark.skipif(not publish.NAMELESS, reason="this system has no nameless files")
def test_where_a_nameless_file_cannot_be_named_one_with_a_name_is_written(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def refused(source: str, *args: Any, **kwargs: Any) -> None:
        if source.startswith("/proc/"):
            raise FileNotFoundError(errno.ENOENT, "no /proc here")
        link(source, *args, **kwargs)

    monkeypatch.setattr(os, "link", refused)
    with sx.load(path) as model:
        save(model, tmp_path / "out.onnx", external=External())
    same_weights(tmp_path / "out.onnx")


def test_a_file_system_without_hard_links_still_gets_its_data_file(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(publish, "NAMELESS", 0)
    monkeypatch.setattr(os, "link", refused)
    with sx.load(path) as model:
        save(model, tmp_path / "out.onnx", external=External())
    same_weights(tmp_path / "out.onnx")


LIMITED = """
import os, resource, sys
import sardonyx as sx
from sardonyx.io.save import External, save
model = sx.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    save(model, sys.argv[2], external=External())
except sx.OnnxError as problem:
    print(problem.code, problem.hint)
"""


@pytest.mark.skipif(os.name == "nt", reason="no limit on file sizes there")
def test_a_limit_on_the_size_of_files_is_reported(path: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, path, tmp_path / "out.onnx"], capture_output=True, text=True, env=os.environ
    )
    assert run.stdout.startswith("write-failed the file system or a limit"), run.stderr
    assert not listing(tmp_path)


KILLED = """
import os, signal, sys
import sardonyx as sx
from sardonyx.io.save import External, save
with sx.load(sys.argv[1]) as model:
    save(model, sys.argv[2], external=External(), progress=lambda *_: os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.mark.skipif(not publish.NAMELESS, reason="this system has no nameless files")
def test_not_even_a_killed_process_leaves_something_behind(path: Path, tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", KILLED, path, tmp_path / "out.onnx"], env=os.environ)
    assert run.returncode == -9
    assert not listing(tmp_path)


@pytest.mark.parametrize("name", ["absent/out.onnx", "folder", "pipe"])
def test_a_path_where_no_file_can_be_is_refused(path: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    if name == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("no pipes there")
        os.mkfifo(tmp_path / name)
    with sx.load(path) as model, pytest.raises(OnnxError) as caught:
        save(model, tmp_path / name)
    expected = "write-failed" if name.startswith("absent") else "not-a-file"
    assert (caught.value.code, caught.value.kind) == (expected, sx.ErrorKind.Io)
    assert caught.value.source == str(tmp_path / name)


def test_on_windows_saving_over_a_mapped_file_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(save_module, "WINDOWS", True)
    before = path.read_bytes()
    with sx.load(path) as model:
        with pytest.raises(OnnxError) as caught:
            save(model, path)
        save(model, path.with_name("other.onnx"))
    assert (caught.value.code, caught.value.kind) == ("file-in-use", sx.ErrorKind.Io)
    assert path.read_bytes() == before


def test_a_closed_model_is_not_saved(path: Path, split: Path, tmp_path: Path) -> None:
    for where in (path, split):
        model = sx.load(where)
        model.close()
        with pytest.raises(OnnxError) as caught:
            save(model, tmp_path / "out.onnx")
        assert caught.value.code == "source-closed"
    assert not listing(tmp_path)


@pytest.mark.skipif(not hasattr(os, "pread"), reason="copies through the mapping there")
@pytest.mark.parametrize("ways", [stream.WAYS, []], ids=["kernel", "reads"])
def test_a_source_that_was_cut_short_is_reported(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ways: list[Any]
) -> None:
    monkeypatch.setattr(stream, "WAYS", ways)
    weight = payload(5, numpy_helper.from_array(BIG, "w").SerializeToString())  # at the very end of the file
    path.write_bytes(number(1, 10) + payload(8, number(2, 21)) + payload(7, weight))
    with sx.load(path) as model:
        os.truncate(path, 500_000)
        with pytest.raises(OnnxError) as caught:
            save(model, tmp_path / "out.onnx")
    assert (caught.value.code, caught.value.kind) == ("source-cut", sx.ErrorKind.Io)
    assert not listing(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="what the system says there was not tried")
def test_a_data_file_that_was_cut_short_after_it_was_mapped_is_reported(path: Path, tmp_path: Path) -> None:
    with sx.load(path) as model:
        save(model, path, external=External(location="w.data", threshold=BIG.nbytes))
    with sx.load(path) as model:
        assert all(tensor.data for tensor in model.graph.initializers.values() if tensor.is_external)
        os.truncate(path.parent / "w.data", PAGE)
        with pytest.raises(OnnxError) as caught:
            save(model, tmp_path / "out.onnx", external="embed")
    assert (caught.value.code, caught.value.kind) == ("source-cut", sx.ErrorKind.Io)
    assert not listing(tmp_path)


# --- how bytes are copied


@pytest.mark.parametrize(
    "ways", [[], *([way] for way in stream.WAYS)], ids=lambda ways: ways[0].__name__ if ways else "reads"
)
def test_every_way_of_copying_gives_the_same_files(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ways: list[Any]
) -> None:
    monkeypatch.setattr(stream, "WAYS", ways)
    monkeypatch.setattr(stream, "STEP", 300_001)
    with sx.load(path) as model:
        save(model, tmp_path / "out.onnx")
        save(model, tmp_path / "split.onnx", external=External())
    assert (tmp_path / "out.onnx").read_bytes() == path.read_bytes()
    same_weights(tmp_path / "split.onnx")


@pytest.mark.parametrize("refusal", [errno.EXDEV, errno.ENOSYS])
def test_where_the_kernel_cannot_copy_the_next_way_is_taken(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    calls = []

    def unable(to: int, fd: int, start: int, count: int) -> int:
        calls.append(start)
        raise OSError(refusal, "not here")

    def nothing(to: int, fd: int, start: int, count: int) -> int:
        calls.append(start)
        return 0

    monkeypatch.setattr(stream, "WAYS", [unable, nothing])
    with sx.load(path) as model:
        save(model, tmp_path / "out.onnx")
    assert (tmp_path / "out.onnx").read_bytes() == path.read_bytes()
    assert len(calls) == 2


ANONYMOUS = """
import sys, threading, time
import sardonyx as sx
from sardonyx.io import stream
from sardonyx.io.save import External, save
def anonymous():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon"))
def mapped():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssFile"))
if sys.argv[3] == "reads":
    stream.WAYS.clear()
with sx.load(sys.argv[1]) as model:
    save(model, sys.argv[2] + "first.onnx")
    before = anonymous(), mapped()
    peak = []
    watch = lambda *_: peak.append((anonymous(), mapped()))
    save(model, sys.argv[2] + "second.onnx", external=External(), progress=watch)
    save(model, sys.argv[2] + "third.onnx", progress=watch)
print(max(a for a, _ in peak) - before[0], max(m for _, m in peak) - before[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("way", ["kernel", "reads"])
def test_weights_are_not_held_while_they_are_copied(tmp_path: Path, way: str) -> None:
    size = 64 << 20
    graph = helper.make_graph([], "g", [], [])
    weight = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[size], raw_data=bytes(size))
    graph.initializer.append(weight)
    (tmp_path / "model.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    run = subprocess.run(
        [sys.executable, "-c", ANONYMOUS, tmp_path / "model.onnx", f"{tmp_path}/", way],
        capture_output=True, text=True, env=os.environ, check=True,
    )  # fmt: skip
    anonymous, mapped = map(int, run.stdout.split())
    assert anonymous < 8 << 10
    assert mapped < 8 << 10


def test_layouts_do_not_open_what_stays(path: Path) -> None:
    with sx.load(path) as model:
        layout = shards.lay_out(model, str(path.parent), "model", None)
    assert (layout.placement, layout.files, layout.issues) == ({}, (), ())
