"""Infer every model of the shared corpus and compare with runs of it.

python tests/infer/corpus.py                  a line per model: coverage, mismatches, time
python tests/infer/corpus.py shape_gym ...    these models, with everything that is unknown or wrong
python tests/infer/corpus.py --no-run ...     without running the models
"""

# ruff: noqa: E402  # as a program, the file puts the project on the path before it imports it

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import sardonyx as sx
from sardonyx.infer.inference import infer_shapes
from tests.infer import truth
from tests.infer.traces import DidNotRun, observe

SHARED = ROOT.parent / "shared"
MADE_FOR = (1, 32)
"""The onnxruntime that runs every model of the corpus."""
ASSUMED = Path(__file__).with_name("corpus_assumptions.txt")

MORE_SIZES = {
    "audio_stft_frontend": [{"b": 3, "t": 977}],
    "bert_base_ort_fused": [{"b": 1, "s": 1}],
    "bert_base_ts": [{"b": 1, "s": 1}],
    "clip_dual_fp16_dynamo": [{"b": 1, "n": 1, "s": 1}],
    "convnet_qdq_int8": [{"b": 3, "h": 33, "w": 47}],
    "functions_nested": [{"b": 1, "s": 1}],
    "gpt2_kv_ts": [{"b": 1, "s": 1, "p": 1, "total": 2}],
    "hop_functions_dynamo": [{"b": 5, "s": 7}],
    "hybrid_gdn_decode_l2": [{"b": 1, "p": 0}],
    "hybrid_gdn_prefill_l2": [{"b": 3, "s": 7, "p": 1}],
    "hybrid_gdn_prefill_l24": [],
    "hybrid_gdn_prefill_l24_fn": [],
    "llama_kv_dynamo": [{"b": 5, "s": 3, "p": 1, "total": 4}],
    "mamba_layer_scan_nested": [{"b": 3, "s": 7}],
    "mixtral_moe_dynamo": [{"b": 5, "s": 7}],
    "opset_new_ops": [{"b": 3, "s": 5, "p": 2}],
    "proto_corners": [{"n": 7}],
    "qwen2_24l_dynamo_raw": [],
    "segformer_dyn_hw_dynamo": [{"b": 3, "h": 61, "w": 97}],
    "sequence_ops": [{"b": 3, "n": 7, "c": 1}],
    "shape_gym": [{"b": 5, "s": 21, "h": 31, "w": 17}],
    "ssd_detector_nms": [{"n": 3, "h": 71, "w": 93}],
    "t5_decoder_kv_ts": [{"b": 1, "p": 1, "e": 1}],
    "t5_encoder_dynamo": [{"b": 5, "s": 3}],
    "ts_greedy_loop": [{"b": 3, "s": 7}],
    "unet_dyn_hw_ts": [],
    "unet_dynamo_opt": [],
    "whisper_encoder_dynamo": [{"b": 1}],
}
"""Sizes to run beside those of the manifest: ones, odd numbers, zero where the model allows it."""


OTHER_VALUES = {
    "functions_nested": {"pick": {"value": 0}, "n": {"value": 2}},
    "hop_functions_dynamo": {"x": {"value": -1.0}},
    "mamba_layer_scan_nested": {"ids": {"high": 30}, "flip": {"value": 0}},
    "sequence_ops": {"images": {"length": 2, "elem_shapes": [[4, 6, 3], [5, 2, 3]]}, "flag": {"value": 0}},
    "ts_greedy_loop": {"ids": {"high": 40}, "steps": {"value": 3}, "mode": {"value": 0}},
}
"""Hints about values with which the models with branches take the other ones."""


def entries():
    """Return the manifest's entries, or none without the shared material."""
    manifest = SHARED / "corpus" / "MANIFEST.json"
    return json.loads(manifest.read_text())["models"] if manifest.exists() else []


def infer(name, **options):
    """Load and infer a model of the corpus; its weights may be missing."""
    model = sx.load(SHARED / "corpus" / f"{name}.onnx", external_data="lazy")
    return infer_shapes(model, **options)


def unnamed(name):
    """Infer a model of the corpus with no name for any dim of its inputs."""
    import onnx

    model = onnx.load(SHARED / "corpus" / f"{name}.onnx", load_external_data=False)
    for info in model.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            dim.ClearField("dim_param")
    return infer_shapes(sx.load(model, external_data="lazy", external_data_dir=SHARED / "corpus"))


def traces_or_skip(entry):
    """Return the traces of a model; skip the test where the installed onnxruntime is too old to run it."""
    try:
        return traces(entry)
    except DidNotRun as problem:
        installed = version("onnxruntime")
        if tuple(map(int, installed.split(".")[:2])) >= MADE_FOR:
            raise
        pytest.skip(f"onnxruntime {installed} does not run it: {problem}"[:200])


def traces(entry):
    """Return a trace for each assignment of sizes of a model, and one with other values."""
    name = entry["name"]
    sizes = [*(entry["sizes"] or [{}]), *MORE_SIZES.get(name, [])]
    runs = [(one, entry["hints"]) for one in sizes]
    if name in OTHER_VALUES:
        runs.append((sizes[0], OTHER_VALUES[name]))
    return observe(SHARED / "tools", SHARED / "corpus" / f"{name}.onnx", runs)


def assumption_text(one):
    """Write an assumption as the list has it: without its place."""
    return f"{one.kind}: {one.a}, {one.b}"


def read_assumed():
    """Read the list of what is assumed: model to texts."""
    listed = {}
    for line in ASSUMED.read_text().splitlines():
        if not line.startswith("#"):
            name, _, text = line.partition(" | ")
            listed.setdefault(name.strip(), []).append(text)
    return listed


def write_assumed():
    """List anew what is assumed."""
    lines = ["# What the types of each corpus model rest on, as `kind: a, b`; see Inference.assumptions."]
    for entry in entries():
        lines += [f"{entry['name']:<26} | {assumption_text(one)}" for one in infer(entry["name"]).assumptions]
    ASSUMED.write_text("\n".join(lines) + "\n")


def input_symbols(inference):
    """Return the symbols in the types of the main graph's inputs; an unnamed dim has one too."""
    symbols = set()

    def visit(kind):
        for dim in (*(getattr(kind, "shape", None) or ()), getattr(kind, "length", None)):
            symbols.update(getattr(dim, "symbols", ()))
        if getattr(kind, "elem", None) is not None:
            visit(kind.elem)

    graph = inference.model.graph
    for value in graph.inputs:
        visit(graph.types.get(value))
    return symbols


def report(wanted, run):
    """Print how each model does."""
    bad = False
    for entry in entries():
        name = entry["name"]
        if wanted and name not in wanted:
            continue
        begin = time.perf_counter()
        try:
            inference = infer(name)
        except Exception as problem:  # a broken rule must not end the report
            print(f"{name:<28} {type(problem).__name__}: {problem}")
            bad = True
            continue
        took = time.perf_counter() - begin
        gaps = list(truth.gaps(inference, input_symbols(inference)))
        errors = [issue for issue in inference.issues if issue.severity == "error"]
        first = Counter(operator for _, operator, _ in gaps).most_common(4)
        line = f"{name:<28} {took * 1000:7.0f} ms  {len(gaps):4d} unknown  {len(errors)} errors"
        wrong, unobserved, notes = [], [], []
        if run:
            try:
                found = [(trace, truth.compare(inference, trace)) for trace in traces(entry)]
                wrong = [f"{trace.sizes}: {one}" for trace, seen in found for one in seen.wrong]
                notes = [f"{trace.sizes}: {one}" for trace, _ in found for one in trace.notes]
                unobserved = sorted(set.intersection(*(set(seen.unobserved) for _, seen in found)))
                line += f"  {len(wrong)} wrong  {len(unobserved)} unobserved  {len(notes)} notes"
            except DidNotRun as problem:
                line += f"  {problem}"
        print(line, first if gaps else "")
        bad = bad or bool(wrong or errors)
        for text in wrong[: None if wanted else 3]:
            print(f"    WRONG {text}")
        for issue in errors[: None if wanted else 3]:
            print(f"    ERROR {issue}")
        if wanted:
            for where, operator, what in gaps:
                print(f"    unknown {where} ({operator}): {what}")
            for text in unobserved:
                print(f"    unobserved {text}")
            for text in notes:
                print(f"    note {text}")
            for issue in inference.issues:
                if issue.severity != "error":
                    print(f"    {issue}")
            for assumed in inference.assumptions:
                print(f"    assumes {assumed}")
    return bad


if __name__ == "__main__":
    if "--write" in sys.argv:
        write_assumed()
        sys.exit()
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    sys.exit(report(words, "--no-run" not in sys.argv))
