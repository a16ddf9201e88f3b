"""Decoding on two plans: the bits of the untouched model, whichever plan a step takes."""

from __future__ import annotations

import builtins
import contextlib
import gc
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper

pytest.importorskip("onnxruntime")

import onnxruntime

import sardonyx as sx
from sardonyx.runtime import DecodeSession
from sardonyx.runtime.values import to_value
from tests.conftest import SHARED
from tests.runtime.hybrid import Plain, example, hybrid, ids

Bits = dict[str, tuple[str, tuple[int, ...], bytes]]


def bits(arrays: dict[str, Any]) -> Bits:
    """What has to be equal."""
    return {name: (str(one.dtype), one.shape, one.tobytes()) for name, one in arrays.items()}


def model(text: str, opset: int = 18) -> bytes:
    """Write a model from its text."""
    made = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": {opset}]> {text}')
    data: bytes = made.SerializeToString()
    return data


COUNTER = model(
    """g (float[b, 2] total, float[b, n, 2] xs) => (float[b, 2] after, float[b, n, 2] ys) {
      after, ys = Scan (total, xs) <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
        body = t (float[b, 2] s, float[b, 2] x) => (float[b, 2] s1, float[b, 2] y) { s1 = Add (s, x) y = Mul (s1, x) }>
    }"""
)


def xs(count: int, seed: int = 0, batch: int = 1) -> dict[str, Any]:
    """What the counter takes in one step."""
    return {"xs": np.random.default_rng(seed).normal(size=(batch, count, 2)).astype(np.float32)}


# Parity.


def sources() -> list[Any]:
    """Models to compare on: of the example, and of the corpus where it is at hand."""
    found = [pytest.param(hybrid(), id="example")]
    path = SHARED / "corpus" / "hybrid_gdn_prefill_l2.onnx"
    here = pytest.mark.skipif(not path.exists(), reason="the shared corpus is not beside this checkout")
    found.append(pytest.param(path, id="corpus", marks=here))
    return found


@pytest.mark.parametrize("prefill", [1, 2, 32])
@pytest.mark.parametrize("source", sources())
def test_64_steps_after_a_prefill_give_the_bits_of_the_untouched_model(source: Any, prefill: int) -> None:
    session = DecodeSession(source)
    plain = Plain(source if isinstance(source, bytes) else source.read_bytes(), wiring(session))
    used = []
    for index, count in enumerate([prefill] + [1] * 64):
        inputs = ids(count, index)
        assert bits(session.step(inputs)) == bits(plain.step(inputs))
        used.append(session.plan_used)
    assert bits(session.states) == bits(plain.states)
    assert used == ["inlined" if prefill == 1 else "untouched"] + ["inlined"] * 64
    assert session.why == ""


@pytest.mark.parametrize("source", sources())
def test_a_step_of_several_tokens_goes_to_the_untouched_plan_and_back(source: Any) -> None:
    session = DecodeSession(source)
    plain = Plain(source if isinstance(source, bytes) else source.read_bytes(), wiring(session))
    counts = [2, 1, 1, 1, 5, 1, 1, 3, 1]
    for index, count in enumerate(counts):
        inputs = ids(count, index, batch=2)
        assert bits(session.step(inputs)) == bits(plain.step(inputs))
        assert bits(session.states) == bits(plain.states)
        assert session.plan_used == ("inlined" if count == 1 else "untouched")
        assert session.why == ("" if count == 1 else f"a scan axis has extent {count}")


def wiring(session: DecodeSession) -> dict[str, str]:
    """The states of a session by name."""
    return {before.name: after.name for before, after in session.pairs}


def test_a_step_without_tokens_goes_to_the_untouched_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    session = DecodeSession(COUNTER)
    session.step(xs(1))
    before = bits(session.states)
    taken = []
    run = DecodeSession.run
    monkeypatch.setattr(
        DecodeSession,
        "run",
        lambda self, plan, *given: (taken.append(plan is self.untouched), run(self, plan, *given))[1],
    )
    with contextlib.suppress(RuntimeError):  # onnxruntime 1.32 does not run a Scan of no trips, others may
        session.step(xs(0))
    assert taken == [True]
    assert bits(session.states) == before


def test_the_plan_is_decided_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    session = DecodeSession(COUNTER)
    monkeypatch.setattr(session, "lean", object())  # running it would be an error
    session.step(xs(3))
    assert session.plan_used == "untouched"


# Buffers.


def test_a_fixed_state_has_two_buffers_that_change_places() -> None:
    session = DecodeSession(COUNTER)
    assert session.fixed == {"total"}
    session.step(xs(1))
    places = [session.current["total"].data_ptr()]
    for index in range(6):
        session.step(xs(1 + index % 2, index))
        places.append(session.current["total"].data_ptr())
    assert len(set(places)) == 2
    assert places[::2] == places[:1] * 4
    assert places[1::2] == places[1:2] * 3


@pytest.mark.parametrize("data", [COUNTER, hybrid()], ids=["counter", "hybrid"])
def test_no_buffer_is_on_both_sides_of_a_run(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    sides: list[tuple[set[int], set[int]]] = []
    run = DecodeSession.run

    def watched(self: DecodeSession, plan: Any, feeds: Any, writes: Any) -> Any:
        made = run(self, plan, feeds, writes)
        read = {value.data_ptr() for value in feeds.values()}
        written = {made[after.name].data_ptr() for _, after in self.pairs}
        given = {value.data_ptr() for value in writes.values()}
        assert given <= written  # the run did write where it was told to
        sides.append((read - {0}, written))
        return made

    monkeypatch.setattr(DecodeSession, "run", watched)
    session = DecodeSession(data)
    for index, count in enumerate([3, 1, 1, 2, 1]):
        session.step(xs(count, index) if data is COUNTER else ids(count, index))
    assert len(sides) == 5
    assert all(not read & written for read, written in sides)


def test_a_growing_state_is_handed_on_as_the_run_made_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[dict[str, Any]] = []
    made: list[dict[str, Any]] = []
    run = DecodeSession.run

    def watched(self: DecodeSession, plan: Any, feeds: Any, writes: Any) -> Any:
        fed.append(dict(feeds))
        made.append(run(self, plan, feeds, writes))
        return made[-1]

    monkeypatch.setattr(DecodeSession, "run", watched)
    session = DecodeSession(hybrid())
    assert session.fixed == {"past_memory_0", "past_memory_1", "past_memory_2"}
    for count in (2, 1, 1):
        session.step(ids(count))
    assert fed[0]["past_key_3"].shape() == [1, 4, 0, 16]
    assert fed[1]["past_key_3"] is made[0]["present_key_3"]
    assert fed[2]["past_key_3"] is made[1]["present_key_3"]
    assert session.states["past_key_3"].shape == (1, 4, 4, 16)


def test_states_are_copies() -> None:
    session = DecodeSession(COUNTER)
    session.step(xs(1))
    taken = session.states["total"]
    kept = taken.copy()
    session.step(xs(1, 1))
    session.step(xs(1, 2))
    np.testing.assert_array_equal(taken, kept)
    taken[:] = 99
    assert not (session.states["total"] == 99).any()


def test_outputs_of_a_step_outlive_the_next_steps() -> None:
    session = DecodeSession(COUNTER)
    found = session.step(xs(1))["ys"]
    kept = found.copy()
    for index in range(3):
        session.step(xs(1, index))
    del session
    gc.collect()
    np.testing.assert_array_equal(found, kept)


# Setting and forgetting.


def test_reset_sets_states_and_never_writes_to_the_callers_array() -> None:
    session = DecodeSession(COUNTER)
    start = np.float32([[5, 7]])
    session.reset({"total": start})
    for index in range(3):
        session.step(xs(1, index))
    np.testing.assert_array_equal(start, np.float32([[5, 7]]))
    expected = start + sum(xs(1, index)["xs"][:, 0] for index in range(3))
    np.testing.assert_allclose(session.states["total"], expected, rtol=1e-5)


def test_reset_forgets() -> None:
    session = DecodeSession(COUNTER)
    first = bits(session.step(xs(1)))
    session.step(xs(1, 1))
    session.reset()
    assert session.states == {}
    assert session.plan_used is None
    assert bits(session.step(xs(1))) == first


def test_another_batch_after_reset_gets_buffers_of_its_size() -> None:
    session = DecodeSession(COUNTER)
    session.step(xs(1, batch=1))
    session.reset()
    session.step(xs(1, batch=3))
    session.step(xs(1, batch=3))
    assert session.states["total"].shape == (3, 2)


def test_reset_refuses_what_is_no_state() -> None:
    with pytest.raises(ValueError, match="'xs' is no state; the states are total"):
        DecodeSession(COUNTER).reset({"xs": np.zeros(1)})


def test_some_states_may_be_set_and_the_others_start_as_zeros() -> None:
    session = DecodeSession(hybrid())
    session.reset({"past_memory_1": np.ones((1, 4, 16, 16), np.float32)})
    plain = Plain(hybrid(), wiring(session))
    plain.step(ids(1))
    plain.states = {name: np.zeros_like(one) for name, one in plain.states.items()}
    plain.states["past_memory_1"] += 1
    for name in ("past_key_3", "past_value_3"):
        plain.states[name] = np.zeros((1, 4, 0, 16), np.float32)
    assert bits(session.step(ids(1))) == bits(plain.step(ids(1)))


# When something is wrong.


def test_a_run_that_fails_leaves_the_states_as_they_were() -> None:
    session = DecodeSession(COUNTER)
    session.step(xs(1))
    before, used, why = bits(session.states), session.plan_used, session.why
    for bad in (np.zeros((1, 1, 3), np.float32), np.zeros((1, 1, 2), np.float64), np.zeros((1, 4, 3), np.float32)):
        with pytest.raises(Exception, match=r"(?i)invalid|unexpected|dimension"):
            session.step({"xs": bad})
        assert bits(session.states) == before
        assert (session.plan_used, session.why) == (used, why)
    session.step(xs(1, 1))
    fresh = DecodeSession(COUNTER)
    fresh.step(xs(1))
    fresh.step(xs(1, 1))
    assert bits(session.states) == bits(fresh.states)


def test_a_first_step_that_fails_makes_no_states() -> None:
    session = DecodeSession(COUNTER)
    with pytest.raises(Exception, match=r"(?i)invalid|unexpected|dimension"):
        session.step({"xs": np.zeros((3, 1, 5), np.float32)})
    assert session.states == {}
    session.step(xs(1, batch=2))
    assert session.states["total"].shape == (2, 2)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "inputs are missing: xs"),
        ({**xs(1), "ys": np.zeros(1)}, "the model has no input 'ys'; it takes xs"),
        ({**xs(1), "total": np.zeros(1)}, "'total' is a state, which the session keeps"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(inputs: dict[str, Any], message: str) -> None:
    session = DecodeSession(COUNTER)
    with pytest.raises(ValueError, match=message):
        session.step(inputs)


def test_an_unknown_plan_is_refused() -> None:
    with pytest.raises(ValueError, match="'auto' or 'untouched'"):
        DecodeSession(COUNTER, plan="inlined")


def test_without_onnxruntime_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "onnxruntime":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"sardonyx\[run\]"):
        DecodeSession(COUNTER)


def test_a_first_shape_that_cannot_be_told_is_asked_for() -> None:
    session = DecodeSession(
        model(
            """g (float[k, 2] total, float[n, 2] xs) => (float[k, 2] after) {
              after = Scan (total, xs) <num_scan_inputs = 1,
                body = t (float[k, 2] s, float[2] x) => (float[k, 2] s1) { s1 = Add (s, x) }>
            }"""
        )
    )
    with pytest.raises(
        ValueError, match=r"the first shape of state 'total' cannot be told \(k\); give the state to reset"
    ):
        session.step({"xs": np.zeros((1, 2), np.float32)})
    session.reset({"total": np.zeros((4, 2), np.float32)})
    session.step({"xs": np.ones((1, 2), np.float32)})
    assert session.states["total"].tolist() == [[1, 1]] * 4


# Inputs.


def test_inputs_may_be_values_of_the_runtime() -> None:
    one, other = DecodeSession(COUNTER), DecodeSession(COUNTER)
    given = xs(1)
    assert bits(one.step(given)) == bits(other.step({"xs": to_value(given["xs"])}))


def test_an_input_with_a_default_may_be_left_out() -> None:
    made = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["": 18]>
        g (float[2] total, float[n, 2] xs, float[2] scale) => (float[2] after) <float[2] scale = {2, 3}> {
          scaled = Mul (xs, scale)
          after = Scan (total, scaled) <num_scan_inputs = 1,
            body = t (float[2] s, float[2] x) => (float[2] s1) { s1 = Add (s, x) }>
        }"""
    )
    if not any(one.name == "scale" for one in made.graph.input):
        made.graph.input.append(helper.make_tensor_value_info("scale", TensorProto.FLOAT, [2]))
    session = DecodeSession(made.SerializeToString())
    session.step({"xs": np.ones((1, 2), np.float32)})
    assert session.states["total"].tolist() == [2, 3]
    session.step({"xs": np.ones((1, 2), np.float32), "scale": np.float32([10, 10])})
    assert session.states["total"].tolist() == [12, 13]
    assert session.plan_used == "inlined"


def test_a_length_that_a_default_decides_is_not_counted_on() -> None:
    text = """g (float[2] total, float[1, 2] xs, int64[2] times) => (float[2] after) <int64[2] times = {1, 1}> {
      more = Tile (xs, times)
      after = Scan (total, more) <num_scan_inputs = 1,
        body = t (float[2] s, float[2] x) => (float[2] s1) { s1 = Add (s, x) }>
    }"""
    made = onnx.load_from_string(model(text))
    if not any(one.name == "times" for one in made.graph.input):
        made.graph.input.append(helper.make_tensor_value_info("times", TensorProto.INT64, [2]))
    session = DecodeSession(made.SerializeToString())
    session.step({"xs": np.ones((1, 2), np.float32), "times": np.int64([3, 1])})
    assert session.states["total"].tolist() == [3, 3]
    assert "no expression in the sizes of the inputs" in session.why


def test_a_state_with_a_default_starts_from_it() -> None:
    made = onnx.load_from_string(COUNTER)
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    made.graph.initializer.append(helper.make_tensor("total", TensorProto.FLOAT, [1, 2], [10, 20]))
    session = DecodeSession(made.SerializeToString(), state={"total": "after"})
    for _ in range(2):
        session.reset()
        for _ in range(3):
            session.step({"xs": np.ones((1, 1, 2), np.float32)})
        assert session.states["total"].tolist() == [[13, 23]]


def test_an_element_type_that_numpy_lacks_is_carried_bit_by_bit() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    session = DecodeSession(
        model(
            """g (bfloat16[p, 2] past, bfloat16[n, 2] xs) => (bfloat16[p_n, 2] present, bfloat16[p_n, 2] seen) {
              present = Concat <axis = 0> (past, xs)
              seen = Identity (present)
            }"""
        ),
        state={"past": "present"},
    )
    for value in (1.5, 2.5):
        seen = session.step({"xs": np.full((1, 2), value, ml_dtypes.bfloat16)})["seen"]
    assert seen.dtype == ml_dtypes.bfloat16
    assert seen.astype(np.float32).tolist() == [[1.5, 1.5], [2.5, 2.5]]
    assert session.states["past"].dtype == ml_dtypes.bfloat16


# Plans.


def test_the_untouched_plan_alone_says_that_it_was_asked_for() -> None:
    session = DecodeSession(COUNTER, plan="untouched")
    session.step(xs(1))
    assert (session.plan_used, session.why) == ("untouched", "plan='untouched' was asked for")


def test_a_model_without_scans_runs_untouched_and_says_why() -> None:
    session = DecodeSession(
        model(
            """g (float[b, p, 2] past, float[b, s, 2] x) => (float[b, q, 2] present, float[b, q, 2] y) {
              present = Concat <axis = 1> (past, x)
              y = Neg (present)
            }"""
        ),
        state={"past": "present"},
    )
    for count in (3, 1):
        session.step({"x": np.ones((1, count, 2), np.float32)})
        assert (session.plan_used, session.why) == ("untouched", "no Scan could be inlined: the model has none")
    assert session.states["past"].shape == (1, 4, 2)


def test_an_extent_that_is_no_expression_in_input_sizes_goes_to_the_untouched_plan() -> None:
    session = DecodeSession(
        model(
            """g (float[2] total, float[n, 2] xs, bool[n] keep) => (float[2] after) {
              kept = Compress <axis = 0> (xs, keep)
              after = Scan (total, kept) <num_scan_inputs = 1,
                body = t (float[2] s, float[2] x) => (float[2] s1) { s1 = Add (s, x) }>
            }"""
        )
    )
    for _ in range(2):
        session.step({"xs": np.float32([[1, 2], [3, 4]]), "keep": np.array([False, True])})
        assert session.plan_used == "untouched"
        assert "a scan axis of 'kept'" in session.why
        assert "no expression in the sizes of the inputs" in session.why
    assert session.states["total"].tolist() == [6, 8]


def test_a_false_claim_about_an_internal_value_does_not_decide() -> None:
    text = """g (float[2] total, float[n, 2] xs, bool[n] keep) => (float[2] after) <float[1, 2] kept> {
      kept = Compress <axis = 0> (xs, keep)
      after = Scan (total, kept) <num_scan_inputs = 1,
        body = t (float[2] s, float[2] x) => (float[2] s1) { s1 = Add (s, x) }>
    }"""
    assert sx.inline_single_trip_scan_bodies(sx.infer_shapes(sx.load(model(text))).model).inlined  # by the file's word
    session = DecodeSession(model(text))
    session.step({"xs": np.float32([[1, 2], [3, 4]]), "keep": np.array([True, True])})
    assert session.plan_used == "untouched"
    assert session.states["total"].tolist() == [4, 6]


def test_an_extent_of_several_sizes_is_worked_out() -> None:
    session = DecodeSession(
        model(
            """g (float[2] total, float[n, 2] xs, float[m, 2] more) => (float[2] after) {
              all = Concat <axis = 0> (xs, more)
              after = Scan (total, all) <num_scan_inputs = 1,
                body = t (float[2] s, float[2] x) => (float[2] s1) { s1 = Add (s, x) }>
            }"""
        )
    )
    expected = []
    for count, more, plan in ((1, 0, "inlined"), (0, 1, "inlined"), (1, 1, "untouched")):
        session.step({"xs": np.ones((count, 2), np.float32), "more": np.ones((more, 2), np.float32)})
        expected.append(plan)
        assert session.plan_used == plan
    assert session.states["total"].tolist() == [4, 4]


def test_inputs_that_disagree_on_a_size_go_to_the_untouched_plan() -> None:
    session = DecodeSession(
        model(
            """g (float[2] total, float[n, 2] xs, float[n, 2] scale) => (float[2] after) {
              scaled = Mul (xs, scale)
              after = Scan (total, scaled) <num_scan_inputs = 1,
                body = t (float[2] s, float[2] x) => (float[2] s1) { s1 = Add (s, x) }>
            }"""
        )
    )
    session.step({"xs": np.ones((1, 2), np.float32), "scale": np.ones((3, 2), np.float32)})
    assert session.plan_used == "untouched"
    assert session.why == "the inputs disagree on the size of n: 1 in 'xs', 3 in 'scale'"
    assert session.states["total"].tolist() == [3, 3]


def test_an_inlined_plan_that_the_runtime_does_not_take_is_replaced_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = onnxruntime.InferenceSession
    opened: list[int] = []

    def picky(*given: Any, **named: Any) -> Any:
        opened.append(1)
        if len(opened) == 2:
            raise RuntimeError("no such kernel")
        return start(*given, **named)

    monkeypatch.setattr(onnxruntime, "InferenceSession", picky)
    session = DecodeSession(COUNTER)
    session.step(xs(1))
    assert session.plan_used == "untouched"
    assert session.why == "onnxruntime does not take the inlined plan: no such kernel"


def test_an_inlined_plan_whose_outputs_differ_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from sardonyx.passes.scans import splice

    shift = splice.Splicer.shift

    def wrong(self: Any, op_type: str, value: Any, axis: int, target: Any, scan: Any) -> None:
        if op_type == "Unsqueeze":
            self.write("Identity", (value,), target, scan)
        else:
            shift(self, op_type, value, axis, target, scan)

    monkeypatch.setattr(splice.Splicer, "shift", wrong)
    session = DecodeSession(COUNTER)
    session.step(xs(1))
    assert session.plan_used == "untouched"
    assert session.why.startswith("the inlined plan gives 'ys' the type tensor(float)[b, 2], not ")


def test_large_models_go_through_a_folder_that_goes_with_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    from sardonyx.runtime import sessions

    monkeypatch.setattr(sessions, "LARGEST", 1000)
    session = DecodeSession(hybrid())
    assert session.opener.folder is not None
    folder = session.opener.folder.name
    assert sorted(name for name in os.listdir(folder) if name.endswith(".onnx")) == ["inlined.onnx", "untouched.onnx"]
    plain = Plain(hybrid(), wiring(session))
    for index, count in enumerate((3, 1)):
        assert bits(session.step(ids(count, index))) == bits(plain.step(ids(count, index)))
    session.opener.folder.cleanup()
    assert not os.path.exists(folder)


def test_functions_are_inlined_first() -> None:
    data = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["": 18, "d": 1]>
        g (float[2] s, float[n, 2] xs) => (float[2] t) { t = d.F (s, xs) }
        <domain: "d", opset_import: ["": 18]>
        F (s, xs) => (t) {
          t = Scan (s, xs) <num_scan_inputs = 1, body = b (s0, x) => (t0) { t0 = Add (s0, x) }>
        }"""
    ).SerializeToString()
    session = DecodeSession(data)
    session.step({"xs": np.ones((1, 2), np.float32)})
    assert session.plan_used == "inlined"


def test_a_loaded_model_stays_open_and_untouched() -> None:
    with sx.load(COUNTER) as loaded:
        before = sx.dump(loaded)
        DecodeSession(loaded).step(xs(1))
        assert sx.dump(loaded) == before


def test_the_example_says_that_both_plans_agree(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["decode.py", "4"])
    assert example().main() == 0
    shown = capsys.readouterr().out
    assert "64 steps, inlined plan" in shown
    assert shown.count("the same byte for byte") == 2
