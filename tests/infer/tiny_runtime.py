"""Run small models with numpy and keep every value of every activation: each iteration, branch taken and call.

The runtime reads names, as a file does: a body sees the names around it, and its own come first. It knows the operators
that generated models are made of, and does what the specification says; a model that cannot run raises `DoesNotRun`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from onnx import AttributeProto, helper, numpy_helper

LARGEST = 30_000
"""Elements of a value beyond which a run is given up."""


class DoesNotRun(Exception):
    """The model cannot run with these inputs, or not within bounds."""


@dataclass(frozen=True)
class Unspecified:
    """What no specification says: scan outputs of a body that never ran, and all that is made of them."""

    axis: int | None = None
    """The axis that is known to be 0, if one is."""


@dataclass(frozen=True)
class Maybe:
    """An optional."""

    value: object
    """What it holds, None when it is empty."""


@dataclass
class Activation:
    """Values by name, and the activations inside: (node index, attribute or None for a call) and what ran there."""

    values: dict[str, object] = field(default_factory=dict)
    inner: list[tuple[tuple[int, str | None], Activation]] = field(default_factory=list)


# ---------------------------------------------------------------- what a file says


class Code:
    """A graph or function, read once."""

    def __init__(self, proto, constants=()):
        self.inputs = [one if isinstance(one, str) else one.name for one in proto.input]
        self.outputs = [one if isinstance(one, str) else one.name for one in proto.output]
        self.constants = {one.name: numpy_helper.to_array(one) for one in constants}
        self.nodes = [Step(node) for node in proto.node]


class Step:
    """A node, read once."""

    def __init__(self, node):
        self.op, self.domain = node.op_type, node.domain
        self.inputs, self.outputs = list(node.input), list(node.output)
        self.attrs, self.refs = {}, {}
        for one in node.attribute:
            if one.ref_attr_name:
                self.refs[one.name] = one.ref_attr_name
            elif one.type == AttributeProto.GRAPH:
                self.attrs[one.name] = Code(one.g, one.g.initializer)
            elif one.type == AttributeProto.TENSOR:
                self.attrs[one.name] = numpy_helper.to_array(one.t)
            else:
                self.attrs[one.name] = helper.get_attribute_value(one)


class Program:
    """A model, read once."""

    def __init__(self, model):
        self.main = Code(model.graph, model.graph.initializer)
        self.functions = {(one.domain, one.name): Code(one) for one in model.functions}

    def run(self, feeds):
        """Run the main graph; return its activation."""
        try:
            with np.errstate(all="ignore"):
                return self.walk(self.main, feeds, None, {})
        except (ValueError, IndexError, TypeError) as problem:  # what numpy says of shapes that do not fit
            raise DoesNotRun(str(problem)) from problem

    def walk(self, code, feeds, outer, attrs):
        """Run a graph; names that it does not have are looked up in `outer`."""
        made = Activation()
        values = made.values
        values.update(code.constants)
        values.update(feeds)

        def get(name):
            if name in values:
                return values[name]
            if outer is None:
                raise KeyError(name)
            return outer(name)

        for at, step in enumerate(code.nodes):
            inputs = [get(name) if name else None for name in step.inputs]
            given = step.attrs
            if step.refs:
                given = {**given, **{name: attrs[ref] for name, ref in step.refs.items() if ref in attrs}}
            called = self.functions.get((step.domain, step.op))
            if called is not None:
                inside = self.walk(called, dict(zip(called.inputs, inputs, strict=False)), None, given)
                made.inner.append(((at, None), inside))
                results = [inside.values[name] for name in called.outputs]
            elif step.op in BODIES:

                def run(name, body, feeds, at=at):
                    inside = self.walk(body, feeds, get, attrs)
                    made.inner.append(((at, name), inside))
                    return [lookup(inside.values, name, get) for name in body.outputs]

                results = BODIES[step.op](run, inputs, given)
            elif any(isinstance(one, Unspecified) for one in inputs):
                results = [Unspecified() for _ in step.outputs]
            else:
                results = OPERATORS[step.op](given, *inputs)
                results = results if isinstance(results, tuple) else (results,)
            for name, result in zip(step.outputs, results, strict=False):
                if name:
                    if isinstance(result, np.generic):
                        result = np.asarray(result)
                    if isinstance(result, np.ndarray) and result.size > LARGEST:
                        raise DoesNotRun("too large")
                    values[name] = result
        return made


def lookup(values, name, outer):
    """Return what a body returns: a value of its own, or one that it captures."""
    return values[name] if name in values else outer(name)


# ---------------------------------------------------------------- operators with bodies


def decided(value):
    """Read a condition or a number that decides what runs."""
    if isinstance(value, Unspecified):
        raise DoesNotRun("what is not specified would decide")
    return np.asarray(value).reshape(-1)[0]


def stacked(results, axis):
    """Put the results of all iterations together."""
    if not results:
        return Unspecified(axis)
    if any(isinstance(one, Unspecified) for one in results):
        return Unspecified()
    if len({one.shape for one in results}) > 1:
        raise DoesNotRun("results of different shapes are stacked")
    return np.stack(results, axis)


def if_(run, inputs, attrs):
    name = "then_branch" if decided(inputs[0]) else "else_branch"
    return run(name, attrs[name], {})


def loop(run, inputs, attrs):
    body = attrs["body"]
    most = math.inf if inputs[0] is None else int(decided(inputs[0]))
    goes = True if inputs[1] is None else bool(decided(inputs[1]))
    states = inputs[2:]
    count, rows = 0, []
    while goes and count < most:
        if count > 40:
            raise DoesNotRun("no end")
        feeds = dict(zip(body.inputs, [np.asarray(count, np.int64), np.asarray(goes), *states], strict=True))
        first, *rest = run("body", body, feeds)
        goes = bool(decided(first))
        states, row = rest[: len(states)], rest[len(states) :]
        rows.append(row)
        count += 1
    scans = len(body.outputs) - 1 - len(states)
    return [*states, *[stacked([row[at] for row in rows], 0) for at in range(scans)]]


def scan(run, inputs, attrs):
    body, count = attrs["body"], attrs["num_scan_inputs"]
    states, scanned = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    if any(isinstance(one, Unspecified) for one in scanned):
        raise DoesNotRun("what is not specified would decide")
    axes = attrs.get("scan_input_axes", [0] * count)
    backward = attrs.get("scan_input_directions", [0] * count)
    lengths = {one.shape[axis] for one, axis in zip(scanned, axes, strict=True)}
    if len(lengths) > 1:
        raise DoesNotRun("scanned inputs differ in length")
    length = lengths.pop()
    rows = []
    for at in range(length):
        slices = [
            np.take(one, length - 1 - at if back else at, axis)
            for one, axis, back in zip(scanned, axes, backward, strict=True)
        ]
        results = run("body", body, dict(zip(body.inputs, [*states, *slices], strict=True)))
        rows.append(results[len(states) :])
        before, states = states, results[: len(states)]
        if length > 1 and [getattr(one, "shape", None) for one in before] != [
            getattr(one, "shape", None) for one in states
        ]:
            raise DoesNotRun("a state of a Scan changes its shape")
    returned = len(body.outputs) - len(states)
    out_axes = attrs.get("scan_output_axes", [0] * returned)
    out_back = attrs.get("scan_output_directions", [0] * returned)
    made = [
        stacked([row[at] for row in (rows[::-1] if out_back[at] else rows)], out_axes[at]) for at in range(returned)
    ]
    return [*states, *made]


def sequence_map(run, inputs, attrs):
    body = attrs["body"]
    if any(isinstance(one, Unspecified) for one in inputs):
        raise DoesNotRun("what is not specified would decide")
    lengths = {len(one) for one in inputs if isinstance(one, list)}
    if len(lengths) > 1:
        raise DoesNotRun("sequences of different lengths")
    rows = []
    for at in range(lengths.pop()):
        given = [one[at] if isinstance(one, list) else one for one in inputs]
        rows += [run("body", body, dict(zip(body.inputs, given, strict=True)))]
    return [[row[at] for row in rows] for at in range(len(body.outputs))]


BODIES = {"If": if_, "Loop": loop, "Scan": scan, "SequenceMap": sequence_map}


# ---------------------------------------------------------------- the other operators


def slice_(_, data, starts, ends, axes=None, steps=None):
    cut = [slice(None)] * data.ndim
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        cut[axis] = slice(int(start), int(end), int(step))
    return data[tuple(cut)]


def position(sequence, at, last):
    """Return a position from the front, checked."""
    at, count = int(at), len(sequence)
    if not -count <= at <= count - last:
        raise DoesNotRun("no such position")
    return at + count if at < 0 else at


def insert(_, sequence, one, at=None):
    where = len(sequence) if at is None else position(sequence, at, 0)
    return [*sequence[:where], one, *sequence[where:]]


def erase(_, sequence, at=None):
    where = position(sequence, -1 if at is None else at, 1)
    return [*sequence[:where], *sequence[where + 1 :]]


def split_to_sequence(attrs, data, split=None):
    axis = attrs.get("axis", 0)
    size = data.shape[axis]
    if split is None:
        parts = [np.take(data, [at], axis) for at in range(size)]
        return parts if attrs.get("keepdims", 1) else [one.squeeze(axis) for one in parts]
    if split.ndim == 0:
        ends = [*range(int(split), size, int(split))] if size else None
        return [] if ends is None else np.split(data, ends, axis)
    if split.sum() != size:
        raise DoesNotRun("the split does not fit")
    return np.split(data, np.cumsum(split)[:-1], axis)


def concat(axis, parts):
    """Join arrays; numpy would broadcast nothing either."""
    if not parts:
        raise DoesNotRun("nothing is joined")
    return np.concatenate(parts, axis)


def reshape(_, data, shape):
    target = [data.shape[at] if one == 0 else int(one) for at, one in enumerate(shape)]
    if -1 in target and math.prod(one for one in target if one != -1) == 0:
        raise DoesNotRun("-1 beside a 0 is not defined")
    return data.reshape(target)


def constant_of_shape(attrs, shape):
    if (shape < 0).any() or math.prod(map(int, shape)) > LARGEST:
        raise DoesNotRun("no such shape")
    return np.full(shape, *attrs.get("value", np.zeros(1, np.float32)))


def get_element(_, one):
    if isinstance(one, Maybe):
        if one.value is None:
            raise DoesNotRun("the optional is empty")
        return one.value
    return one


def unsqueeze(_, data, axes):
    return np.expand_dims(data, tuple(map(int, axes)))


def reduce_sum(attrs, data, axes=None):
    axes = None if axes is None else tuple(map(int, axes))
    return data.sum(axes, keepdims=bool(attrs.get("keepdims", 1)), dtype=data.dtype)


def gather(attrs, data, index):
    return np.take(data, index, attrs.get("axis", 0))


def zip_map(attrs, data):
    labels = [one.decode() for one in attrs["classlabels_strings"]]
    rows = data.reshape(-1, data.shape[-1]) if data.ndim > 1 else data[None]
    if rows.shape[-1] != len(labels):
        raise DoesNotRun("labels do not fit")
    return [dict(zip(labels, map(float, row), strict=True)) for row in rows]


def vectorize(attrs, given):
    return np.asarray([[given.get(key, 0.0) for key in attrs["int64_vocabulary"]]], np.float32)


OPERATORS = {
    "ZipMap": zip_map,
    "DictVectorizer": vectorize,
    "CastMap": lambda _, given: np.asarray([list(given.values())], np.float32),
    "Add": lambda _, a, b: a + b,
    "Sub": lambda _, a, b: a - b,
    "Mul": lambda _, a, b: a * b,
    "Max": lambda _, a, b: np.maximum(a, b),
    "Relu": lambda _, a: np.maximum(a, 0),
    "Neg": lambda _, a: -a,
    "Identity": lambda _, a: a,
    "And": lambda _, a, b: a & b,
    "Not": lambda _, a: ~a,
    "Less": lambda _, a, b: a < b,
    "Greater": lambda _, a, b: a > b,
    "Equal": lambda _, a, b: a == b,
    "Where": lambda _, test, a, b: np.where(test, a, b),
    "Concat": lambda attrs, *parts: concat(attrs["axis"], parts),
    "Slice": slice_,
    "Shape": lambda _, a: np.array(a.shape, np.int64),
    "Size": lambda _, a: np.asarray(a.size, np.int64),
    "Gather": gather,
    "Unsqueeze": unsqueeze,
    "Squeeze": lambda _, a, axes: np.squeeze(a, tuple(map(int, axes))),
    "Transpose": lambda attrs, a: np.transpose(a, attrs.get("perm")),
    "Reshape": reshape,
    "ConstantOfShape": constant_of_shape,
    "Constant": lambda attrs: attrs["value"],
    "ReduceSum": reduce_sum,
    "NonZero": lambda _, a: np.array(np.nonzero(a), np.int64).reshape(a.ndim, -1),
    "SequenceEmpty": lambda _: [],
    "SequenceConstruct": lambda _, *parts: list(parts),
    "SequenceInsert": insert,
    "SequenceErase": erase,
    "SequenceAt": lambda _, sequence, at: sequence[position(sequence, at, 1)],
    "SequenceLength": lambda _, sequence: np.asarray(len(sequence), np.int64),
    "SplitToSequence": split_to_sequence,
    "ConcatFromSequence": lambda attrs, sequence: (
        np.stack(sequence, attrs["axis"]) if attrs.get("new_axis") else concat(attrs["axis"], sequence)
    ),
    "Optional": lambda _, one=None: Maybe(one),
    "OptionalHasElement": lambda _, one=None: np.asarray(
        one.value is not None if isinstance(one, Maybe) else one is not None
    ),
    "OptionalGetElement": get_element,
}
