"""The graphs that generated models are made of, and the steps that need no bodies.

A made value has marks for its dims: a number, or a term in numbered unknowns. Equal marks are equal dims, and a mark
whose unknowns are older than a body is the same in each iteration of it; so the models that are made do run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper, numpy_helper

MANY = "many"
"""The mark of a dim in which the elements of a sequence differ."""
SEQUENCE = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
OPTIONAL = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))


@dataclass
class Made:
    """A value of the model being made."""

    name: str
    kind: str
    """float, int (a scalar), ints (sizes), bool (a scalar), seq, optional, map, or maps (a sequence of maps)."""
    marks: tuple | None = ()
    """Marks of the dims, of a sequence those of its elements; None when the rank differs from run to run."""
    elements: tuple = ()
    """Marks of the elements of int and ints."""
    least: int = 0
    """Elements that a sequence has at least; whether an optional is certainly there."""


class Graph:
    """A graph being made: the main graph, a body or a function."""

    def __init__(self, maker, outer, depth):
        self.maker, self.outer, self.depth = maker, outer, depth
        self.chance = maker.chance
        self.nodes, self.constants, self.inputs = [], [], []
        self.values = {}
        self.taken = set()
        """Names that this graph has, or uses from outside."""
        self.number = 0 if outer is None else outer.number
        self.since = maker.unknowns
        self.isolated = False

    # --- parts

    def add(self, made):
        self.values[made.name] = made
        self.taken.add(made.name)
        return made

    def name(self, prefix="v"):
        """Return a name for a new value: one that a sibling or an outer graph may have too."""
        if self.maker.unique:
            self.maker.names += 1
            return f"{prefix}{self.maker.names}"
        if self.outer is not None and self.chance.random() < 0.15:  # shadow a name from outside
            names = [one for one in self.visible() if one not in self.taken]
            if names:
                return self.chance.choice(names)
        while True:
            self.number += 1
            if f"{prefix}{self.number}" not in self.taken:
                return f"{prefix}{self.number}"

    def visible(self):
        """Return the values that a node may use, by name; the innermost of a name."""
        found = dict(self.outer.visible()) if self.outer is not None and not self.isolated else {}
        found.update(self.values)
        return found

    def use(self, name):
        """Note that a name is used: in each graph from here to the one that has it."""
        graph = self
        while graph is not None and name not in graph.values:
            graph.taken.add(name)
            graph = graph.outer

    def constant(self, value, dtype=np.int64, force=None):
        """Add a constant: an initializer or a Constant node."""
        tensor = numpy_helper.from_array(np.asarray(value, dtype))
        name = self.name("c")
        self.taken.add(name)
        self.values.pop(name, None)
        self.values[name] = Made(name, "constant")
        if self.isolated or self.chance.random() < 0.5:
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        else:
            tensor.name = name
            self.constants.append(tensor)
        return name

    def node(self, op, inputs, *made, **attributes):
        """Add a node; `made` are values without names: (kind, marks, ...)."""
        for name in inputs:
            if name:
                self.use(name)
        results = []
        for one in made:
            name = self.name()
            self.taken.add(name)
            results.append(Made(name, *one))
        domain = attributes.pop("domain", None)
        node = helper.make_node(op, inputs, [one.name for one in results], domain=domain, **attributes)
        self.nodes.append(node)
        for one in results:
            self.values[one.name] = one
        return results

    def pick(self, kind="float", test=lambda one: True):
        """Return a visible value of a kind, the newest more often; None when there is none."""
        found = [one for one in self.visible().values() if one.kind == kind and test(one)]
        own = [one for one in found if one.name in self.values]
        if own and self.chance.random() < 0.6:
            found = own[-4:]
        if not found:
            return None
        one = self.chance.choice(found)
        self.use(one.name)  # from here on no name that hides it may come
        return one

    def ranked(self, least=1, most=4):
        return self.pick("float", lambda one: one.marks is not None and least <= len(one.marks) <= most)

    def fill(self, steps):
        """Add some steps."""
        tries = 0
        while steps > 0 and tries < 40:
            tries += 1
            done = self.chance.choice(self.maker.steps if self.depth < 3 else FLAT)(self)
            steps -= done is not None

    def scalar(self, name):
        """Make a vector of one element from a scalar."""
        return self.node("Unsqueeze", [name, self.constant([0])], ("ints", (1,)))[0].name

    def body(self, formals=(), since=None):
        """Return a new body with these formals: values without names; marks after `since` are its own."""
        made = Graph(self.maker, self, self.depth + 1)
        made.since = self.maker.unknowns if since is None else since
        for one in formals:
            one.name = made.name("p")
            made.add(one)
            made.inputs.append(one)
        return made

    def graph(self, outputs, name):
        """Return the proto of a body."""
        for one in outputs:
            self.use(one.name)
        infos = [self.declared(one) for one in self.inputs]
        results = [helper.make_empty_tensor_value_info(one.name) for one in outputs]
        return helper.make_graph(self.nodes, name, infos, results, self.constants)

    def declared(self, one):
        """Return what the file says of a formal: nothing, or what is true of every iteration."""
        if not self.maker.unique and self.chance.random() < 0.7:
            return helper.make_empty_tensor_value_info(one.name)
        dims = None
        if one.marks is not None:
            dims = [mark if isinstance(mark, int) else f"{one.name}_{at}" for at, mark in enumerate(one.marks)]
        if one.kind == "seq":
            return helper.make_value_info(one.name, SEQUENCE)
        if one.kind == "optional":
            return helper.make_value_info(one.name, OPTIONAL)
        kinds = {"float": TensorProto.FLOAT, "bool": TensorProto.BOOL}
        return helper.make_tensor_value_info(one.name, kinds.get(one.kind, TensorProto.INT64), dims)

    def returned(self, made):
        """Return a value that a body may return: one that a node of it makes."""
        if made.name in self.values and made not in self.inputs and made.kind != "constant":
            return made
        return self.node("Identity", [made.name], (made.kind, made.marks, made.elements, made.least))[0]

    def is_fixed(self, mark):
        """Whether a mark is the same in every iteration of this body."""
        if isinstance(mark, int) or mark[0] == "d":
            return True
        if mark[0] == "u":
            return mark[1] <= self.since
        return all(self.is_fixed(one) for one in mark[1:])


def plus(a, b):
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return ("+", a, b)


def unknowns(maker, count):
    return tuple(maker.unknown() for _ in range(count))


# ---------------------------------------------------------------- steps without bodies


def unary(graph):
    one = graph.pick()
    return one and graph.node(graph.chance.choice(("Relu", "Neg", "Identity")), [one.name], ("float", one.marks))


def binary(graph):
    """Add two values whose last dims are alike, or one and a scalar."""
    one = graph.pick()
    if one is None:
        return None
    if one.marks is None or graph.chance.random() < 0.3:
        other = graph.constant(1.0, np.float32)
        return graph.node("Add", [one.name, other], ("float", one.marks))
    two = graph.pick(
        "float", lambda two: two.marks is not None and one.marks[len(one.marks) - len(two.marks) :] == two.marks
    )
    return two and graph.node("Add", [one.name, two.name], ("float", one.marks))


def concat(graph):
    one = graph.ranked()
    if one is None:
        return None
    axis = graph.chance.randrange(len(one.marks))

    def fits(two):
        return (
            two.marks is not None
            and len(two.marks) == len(one.marks)
            and all(a == b for at, (a, b) in enumerate(zip(one.marks, two.marks, strict=True)) if at != axis)
        )

    two = graph.pick("float", fits)
    marks = tuple(plus(a, b) if at == axis else a for at, (a, b) in enumerate(zip(one.marks, two.marks, strict=True)))
    given = axis - len(one.marks) if graph.chance.random() < 0.3 else axis
    return graph.node("Concat", [one.name, two.name], ("float", marks), axis=given)


def cut(graph):
    """Leave the first row out."""
    one = graph.ranked()
    return one and shorter(graph, one, graph.chance.randrange(len(one.marks)))


def shorter(graph, one, axis):
    marks = list(one.marks)
    marks[axis] = max(marks[axis] - 1, 0) if isinstance(marks[axis], int) else ("-1", marks[axis])
    inputs = [one.name, graph.constant([1]), graph.constant([9999]), graph.constant([axis])]
    return graph.node("Slice", inputs, ("float", tuple(marks)))


def transpose(graph):
    one = graph.ranked(2)
    if one is None:
        return None
    perm = list(range(len(one.marks)))
    graph.chance.shuffle(perm)
    return graph.node("Transpose", [one.name], ("float", tuple(one.marks[at] for at in perm)), perm=perm)


def unsqueeze(graph):
    one = graph.pick("float", lambda one: one.marks is None or len(one.marks) < 4)
    if one is None:
        return None
    axis = 0 if one.marks is None else graph.chance.randint(0, len(one.marks))
    marks = None if one.marks is None else (*one.marks[:axis], 1, *one.marks[axis:])
    return graph.node("Unsqueeze", [one.name, graph.constant([axis])], ("float", marks))


def reduce(graph):
    one = graph.ranked()
    if one is None:
        return None
    axis, keep = graph.chance.randrange(len(one.marks)), graph.chance.randint(0, 1)
    marks = (*one.marks[:axis], *([1] if keep else []), *one.marks[axis + 1 :])
    return graph.node("ReduceSum", [one.name, graph.constant([axis])], ("float", marks), keepdims=keep)


def flatten(graph):
    """Reshape to one dim, which needs no rank."""
    one = graph.pick()
    return one and graph.node("Reshape", [one.name, graph.constant([-1])], ("float", (graph.maker.unknown(),)))


def nonzero(graph):
    """Make a size that the data decides."""
    one = graph.ranked(1, 3)
    if one is None:
        return None
    (found,) = graph.node("NonZero", [one.name], ("other",))
    (shape,) = graph.node("Shape", [found.name], ("ints", (2,), (len(one.marks), graph.maker.unknown())))
    return graph.node("ConstantOfShape", [shape.name], ("float", shape.elements))


def shape(graph):
    one = graph.ranked()
    return one and graph.node("Shape", [one.name], ("ints", (len(one.marks),), one.marks))


def size(graph):
    """Take one size out of a shape."""
    one = graph.pick("ints", lambda one: one.elements)
    if one is None:
        return shape(graph)
    at = graph.chance.randrange(len(one.elements))
    return graph.node("Gather", [one.name, graph.constant(at)], ("int", (), (one.elements[at],)))


def more(graph):
    """Add to a size, or two sizes."""
    one = graph.pick("int", lambda one: one.elements)
    if one is None:
        return size(graph)
    two = graph.pick("int", lambda one: one.elements)
    if graph.chance.random() < 0.5:
        return graph.node("Add", [one.name, graph.constant(1)], ("int", (), (plus(one.elements[0], 1),)))
    return graph.node("Add", [one.name, two.name], ("int", (), (plus(one.elements[0], two.elements[0]),)))


def filled(graph):
    """Make a tensor of a size that was computed."""
    one = graph.pick("ints", lambda one: one.elements)
    if one is not None and graph.chance.random() < 0.5:
        return graph.node("ConstantOfShape", [one.name], ("float", one.elements))
    two = graph.pick("int", lambda one: one.elements)
    if two is None:
        return None
    parts = [graph.scalar(two.name), graph.constant([graph.chance.randint(0, 2)])]
    number = graph.chance.randint(1, 2)
    parts[1] = graph.constant([number])
    (both,) = graph.node("Concat", parts, ("ints", (2,), (two.elements[0], number)), axis=0)
    return graph.node("ConstantOfShape", [both.name], ("float", both.elements))


def compare(graph):
    one = graph.pick("int")
    if one is None:
        return None
    op = graph.chance.choice(("Less", "Greater", "Equal"))
    return graph.node(op, [one.name, graph.constant(graph.chance.randint(0, 4))], ("bool",))


# --- sequences and optionals


def alike(marks):
    """Return the marks of a sequence's element from those of its elements."""
    if any(one is None for one in marks) or len({len(one) for one in marks}) > 1:
        return None
    return tuple(column[0] if len(set(column)) == 1 else MANY for column in zip(*marks, strict=True))


def sequence(graph):
    if graph.chance.random() < 0.2:
        return graph.node("SequenceEmpty", [], ("seq", (MANY,)))
    some = [graph.pick() for _ in range(graph.chance.randint(1, 3))]
    if None in some:
        return None
    return graph.node(
        "SequenceConstruct", [o.name for o in some], ("seq", alike([o.marks for o in some]), (), len(some))
    )


def split(graph):
    one = graph.ranked()
    if one is None:
        return None
    axis, form = graph.chance.randrange(len(one.marks)), graph.chance.randrange(3)
    if form == 0:
        keep = graph.chance.randint(0, 1)
        marks = (*one.marks[:axis], *([1] if keep else []), *one.marks[axis + 1 :])
        return graph.node("SplitToSequence", [one.name], ("seq", marks), axis=axis, keepdims=keep)
    marks = (*one.marks[:axis], MANY, *one.marks[axis + 1 :])
    given = graph.constant(graph.chance.randint(1, 3))
    return graph.node("SplitToSequence", [one.name, given], ("seq", marks), axis=axis)


def insert(graph):
    one = graph.pick("seq")
    return one and inserted(graph, one, graph.pick())


def inserted(graph, one, element):
    if element is None:
        return None
    marks = element.marks if one.least == 0 and one.marks == (MANY,) else alike([one.marks, element.marks])
    inputs = [one.name, element.name]
    if graph.chance.random() < 0.4:
        inputs.append(graph.constant(0 if graph.chance.random() < 0.5 or not one.least else -1))
    return graph.node("SequenceInsert", inputs, ("seq", marks, (), one.least + 1))


def erase(graph):
    one = graph.pick("seq", lambda one: one.least > 0)
    if one is None:
        return insert(graph)
    inputs = [one.name]
    if graph.chance.random() < 0.6:
        inputs.append(graph.constant(graph.chance.choice((0, -1, one.least - 1))))
    return graph.node("SequenceErase", inputs, ("seq", one.marks, (), one.least - 1))


def at(graph):
    one = graph.pick("seq", lambda one: one.least > 0)
    if one is None:
        return insert(graph)
    marks = one.marks and tuple(graph.maker.unknown() if mark == MANY else mark for mark in one.marks)
    if graph.chance.random() < 0.3:
        (length,) = graph.node("SequenceLength", [one.name], ("int", (), (graph.maker.unknown(),)))
        (where,) = graph.node("Sub", [length.name, graph.constant(1)], ("int",))
        return graph.node("SequenceAt", [one.name, where.name], ("float", marks))
    return graph.node("SequenceAt", [one.name, graph.constant(graph.chance.choice((0, -1)))], ("float", marks))


def length(graph):
    one = graph.pick("seq")
    return one and graph.node("SequenceLength", [one.name], ("int", (), (graph.maker.unknown(),)))


def join(graph):
    one = graph.pick("seq", lambda one: one.least > 0 and one.marks)
    if one is None:
        return None
    many = [where for where, mark in enumerate(one.marks) if mark == MANY]
    if len(many) > 1:
        return None
    if not many and graph.chance.random() < 0.5:
        axis = graph.chance.randint(0, len(one.marks))
        marks = (*one.marks[:axis], graph.maker.unknown(), *one.marks[axis:])
        return graph.node("ConcatFromSequence", [one.name], ("float", marks), axis=axis, new_axis=1)
    axis = many[0] if many else graph.chance.randrange(len(one.marks))
    marks = (*one.marks[:axis], graph.maker.unknown(), *one.marks[axis + 1 :])
    return graph.node("ConcatFromSequence", [one.name], ("float", marks), axis=axis)


def optional(graph):
    if graph.chance.random() < 0.3:
        kind = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        return graph.node("Optional", [], ("optional", None), type=kind)
    one = graph.pick()
    return one and graph.node("Optional", [one.name], ("optional", one.marks, (), 1))


def unwrap(graph):
    """Ask an optional, or take what it holds."""
    one = graph.pick("optional")
    if one is None:
        return optional(graph)
    if one.least:
        return graph.node("OptionalGetElement", [one.name], ("float", one.marks))
    (test,) = graph.node("OptionalHasElement", [one.name], ("bool",))
    bodies = graph.body(), graph.body()
    (held,) = bodies[0].node("OptionalGetElement", [one.name], ("float", one.marks))
    other = bodies[1].returned(graph_pick(bodies[1]))
    return joined(graph, test, bodies, [(held, other)])


def zipped(graph):
    """Make maps of rows whose length is a number; a body must not return them, a function may."""
    one = graph.pick(
        "float", lambda one: one.marks and len(one.marks) <= 2 and isinstance(one.marks[-1], int) and one.marks[-1] > 0
    )
    if one is None:
        return None
    labels = [f"l{at}" for at in range(one.marks[-1])]
    return graph.node("ZipMap", [one.name], ("maps", None), domain="ai.onnx.ml", classlabels_strings=labels)


def row(graph):
    """Make a row of a map."""
    one = graph.pick("map")
    if one is None:
        return None
    if graph.chance.random() < 0.3:
        return graph.node("CastMap", [one.name], ("float", (1, graph.maker.unknown())), domain="ai.onnx.ml")
    keys = [0, 2, 9][: graph.chance.randint(1, 3)]
    return graph.node(
        "DictVectorizer", [one.name], ("float", (1, len(keys))), domain="ai.onnx.ml", int64_vocabulary=keys
    )


def graph_pick(graph):
    """Return a float value, made if need be."""
    found = graph.pick()
    if found is None:
        (found,) = graph.node("ConstantOfShape", [graph.constant([2])], ("float", (2,)))
    return found


def joined(graph, test, bodies, pairs):
    """Add an If; `pairs` are what its branches return."""
    maker = graph.maker
    results = []
    for one, other in pairs:
        marks = alike([one.marks, other.marks]) if one.kind != "seq" or (one.least and other.least) else None
        if marks is not None and one.kind != "seq":
            marks = tuple(maker.unknown() if mark == MANY else mark for mark in marks)
        elements = tuple(a if a == b else maker.unknown() for a, b in zip(one.elements, other.elements, strict=False))
        results.append((one.kind, marks, elements, min(one.least, other.least)))
    protos = [
        body.graph([pair[at] for pair in pairs], name)
        for at, (body, name) in enumerate(zip(bodies, ("then", "else"), strict=True))
    ]
    return graph.node("If", [test.name], *results, then_branch=protos[0], else_branch=protos[1])


FLAT = [
    unary, binary, concat, concat, cut, transpose, unsqueeze, reduce, flatten, nonzero, shape, size, more, filled,
    compare, sequence, split, insert, erase, at, length, join, optional, unwrap, zipped, row,
]  # fmt: skip
