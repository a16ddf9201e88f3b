"""Whatever bytes come in: they load or raise OnnxError, the same in both builds, at a cost that their size bounds."""

from __future__ import annotations

import random
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sardonyx as sx
from sardonyx.io import load as loading
from sardonyx.wire import codec
from tests.hostile import generate
from tests.hostile.generate import attribute, block, model, node, number, relu, tensor, value
from tests.rich import rich_model
from tests.wire.conftest import decoder, load_uncompiled

RICH = rich_model()
HOSTILE = generate.files()
BUILDS = {"interpreted": decoder(load_uncompiled())}
if codec.is_compiled:
    BUILDS["compiled"] = decoder(codec)

Outcome = tuple[str, ...]


def outcome(data: bytes) -> Outcome:
    """Load bytes: what the dump says, or what is wrong and where."""
    try:
        return ("loaded", sx.dump(sx.load(data, external_data="lazy", limits=sx.Limits(max_tensor_bytes=1 << 20))))
    except sx.OnnxError as error:
        return (error.kind.value, error.code, str(error.offset), str(error.path), str(error))


def same_in_both_builds(data: bytes, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """Load bytes in every build there is, and return the one outcome."""
    found = set()
    for decode in BUILDS.values():
        monkeypatch.setattr(loading, "decode", decode)
        found.add(outcome(data))
    assert len(found) == 1, f"{data.hex()}: {found}"
    return found.pop()


def kinds(outcomes: Iterator[Outcome]) -> set[str]:
    return {one[0] for one in outcomes}


def flips(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Copies of `data` with one to three bits turned."""
    chance = random.Random(seed)
    for _ in range(count):
        copy = bytearray(data)
        for _ in range(chance.randint(1, 3)):
            copy[chance.randrange(len(copy))] ^= 1 << chance.randrange(8)
        yield bytes(copy)


def splices(count: int, seed: int) -> Iterator[bytes]:
    """The front of one model with the back of another, and models with a piece of another in the middle."""
    chance = random.Random(seed)
    models = [RICH, *HOSTILE.values()]
    for _ in range(count):
        one, other = chance.choice(models), chance.choice(models)
        cut, start = chance.randint(0, len(one)), chance.randint(0, len(other))
        yield one[:cut] + other[start:] + (one[cut:] if chance.randrange(2) else b"")


def test_the_rich_model_itself_loads_in_both_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_in_both_builds(RICH, monkeypatch)[0] == "loaded"


def test_r07_every_prefix_of_a_model_loads_or_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = kinds(same_in_both_builds(RICH[:size], monkeypatch) for size in range(len(RICH)))
    assert found == {"loaded", "Malformed", "InvalidModel"}


def test_r07_turned_bits_load_or_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = kinds(same_in_both_builds(data, monkeypatch) for data in flips(RICH, 3000, 1))
    assert found >= {"loaded", "Malformed", "InvalidModel", "Unsupported"}


def test_r07_spliced_models_load_or_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = kinds(same_in_both_builds(data, monkeypatch) for data in splices(3000, 2))
    assert found >= {"loaded", "Malformed", "InvalidModel"}


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_r07_random_bytes_load_or_are_refused(data: bytes) -> None:
    assert outcome(data)[0] in {"loaded", *(kind.value for kind in sx.ErrorKind)}


EDITS = st.lists(
    st.tuples(st.integers(0, len(RICH) - 1), st.integers(0, 8), st.binary(max_size=8)), min_size=1, max_size=4
)


@settings(max_examples=500, deadline=None)
@given(EDITS)
def test_r07_edited_models_load_or_are_refused_and_what_loads_can_be_saved(edits: list[tuple[int, int, bytes]]) -> None:
    data = RICH
    for at, size, new in edits:
        data = data[:at] + new + data[at + size :]
    found = outcome(data)
    if found[0] == "loaded":
        saved = sx.to_bytes(sx.load(data, external_data="lazy"))
        assert outcome(saved) == found


def test_r07_check_finds_what_load_refuses_and_raises_nothing_else() -> None:
    for data in [*HOSTILE.values(), *flips(RICH, 1000, 3), *splices(1000, 4)]:
        issues = sx.check(data, external_data="lazy")
        if outcome(data)[0] not in ("loaded", "Unsupported"):
            assert issues, data.hex()


@pytest.mark.parametrize("name", HOSTILE)
def test_r01_r02_every_bad_input_raises_one_type_with_one_of_five_kinds(name: str) -> None:
    with pytest.raises(sx.OnnxError) as caught:
        sx.load(HOSTILE[name], limits=sx.Limits(max_tensor_bytes=2**31 - 1))
    assert type(caught.value) is sx.OnnxError
    assert caught.value.kind.value in {"Malformed", "InvalidModel", "Unsupported", "ExternalData", "Io"}
    assert caught.value.code in sx.CODES


def test_r03_the_error_names_its_input(tmp_path) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(HOSTILE["malformed-key-cut.onnx"])
    sources = {str(path): path, "<bytes>": path.read_bytes()}
    for shown, source in sources.items():
        with pytest.raises(sx.OnnxError) as caught:
            sx.load(source)
        assert caught.value.source == shown
        assert str(caught.value).startswith(f"{shown}: byte ")


def test_r04_the_offset_counts_from_the_start_of_the_file_however_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = b"here\xff"
    inner = node("Abs", ["x"], ["deep"], block(3, mark)) + value(12, "deep")
    body = node("If", ["x"], ["r"], attribute("g", number(20, 5), block(6, inner))) + value(12, "r")
    data = model(relu(node("If", ["x"], ["z"], attribute("g", number(20, 5), block(6, body)))))
    found = same_in_both_builds(data, monkeypatch)
    assert found[:4] == (
        "Malformed",
        "bad-utf8",
        str(data.index(mark) + 4),
        "ModelProto.graph.node[1].attribute[0].g.node[0].attribute[0].g.node[0].name",
    )


# Cost: each shape makes much of few bytes; what is measured grows no faster than the input.


def nodes(count: int) -> bytes:
    return model(block(1) * count + block(2, "g"))


def inputs(count: int) -> bytes:
    return model(b"".join(value(11, str(at)) for at in range(count)))


def one_value_read_often(count: int) -> bytes:
    return model(relu(*[node("Relu", ["y"], [f"v{at}"]) for at in range(count)]))


def reversed_chain(count: int) -> bytes:
    return model(b"".join(node("Relu", [f"v{at}"], [f"v{at + 1}"]) for at in reversed(range(count))) + value(11, "v0"))


def long_cycle(count: int) -> bytes:
    return model(b"".join(node("Relu", [f"v{at}"], [f"v{(at + 1) % count}"]) for at in range(count)))


def bodies(count: int) -> bytes:
    body = node("Relu", ["x"], ["r"]) + value(12, "r")
    return model(relu(*[node("If", ["x"], [f"v{at}"], attribute("g", block(6, body))) for at in range(count)]))


def attributes(count: int) -> bytes:
    return model(relu(node("Op", ["x"], ["z"], *[attribute(str(at), number(3, at)) for at in range(count)])))


def undefined(count: int) -> bytes:
    return model(relu(*[node("Relu", [f"n{at}"], [f"v{at}"]) for at in range(count)]))


def scalars(count: int) -> bytes:
    return model(relu(*[tensor(block(4, bytes(4)), dims=(), name=f"w{at}") for at in range(count)]))


def typed_entries(count: int) -> bytes:
    return model(relu(tensor(block(5, b"\x01" * count), dims=(count,), data_type=6)))


def string_entries(count: int) -> bytes:
    return model(relu(tensor(block(6) * count, dims=(count,), data_type=8)))


def dims(count: int) -> bytes:
    return model(relu(tensor(block(1, b"\x01" * count), block(4, bytes(4)), dims=())))


def imports(count: int) -> bytes:
    return model(relu()) + b"".join(block(8, block(1, f"d{at}"), number(2, 1)) for at in range(count))


def functions(count: int) -> bytes:
    return model(relu()) + b"".join(block(25, block(1, f"f{at}"), block(10, "d")) for at in range(count))


def metadata(count: int) -> bytes:
    return model(relu()) + block(14) * count


def unknown_fields(count: int) -> bytes:
    return model(relu()) + (number(1000, 1) + number(20, 1)) * count


def dim_names(count: int) -> bytes:
    shape = b"".join(block(1, block(2, f"n{at}")) for at in range(count))
    return model(relu(block(13, block(1, "y"), block(2, block(1, number(1, 1), block(2, shape))))))


SHAPES = [
    nodes, inputs, one_value_read_often, reversed_chain, long_cycle, bodies, attributes, undefined, scalars,
    typed_entries, string_entries, dims, imports, functions, metadata, unknown_fields, dim_names,
]  # fmt: skip


def calls_and_peak(data: bytes) -> tuple[int, int]:
    """Load bytes; return how many functions were called and how many bytes were allocated at the most."""
    outcome(RICH)  # so that imports and caches are not counted
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    def load() -> None:
        with suppress(sx.OnnxError):
            sx.load(data)

    sys.setprofile(count)
    try:
        load()
    finally:
        sys.setprofile(None)
    tracemalloc.start()
    try:
        load()
        return calls, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_r08_time_and_memory_grow_with_the_input_and_no_faster(shape: Callable[[int], bytes]) -> None:
    small, large = shape(1000), shape(4000)
    growth = len(large) / len(small)
    (calls, peak), (more_calls, more_peak) = calls_and_peak(small), calls_and_peak(large)
    assert more_calls <= growth * calls * 1.3 + 1000
    assert more_peak <= growth * peak * 1.3 + 100_000
    # An empty node is 2 bytes; as objects it is 430 in Python 3.10, 500 in 3.11, and 670 in 3.13, which keeps room for
    # attributes in every instance.
    assert more_peak <= (300 if sys.version_info < (3, 13) else 360) * len(large) + 100_000
