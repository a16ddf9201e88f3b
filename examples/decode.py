"""Decode 64 tokens with a hybrid linear-attention model on two plans, and compare the plans bit by bit.

    python examples/decode.py [LAYERS]

Every fourth layer is attention with a growing key and value cache; the others follow the gated delta rule, a Scan over
time whose state has a fixed size. A prompt of 32 tokens runs on the model as it is. After that every step has one
token, so each Scan runs its body once, and `sardonyx.runtime.DecodeSession` takes the plan without Scans. The weights
are random. Needs onnx and onnxruntime.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from sardonyx.runtime import DecodeSession

VOCABULARY, WIDTH, HEADS = 128, 64, 4
HEAD = WIDTH // HEADS
PROMPT, STEPS = 32, 64


class Builder:
    """Collects the nodes, weights and states of the model."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix  # names in a body must not be those outside
        self.random = np.random.default_rng(0)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "tokens"])]
        self.outputs: list[onnx.ValueInfoProto] = []

    def op(self, op_type: str, *inputs: str, to: str | None = None, **attributes: Any) -> str:
        """Add a node with one output; return its name."""
        name = to or f"{self.prefix}{op_type.lower()}_{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(op_type, inputs, [name], name=f"{self.prefix}{op_type}_{len(self.nodes)}", **attributes)
        )
        return name

    def constant(self, array: Any, dtype: Any = np.int64) -> str:
        """Add a constant."""
        name = f"{self.prefix}constant_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def linear(self, x: str, inner: int, outer: int) -> str:
        """Multiply by a random matrix."""
        weight = self.random.normal(size=(inner, outer)) / np.sqrt(inner)
        return self.op("MatMul", x, self.constant(weight, np.float32))

    def norm(self, x: str) -> str:
        """Divide by the root of the mean square."""
        square = self.op("ReduceMean", self.op("Mul", x, x), self.constant([-1]))
        root = self.op("Sqrt", self.op("Add", square, self.constant(1e-6, np.float32)))
        return self.op("Div", x, root)

    def heads(self, x: str) -> str:
        """Split the width into heads: [batch, tokens, heads, head]."""
        return self.op("Reshape", x, self.constant([0, 0, HEADS, HEAD]))

    def state(self, name: str, before: list[Any], after: list[Any]) -> tuple[str, str]:
        """Add a state; return the names of its input and its output."""
        self.inputs.append(helper.make_tensor_value_info(f"past_{name}", TensorProto.FLOAT, before))
        self.outputs.append(helper.make_tensor_value_info(f"present_{name}", TensorProto.FLOAT, after))
        return f"past_{name}", f"present_{name}"

    def delta(self, x: str, layer: int) -> str:
        """Add a layer of the gated delta rule (Yang and others, 2024), one step of time a trip."""
        q, k, v = (self.heads(self.linear(x, WIDTH, WIDTH)) for _ in range(3))
        q, k = (self.op("LpNormalization", one, axis=-1) for one in (q, k))
        decay = self.op("Neg", self.op("Softplus", self.linear(x, WIDTH, HEADS)))
        rate = self.op("Sigmoid", self.linear(x, WIDTH, HEADS))
        shape = ["batch", HEADS, HEAD, HEAD]
        past, present = self.state(f"memory_{layer}", shape, shape)
        mixed = f"mixed_{layer}"
        self.nodes.append(
            helper.make_node(
                "Scan",
                [past, q, k, v, decay, rate],
                [present, mixed],
                name=f"delta_{layer}",
                body=delta_rule(),
                num_scan_inputs=5,
                scan_input_axes=[1] * 5,
                scan_output_axes=[1],
            )
        )
        return self.linear(self.op("Reshape", mixed, self.constant([0, 0, WIDTH])), WIDTH, WIDTH)

    def attention(self, x: str, layer: int) -> str:
        """Add a layer of causal attention over everything so far."""
        q, k, v = (self.op("Transpose", self.heads(self.linear(x, WIDTH, WIDTH)), perm=[0, 2, 1, 3]) for _ in range(3))
        before, after = ["batch", HEADS, "past", HEAD], ["batch", HEADS, "past + tokens", HEAD]
        past_k, present_k = self.state(f"key_{layer}", before, after)
        past_v, present_v = self.state(f"value_{layer}", before, after)
        k = self.op("Concat", past_k, k, axis=2, to=present_k)
        v = self.op("Concat", past_v, v, axis=2, to=present_v)
        first = self.op("Squeeze", self.op("Shape", past_k, start=2, end=3))
        end = self.op("Squeeze", self.op("Shape", k, start=2, end=3))
        one = self.constant(1)
        asks = self.op("Unsqueeze", self.op("Range", first, end, one), self.constant([1]))
        hidden = self.op("Less", asks, self.op("Range", self.constant(0), end, one))
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Div", scores, self.constant(HEAD**0.5, np.float32))
        scores = self.op("Where", hidden, self.constant(-1e9, np.float32), scores)
        mixed = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores), v), perm=[0, 2, 1, 3])
        return self.linear(self.op("Reshape", mixed, self.constant([0, 0, WIDTH])), WIDTH, WIDTH)


def delta_rule() -> onnx.GraphProto:
    """Write the body: let the memory fade, see what it says of the key, store the difference, ask the query."""
    step = Builder("step_")
    last, middle = step.constant([-1]), step.constant([-2])
    fade = step.op("Unsqueeze", step.op("Unsqueeze", step.op("Exp", "decay"), last), last)
    faded = step.op("Mul", "memory", fade)
    key = step.op("Unsqueeze", "key", last)
    said = step.op("ReduceSum", step.op("Mul", faded, key), middle, keepdims=0)
    news = step.op("Mul", step.op("Sub", "value", said), step.op("Unsqueeze", "rate", last))
    step.op("Add", faded, step.op("Mul", key, step.op("Unsqueeze", news, middle)), to="memory_after")
    answer = step.op("MatMul", step.op("Unsqueeze", "query", middle), "memory_after")
    step.op("Squeeze", answer, middle, to="answer")

    def info(name: str, *shape: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", HEADS, *shape])

    inputs = [info("memory", HEAD, HEAD), *(info(name, HEAD) for name in ("query", "key", "value"))]
    inputs += [info("decay"), info("rate")]
    outputs = [info("memory_after", HEAD, HEAD), info("answer", HEAD)]
    return helper.make_graph(step.nodes, "delta_rule", inputs, outputs, step.weights)


def build(layers: int = 24) -> onnx.ModelProto:
    """Return the model: token ids and states in, logits and states out."""
    model = Builder()
    table = model.random.normal(size=(VOCABULARY, WIDTH))
    x = model.op("Gather", model.constant(table, np.float32), "ids")
    for layer in range(layers):
        mix = model.attention if layer % 4 == 3 else model.delta
        x = model.op("Add", x, mix(model.norm(x), layer))
        wide = model.linear(model.norm(x), WIDTH, 2 * WIDTH)
        x = model.op("Add", x, model.linear(model.op("Mul", wide, model.op("Sigmoid", wide)), 2 * WIDTH, WIDTH))
    weight = model.constant(model.random.normal(size=(WIDTH, VOCABULARY)) / 8, np.float32)
    model.op("MatMul", model.norm(x), weight, to="logits")
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "tokens", VOCABULARY])
    graph = helper.make_graph(model.nodes, "hybrid", model.inputs, [logits, *model.outputs], model.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def timed(session: DecodeSession, ids: np.ndarray) -> tuple[np.ndarray, float]:
    """Run one step: the logits, and the milliseconds it took."""
    start = time.perf_counter()
    logits = session.step({"ids": ids})["logits"]
    return logits, (time.perf_counter() - start) * 1e3


def main() -> int:
    """Decode on both plans, a step of one after a step of the other, and compare."""
    layers = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    model = build(layers).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # more threads cost more than they bring where everything is this small
    session = DecodeSession(model, options=options)
    plain = DecodeSession(model, plan="untouched", options=options)
    print(f"{layers} layers, {len(model):,} bytes, {len(session.pairs)} states")

    random = np.random.default_rng(1)
    ids = random.integers(0, VOCABULARY, (1, PROMPT))
    tokens: list[int] = []
    times: list[tuple[float, float]] = []
    plans: list[str | None] = []
    same = True
    for _ in range(1 + STEPS):  # the prompt, then one token at a time
        logits, quick = timed(session, ids)
        expected, slow = timed(plain, ids)
        same = same and logits.tobytes() == expected.tobytes()
        times.append((quick, slow))
        plans.append(session.plan_used)
        tokens.append(int((logits[0, -1] + random.gumbel(size=VOCABULARY)).argmax()))  # one drawn by its likelihood
        ids = np.array([tokens[-1:]])
    states, others = session.states, plain.states
    kept = all(states[name].tobytes() == others[name].tobytes() for name in others)

    quick, slow = (statistics.median(column) for column in zip(*times[1:], strict=True))
    print(f"prompt of {PROMPT} tokens, {plans[0]} plan: {times[0][0]:.1f} ms")
    print(f"{STEPS} steps, {' and '.join(sorted(map(str, set(plans[1:]))))} plan: {quick:.2f} ms a step (median)")
    print(f"{STEPS} steps, untouched plan: {slow:.2f} ms a step (median), {slow / quick:.2f} times as long")
    print(f"tokens: {' '.join(map(str, tokens[:12]))} ...")
    print(f"logits of every step: {'the same' if same else 'DIFFERENT'} byte for byte")
    print(f"final states: {'the same' if kept else 'DIFFERENT'} byte for byte")
    return 0 if same and kept else 1


if __name__ == "__main__":
    sys.exit(main())
