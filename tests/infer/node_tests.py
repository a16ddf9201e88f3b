"""Infer the node tests of ONNX and compare with their expected outputs.

    python tests/infer/node_tests.py              a line per operator that is not right, and totals
    python tests/infer/node_tests.py Slice Pad    every case of these operators that is not right, with the reason
    python tests/infer/node_tests.py --all        the same for all operators
    python tests/infer/node_tests.py --fresh      collect the cases again (they are kept in build/)
    python tests/infer/node_tests.py --write      count anew what is unknown, in unknown_dims.txt

All types that a case declares are erased, except those of the main graph's inputs. Each case is inferred four times:

given    as it is;
data     with every input that is not of floats also supplied as an initializer;
symbols  with the inputs' dims replaced by symbols, the answer evaluated at the real sizes;
both     with the dims of float inputs replaced by symbols, and all other inputs supplied.
"""

# ruff: noqa: E402  # as a program, the file puts the project on the path before it imports it

from __future__ import annotations

import os
import pickle
import sys
import time
import traceback
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import numpy as np
import onnx
from onnx import helper, numpy_helper

import sardonyx as sx
from sardonyx.dims import Expr, evaluate
from sardonyx.infer.inference import infer_shapes
from sardonyx.ir.types import DType, MapType, OptionalType, SequenceType, TensorType

RUNS = ("given", "data", "symbols", "both")
KEPT = ROOT / "build" / f"node_cases_{onnx.__version__}_4.pickle"
FLOATS = frozenset(
    (1, 10, 11, 14, 15, 16, 17, 18, 19, 20, 23, 24, 27, 28)  # floats of every width, and complex numbers
)


@dataclass
class Case:
    """One node test."""

    name: str
    operator: str
    """The operator tested, with its domain; `(expanded)` behind it where the nodes of its function body are run."""
    models: dict[str, bytes]
    """The model of each run."""
    sizes: dict[str, dict[str, int]]
    """The size of each symbol, for each run."""
    expected: dict[str, object]
    """What each output is, by name."""
    feeds: dict[str, tuple] | None
    """What to run it on, as tests/ops/runtime.py takes it; None where an input is no tensor of a type that has."""


# ---------------------------------------------------------------- making the cases


def collect():
    """Return every node test of the installed onnx."""
    try:
        return pickle.loads(KEPT.read_bytes())
    except (OSError, pickle.PickleError, AttributeError, EOFError):
        pass
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
        operators = {case.name: operator_of(case) for case in found}
        cases = [make(case, operators) for case in found]
    KEPT.parent.mkdir(exist_ok=True)
    part = KEPT.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(cases))
    part.replace(KEPT)
    return cases


def make(case, operators):
    """Turn an onnx test case into a `Case`; `operators` is what each case tests."""
    inputs, outputs = case.data_sets[0]
    given = onnx.ModelProto()
    given.CopyFrom(case.model)
    erase(given.graph, main=True)
    data, symbols, both = (onnx.ModelProto() for _ in range(3))
    sizes = {run: {} for run in RUNS}
    for run, model in (("data", data), ("symbols", symbols), ("both", both)):
        model.CopyFrom(given)
        for at, info in enumerate(model.graph.input):
            value = inputs[at] if at < len(inputs) else None
            supplied = run != "symbols" and supply(model, info, value)
            if run != "data" and not supplied:
                name_dims(info.type, f"i{at}", value, sizes[run])
    for at, info in enumerate(given.graph.input):
        if info.type.HasField("sequence_type") and at < len(inputs):
            for run in RUNS:
                read_names(info.type.sequence_type.elem_type, inputs[at], sizes[run])
    models = {"given": given, "data": data, "symbols": symbols, "both": both}
    expected = {
        info.name: type_of(value, info.type) for info, value in zip(case.model.graph.output, outputs, strict=True)
    }
    blobs = {run: model.SerializeToString() for run, model in models.items()}
    base, expanded, _ = case.name.partition("_expanded")
    operator = f"{operators[base]} (expanded)" if expanded and base in operators else operators[case.name]
    return Case(case.name, operator, blobs, sizes, expected, feeds_of(case.model, inputs))


def operator_of(case):
    """Return the operator that a case tests: its first node that is not there to help."""
    nodes = case.model.graph.node
    first = next(
        (node for node in nodes if node.op_type not in ("Constant", "Identity", "SequenceConstruct")), nodes[0]
    )
    return f"{first.domain}::{first.op_type}" if first.domain not in ("", "ai.onnx") else first.op_type


def erase(graph, main=False):
    """Take away every declared type but those of the main graph's inputs."""
    del graph.value_info[:]
    for info in [*graph.output, *([] if main else graph.input)]:
        info.ClearField("type")
    for node in graph.node:
        for attribute in node.attribute:
            for body in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                erase(body)


def supply(model, info, value):
    """Add an initializer with the value of an input that is not of floats."""
    if not info.type.HasField("tensor_type") or info.type.tensor_type.elem_type in FLOATS or value is None:
        return False
    if isinstance(value, onnx.TensorProto):
        tensor = onnx.TensorProto()
        tensor.CopyFrom(value)
    else:
        tensor = numpy_helper.from_array(np.asarray(value))
    tensor.name = info.name
    model.graph.initializer.append(tensor)
    return True


def name_dims(kind, prefix, value, sizes):
    """Replace the dims of a declared tensor, optional or not, by symbols."""
    while kind.HasField("optional_type"):
        kind = kind.optional_type.elem_type
    if not kind.HasField("tensor_type") or not kind.tensor_type.HasField("shape") or value is None:
        return
    shape = value.dims if isinstance(value, onnx.TensorProto) else np.shape(value)
    for axis, dim in enumerate(kind.tensor_type.shape.dim):
        dim.dim_param = f"{prefix}_{axis}"
        sizes[dim.dim_param] = int(shape[axis])


def feeds_of(model, inputs):
    """Return the inputs as (element type, shape, elements), or None."""
    feeds = {}
    for info, value in zip(model.graph.input, inputs, strict=False):
        if isinstance(value, onnx.TensorProto):
            value = numpy_helper.to_array(value)
        if not isinstance(value, np.ndarray | np.generic):
            return None
        code = helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype)
        if code not in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16):
            return None
        feeds[info.name] = (code, np.shape(value), np.ravel(np.asarray(value)).tolist())
    return feeds


def read_names(kind, values, sizes):
    """Take the size of each dim of a sequence's elements that has a name, where all elements agree."""
    for axis, dim in enumerate(kind.tensor_type.shape.dim):
        found = {np.shape(value)[axis] for value in values}
        if dim.dim_param and len(found) == 1:
            sizes[dim.dim_param] = int(found.pop())


def type_of(value, declared):
    """Return the type of an expected output; `declared` tells kinds that the value does not."""
    if declared.HasField("optional_type"):
        elem = declared.optional_type.elem_type
        return OptionalType(None if value is None else type_of(value, elem))
    if declared.HasField("sequence_type"):
        elements = tuple(type_of(one, declared.sequence_type.elem_type) for one in value)
        empty = TensorType(DType(declared.sequence_type.elem_type.tensor_type.elem_type) or None)
        return SequenceType(None if elements else empty, elements, len(elements))
    if isinstance(value, onnx.TensorProto):
        return TensorType(DType(value.data_type), tuple(value.dims))
    if isinstance(value, np.ndarray | np.generic):
        return TensorType(DType(helper.np_dtype_to_tensor_dtype(value.dtype)), np.shape(value))
    raise TypeError(f"an output of {type(value).__name__}")


# ---------------------------------------------------------------- judging the answers


@dataclass
class Verdict:
    """How an answer compares with the truth."""

    wrong: list[str] = field(default_factory=list)
    """What cannot be."""
    unknown: list[tuple[str, str]] = field(default_factory=list)
    """What is not said: `dim`, `rank` or `type`, and the sentence about it."""

    def __bool__(self):
        return not (self.wrong or self.unknown)


def judge(answer, truth, sizes, what, verdict):
    """Compare a type with the true one, both as types of sardonyx; what differs goes into the verdict."""
    if answer is None:
        verdict.unknown.append(("type", f"{what}: nothing is known, it is {truth}"))
    elif isinstance(truth, OptionalType):
        inner = answer.elem if isinstance(answer, OptionalType) else answer
        if truth.elem is not None:
            judge(inner, truth.elem, sizes, f"{what} (optional)", verdict)
        if not isinstance(answer, OptionalType):
            verdict.wrong.append(f"{what}: {answer}, it is {truth}")
    elif type(answer) is not type(truth):
        verdict.wrong.append(f"{what}: {answer}, it is {truth}")
    elif isinstance(truth, TensorType):
        judge_tensor(answer, truth, sizes, what, verdict)
    elif isinstance(truth, SequenceType):
        judge_sequence(answer, truth, sizes, what, verdict)
    elif isinstance(truth, MapType):
        if answer.key is not truth.key:
            verdict.wrong.append(f"{what}: {answer}, it is {truth}")
        judge(answer.value, truth.value, sizes, f"{what} (values)", verdict)


def judge_tensor(answer, truth, sizes, what, verdict):
    if answer.dtype is None:
        verdict.unknown.append(("type", f"{what}: element type, it is {truth.dtype.text}"))
    elif answer.dtype is not truth.dtype:
        verdict.wrong.append(f"{what}: {answer}, it is {truth}")
    if answer.shape is None:
        verdict.unknown.append(("rank", f"{what}: rank, it is {truth}"))
    elif len(answer.shape) != len(truth.shape):
        verdict.wrong.append(f"{what}: {answer}, it is {truth}")
    else:
        for axis, (dim, size) in enumerate(zip(answer.shape, truth.shape, strict=True)):
            judge_dim(dim, size, sizes, f"{what}: dim {axis} of {answer}", verdict)


def judge_sequence(answer, truth, sizes, what, verdict):
    if answer.length is None:
        verdict.unknown.append(("dim", f"{what}: length, it is {truth}"))
    else:
        judge_dim(answer.length, truth.length, sizes, f"{what}: length of {answer}", verdict)
    if answer.elements is not None and len(answer.elements) == len(truth.elements):
        for at, (mine, real) in enumerate(zip(answer.elements, truth.elements, strict=True)):
            judge(mine, real, sizes, f"{what}[{at}]", verdict)
        return
    shapes = {elem.shape for elem in truth.elements}
    for real in truth.elements:
        one = Verdict()
        judge(answer.elem, real, sizes, f"{what}[]", one)
        verdict.wrong.extend(one.wrong)
        if len(shapes) == 1:  # elements of different shapes have no dims in common
            verdict.unknown.extend(one.unknown)
    if not truth.elements and answer.elem is not None and answer.elem.dtype is not truth.elem.dtype:
        verdict.wrong.append(f"{what}: {answer}, it is {truth}")


def judge_dim(dim, size, sizes, what, verdict):
    if isinstance(dim, Expr):
        if any(symbol.name not in sizes for symbol in dim.symbols):
            verdict.unknown.append(("dim", f"{what}, it is {size}"))
            return
        try:
            dim = evaluate(dim, sizes)
        except (ZeroDivisionError, ValueError) as problem:
            verdict.wrong.append(f"{what} has no value ({problem}), it is {size}")
            return
    if dim != size:
        verdict.wrong.append(f"{what} is {dim}, it is {size}")


def infer(case, run):
    """Infer one case; return the verdict."""
    verdict = Verdict()
    try:
        inference = infer_shapes(sx.load(case.models[run]))
    except Exception as problem:  # a broken rule must not end the report
        at = traceback.extract_tb(problem.__traceback__)[-1]
        verdict.wrong.append(f"{type(problem).__name__}: {problem} ({Path(at.filename).name}:{at.lineno})")
        return verdict
    verdict.wrong.extend(f"refused: {issue.message}" for issue in inference.issues if issue.severity == "error")
    missing = [issue.message for issue in inference.issues if issue.code == "no-rule"]
    if missing:
        verdict.unknown.append(("type", missing[0]))
    graph = inference.model.graph
    for value in graph.outputs:
        judge(graph.types.get(value), case.expected[value.name], case.sizes[run], value.name, verdict)
    return verdict


# ---------------------------------------------------------------- what is unknown

LIST = Path(__file__).with_name("unknown_dims.txt")
KINDS = ("dim", "rank", "type")


@dataclass
class Gap:
    """What is unknown in all cases of one operator in one run."""

    counts: tuple[int, int, int]
    """Dims, ranks, types."""
    datum: str
    """What would have to be known."""


def gaps_of(verdicts):
    """Count what is unknown: (run, operator) to numbers of dims, ranks and types."""
    found = defaultdict(Counter)
    for case, run, verdict in verdicts:
        for kind, _ in verdict.unknown:
            found[run, case.operator][kind] += 1
    return {key: tuple(count[kind] for kind in KINDS) for key, count in found.items()}


def read_list():
    """Read the list of what may be unknown."""
    listed = {}
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            run, operator, *numbers, datum = (cell.strip() for cell in line.split("|"))
            listed[run, operator] = Gap(tuple(map(int, numbers)), datum)
    return listed


def write_list(gaps):
    """Write the list, keeping what it says of the data that decide."""
    listed = read_list() if LIST.exists() else {}
    data = {operator: gap.datum for (_, operator), gap in listed.items()}
    head = """\
# What inference does not know of the outputs of the node tests, per run (see node_tests.py) and operator. Only shrinks:
# `python tests/infer/node_tests.py --write` counts anew, and the test asks for it when a number has become smaller.
# run | operator | dims | ranks | element types | what decides it, which is not known before the run
"""
    order = sorted(gaps, key=lambda key: (RUNS.index(key[0]), key[1]))
    rows = [
        f"{run:<7} | {operator:<34} | "
        + " | ".join(f"{count:>3}" for count in gaps[run, operator])
        + f" | {data.get(operator, data.get(operator.removesuffix(' (expanded)'), '?'))}"
        for run, operator in order
    ]
    LIST.write_text(head + "\n".join(rows) + "\n")


# ---------------------------------------------------------------- the report


def report(names, everything):
    """Print what is not right."""
    begin = time.perf_counter()
    cases = collect()
    collected = time.perf_counter()
    totals = {run: Counter() for run in RUNS}
    table = defaultdict(lambda: {run: Counter() for run in RUNS})
    for case in cases:
        base = case.operator.split("::")[-1]
        if names and base not in names and case.name not in names:
            continue
        for run in RUNS:
            verdict = infer(case, run)
            how = "wrong" if verdict.wrong else "unknown" if verdict.unknown else "right"
            totals[run][how] += 1
            table[case.operator][run][how] += 1
            if (names or everything) and not verdict:
                print(f"{case.name} [{run}]")
                for line in verdict.wrong:
                    print(f"    WRONG {line}")
                for _, line in verdict.unknown:
                    print(f"    unknown {line}")
    print(f"{'operator':<44}" + "".join(f"{run + ' w/u/r':>16}" for run in RUNS))
    for operator, runs in sorted(table.items()):
        if names or any(runs[run]["wrong"] for run in RUNS) or any(runs[run]["unknown"] for run in ("data", "both")):
            print(f"{operator:<44}" + "".join(f"{counts(runs[run]):>16}" for run in RUNS))
    print(f"{'total (wrong/unknown/right)':<44}" + "".join(f"{counts(totals[run]):>16}" for run in RUNS))
    print(f"collected in {collected - begin:.1f} s, inferred in {time.perf_counter() - collected:.1f} s")
    return any(totals[run]["wrong"] for run in RUNS)


def counts(counter):
    return f"{counter['wrong']}/{counter['unknown']}/{counter['right']}"


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if "--fresh" in sys.argv:
        KEPT.unlink(missing_ok=True)
    if "--write" in sys.argv:
        write_list(gaps_of((case, run, infer(case, run)) for case in collect() for run in RUNS))
        sys.exit()
    sys.exit(report(words, "--all" in sys.argv))
