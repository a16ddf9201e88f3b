"""Compare what was inferred of every frame with every activation of a run.

A symbol stands for one number where it first occurs and in everything inside: those of the main graph for one in a run,
those of a body's frame for one in each iteration, those of a call for one in the call.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from sardonyx.dims import Expr, Symbol, evaluate
from sardonyx.dims.choose import DimMismatch
from sardonyx.ir.types import DType, MapType, OptionalType, SequenceType, TensorType
from sardonyx.ops.common.sequences import differs
from tests.infer.tiny_runtime import Maybe, Unspecified
from tests.ops.cases import holds, number_content

DTYPES = {"float32": DType.FLOAT, "int64": DType.INT64, "bool": DType.BOOL}


class Open(Exception):
    """A dim that is written in symbols nobody knows the numbers of."""


class Known:
    """The frames of one inference, each read once."""

    def __init__(self, inference):
        self.inference = inference
        self.read = {}

    def frame(self, path, parent, step):
        """Return a frame and its values: (name, type, elements)."""
        found = self.read.get(path)
        if found is None:
            frame = self.inference.frame() if parent is None else parent.step(parent.graph.nodes[step[0]], *step)
            if frame is None:
                raise AssertionError(f"{path} ran, but was not inferred")
            values = [(value.name, frame.type(value), frame.content(value)) for value in frame.graph.values]
            found = self.read[path] = frame, values
        return found


class Comparison:
    """How one inference compares with one run."""

    def __init__(self, inference, sizes):
        """Start with the sizes of the inputs' dims by name."""
        self.known = Known(inference) if not isinstance(inference, Known) else inference
        self.sizes = sizes
        self.wrong = []
        self.counts = Counter()

    def run(self, activation):
        """Compare all activations, each before those in it."""
        inference = self.known.inference
        waiting = [(activation, (), None, None, {})]
        first = None
        while waiting:
            one, path, parent, step, env = waiting.pop()
            frame, values = self.known.frame(path, parent, step)
            env = dict(env)
            pairs = [(name, kind, content, one.values[name]) for name, kind, content in values if name in one.values]
            for _, kind, content, real in pairs:
                self.bind(kind, content, real, env)
            if first is None:
                first = env
                if not holds([(a.kind, a.a, a.b) for a in inference.assumptions], self.whole(env, inference)):
                    self.counts["assumption broken"] += 1
                    return self
            for name, kind, content, real in pairs:
                self.judge(f"{path} {name}", kind, content, real, env)
            waiting += [(inner, (*path, step), frame, step, env) for step, inner in one.inner]
        for one in inference.constraints:
            self.hold(one, first)
        return self

    def whole(self, env, inference):
        """Return the numbers of all symbols by symbol, named ones too."""
        found = dict(env)
        for one in (*inference.assumptions, *inference.constraints):
            for dim in (one.a, one.b):
                if isinstance(dim, Expr):
                    found.update({s: self.sizes[s.name] for s in dim.symbols if s not in env and s.name in self.sizes})
        return found

    def hold(self, one, env):
        """Check a constraint whose symbols are all known."""
        try:
            a, b = self.number(one.a, env), self.number(one.b, env)
        except (Open, DimMismatch):
            return
        if not (a == b if one.relation == "==" else a >= b):
            self.wrong.append(f"{one}: {a} and {b}")

    # --- numbers

    def number(self, dim, env):
        if isinstance(dim, int):
            return dim
        known = {}
        for symbol in dim.symbols:
            known[symbol] = env[symbol] if symbol in env else self.sizes.get(symbol.name)
            if known[symbol] is None:
                raise Open
        return evaluate(dim, known)

    def bind(self, kind, content, real, env):
        """Take the numbers of anonymous symbols that stand alone."""
        if isinstance(kind, OptionalType) and isinstance(real, Maybe):
            kind, real = kind.elem, real.value
        if isinstance(kind, TensorType) and isinstance(real, np.ndarray):
            if kind.shape is not None and len(kind.shape) == real.ndim:
                for dim, size in zip(kind.shape, real.shape, strict=True):
                    self.take(dim, size, env)
            if content is not None and len(content) == real.size:
                for one, number in zip(content, real.reshape(-1).tolist(), strict=True):
                    self.take(one, number, env)
        elif isinstance(kind, SequenceType) and isinstance(real, list):
            self.take(kind.length, len(real), env)
            if kind.elements is not None and len(kind.elements) == len(real):
                for one, part in zip(kind.elements, real, strict=True):
                    self.bind(one, None, part, env)
            elif real and kind.elem is not None:
                self.bind(kind.elem, None, real[0], env)

    def take(self, dim, size, env):
        if isinstance(dim, Symbol) and dim.anonymous and not differs(dim):
            env.setdefault(dim, size)

    # --- judging

    def judge(self, label, kind, content, real, env):
        """Compare one value."""
        self.counts["values"] += 1
        if kind is None:
            self.counts["untyped"] += 1
            return
        if isinstance(real, Unspecified):
            if real.axis is not None and isinstance(kind, TensorType) and kind.shape is not None:
                self.same(f"{label}: dim {real.axis} of {kind}", kind.shape[real.axis], 0, env)
            return
        self.fits(label, kind, real, env)
        if content is not None and isinstance(kind, TensorType):
            self.elements(label, content, real, env)
        elif content is not None and isinstance(real, Maybe) and content[0] not in (None, real.value is not None):
            self.wrong.append(f"{label}: holds something is {content[0]}, not in the run")

    def elements(self, label, content, real, env):
        flat = real.reshape(-1).tolist()
        named = {s: self.sizes[s.name] for s in symbols_of(content) if s not in env and s.name in self.sizes}
        found = number_content(content, {**env, **named})
        if len(found) != len(flat):
            self.wrong.append(f"{label}: {len(found)} elements are known of {len(flat)}")
        for at, (one, number) in enumerate(zip(found, flat, strict=False)):
            self.counts["elements"] += one is not None
            if one is not None and one != number:
                self.wrong.append(f"{label}: element {at} is {content[at]} = {one}, in the run {number}")

    def fits(self, label, kind, real, env):
        """Compare a type with what is there."""
        if kind is None or isinstance(real, Unspecified):
            return
        if isinstance(real, Maybe):
            if not isinstance(kind, OptionalType):
                self.wrong.append(f"{label}: {kind}, in the run an optional")
            elif real.value is not None:
                self.fits(label, kind.elem, real.value, env)
        elif isinstance(real, list):
            self.fits_list(label, kind, real, env)
        elif isinstance(real, dict):
            key = DType.STRING if any(isinstance(one, str) for one in real) else DType.INT64
            if (
                not isinstance(kind, MapType)
                or kind.value != TensorType(DType.FLOAT, ())
                or (real and kind.key is not key)
            ):
                self.wrong.append(f"{label}: {kind}, in the run {real}")
        elif not isinstance(kind, TensorType):
            self.wrong.append(f"{label}: {kind}, in the run a tensor")
        else:
            if kind.dtype is not None and kind.dtype is not DTYPES[real.dtype.name]:
                self.wrong.append(f"{label}: {kind}, in the run {real.dtype}")
            self.fits_shape(label, kind, real, env)

    def fits_list(self, label, kind, real, env):
        if not isinstance(kind, SequenceType):
            self.wrong.append(f"{label}: {kind}, in the run a sequence")
            return
        if kind.length is not None:
            self.same(f"{label}: length of {kind}", kind.length, len(real), env)
        if kind.elements is not None and len(kind.elements) != len(real):
            self.wrong.append(f"{label}: {kind} has {len(kind.elements)} elements, in the run {len(real)}")
        elif kind.elements is not None:
            for at, (one, part) in enumerate(zip(kind.elements, real, strict=True)):
                self.fits(f"{label}[{at}]", one, part, env)
        for at, part in enumerate(real):
            self.fits(f"{label}[{at}]", kind.elem, part, env)

    def fits_shape(self, label, kind, real, env):
        if kind.shape is None:
            self.counts["unranked"] += 1
        elif len(kind.shape) != real.ndim:
            self.wrong.append(f"{label}: {kind}, in the run {list(real.shape)}")
        else:
            for axis, (dim, size) in enumerate(zip(kind.shape, real.shape, strict=True)):
                if not differs(dim):
                    self.same(f"{label}: dim {axis} of {kind}", dim, size, env)

    def same(self, label, dim, size, env):
        self.counts["dims"] += 1
        try:
            number = self.number(dim, env)
        except Open:
            self.counts["open"] += 1
            return
        except (ZeroDivisionError, ValueError, DimMismatch) as problem:
            number = problem
        if number != size:
            self.wrong.append(f"{label} is {number}, in the run {size}")


def symbols_of(content):
    """Yield the symbols in some elements."""
    for one in content:
        one = getattr(one, "expr", one)
        if isinstance(one, Expr):
            yield from one.symbols


# ---------------------------------------------------------------- two inferences


def differences(one, other):
    """Return how two inferences differ in frames and values that they both have; anonymous symbols may be renamed."""
    pairs = [(one.frame(), other.frame(), "")]
    there, back, wrong = {}, {}, []
    while pairs:
        a, b, path = pairs.pop()
        kinds = {value.name: b.type(value) for value in b.graph.values}
        both = [(value.name, a.type(value), kinds[value.name]) for value in a.graph.values if value.name in kinds]
        for learn in (True, False):
            wrong += [
                f"{path}{name}: {x} and {y}" for name, x, y in both if not alike(x, y, there, back, learn) and not learn
            ]
        homes = {first_output(node): (node, at) for at, node in enumerate(b.graph.nodes)}
        for at, node in enumerate(a.graph.nodes):
            twin, index = homes.get(first_output(node), (None, 0))
            if twin is not None and node.bodies and twin.op == node.op:
                for name in node.bodies:
                    inner = a.step(node, at, name), b.step(twin, index, name)
                    if None not in inner:
                        pairs.append((*inner, f"{path}{at}.{name}: "))
    return wrong


def first_output(node):
    return next((value.name for value in node.outputs if value is not None), None)


def alike(a, b, there, back, learn):
    """Return whether two types, dims or None are alike; plain symbols that match are learnt first."""
    if isinstance(a, Expr) and isinstance(b, Expr):
        if learn:
            if isinstance(a, Symbol) and isinstance(b, Symbol) and a.anonymous and b.anonymous:
                there.setdefault(a, b)
                back.setdefault(b, a)
            return True
        if isinstance(a, Symbol) and isinstance(b, Symbol):
            if not a.anonymous or not b.anonymous:
                return a.name == b.name
            return there.get(a) == b and back.get(b) == a
        return same_terms(a, b, there)
    if type(a) is not type(b):
        return False
    if isinstance(a, TensorType):
        return a.dtype is b.dtype and every(a.shape, b.shape, there, back, learn)
    if isinstance(a, SequenceType):
        return (
            alike(a.elem, b.elem, there, back, learn)
            and alike(a.length, b.length, there, back, learn)
            and every(a.elements, b.elements, there, back, learn)
        )
    if isinstance(a, OptionalType):
        return alike(a.elem, b.elem, there, back, learn)
    return a == b


def every(a, b, there, back, learn):
    if a is None or b is None:
        return a is b
    return len(a) == len(b) and all(alike(x, y, there, back, learn) for x, y in zip(a, b, strict=True))


def same_terms(a, b, there):
    """Return whether two expressions are equal at some numbers; symbols that never stand alone may be any."""
    for start in (3, 11):
        numbers = {}
        for symbol in b.symbols:
            numbers[symbol] = start + sum(map(ord, symbol.name)) % 97
        known = {}
        for symbol in a.symbols:
            twin = there.get(symbol)
            if twin is None:
                twin = next((one for one in b.symbols if one.name == symbol.name and not one.anonymous), None)
            if twin is None or twin not in numbers:
                return symbol.anonymous and len(a.symbols) == len(b.symbols)
            known[symbol] = numbers[twin]
        try:
            if evaluate(a, known) != evaluate(b, numbers):
                return False
        except DimMismatch:  # these numbers do not broadcast, in either
            continue
    return True
