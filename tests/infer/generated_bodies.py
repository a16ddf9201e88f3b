"""Make small random models with bodies, infer them, run them, compare every value of every iteration.

python tests/infer/generated_bodies.py 0 1000    seeds 0 to 999: a line for each that is wrong, and totals
python tests/infer/generated_bodies.py 17        one seed: the model, what was inferred, what is wrong

Loops run 0, 1 and many times and stop early, Scans go both ways along any axis, branches differ in rank, states grow,
lists collect; functions are called inside, names hide others, bodies nest three deep.
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
from onnx import TensorProto, helper

import sardonyx as sx
from tests.infer.body_parts import FLAT, MANY, Graph, Made, graph_pick, inserted, joined, shorter, unknowns
from tests.infer.every_iteration import Comparison, Known, differences
from tests.infer.seeds import report
from tests.infer.tiny_runtime import DoesNotRun, Maybe, Program

VOTES = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, ()))
INPUTS = {"x": ("a", "b"), "y": ("a", "c"), "z": ("c",), "w": ("b", "a", 2)}


class Maker:
    """What the graphs of one model share."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.unique = seed % 4 == 0
        """Whether no two values have one name; else bodies reuse names."""
        self.opset = self.chance.choice((16, 18, 21))
        self.unknowns = 0
        self.names = 0
        self.bodies = Counter()
        self.functions = []
        self.steps = STEPS
        for _ in range(self.chance.randrange(3)):
            make_function(self)
        self.main = Graph(self, None, 0)
        for name, marks in INPUTS.items():
            self.main.add(Made(name, "float", tuple(self.unknown(dim) for dim in marks)))
        self.main.add(Made("n", "int", (), (self.unknown("n"),)))
        self.main.add(Made("flag", "bool"))
        self.main.add(Made("parts", "seq", (self.unknown("a"), MANY), least=0))
        self.main.add(Made("perhaps", "optional", (self.unknown("b"),)))
        self.main.add(Made("votes", "map"))
        self.main.fill(self.chance.randint(4, 7))

    def unknown(self, name=None):
        """Return a mark that equals no other."""
        if name is not None:
            return name if isinstance(name, int) else ("d", name)
        self.unknowns += 1
        return ("u", self.unknowns)

    def model(self, inputs=None):
        """Return the model; `inputs` gives other declared dims of float inputs, None for no shape."""
        tensor = helper.make_tensor_value_info
        infos = [tensor(name, TensorProto.FLOAT, dims) for name, dims in (inputs or INPUTS).items()]
        infos += [tensor("n", TensorProto.INT64, ()), tensor("flag", TensorProto.BOOL, ())]
        part = helper.make_tensor_type_proto(TensorProto.FLOAT, ("a", None))
        one = helper.make_tensor_type_proto(TensorProto.FLOAT, ("b",))
        infos.append(helper.make_value_info("parts", helper.make_sequence_type_proto(part)))
        infos.append(helper.make_value_info("perhaps", helper.make_optional_type_proto(one)))
        infos.append(helper.make_value_info("votes", VOTES))
        last = [name for node in self.main.nodes for name in node.output if name]
        outputs = [helper.make_empty_tensor_value_info(name) for name in last]
        graph = helper.make_graph(self.main.nodes, "generated", infos, outputs, self.main.constants)
        imports = imports_of(self)
        functions = [one[0] for one in self.functions]
        return helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=9)


def imports_of(maker):
    """Return the opsets of a model and its functions."""
    return [helper.make_opsetid(*one) for one in (("", maker.opset), ("ai.onnx.ml", 3), ("my", 1))]


# ---------------------------------------------------------------- steps with bodies


def branches(graph):
    """Add an If whose branches return one or two values each, of any rank."""
    chance = graph.chance
    test = graph.pick("bool")
    if test is None or chance.random() < 0.15:
        test = Made(graph.constant(chance.random() < 0.5, np.bool_), "bool")
    bodies = graph.body(), graph.body()
    for body in bodies:
        body.fill(chance.randint(1, 2))
    pairs = []
    for _ in range(chance.randint(1, 2)):
        kind = chance.choice(("float", "float", "float", "int", "ints", "seq", "optional"))
        pair = [body.pick(kind) for body in bodies]
        if None in pair or (kind == "ints" and len(pair[0].elements) != len(pair[1].elements)):
            pair = [graph_pick(body) for body in bodies]
        pairs.append(tuple(body.returned(one) for body, one in zip(bodies, pair, strict=True)))
    return joined(graph, test, bodies, pairs)


class State:
    """How one state goes through a loop: what it is at first, inside, and what an iteration makes of it."""

    def __init__(self, initial, inside, step, after=None):
        self.initial = initial
        self.inside = inside
        """The formal."""
        self.step = step
        """Body and formal to what is returned."""
        self.after = after or inside
        """What it is after the loop; dims that change have marks of their own."""


def states_of(graph, most):
    """Return some states."""
    found = []
    for _ in range(graph.chance.randint(0 if most > 1 else 1, most)):
        one = graph.chance.choice(STATES)(graph)
        if one is not None:
            found += one if isinstance(one, list) else [one]
    return found


def fresh(maker, marks, axes):
    """Return marks with new ones on some axes."""
    return tuple(maker.unknown() if axis in axes else mark for axis, mark in enumerate(marks))


def floats(graph, initial, marks, step):
    """Return a state that is a float tensor, with these marks inside and others like them after it."""
    after = None
    if marks is not None:
        kept = set(initial.marks or ())
        after = tuple(mark if mark in kept else graph.maker.unknown() for mark in marks)
    return State(initial, Made("", "float", marks), step, Made("", "float", after))


def same(graph):
    """A state whose shape stays."""
    one = graph.pick("float", lambda one: one.marks is not None)

    def step(body, formal):
        found = body.pick("float", lambda two: two.marks == formal.marks)
        return body.node("Add", [formal.name, found.name], ("float", formal.marks))[0]

    return one and floats(graph, one, one.marks, step)


def grow(graph):
    """A state to which each iteration joins something: itself, a row of ones, or what the iteration decides."""
    one = graph.ranked(1, 3)
    if one is None:
        return None
    axis, form = graph.chance.randrange(len(one.marks)), graph.chance.randrange(4)
    marks = fresh(graph.maker, one.marks, {axis})

    def step(body, formal):
        other = formal.name
        if form:
            cutting = [formal.name, body.constant([0]), body.constant([1]), body.constant([axis])]
            (row,) = body.node("Slice", cutting, ("float", None))
            other = row.name
            if form == 2 and axis == 0 and len(marks) == 1 and body.inputs[0].kind == "int":
                (other_made,) = body.node("ConstantOfShape", [body.scalar(body.inputs[0].name)], ("float", None))
                other = other_made.name
            elif form == 3 and body.visible().get(one.name) is one:
                other = one.name  # what it was at first
        return body.node("Concat", [formal.name, other], ("float", None), axis=axis)[0]

    return floats(graph, one, marks, step)


def shrink(graph):
    one = graph.ranked(1, 3)
    if one is None:
        return None
    axis = graph.chance.randrange(len(one.marks))
    marks = fresh(graph.maker, one.marks, {axis})
    return floats(graph, one, marks, lambda body, formal: shorter(body, formal, axis)[0])


def replace(graph):
    """A state that becomes something else of its rank, or of any rank."""
    one = graph.pick()
    if one is None:
        return None
    free = one.marks is None or graph.chance.random() < 0.3
    marks = None if free else unknowns(graph.maker, len(one.marks))

    def fits(two):
        return two.marks is not None and len(two.marks) == len(marks)

    def step(body, formal):
        return body.pick("float", lambda two: free or fits(two)) or formal

    return floats(graph, one, marks, step)


def turn(graph):
    """A state whose two dims change places."""
    one = graph.ranked(2, 2)
    if one is None:
        return None
    marks = unknowns(graph.maker, 2)
    return floats(
        graph, one, marks, lambda body, formal: body.node("Transpose", [formal.name], ("float", marks[::-1]))[0]
    )


def deepen(graph):
    """A state whose rank grows."""
    one = graph.ranked(0, 2)
    return one and floats(
        graph,
        one,
        None,
        lambda body, formal: body.node("Unsqueeze", [formal.name, body.constant([0])], ("float", None))[0],
    )


def swap(graph):
    """Two states that change places."""
    one = graph.pick("float", lambda one: one.marks is not None)
    two = one and graph.pick("float", lambda two: two.marks is not None and len(two.marks) == len(one.marks))
    if two is None:
        return None
    formals = [Made("", "float", unknowns(graph.maker, len(one.marks))) for _ in range(2)]
    after = [Made("", "float", unknowns(graph.maker, len(one.marks))) for _ in range(2)]
    return [
        State(one, formals[0], lambda body, formal: formals[1], after[0]),
        State(two, formals[1], lambda body, formal: formals[0], after[1]),
    ]


def count(graph):
    """A number that changes."""
    one = graph.pick("int", lambda one: one.elements)
    if one is None or graph.chance.random() < 0.5:
        one = Made(graph.constant(graph.chance.randint(0, 2)), "int", (), (graph.maker.unknown(),))

    def step(body, formal):
        other = body.constant(1)
        found = body.pick("int", lambda two: two.elements and two is not formal)
        if found is not None and graph.chance.random() < 0.5:
            other = found.name
        op = graph.chance.choice(("Add", "Add", "Max"))
        return body.node(op, [formal.name, other], ("int", (), (graph.maker.unknown(),)))[0]

    inside = Made("", "int", (), unknowns(graph.maker, 1))
    return State(one, inside, step, Made("", "int", (), unknowns(graph.maker, 1)))


def sizes(graph):
    """A shape that changes."""
    one = graph.pick("ints", lambda one: one.elements)
    if one is None:
        return None
    rank = len(one.elements)

    def step(body, formal):
        if graph.chance.random() < 0.4:
            where = body.constant(list(range(rank))[::-1])
            return body.node("Gather", [formal.name, where], ("ints", (rank,), unknowns(graph.maker, rank)))[0]
        return body.node("Add", [formal.name, body.constant([1])], ("ints", (rank,), unknowns(graph.maker, rank)))[0]

    inside = Made("", "ints", (rank,), unknowns(graph.maker, rank))
    return State(one, inside, step, Made("", "ints", (rank,), unknowns(graph.maker, rank)))


def collect(graph):
    """A list to which each iteration adds; some take one away too."""
    one = graph.pick("seq")
    if one is None or graph.chance.random() < 0.4:
        (one,) = graph.node("SequenceEmpty", [], ("seq", (MANY,)))
    form = graph.chance.randrange(4)

    def step(body, formal):
        made = inserted(body, formal, graph_pick(body))[0]
        if form == 0:
            made = inserted(body, made, graph_pick(body))[0]
            return body.node("SequenceErase", [made.name], ("seq", None, (), 1))[0]
        if form == 1:
            return body.node("SequenceErase", [made.name, body.constant(0)], ("seq", None))[0]
        return made

    return State(one, Made("", "seq", None, (), one.least), step)


def pile(graph):
    """A list whose elements all have one shape."""
    one = graph.pick("float", lambda one: one.marks)
    if one is None:
        return None
    (first,) = graph.node("SequenceConstruct", [one.name], ("seq", one.marks, (), 1))

    def step(body, formal):
        element = body.pick("float", lambda two: two.marks == one.marks)
        return formal if element is None else inserted(body, formal, element)[0]

    return State(first, Made("", "seq", one.marks, (), 1), step)


def perhaps(graph):
    """An optional that an iteration fills."""
    one = graph.pick("optional")

    def step(body, formal):
        made = body.pick()
        if made is None:
            return formal
        return body.node("Optional", [made.name], ("optional", made.marks, (), 1))[0]

    return one and State(one, Made("", "optional", None), step)


STATES = [
    same,
    same,
    grow,
    grow,
    shrink,
    replace,
    turn,
    deepen,
    swap,
    count,
    count,
    sizes,
    collect,
    collect,
    pile,
    perhaps,
]
SCANNED = [*[same] * 12, *[count] * 6, *[sizes] * 4, turn]
"""States of a Scan, which keep their shapes if it is to run more than once."""


def looped(graph, body, states):
    """Let a body make what its states become; return them, as it may return them."""
    body.fill(graph.chance.randint(1, 3))
    made = []
    for state in states:
        found = state.step(body, state.inside)
        made.append(found if found in body.inputs and graph.maker.unique else body.returned(found))
    return made


def stacks(body, most):
    """Return values whose shape is the same in every iteration."""
    found = []
    for _ in range(body.chance.randint(0, most)):
        one = body.pick("float", lambda one: one.marks is not None and all(map(body.is_fixed, one.marks)))
        if one is None:
            one = body.pick("int")
        if one is not None:
            found.append(body.returned(one))
    return found


def after(states):
    return [(one.after.kind, one.after.marks, one.after.elements, one.initial.least) for one in states]


def loop(graph):
    """Add a Loop: counted or not, stopping early or not."""
    chance, maker = graph.chance, graph.maker
    since = maker.unknowns
    states = states_of(graph, 3)
    endless = chance.random() < 0.2
    most = ""
    if not endless:
        found = graph.pick("int", lambda one: one.elements)
        if found is None or chance.random() < 0.5:
            most = graph.constant(chance.choice((0, 1, 1, 2, 3, -2)))
        else:
            most = found.name
            graph.use(most)
    start = chance.choice(("", "", "true", "false", "any"))
    if start == "any":
        test = graph.pick("bool")
        start = test.name if test is not None else ""
    elif start:
        start = graph.constant(chance.random() < 0.8, np.bool_)
    body = graph.body(
        [Made("", "int", (), unknowns(maker, 1)), Made("", "bool"), *[one.inside for one in states]], since
    )
    made = looped(graph, body, states)
    form = chance.randrange(5)
    if endless or form == 0:
        (goes,) = body.node("Less", [body.inputs[0].name, body.constant(chance.randint(0, 3))], ("bool",))
    elif form == 1:
        goes = body.returned(body.inputs[1])
    elif form == 2:
        goes = body.returned(body.pick("bool"))
    else:
        goes = body.returned(Made(body.constant(True, np.bool_), "bool"))
    rows = stacks(body, 2)
    proto = body.graph([goes, *made, *rows], "b")
    results = after(states)
    trips = maker.unknown()
    for one in rows:
        results.append(("float", (trips, *one.marks)) if one.kind == "float" else ("other", None))
    if not results:
        return None
    return graph.node("Loop", [most, start, *[one.initial.name for one in states]], *results, body=proto)


def scan(graph):
    """Add a Scan over one or two inputs, in any direction, along any axis."""
    chance, maker = graph.chance, graph.maker
    one = graph.ranked(1, 3)
    if one is None:
        return None
    axes = [chance.randrange(len(one.marks))]
    length = one.marks[axes[0]]
    scanned = [one]
    if chance.random() < 0.4:
        two = graph.pick("float", lambda two: two.marks is not None and length in two.marks)
        scanned.append(two)
        axes.append(two.marks.index(length))
    states = []
    since = maker.unknowns
    for _ in range(chance.randrange(3)):
        state = chance.choice(SCANNED)(graph)
        if state is not None:
            states += state if isinstance(state, list) else [state]
    slices = [
        Made("", "float", (*one.marks[:axis], *one.marks[axis + 1 :])) for one, axis in zip(scanned, axes, strict=True)
    ]
    body = graph.body([*[one.inside for one in states], *slices], since)
    made = looped(graph, body, states)
    rows = [row for row in stacks(body, 2) if row.kind == "float"]
    if not states and not rows:
        return None
    proto = body.graph([*made, *rows], "b")
    results, out_axes = after(states), []
    for row in rows:
        axis = chance.randint(0, len(row.marks))
        results.append(("float", (*row.marks[:axis], length, *row.marks[axis:])))
        out_axes.append(axis - len(row.marks) - 1 if chance.random() < 0.3 else axis)
    attributes = {}
    if any(axes) or chance.random() < 0.5:
        attributes["scan_input_axes"] = [
            axis - len(one.marks) if chance.random() < 0.3 else axis for one, axis in zip(scanned, axes, strict=True)
        ]
    if chance.random() < 0.5:
        attributes["scan_input_directions"] = [chance.randint(0, 1) for _ in scanned]
    if rows:
        attributes["scan_output_axes"] = out_axes
        attributes["scan_output_directions"] = [chance.randint(0, 1) for _ in rows]
    inputs = [*[one.initial.name for one in states], *[one.name for one in scanned]]
    return graph.node("Scan", inputs, *results, body=proto, num_scan_inputs=len(scanned), **attributes)


def each(graph):
    """Add a SequenceMap over a sequence, with a tensor or the same sequence beside it."""
    one = graph.pick("seq")
    if one is None or graph.maker.opset < 17:
        return None

    since = graph.maker.unknowns

    def element():
        marks = one.marks and tuple(graph.maker.unknown() if mark == MANY else mark for mark in one.marks)
        return Made("", "float", marks)

    formals, inputs = [element()], [one.name]
    if graph.chance.random() < 0.5:
        if graph.chance.random() < 0.5:
            formals.append(element())
            inputs.append(one.name)
        else:
            extra = graph_pick(graph)
            formals.append(Made("", "float", extra.marks))
            inputs.append(extra.name)
    body = graph.body(formals, since)
    body.fill(graph.chance.randint(1, 2))
    outs = [body.returned(graph_pick(body)) for _ in range(graph.chance.randint(1, 2))]
    results = []
    for out in outs:
        marks = out.marks and tuple(mark if body.is_fixed(mark) else MANY for mark in out.marks)
        results.append(("seq", marks, (), one.least))
    return graph.node("SequenceMap", inputs, *results, body=body.graph(outs, "b"))


# ---------------------------------------------------------------- functions


def make_function(maker):
    """Make a function of one to three values: tensors of some rank, a size, or a list."""
    chance = maker.chance
    graph = Graph(maker, None, 1)
    graph.isolated = True
    for _ in range(chance.randint(1, 3)):
        kind = chance.choice(("float", "float", "float", "int", "seq", "map"))
        marks = unknowns(maker, chance.randint(1, 3)) if kind == "float" else None if kind == "seq" else ()
        made = graph.add(Made(graph.name("f"), kind, marks, unknowns(maker, 1) if kind == "int" else ()))
        graph.inputs.append(made)
    since = maker.unknowns
    graph.fill(chance.randint(1, 3))
    outputs = []
    for _ in range(chance.randint(1, 2)):
        kind = chance.choice(("float", "float", "int", "seq", "maps"))
        one = graph.pick(kind) or graph_pick(graph)
        outputs.append(one if one.kind == "maps" else graph.returned(one))
    name = f"f{len(maker.functions)}"
    if len({one.name for one in outputs}) < len(outputs):
        outputs = outputs[:1]
    inputs, results = ([one.name for one in some] for some in (graph.inputs, outputs))
    proto = helper.make_function("my", name, inputs, results, graph.nodes, imports_of(maker))
    maker.functions.append((proto, graph.inputs, outputs, since))


def call(graph):
    """Call a function."""
    if not graph.maker.functions:
        return None
    proto, formals, outputs, _ = graph.chance.choice(graph.maker.functions)
    chosen, known = [], {}
    for formal in formals:

        def fits(one, formal=formal):
            if formal.kind == "float":
                return one.marks is not None and len(one.marks) == len(formal.marks)
            return formal.kind != "int" or bool(one.elements)

        one = graph.pick(formal.kind, fits)
        if one is None:
            return None
        chosen.append(one)
        if formal.kind == "float":
            known.update(zip(formal.marks, one.marks, strict=True))
        elif formal.kind == "int":
            known[formal.elements[0]] = one.elements[0]

    def here(mark):
        if isinstance(mark, int) or mark == MANY:
            return mark
        if mark not in known:
            known[mark] = graph.maker.unknown() if mark[0] == "u" else (mark[0], *map(here, mark[1:]))
        return known[mark]

    results = [
        (one.kind, one.marks and tuple(map(here, one.marks)), tuple(map(here, one.elements)), one.least)
        for one in outputs
    ]
    return graph.node(proto.name, [one.name for one in chosen], *results, domain="my")


STEPS = [*FLAT, *[branches] * 3, *[loop] * 8, *[scan] * 5, *[each] * 2, *[call] * 4]


# ---------------------------------------------------------------- checking one


RUNS = [
    {"a": 2, "b": 3, "c": 2, "n": 3, "flag": True},
    {"a": 1, "b": 1, "c": 1, "n": 1, "flag": False},
    {"a": 0, "b": 2, "c": 3, "n": 0, "flag": True},
    {"a": 3, "b": 0, "c": 1, "n": 2, "flag": False},
    {"a": 4, "b": 2, "c": 4, "n": 4, "flag": True},
]


def feeds_of(sizes):
    """Return what to feed."""
    numbers = np.random.default_rng(sizes["a"] + 7 * sizes["n"])
    found = {
        name: numbers.integers(0, 2, [one if isinstance(one, int) else sizes[one] for one in dims]).astype(np.float32)
        for name, dims in INPUTS.items()
    }
    found["n"] = np.asarray(sizes["n"], np.int64)
    found["flag"] = np.asarray(sizes["flag"])
    found["parts"] = [np.ones((sizes["a"], at + 1), np.float32) for at in range(sizes["n"])]
    found["votes"] = {at: float(at) for at in range(sizes["n"])}
    found["perhaps"] = Maybe(np.ones(sizes["b"], np.float32) if sizes["flag"] else None)
    return found


def weaker(chance):
    """Return declarations of the inputs that say less."""
    plain = dict(INPUTS)
    name = chance.choice(list(plain))
    if chance.random() < 0.5:
        return {**plain, name: None}
    return {one: (None,) * len(dims) for one, dims in plain.items()}


def is_refusal(issue):
    """Whether an issue says that the model does not run: a Scan in a body may be one that is never reached."""
    return issue.severity == "error" and not ("after an iteration" in issue.message and issue.place.graph)


def check(seed):
    """Check one seed; return what is wrong, and counts."""
    maker = Maker(seed)
    model = maker.model()
    wrong, counts = [], Counter()
    loaded = sx.load(model.SerializeToString())
    inference = sx.infer_shapes(loaded)
    chance = random.Random(seed)
    known = {"": Known(inference)}
    less = sx.infer_shapes(sx.load(maker.model(weaker(chance)).SerializeToString()))
    known["less known"] = Known(less)
    if maker.functions:
        inlined = sx.inline_functions(loaded)
        wrong += [f"inlined: {one}" for one in differences(inference, sx.infer_shapes(inlined))]
    program = Program(model)
    runs = chance.sample(RUNS, 2)
    for at, sizes in enumerate(runs):
        try:
            ran = program.run(feeds_of(sizes))
        except DoesNotRun as reason:
            counts[f"refused: {str(reason)[:50]}"] += 1
            counts["refused"] += 1
            continue
        counts["ran"] += 1
        dims = {name: sizes[name] for name in "abc"}
        if at == 0:
            known["bound"] = Known(sx.infer_shapes(loaded, bind=dims))
        for what, one in known.items():
            if what and at:
                continue
            errors = [issue.message for issue in one.inference.issues if is_refusal(issue)]
            if errors:
                wrong.append(f"{what} {sizes}: refused, though it runs: {errors[0]}")
            found = Comparison(one, dims).run(ran)
            wrong += [f"{what} {sizes}: {text}" for text in found.wrong]
            counts += found.counts
    return wrong, counts


def show(inference):
    for path, frame in inference.frames.items():
        print(path, {name: str(kind) for name, kind in frame.types.items()})


if __name__ == "__main__":
    sys.exit(report(sys.argv[1:], lambda seed: Maker(seed).model(), check, show))
