"""Make small random models of the shape arithmetic that exporters write; infer them, run them, compare.

python tests/infer/random_models.py 0 1000      seeds 0 to 999: a line for each that is wrong, and totals
python tests/infer/random_models.py 17          one seed: the model, what was inferred, what runs show
"""

# ruff: noqa: E402  # as a program, the file puts the project on the path before it imports it

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import sardonyx as sx
from sardonyx.ir.types import TensorType
from tests.infer.node_tests import Verdict, judge
from tests.infer.seeds import report
from tests.ops.cases import holds, number_content
from tests.ops.runtime import real_type, runtime

SIZES = ((2, 7, 5), (1, 1, 1), (3, 4, 9), (1, 8, 2), (2, 0, 3), (5, 16, 1))
"""Sizes of b, s and t."""


class Made:
    """A value of the model being made."""

    def __init__(self, name, rank, integer=False, vector=None):
        self.name = name
        self.rank = rank
        self.integer = integer
        self.vector = vector
        """Number of elements of a small integer vector that holds sizes, else None."""


class Maker:
    """Makes one model."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.nodes = []
        self.constants = []
        self.opset = self.chance.choice((13, 17, 18, 20, 21))
        self.values = [Made("x", 3), Made("y", 3), Made("z", 2), Made("i", 1, integer=True)]
        self.inputs = {"x": ("b", "s", 12), "y": ("b", "t", 12), "z": ("s", "t"), "i": ("t",)}
        steps = self.chance.randint(3, 8)
        while steps:
            idiom = self.chance.choice(IDIOMS)
            steps -= idiom(self) is not None

    # --- parts

    def name(self):
        return f"v{len(self.nodes)}"

    def constant(self, value, dtype=np.int64):
        """Add a constant: an initializer or a Constant node."""
        array = np.asarray(value, dtype)
        name = f"c{len(self.constants)}_{len(self.nodes)}"
        tensor = numpy_helper.from_array(array, name)
        if self.chance.random() < 0.5:
            self.constants.append(tensor)
        else:
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        return name

    def node(self, op_type, inputs, count=1, **attributes):
        """Add a node; return the names of its outputs."""
        base = self.name()
        outputs = [f"{base}_{at}" for at in range(count)]
        self.nodes.append(helper.make_node(op_type, inputs, outputs, **attributes))
        return outputs

    def keep(self, name, rank, integer=False, vector=None):
        """Let later steps use a value."""
        made = Made(name, rank, integer, vector)
        self.values.append(made)
        return made

    def pick(self, least=0, most=9, integer=False):
        """Pick a value with this many axes, or None."""
        found = [one for one in self.values if least <= one.rank <= most and one.integer == integer and not one.vector]
        return self.chance.choice(found[-4:] + found) if found else None

    def size(self, made, axis=None, scalar=False):
        """Compute a size of a value: Shape and Gather, or Shape with start and end."""
        axis = self.chance.randrange(made.rank) if axis is None else axis
        if self.opset >= 15 and not scalar and self.chance.random() < 0.3:
            return self.node("Shape", [made.name], start=axis, end=axis + 1)[0]
        (shape,) = self.node("Shape", [made.name])
        index = axis - made.rank if self.chance.random() < 0.3 else axis
        if scalar:
            return self.node("Gather", [shape, self.constant(index)], axis=0)[0]
        if self.chance.random() < 0.5:
            return self.node("Gather", [shape, self.constant([index])], axis=0)[0]
        return self.unsqueeze(self.node("Gather", [shape, self.constant(index)], axis=0)[0], 0)

    def unsqueeze(self, name, axis):
        return self.node("Unsqueeze", [name, self.constant([axis])])[0]

    def number(self, made):
        """Compute a size and calculate with it, as a vector of one element."""
        one = self.size(made)
        for _ in range(self.chance.randrange(3)):
            op = self.chance.choice(("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min"))
            least = 1 if op in ("Div", "Mod", "Mul") else 0
            other = self.constant([self.chance.randint(least, 4)])
            (one,) = self.node(op, [one, other])
        return one

    def model(self, kinds=None):
        """Return the model; `kinds` gives inputs other declared dims, or None for no shape."""
        infos = []
        for name, shape in (kinds or self.inputs).items():
            kind = TensorProto.INT64 if name == "i" else TensorProto.FLOAT
            infos.append(helper.make_tensor_value_info(name, kind, shape))
        outputs = [helper.make_empty_tensor_value_info(name) for node in self.nodes for name in node.output]
        graph = helper.make_graph(self.nodes, "random", infos, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)


# ---------------------------------------------------------------- what exporters write


def elementwise(maker):
    a, b = maker.pick(), maker.pick()
    return maker.keep(maker.node(maker.chance.choice(("Add", "Mul", "Sub")), [a.name, b.name])[0], max(a.rank, b.rank))


def unary(maker):
    a = maker.pick()
    return maker.keep(maker.node(maker.chance.choice(("Relu", "Neg", "Identity", "Sigmoid")), [a.name])[0], a.rank)


def transpose(maker):
    a = maker.pick(2)
    perm = list(range(a.rank))
    maker.chance.shuffle(perm)
    return maker.keep(maker.node("Transpose", [a.name], perm=perm)[0], a.rank)


def matmul(maker):
    a = maker.pick(2)
    perm = [*range(a.rank - 2), a.rank - 1, a.rank - 2]
    (b,) = maker.node("Transpose", [a.name], perm=perm)
    pair = [a.name, b] if maker.chance.random() < 0.5 else [b, a.name]
    return maker.keep(maker.node("MatMul", pair)[0], a.rank)


def flatten(maker):
    a = maker.pick(2)
    return maker.keep(maker.node("Flatten", [a.name], axis=maker.chance.randint(0, a.rank))[0], 2)


def reshape_to_sizes(maker):
    """Reshape to the sizes of some axes and -1."""
    a = maker.pick(2)
    kept = maker.chance.randint(1, a.rank - 1)
    parts = [maker.size(a, axis) for axis in range(kept)] + [maker.constant([-1])]
    (shape,) = maker.node("Concat", parts, axis=0)
    return maker.keep(maker.node("Reshape", [a.name, shape])[0], kept + 1)


def reshape_with_zeros(maker):
    a = maker.pick(2)
    kept = maker.chance.randint(1, a.rank - 1)
    return maker.keep(maker.node("Reshape", [a.name, maker.constant([0] * kept + [-1])])[0], kept + 1)


def split_heads(maker):
    """[b, s, 12] to [b, s, 3, 4], where the last dim is 12."""
    parts = [maker.size(maker.values[0], 0), maker.size(maker.values[0], 1), maker.constant([3]), maker.constant([4])]
    (shape,) = maker.node("Concat", parts, axis=0)
    return maker.keep(maker.node("Reshape", ["x", shape])[0], 4)


def merge_axes(maker):
    """Multiply two sizes and reshape to that."""
    a = maker.pick(3)
    (both,) = maker.node("Mul", [maker.size(a, 0), maker.size(a, 1)])
    rest = [maker.size(a, axis) for axis in range(2, a.rank)]
    (shape,) = maker.node("Concat", [both, *rest], axis=0)
    return maker.keep(maker.node("Reshape", [a.name, shape])[0], a.rank - 1)


def slice_to_size(maker):
    """Slice with starts and ends that are computed, negative or large."""
    a = maker.pick(1)
    axis = maker.chance.randrange(a.rank)
    big = 2**63 - 1
    start = maker.number(a) if maker.chance.random() < 0.3 else maker.constant([maker.chance.randint(-6, 6)])
    end = maker.number(a) if maker.chance.random() < 0.5 else maker.constant([maker.chance.choice((-1, -3, 2, 5, big))])
    step = maker.chance.choice((1, 1, 1, 2, 3))
    if maker.chance.random() < 0.15:
        start, end, step = maker.constant([-1]), maker.constant([-big]), -maker.chance.choice((1, 2))
    inputs = [a.name, start, end, maker.constant([axis - a.rank if maker.chance.random() < 0.3 else axis])]
    return maker.keep(maker.node("Slice", [*inputs, maker.constant([step])])[0], a.rank)


def expand(maker):
    a = maker.pick(1, 3)
    (wide,) = maker.node("Unsqueeze", [a.name, maker.constant([0])])
    parts = [maker.number(maker.pick(1))] + [maker.constant([1])] * a.rank
    (shape,) = maker.node("Concat", parts, axis=0)
    return maker.keep(maker.node("Expand", [wide, shape])[0], a.rank + 1)


def tile(maker):
    a = maker.pick(1, 3)
    parts = [maker.constant([maker.chance.randint(1, 3)]) for _ in range(a.rank - 1)] + [maker.size(maker.pick(1))]
    (repeats,) = maker.node("Concat", parts, axis=0)
    return maker.keep(maker.node("Tile", [a.name, repeats])[0], a.rank)


def concat(maker):
    a = maker.pick(1)
    axis = maker.chance.randrange(a.rank)
    return maker.keep(maker.node("Concat", [a.name] * maker.chance.randint(2, 3), axis=axis)[0], a.rank)


def unsqueeze(maker):
    a = maker.pick(0, 4)
    return maker.keep(maker.unsqueeze(a.name, maker.chance.randint(-a.rank - 1, a.rank)), a.rank + 1)


def squeeze(maker):
    a = maker.pick(1, 4)
    at = maker.chance.randint(0, a.rank)
    return maker.keep(maker.node("Squeeze", [maker.unsqueeze(a.name, at), maker.constant([at])])[0], a.rank)


def reduce(maker):
    a = maker.pick(1)
    keep, axis = maker.chance.randint(0, 1), maker.chance.randrange(a.rank)
    (made,) = maker.node("ReduceSum", [a.name, maker.constant([axis])], keepdims=keep)
    return maker.keep(made, a.rank if keep else a.rank - 1)


def positions(maker):
    """A range over a size, gathered from or compared."""
    a = maker.pick(1)
    stop = maker.node("Squeeze", [maker.number(a), maker.constant([0])])[0]
    step = maker.chance.choice((1, 1, 2, 3))
    return maker.keep(maker.node("Range", [maker.constant(0), stop, maker.constant(step)])[0], 1, integer=True)


def filled(maker):
    parts = [maker.number(maker.pick(1)) for _ in range(maker.chance.randint(1, 3))]
    (shape,) = maker.node("Concat", parts, axis=0)
    return maker.keep(maker.node("ConstantOfShape", [shape])[0], len(parts))


def gather(maker):
    """Take every position along an axis, computed by a range."""
    a = maker.pick(1, 4)
    axis = maker.chance.randrange(a.rank)
    (stop,) = maker.node("Squeeze", [maker.size(a, axis), maker.constant([0])])
    (index,) = maker.node("Range", [maker.constant(0), stop, maker.constant(maker.chance.choice((1, 2)))])
    return maker.keep(maker.node("Gather", [a.name, index], axis=axis)[0], a.rank)


def split(maker):
    """Cut in two at half."""
    a = maker.pick(1)
    axis = maker.chance.randrange(a.rank)
    whole = maker.size(a, axis)
    (half,) = maker.node("Div", [whole, maker.constant([2])])
    (rest,) = maker.node("Sub", [whole, half])
    (sizes,) = maker.node("Concat", [half, rest], axis=0)
    first, second = maker.node("Split", [a.name, sizes], 2, axis=axis)
    maker.keep(first, a.rank)
    return maker.keep(second, a.rank)


def pad_to_multiple(maker):
    """Pad an axis up to a multiple of 4: (4 - size % 4) % 4 more."""
    a = maker.pick(1, 3)
    four = maker.constant([4])
    (over,) = maker.node("Mod", [maker.size(a, a.rank - 1), four])
    (more,) = maker.node("Mod", [maker.node("Sub", [four, over])[0], four])
    pads = [maker.constant([0])] * (2 * a.rank - 1) + [more]
    return maker.keep(maker.node("Pad", [a.name, maker.node("Concat", pads, axis=0)[0]])[0], a.rank)


def convolve(maker):
    a = maker.values[0]
    kernel, stride, pad = maker.chance.randint(1, 3), maker.chance.randint(1, 2), maker.chance.randint(0, 1)
    perm = maker.node("Transpose", [a.name], perm=[0, 2, 1])[0]
    weight = maker.constant(np.zeros((4, 12, kernel)), np.float32)
    made = maker.node("Conv", [perm, weight], kernel_shape=[kernel], strides=[stride], pads=[pad, pad])
    return maker.keep(made[0], 3)


def pool(maker):
    a = maker.pick(3, 3)
    ceil = maker.chance.randint(0, 1)
    return maker.keep(maker.node("MaxPool", [a.name], kernel_shape=[2], strides=[2], ceil_mode=ceil)[0], 3)


def largest(maker):
    """The k largest, k a size but at most 3."""
    a = maker.pick(1)
    axis = maker.chance.randrange(a.rank)
    (k,) = maker.node("Min", [maker.size(a, axis), maker.constant([3])])
    values, _ = maker.node("TopK", [a.name, k], 2, axis=axis)
    return maker.keep(values, a.rank)


def choose(maker):
    """A size chosen by a comparison."""
    a, b = maker.pick(1), maker.pick(1)
    one, other = maker.size(a), maker.size(b)
    (test,) = maker.node(maker.chance.choice(("Equal", "Less", "Greater")), [one, other])
    (size,) = maker.node("Where", [test, one, maker.node("Add", [other, maker.constant([1])])[0]])
    return maker.keep(maker.node("ConstantOfShape", [size])[0], 1)


def whole_shape(maker):
    """Shape of one, sliced, joined and used to expand a one."""
    a = maker.pick(2)
    (shape,) = maker.node("Shape", [a.name])
    part = maker.node("Slice", [shape, maker.constant([0]), maker.constant([-1])])[0]
    (shape,) = maker.node("Concat", [part, maker.constant([1])], axis=0)
    return maker.keep(maker.node("Expand", [maker.constant(1.0, np.float32), shape])[0], a.rank)


def nonzero(maker):
    a = maker.pick(1)
    (found,) = maker.node("NonZero", [a.name])
    return maker.keep(maker.node("Transpose", [found], perm=[1, 0])[0], 2, integer=True)


def branch(maker):
    """An If on a size, with branches that cut differently."""
    a = maker.pick(1)
    (test,) = maker.node("Greater", [maker.size(a, 0, scalar=True), maker.constant(3)])
    bodies = []
    for at, end in enumerate((2, 3)):
        out = f"{maker.name()}_{at}"
        ends = numpy_helper.from_array(np.array([0, end, 0], np.int64), f"{out}_e")
        cut = [
            helper.make_node("Constant", [], [f"{out}_k"], value=ends),
            helper.make_node("Split", [f"{out}_k"], [f"{out}_s", f"{out}_t", f"{out}_u"], axis=0)
            if maker.opset < 18
            else helper.make_node("Split", [f"{out}_k"], [f"{out}_s", f"{out}_t", f"{out}_u"], axis=0, num_outputs=3),
            helper.make_node("Slice", [a.name, f"{out}_s", f"{out}_t", f"{out}_u"], [out]),
        ]
        info = helper.make_empty_tensor_value_info(out)
        bodies.append(helper.make_graph(cut, out, [], [info]))
    (made,) = maker.node("If", [test], then_branch=bodies[0], else_branch=bodies[1])
    return maker.keep(made, a.rank)


IDIOMS = [
    elementwise, unary, transpose, matmul, flatten, reshape_to_sizes, reshape_with_zeros, split_heads, merge_axes,
    slice_to_size, slice_to_size, expand, tile, concat, unsqueeze, squeeze, reduce, positions, filled, gather, split,
    pad_to_multiple, convolve, pool, largest, choose, whole_shape, nonzero, branch,
]  # fmt: skip


# ---------------------------------------------------------------- checking one


def feeds_of(sizes):
    """Return what to feed for sizes of b, s and t."""
    b, s, t = sizes
    chance = random.Random(11)
    made = {}
    for name, shape in (("x", (b, s, 12)), ("y", (b, t, 12)), ("z", (s, t)), ("i", (t,))):
        count = int(np.prod(shape))
        elements = [chance.choice((0, 1)) if name == "i" else chance.choice((0.0, 0.5, 1.0)) for _ in range(count)]
        made[name] = (TensorProto.INT64 if name == "i" else TensorProto.FLOAT, shape, elements)
    return made


def weaker(maker, chance):
    """Return declarations of the inputs that say less, as (what, kinds)."""
    plain = dict(maker.inputs)
    name = chance.choice(list(plain))
    axis = chance.randrange(len(plain[name]))
    cut = tuple(None if at == axis else dim for at, dim in enumerate(plain[name]))
    yield f"dim {axis} of {name}", {**plain, name: cut}
    yield f"shape of {chance.choice(list(plain))}", {**plain, name: None}
    yield "all dims", {one: (None,) * len(shape) for one, shape in plain.items()}


def check(seed):
    """Check one seed; return what is wrong, and a Counter of runs."""
    maker = Maker(seed)
    model = maker.model()
    names = [info.name for info in model.graph.output]
    data = model.SerializeToString()
    wrong, counts = [], Counter()
    inference = sx.infer_shapes(sx.load(data))
    chance = random.Random(seed)
    less = [
        (what, sx.infer_shapes(sx.load(maker.model(kinds).SerializeToString())))
        for what, kinds in weaker(maker, chance)
    ]
    for sizes in [*SIZES[:1], *chance.sample(SIZES[1:], 2)]:
        told = runtime().ask((data, names, feeds_of(sizes), {}))
        if isinstance(told, str):
            counts["refused"] += 1
            continue
        numbers = dict(zip("bst", sizes, strict=True))
        real = dict(zip(names, told, strict=True))
        errors = [issue.message for issue in inference.issues if issue.severity == "error"]
        if errors:
            wrong.append(f"{sizes}: refused, though it runs: {errors[0]}")
        wrong += (f"{sizes}: {one}" for one in compare(inference, real, numbers, counts))
        for what, one in less:
            wrong += (f"{sizes}, without {what}: {text}" for text in compare(one, real, numbers, counts))
        bound = sx.infer_shapes(sx.load(data), bind=numbers)
        wrong += (f"{sizes}, bound: {one}" for one in compare(bound, real, numbers, counts))
        counts["ran"] += 1
    return wrong, counts


def compare(inference, real, numbers, counts):
    """Return where an inference contradicts a run."""
    graph = inference.model.graph
    sizes = bind(graph, real, numbers)
    if not holds([(one.kind, one.a, one.b) for one in inference.assumptions], sizes):
        counts["assumption broken"] += 1
        return []
    verdict = Verdict()
    by_name = {symbol.name: size for symbol, size in sizes.items()}
    frame = inference.frame()
    for value in graph.outputs:
        kind = graph.types.get(value)
        counts["values"] += 1
        told = real[value.name]
        judge(kind, real_type(told), by_name, value.name, verdict)
        content = frame.content(value)
        if content is not None and told[3] is not None:
            found = number_content(content, sizes)
            if len(found) != len(told[3]) or any(
                a is not None and a != b for a, b in zip(found, told[3], strict=False)
            ):
                verdict.wrong.append(f"{value.name}: elements {content}, it has {told[3]}")
    counts["unknown"] += len(verdict.unknown)
    return verdict.wrong


def bind(graph, real, numbers):
    """Return a number for every symbol: those of the inputs, and the anonymous ones that are a dim by themselves."""
    sizes = {}
    shapes = {"x": (numbers["b"], numbers["s"], 12), "y": (numbers["b"], numbers["t"], 12)}
    shapes |= {"z": (numbers["s"], numbers["t"]), "i": (numbers["t"],)}
    values = [(graph.types.get(value), shapes[value.name]) for value in graph.inputs if value.name in shapes]
    values += [(graph.types.get(value), real[value.name][2]) for value in graph.outputs]
    for kind, shape in values:
        if isinstance(kind, TensorType) and kind.shape is not None and len(kind.shape) == len(shape):
            for dim, size in zip(kind.shape, shape, strict=True):
                if not isinstance(dim, int) and dim.symbol is not None:
                    sizes.setdefault(dim.symbol, size)
    return sizes


def show(inference):
    for value in inference.model.graph.outputs:
        print(f"{value.name:<12} {inference.model.graph.types.get(value)}")


if __name__ == "__main__":
    sys.exit(report(sys.argv[1:], lambda seed: Maker(seed).model(), check, show))
