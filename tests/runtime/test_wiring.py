"""Which inputs and outputs are states, found from the wiring alone."""

from __future__ import annotations

from pathlib import Path

import onnx.parser
import pytest

import sardonyx as sx
from sardonyx.runtime.wiring import check_states, derive_states
from tests.runtime.hybrid import hybrid


def graph(text: str, opset: int = 18, more: str = "") -> sx.Graph:
    """Infer a graph from its text."""
    made = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}{more}]> {text}')
    return sx.infer_shapes(sx.load(made.SerializeToString())).model.graph


@pytest.mark.parametrize(
    ("name", "count", "some"),
    [
        ("hybrid_gdn_prefill_l2", 4, {"past_conv_0": "present_conv_0", "past_state_0": "present_state_0"}),
        ("hybrid_gdn_decode_l2", 4, {"past_k_1": "present_k_1"}),
        ("hybrid_gdn_prefill_l24", 48, {"past_conv_22": "present_conv_22", "past_v_23": "present_v_23"}),
        ("hybrid_gdn_prefill_l24_fn", 48, {"past_state_22": "present_state_22", "past_k_23": "present_k_23"}),
        ("gpt2_kv_ts", 24, {"past_k_0": "present_k_0", "past_v_11": "present_v_11"}),
        ("llama_kv_dynamo", 16, {"past_k_0": "present_k_0", "past_v_7": "present_v_7"}),
        ("t5_decoder_kv_ts", 12, {"past_self_k_0": "present_k_0"}),
        ("qwen2_24l_dynamo_raw", 0, {}),
    ],
)
def test_states_of_the_corpus(shared: Path, name: str, count: int, some: dict[str, str]) -> None:
    model = sx.load(shared / "corpus" / f"{name}.onnx", external_data="lazy")
    found = derive_states(sx.infer_shapes(sx.inline_functions(model)).model.graph)
    assert len(found) == count
    assert found.items() >= some.items()
    for before, after in found.items():  # the corpus names them alike
        assert before.replace("past_self", "past").removeprefix("past") == after.removeprefix("present")


def test_states_of_the_example() -> None:
    found = derive_states(sx.infer_shapes(sx.load(hybrid())).model.graph)
    assert list(found) == ["past_memory_0", "past_memory_1", "past_memory_2", "past_key_3", "past_value_3"]


CASES = {
    "a window that slides": (
        """(float[b, 3, 4] past, float[b, s, 4] x) => (float[b, 3, 4] present) {
          new = Neg (x)
          all = Concat <axis = 1> (past, new)
          first = Constant <value = int64[1] {-3}> ()
          last = Constant <value = int64[1] {9223372036854775807}> ()
          axis = Constant <value = int64[1] {1}> ()
          present = Slice (all, first, last, axis)
        }""",
        {"past": "present"},
    ),
    "a recurrent operator": (
        """(float[s, b, 4] x, float[1, 12, 4] w, float[1, 12, 4] r, float[1, b, 4] h) => (float[1, b, 4] h1) {
          y, h1 = GRU <hidden_size = 4> (x, w, r, , , h)
        }""",
        {"h": "h1"},
    ),
    "a branch": (
        """(bool c, float[b, 4] h, float[b, 1, 4] k) => (float[b, 4] h1) {
          h1 = If (c) <then_branch = p () => (float[b, 4] u) { u = Identity (h) },
                       else_branch = q () => (float[b, 4] v) { v = Neg (h) }>
        }""",
        {"h": "h1"},
    ),
    "a loop": (
        """(int64 n, bool c, float[b, 4] h) => (float[b, 4] h1) {
          h1 = Loop (n, c, h) <body = p (int64 i, bool go, float[b, 4] a) => (bool go1, float[b, 4] d) {
            go1 = Identity (go)
            d = Neg (a)
          }>
        }""",
        {"h": "h1"},
    ),
    "an index is no content": (
        """(float[9, 4] table, float[b, 4] x) => (float[b, 4] y) {
          two = Constant <value = int64[1] {2}> ()
          picked = Gather (table, two)
          y = Add (picked, x)
        }""",
        {},
    ),
    "what has a fixed length in and another one out is no state": (
        """(float[b, 3, 4] past, float[b, 1, 4] x) => (float[b, 4, 4] y) { y = Concat <axis = 1> (past, x) }""",
        {},
    ),
    "another element type is no state": (
        """(float[b, 4] x) => (double[b, 4] y) { y = Cast <to = 11> (x) }""",
        {},
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_states_of_small_models(text: str, expected: dict[str, str]) -> None:
    assert derive_states(graph(f"g {text}")) == expected


def test_operators_with_a_state_of_their_own() -> None:
    text = """g (float[b, s, 8] q, float[b, 2, p, 4] pk, float[b, 2, p, 4] pv)
      => (float[b, s, 8] y, float[b, 2, t, 4] nk, float[b, 2, t, 4] nv) {
      y, nk, nv = Attention <q_num_heads = 2, kv_num_heads = 2> (q, q, q, , pk, pv)
    }"""
    assert derive_states(graph(text, 23)) == {"pk": "nk", "pv": "nv"}


def test_one_input_for_two_outputs_is_ambiguous() -> None:
    text = "g (float[b, 4] h) => (float[b, 4] u, float[b, 4] v) { u = Identity (h) v = Identity (h) }"
    with pytest.raises(ValueError, match=r"state 'h' could go to 'u', 'v'; say which with state=\{input: output\}"):
        derive_states(graph(text))


def test_two_inputs_for_one_output_are_ambiguous() -> None:
    text = "g (bool[b, 1] c, float[b, 4] h, float[b, 4] k) => (float[b, 4] u) { u = Where (c, h, k) }"
    with pytest.raises(ValueError, match=r"both 'h' and 'k' could become 'u'; say which"):
        derive_states(graph(text))


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({"z": "u"}, "state 'z' is no input of the model; its inputs are h, k, i"),
        ({"h": "z"}, "state 'z' is no output of the model; its outputs are u, v"),
        ({"h": "u", "k": "u"}, "'u' cannot be the next value of both 'h' and 'k'"),
        ({"i": "u"}, r"'u' \(tensor\(float\)\[b, 4\]\) cannot be the next value of 'i' \(tensor\(int64\)\[b, 4\]\)"),
        ({"h": "v"}, r"'v' \(.*\) cannot be the next value of 'h'"),
    ],
)
def test_named_states_have_to_exist_and_fit(states: dict[str, str], message: str) -> None:
    found = graph(
        """g (float[b, 4] h, float[b, 4] k, int64[b, 4] i) => (float[b, 4] u, float[b, 8] v) {
          u = Add (h, k)
          v = Concat <axis = 1> (h, k)
        }"""
    )
    with pytest.raises(ValueError, match=message):
        check_states(found, states)
