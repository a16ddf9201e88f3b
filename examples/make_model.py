"""Make `motion.onnx`: a recurrent classifier of accelerometer frames, one frame a step.

The network has what exported models have and toy models lack: model-local functions that call each other, an If whose
branches read values from outside, and a Scan of a single trip that carries the recurrent state, as streaming and
decoding models do. It is trained here, in numpy, on simulated recordings: a GRU (Cho et al. 2014) by back-propagation
through time, with Adam (Kingma and Ba 2015).

Run it with `pip install onnx onnxruntime`; it writes the model beside itself in about a minute and prints how well it
does on recordings that it was not trained on.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.checker
import onnx.numpy_helper
import onnx.parser

CLASSES = ("still", "walking", "running", "shaking")
AXES, HIDDEN, RATE = 3, 24, 50.0
STEPS, SETTLE = 100, 30  # frames of a recording, and how many of them pass before the answer counts

TEXT = """
<
  ir_version: 9,
  opset_import: ["" : 18, "motion" : 1],
  producer_name: "examples/make_model.py",
  producer_version: "1",
  model_version: 1,
  doc_string: "Tells still, walking, running and shaking apart, one accelerometer frame at a time."
>
motion (float[1, batch, 3] frame, float[batch, 24] state, bool calibrated)
    => (float[batch, 4] scores, float[batch, 24] new_state, int64[batch] label)
<
  float[1, batch, 3] centred, float[batch, 24] hidden
>
{
  centred = If (calibrated) <
    then_branch = sensor_known () => (float[1, batch, 3] by_sensor) {
      shifted = Sub (frame, sensor_mean)
      by_sensor = Div (shifted, sensor_scale)
    },
    else_branch = sensor_unknown () => (float[1, batch, 3] by_frame) {
      by_frame = motion.Standardise <epsilon: float = 1e-3> (frame)
    }
  >
  new_state, states = Scan <num_scan_inputs: int = 1, body = step
    (float[batch, 24] before, float[batch, 3] sample) => (float[batch, 24] after, float[batch, 24] seen) {
      after = motion.GruCell (sample, before, w_update, u_update, b_update, w_reset, u_reset, b_reset,
                              w_new, u_new, b_new)
      seen = Identity (after)
    }
  > (state, centred)
  time_axis = Constant <value = int64[1] {0}> ()
  hidden = Squeeze (states, time_axis)
  logits = Gemm (hidden, w_out, b_out)
  scores = Softmax <axis: int = -1> (logits)
  label = ArgMax <axis: int = -1, keepdims: int = 0> (scores)
}

<domain: "motion", opset_import: ["" : 18]>
Gate (x, h, w, u, b) => (gate) {
  from_x = MatMul (x, w)
  from_h = MatMul (h, u)
  both = Add (from_x, from_h)
  shifted = Add (both, b)
  gate = Sigmoid (shifted)
}

<domain: "motion", opset_import: ["" : 18, "motion" : 1]>
GruCell (x, h, w_z, u_z, b_z, w_r, u_r, b_r, w_n, u_n, b_n) => (after) {
  update = motion.Gate (x, h, w_z, u_z, b_z)
  reset = motion.Gate (x, h, w_r, u_r, b_r)
  kept = Mul (reset, h)
  from_x = MatMul (x, w_n)
  from_kept = MatMul (kept, u_n)
  both = Add (from_x, from_kept)
  shifted = Add (both, b_n)
  candidate = Tanh (shifted)
  step = Sub (h, candidate)
  part = Mul (update, step)
  after = Add (candidate, part)
}

<domain: "motion", opset_import: ["" : 18]>
Standardise <epsilon> (x) => (y) {
  axis = Constant <value = int64[1] {-1}> ()
  mean = ReduceMean <keepdims: int = 1> (x, axis)
  shifted = Sub (x, mean)
  square = Mul (shifted, shifted)
  variance = ReduceMean <keepdims: int = 1> (square, axis)
  small = Constant <value_float: float = @epsilon> ()
  safe = Add (variance, small)
  deviation = Sqrt (safe)
  y = Div (shifted, deviation)
}
"""


def record(kind: str, random: np.random.Generator) -> np.ndarray:
    """Simulate one recording in units of g: float64 [STEPS, AXES]."""
    time = np.arange(STEPS) / RATE
    tilt = random.normal(size=AXES)
    gravity = tilt / np.linalg.norm(tilt)
    tempo, depth = {
        "still": (0.0, 0.0),
        "walking": (random.uniform(1.5, 2.1), random.uniform(0.15, 0.35)),
        "running": (random.uniform(2.5, 3.3), random.uniform(0.8, 1.4)),
        "shaking": (random.uniform(5.0, 8.0), random.uniform(0.8, 1.6)),
    }[kind]
    phase = 2 * np.pi * (tempo * time[:, None] + random.uniform(size=AXES))
    swing = np.sin(phase) + 0.4 * np.sin(2 * phase)
    return gravity + depth * swing * random.uniform(0.5, 1.0, size=AXES) + random.normal(0, 0.03, (STEPS, AXES))


def record_all(per_class: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Simulate recordings of every class: float32 [STEPS, count, AXES], and int64 [count] the classes."""
    rows = [(record(kind, random), at) for at, kind in enumerate(CLASSES) for _ in range(per_class)]
    return np.stack([row for row, _ in rows], axis=1).astype(np.float32), np.array([at for _, at in rows])


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Squash to 0..1."""
    return 1 / (1 + np.exp(-x))


def centre(frames: np.ndarray, w: dict[str, np.ndarray]) -> np.ndarray:
    """Normalise each recording both ways, as the If does: [STEPS, 2 * count, AXES]."""
    by_sensor = (frames - w["sensor_mean"]) / w["sensor_scale"]
    by_frame = (frames - frames.mean(-1, keepdims=True)) / np.sqrt(frames.var(-1, keepdims=True) + 1e-3)
    return np.concatenate([by_sensor, by_frame], axis=1)


def forward(centred: np.ndarray, w: dict[str, np.ndarray]) -> list[tuple[np.ndarray, ...]]:
    """Run every step; return for each its (x, h before, update, reset, candidate, h after)."""
    hidden = np.zeros((centred.shape[1], HIDDEN))
    steps = []
    for x in centred:
        before = hidden
        update = sigmoid(x @ w["w_update"] + before @ w["u_update"] + w["b_update"])
        reset = sigmoid(x @ w["w_reset"] + before @ w["u_reset"] + w["b_reset"])
        new = np.tanh(x @ w["w_new"] + (reset * before) @ w["u_new"] + w["b_new"])
        hidden = new + update * (before - new)
        steps.append((x, before, update, reset, new, hidden))
    return steps


def gradients(centred: np.ndarray, classes: np.ndarray, w: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Differentiate the mean cross entropy of all frames after SETTLE, back through time."""
    steps = forward(centred, w)
    grads = {name: np.zeros_like(value) for name, value in w.items() if not name.startswith("sensor")}
    truth = np.eye(len(CLASSES))[classes]
    d_hidden = np.zeros((centred.shape[1], HIDDEN))
    for at in range(STEPS - 1, -1, -1):
        x, before, update, reset, new, hidden = steps[at]
        if at >= SETTLE:
            raised = np.exp(hidden @ w["w_out"] + w["b_out"])
            d_logits = (raised / raised.sum(axis=1, keepdims=True) - truth) / (len(classes) * (STEPS - SETTLE))
            grads["w_out"] += hidden.T @ d_logits
            grads["b_out"] += d_logits.sum(axis=0)
            d_hidden = d_hidden + d_logits @ w["w_out"].T
        d_new = d_hidden * (1 - update) * (1 - new * new)
        d_update = d_hidden * (before - new) * update * (1 - update)
        d_kept = d_new @ w["u_new"].T
        d_reset = d_kept * before * reset * (1 - reset)
        d_hidden = d_hidden * update + d_kept * reset + d_update @ w["u_update"].T + d_reset @ w["u_reset"].T
        parts = (("update", d_update, before), ("reset", d_reset, before), ("new", d_new, reset * before))
        for gate, slope, read in parts:
            grads[f"w_{gate}"] += x.T @ slope
            grads[f"u_{gate}"] += read.T @ slope
            grads[f"b_{gate}"] += slope.sum(axis=0)
    return grads


def train(frames: np.ndarray, classes: np.ndarray, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Start from small random weights and take 600 steps of Adam."""
    w = {"sensor_mean": frames.mean(axis=(0, 1)), "sensor_scale": frames.std(axis=(0, 1))}
    for gate, bias in (("update", 1.0), ("reset", 0.0), ("new", 0.0)):
        w[f"w_{gate}"] = random.normal(0, 0.5, (AXES, HIDDEN))
        w[f"u_{gate}"] = random.normal(0, 0.8 / np.sqrt(HIDDEN), (HIDDEN, HIDDEN))
        w[f"b_{gate}"] = np.full(HIDDEN, bias)
    w["w_out"] = random.normal(0, 0.2, (HIDDEN, len(CLASSES)))
    w["b_out"] = np.zeros(len(CLASSES))
    drift = {name: np.zeros_like(value) for name, value in w.items()}
    spread = {name: np.zeros_like(value) for name, value in w.items()}
    centred, classes = centre(frames, w), np.tile(classes, 2)
    for step in range(1, 601):
        rate = 0.02 if step < 450 else 0.004
        for name, grad in gradients(centred, classes, w).items():
            drift[name] += 0.1 * (grad - drift[name])
            spread[name] += 0.001 * (grad * grad - spread[name])
            w[name] -= rate * (drift[name] / (1 - 0.9**step)) / (np.sqrt(spread[name] / (1 - 0.999**step)) + 1e-8)
    return {name: value.astype(np.float32) for name, value in w.items()}


def build(weights: dict[str, np.ndarray]) -> onnx.ModelProto:
    """Put the weights into the graph of `TEXT`."""
    model = onnx.parser.parse_model(TEXT)
    for name, value in weights.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    model.graph.doc_string = "One step of the classifier; the caller keeps the state."
    for key, value in (("classes", ",".join(CLASSES)), ("sample_rate_hz", str(RATE)), ("unit", "g")):
        model.metadata_props.add(key=key, value=value)
    onnx.checker.check_model(model, full_check=True)
    return model


def accuracy(path: Path, frames: np.ndarray, classes: np.ndarray, calibrated: bool) -> float:
    """Feed recordings frame by frame through onnxruntime; return the share of recordings whose last label is right."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    state = np.zeros((frames.shape[1], HIDDEN), np.float32)
    for frame in frames:
        feed = {"frame": frame[None], "state": state, "calibrated": np.array(calibrated)}
        _, state, label = session.run(None, feed)
    return float((label == classes).mean())


def main() -> None:
    """Write the model and say what became of it."""
    random = np.random.default_rng(2024)
    weights = train(*record_all(40, random), random)
    path = Path(__file__).with_name("motion.onnx")
    onnx.save(build(weights), path)
    print(f"{path.name}: {path.stat().st_size:,} bytes, {sum(w.size for w in weights.values()):,} weights")
    held_out = record_all(50, random)
    for calibrated in (True, False):
        print(f"  calibrated={calibrated}: {accuracy(path, *held_out, calibrated):.1%} of 200 new recordings right")


if __name__ == "__main__":
    main()
