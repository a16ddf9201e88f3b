"""Run a node under onnxruntime, and compare what comes out with what was inferred: `ran("Gelu", "f32[s]", "f32[s]")`.

A case is first checked as `cases.py` checks it. Then its symbols get sizes (ones, odd numbers, zeros and what the case
asks for), the node runs on random inputs in a child process, and every output must have the type and shape that the
inferred one has under those sizes; elements are compared where they are inferred. Sizes that the runtime refuses are
passed over, but some must run. Without onnxruntime, or where an older one refuses the node, only the first half is
checked; a warning says so.
"""

from __future__ import annotations

import pickle
import random
import struct
import subprocess
import sys
import warnings
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from sardonyx.ir.graph import Graph
from sardonyx.ir.types import DType, MapType, SequenceType, SparseTensorType, TensorType
from tests.ops.cases import (
    NEWEST,
    Unknown,
    case,
    contradicts_type,
    holds,
    number_content,
    number_element,
    number_type,
    question,
    symbols_of,
)
from tests.ops.words import OMITTED, pieces

CHILD = Path(__file__).with_name("runtime_child.py")
HAS_RUNTIME = find_spec("onnxruntime") is not None and find_spec("onnx") is not None
MADE_FOR = (1, 32)
"""The onnxruntime that has every operator of these tests, in the form of today."""
ODD = (3, 5, 7, 9, 11, 13, 15, 17)


class Runtime:
    """A child process that runs models; onnxruntime can die of a bad size."""

    def __init__(self):
        self.process = None

    def ask(self, request):
        """Return what the child says, or a text that it died."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, str(CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        data = pickle.dumps(request)
        try:
            self.process.stdin.write(struct.pack("<q", len(data)) + data)
            self.process.stdin.flush()
            head = self.process.stdout.read(8)
            if len(head) == 8:
                return pickle.loads(self.process.stdout.read(struct.unpack("<q", head)[0]))
        except BrokenPipeError:
            pass
        self.process.wait()
        return f"the runtime died: {self.process.returncode}"


@cache
def runtime():
    return Runtime()


def ran(op_type, inputs, outputs, /, *, domain="com.microsoft", opset=None, sizes=(), feed=None, runs=1, least=None,
        deeper=True, given=None, shared=None, declared=None, **attributes):  # fmt: skip
    """Check a case, then run it; `sizes` are further assignments, `feed` maps positions of inputs to values.

    `given` has attributes whose names are arguments here, which no rule asks for; `shared` maps outputs to the inputs
    whose memory they use; `declared` maps outputs to element types that the node alone leaves open.

    At least `runs` assignments must run. An output `-` is omitted.
    """
    outcome = case(op_type, inputs, outputs, domain=domain, opset=opset, least=least, deeper=deeper, **attributes)
    if not HAS_RUNTIME:
        return outcome
    wanted = pieces(outputs, None)
    asked = question(op_type, inputs, len(wanted), opset, domain, least, attributes)
    attributes = {**attributes, **(given or {})}
    symbols = symbols_of(asked.facts)
    names = [symbol.given for symbol in symbols]
    done, refusals = 0, []
    for assignment in assignments(names, sizes, least or {}):
        told = run_once(asked, op_type, domain, NEWEST.get(domain, 1) if opset is None else opset, attributes, wanted,
                        assignment, feed or {}, shared or {}, declared or {})  # fmt: skip
        if isinstance(told, str):
            refusals.append(f"{assignment}: {told}")
        else:
            compare(asked, assignment, told, wanted)
            done += 1
    if not done and tuple(map(int, version("onnxruntime").split(".")[:2])) < MADE_FOR:
        warnings.warn(f"{op_type} was not run: this onnxruntime refuses it", stacklevel=2)
        return outcome
    assert done >= runs, "the runtime refused: " + "\n".join(refusals)
    return outcome


def assignments(names, sizes, least):
    """Yield sizes for symbols: all 1, distinct odd ones, each one 0, all 2, and what was asked for."""
    found = [
        dict.fromkeys(names, 1), dict(zip(names, ODD, strict=False)), dict.fromkeys(names, 2),
        *({**dict(zip(names, ODD, strict=False)), name: 0} for name in names), dict.fromkeys(names, 0),
    ]  # fmt: skip
    seen = []
    for one in [*sizes, *found]:
        if one not in seen and all(one[name] >= number for name, number in least.items()):
            seen.append(one)
            yield one


def run_once(asked, op_type, domain, opset, attributes, wanted, assignment, feed, shared=None, declared=None):
    """Run the node; return the outputs as the child tells of them, or a text that says why not."""
    from onnx import TypeProto, helper

    chance = random.Random(5)
    names, infos, feeds = [], [], {}
    try:
        sizes = {symbol: assignment[symbol.given] for symbol in symbols_of(asked.facts)}
        for at, fact in enumerate(asked.facts):
            name = "" if fact is OMITTED else f"x{at}"
            names.append(name)
            if not name:
                continue
            if at in feed:
                feeds[name] = feed[at](assignment) if callable(feed[at]) else feed[at]
            else:
                feeds[name] = tensor(number_type(fact.type, sizes), fact, sizes, chance)
            infos.append(helper.make_value_info(name, type_proto(fact.type)))
    except (ValueError, ZeroDivisionError, Unknown) as problem:
        return f"no such sizes: {problem}"
    results = [None if word == "-" else f"y{at}" for at, word in enumerate(wanted)]
    node = helper.make_node(op_type, names, [name or "" for name in results], domain=domain)
    for key, value in attributes.items():
        if isinstance(value, Graph):
            return "a graph"
        if hasattr(value, "dtype"):
            from onnx import numpy_helper

            value = numpy_helper.from_array(value, key)
        node.attribute.append(helper.make_attribute(key, value))
    given = [
        helper.make_value_info(name, helper.make_tensor_type_proto(declared[at], None) if declared and at in declared
                               else TypeProto())
        for at, name in enumerate(results) if name
    ]  # fmt: skip
    graph = helper.make_graph([node], "case", infos, given)
    imports = [helper.make_opsetid("", 21)]
    if domain:
        imports.append(helper.make_opsetid(domain, opset))
    else:
        imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    same = {f"y{out}": f"x{at}" for out, at in (shared or {}).items()}
    return runtime().ask((model.SerializeToString(), [name for name in results if name], feeds, same))


def type_proto(kind):
    """Return the ONNX type of an input, without a shape."""
    from onnx import helper

    if isinstance(kind, SparseTensorType):
        return helper.make_sparse_tensor_type_proto(int(kind.dtype), [None] * len(kind.shape))
    if isinstance(kind, TensorType):
        return helper.make_tensor_type_proto(int(kind.dtype), None)
    if isinstance(kind, SequenceType):
        return helper.make_sequence_type_proto(type_proto(kind.elem))
    assert isinstance(kind, MapType)
    return helper.make_map_type_proto(int(kind.key), type_proto(kind.value))


def tensor(kind, fact, sizes, chance):
    """Return (element type, shape, elements) of an input: its content if it has one, else random; None if sparse."""
    if None in kind.shape or any(dim < 0 for dim in kind.shape):
        raise ValueError(str(kind))
    if isinstance(kind, SparseTensorType):
        return int(kind.dtype), tuple(kind.shape), None
    count = 1
    for dim in kind.shape:
        count *= dim
    if fact.content is not None:
        elements = [number_element(one, sizes) for one in fact.content]
    elif kind.dtype is DType.STRING:
        elements = [chance.choice(("a", "b c", "ab", "")) for _ in range(count)]
    elif kind.dtype in (DType.FLOAT, DType.DOUBLE, DType.FLOAT16, DType.BFLOAT16):
        elements = [chance.uniform(0.1, 1) for _ in range(count)]
    else:
        elements = [chance.choice((0, 1)) for _ in range(count)]
    elements = [one.decode() if isinstance(one, bytes) else one for one in elements]
    return int(kind.dtype), tuple(kind.shape), elements


def compare(asked, assignment, told, wanted):
    """Compare what the run gave with what is inferred for symbols, and for the numbers themselves."""
    sizes = {symbol: assignment[symbol.given] for symbol in symbols_of(asked.facts)}
    outcome = asked.ask()
    if not holds(outcome.assumptions, sizes):
        return
    told = iter(told)
    for at, word in enumerate(wanted):
        if word == "-":
            continue
        real = next(told)
        fact = outcome.facts[at]
        mine = number_type(fact.type, sizes)
        assert not contradicts_type(mine, real_type(real)), f"output {at} with {assignment}: {mine}, but ran {real}"
        if fact.content is not None and real[0] == "tensor" and real[3] is not None:
            content = number_content(fact.content, sizes)
            assert len(content) == len(real[3])
            assert all(one is None or one == ran for one, ran in zip(content, real[3], strict=True)), (content, real[3])


def real_type(real):
    """Return the type of what came out of a run."""
    if real[0] == "tensor":
        return TensorType(DType(real[1]), real[2])
    assert real[0] == "seq"
    return SequenceType(None, None, real[1])
