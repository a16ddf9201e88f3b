"""Check rules for operators that generate text, against onnxruntime where it is installed, with a tiny decoder."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import sardonyx as sx
from sardonyx.ir.graph import Graph
from tests.ops import cases
from tests.ops.runtime import HAS_RUNTIME, ran

case = partial(cases.case, domain="com.microsoft")

WORDS, HEADS, SIZE = 9, 2, 4
TOKENS = {"eos_token_id": 8, "pad_token_id": 8}
BODY = {"decoder": Graph("decoder", (), (), ()), **TOKENS}


def decoder():
    """Return a decoder that looks scores up in a table, and keeps its past as GPT-2 does; none without onnx."""
    if not HAS_RUNTIME:
        return {}
    from onnx import TensorProto, helper, numpy_helper

    chance = np.random.default_rng(5)
    constants = {
        "scores": chance.random((WORDS, WORDS), np.float32),
        "states": chance.random((WORDS, HEADS * SIZE), np.float32),
        "heads": np.array([0, 0, HEADS, SIZE]),
        "front": np.array([0]),
    }
    nodes = [
        helper.make_node("Gather", ["scores", "input_ids"], ["logits"]),
        helper.make_node("Gather", ["states", "input_ids"], ["rows"]),
        helper.make_node("Reshape", ["rows", "heads"], ["split"]),
        helper.make_node("Transpose", ["split"], ["turned"], perm=[0, 2, 1, 3]),
        helper.make_node("Unsqueeze", ["turned", "front"], ["one"]),
        helper.make_node("Concat", ["one", "one"], ["both"], axis=0),
        helper.make_node("Concat", ["past_0", "both"], ["present_0"], axis=3),
    ]
    info = helper.make_tensor_value_info
    inputs = [info(name, TensorProto.INT32, ["b", "s"]) for name in ("input_ids", "position_ids")]
    inputs.append(info("attention_mask", TensorProto.INT32, ["b", "t"]))
    inputs.append(info("past_0", TensorProto.FLOAT, [2, "b", HEADS, "p", SIZE]))
    outputs = [
        info("logits", TensorProto.FLOAT, ["b", "s", WORDS]),
        info("present_0", TensorProto.FLOAT, [2, "b", HEADS, "t", SIZE]),
    ]
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    return {"decoder": helper.make_graph(nodes, "decoder", inputs, outputs, tensors)}


def test_bodies_are_inferred_with_sizes_of_their_own(tmp_path):
    onnx = pytest.importorskip("onnx")
    helper, kinds = onnx.helper, onnx.TensorProto
    node = helper.make_node("GreedySearch", ["ids", "most"], ["texts"], domain="com.microsoft", **decoder(), **TOKENS)
    graph = helper.make_graph(
        [node], "greedy", [helper.make_tensor_value_info("ids", kinds.INT32, ["b", "s"])],
        [helper.make_tensor_value_info("texts", kinds.INT32, None)],
        [onnx.numpy_helper.from_array(np.array([12], np.int32), "most")],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10), tmp_path / "greedy.onnx")
    model = sx.load(tmp_path / "greedy.onnx")
    inference = sx.infer_shapes(model)
    assert [issue.code for issue in inference.issues] == []
    types = inference.model.graph.types
    assert str(types[model.graph.outputs[0]]) == "tensor(int32)[b, 12]"
    body = model.graph.nodes[0].attrs["decoder"].value
    frame = inference.frame((0, "decoder"))
    logits, present = (frame.types[value.name] for value in body.outputs)
    assert logits.shape[2] == WORDS
    assert str(logits.shape[0]) != "b", "a name of the main graph is another size in the decoder"
    past = frame.types[body.inputs[3].name]
    assert present.shape[:3] == (2, logits.shape[0], HEADS)
    assert present.shape[3] == past.shape[3] + logits.shape[1]


def test_texts_are_as_long_as_they_may_be():
    given, some = decoder(), {"least": {"b": 1, "s": 1}}
    ran("GreedySearch", "i32[b,s] i32[1]=[s+4]", "i32[b,s+4]", given=given, **some, **BODY)
    ran("GreedySearch", "i32[b,s] i32[1]=[20]", "i32[b,20]", given=given, **some, **BODY)
    ran("Sampling", "i32[b,s] i32[1]=[s+4] - f32[1]=[1.0]", "i32[b,s+4]", given=given, **some, **BODY)
    case("Sampling", "i32[b,s] i32[1]", "i32[b,?] f32[b,9]", vocab_size=9, **BODY)
    case("GreedySearch", "i32[b,s] i32[1]", "i32[b,?]", **BODY)


def test_beams_return_several_texts():
    given, some = decoder(), {"least": {"b": 1, "s": 1}}
    inputs = "i32[b,s] i32[1]=[s+4] i32[1]=[1] i32[1]=[3] i32[1]=[2] f32[1]=[1.0] f32[1]=[1.0]"
    ran("BeamSearch", inputs, "i32[b,2,s+4] f32[b,2]", given=given, **some, **BODY)
    ran("BeamSearch", inputs, "i32[b,2,s+4] f32[b,2] f32[4,b,3,?]", given=given, **some, **BODY)
    ran("BeamSearch", inputs, "i32[b,2,s+4] - f32[4,b,3,9]", given=given, vocab_size=WORDS, **some, **BODY)
    case("BeamSearch", "i32[b,s] i32[1] - i32[1] i32[1]", "i32[b,?,?] f32[b,?] f32[?,b,?,?]", **BODY)
    case("WhisperBeamSearch", "f32[b,80,3000] i32[1]=[64] - i32[1]=[5] i32[1]=[1]",
         "i32[b,1,64] ?[b,1] ?[?,b,5,?] ?[?,?,?,?,?] ?[b]", **BODY)  # fmt: skip
