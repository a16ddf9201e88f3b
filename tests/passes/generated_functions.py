"""Make random models with functions from a seed: small, runnable, and full of what inliners get wrong.

Functions call functions, four levels and more deep; calls stand in If and Loop bodies, and functions hold such bodies;
locals, formals and bodies draw their names from one small pool, so that callers and callees collide all the time;
inputs are optional, outputs are left out, passed through and listed twice; attributes have values, defaults and
references at every level.
"""

from __future__ import annotations

import random

import onnx
from onnx import AttributeProto, TensorProto, helper

POOL = ["a", "b", "c", "d", "X", "Y", "t", "__fn0_a", "__fn1_b"]
DOMAIN = "gen"
OPSETS = [helper.make_opsetid("", 20), helper.make_opsetid(DOMAIN, 1)]
LEVELS = 5


class Text:
    """One graph or function being written: what can be read, and the names that are taken."""

    def __init__(self, rng: random.Random, maker: Maker, outer: Text | None = None) -> None:
        self.rng = rng
        self.maker = maker
        self.nodes: list[onnx.NodeProto] = []
        self.visible: list[str] = [] if outer is None else list(outer.visible)
        """Values of type float[3]."""
        self.flags: list[str] = [] if outer is None else list(outer.flags)
        """Values of type bool."""
        self.optional: list[str] = [] if outer is None else list(outer.optional)
        """Formal inputs that a call may leave out."""
        self.attributes: list[str] = [] if outer is None else outer.attributes
        self.taken: set[str] = set() if outer is None or maker.shadow else set(outer.taken)
        self.own: set[str] = set()
        self.outer = outer
        self.used: set[str] = set()
        """Names that were read here or in a body here: defining one afterwards would change what was read."""

    def name(self) -> str:
        """Draw a name that this graph does not define yet."""
        free = [name for name in POOL if name not in self.own | self.taken | self.used]
        made = self.rng.choice(free) if free else f"v{self.maker.count()}"
        self.own.add(made)
        self.taken.add(made)
        return made

    def define(self, name: str) -> str:
        """Make a value readable from here on; a value of the same name outside is hidden."""
        self.flags = [one for one in self.flags if one != name]
        self.optional = [one for one in self.optional if one != name]
        if name not in self.visible:
            self.visible.append(name)
        return name

    def read(self) -> str:
        """Pick a value, the latest ones more often."""
        return self.use(self.rng.choice(self.visible[-4:] if self.rng.random() < 0.6 else self.visible))

    def use(self, name: str) -> str:
        """Note that a name is read."""
        text: Text | None = self
        while text is not None:
            text.used.add(name)
            text = text.outer
        return name

    def add(self, op: str, inputs: list[str], domain: str = "", **attributes: object) -> onnx.NodeProto:
        """Add a node with one output."""
        node = helper.make_node(op, inputs, [], domain=domain, name=self.node_name(op), **attributes)
        output = self.name()
        node.output.append(output)
        self.define(output)
        self.nodes.append(node)
        return node

    def node_name(self, hint: str) -> str:
        """Name a node, as nodes of other functions are named, or not at all."""
        return self.rng.choice(["", f"{hint}_{len(self.nodes)}", f"n{len(self.nodes)}"])

    def step(self, depth: int, level: int) -> None:
        """Add a node of any kind."""
        pick = self.rng.random()
        if pick < 0.06 and level < LEVELS:
            self.call(level)
        elif pick < 0.16 and depth < 2 and self.flags:
            self.branch(depth, level)
        elif pick < 0.22 and depth < 2:
            self.loop(depth, level)
        elif pick < 0.42:
            self.constant()
        elif pick < 0.52 and self.optional:
            self.clip()
        elif pick < 0.85:
            self.add(self.rng.choice(["Add", "Sub", "Max"]), [self.read(), self.read()])
        else:
            self.add(self.rng.choice(["Neg", "Abs", "Identity"]), [self.read()])

    def constant(self) -> None:
        """Add a value that depends on an attribute, by value or by reference."""
        node = self.add("Add", [self.read(), ""])
        output = f"k{self.maker.count()}"
        node.input[1] = output
        constant = helper.make_node("Constant", [], [output])
        constant.attribute.append(self.attribute("value_float"))
        self.nodes.insert(len(self.nodes) - 1, constant)

    def clip(self) -> None:
        """Read an input that may be absent."""
        self.add("Clip", [self.read(), self.use(self.rng.choice(self.optional))])

    def attribute(self, name: str) -> onnx.AttributeProto:
        """Give an attribute a value, or a reference to an attribute of the function around."""
        if self.attributes and self.rng.random() < 0.7:
            return AttributeProto(name=name, type=AttributeProto.FLOAT, ref_attr_name=self.rng.choice(self.attributes))
        return helper.make_attribute(name, float(self.rng.randint(-3, 3)))

    def call(self, level: int) -> None:
        """Call a function of a deeper level."""
        function = self.maker.function(level + 1)
        inputs = [self.read() for _ in function.required]
        inputs += [self.rng.choice([self.scalar(), ""]) for _ in function.optional]
        if not self.rng.randint(0, 3):
            inputs = inputs[: len(function.required) + self.rng.randint(0, len(function.optional))]
        outputs = [self.name() if self.rng.random() < 0.75 else "" for _ in function.proto.output]
        if not any(outputs):
            outputs[self.rng.randrange(len(outputs))] = self.name()
        node = helper.make_node(function.proto.name, inputs, outputs, domain=DOMAIN, overload=function.proto.overload)
        node.name = self.node_name("call")
        for name in function.attributes:
            if name in function.proto.attribute or self.rng.random() < 0.5:
                node.attribute.append(self.attribute(name))
        self.nodes.append(node)
        for output in outputs:
            if output:
                self.define(output)

    def scalar(self) -> str:
        """Add a scalar, or pass an optional input on."""
        if self.optional and self.rng.random() < 0.5:
            return self.use(self.rng.choice(self.optional))
        output = f"k{self.maker.count()}"
        self.nodes.append(helper.make_node("Constant", [], [output], value_float=float(self.rng.randint(-2, 2))))
        return output

    def body(self, depth: int, level: int, inputs: list[str], flag: str | None) -> tuple[Text, str]:
        """Write a body; return it and the name of its float[3] result."""
        inner = Text(self.rng, self.maker, self)
        for name in inputs:
            inner.own.add(name)
            inner.taken.add(name)
            inner.define(name)
        if flag is not None:
            inner.own.add(flag)
            inner.taken.add(flag)
            inner.visible = [one for one in inner.visible if one != flag]
            inner.flags.append(flag)
        for _ in range(self.rng.randint(1, 2)):
            inner.step(depth + 1, level)
        result = inner.add("Neg", [inner.read()]).output[0]
        self.taken |= set() if self.maker.shadow else inner.taken
        return inner, result

    def branch(self, depth: int, level: int) -> None:
        """Add an If whose branches read what is around them."""
        graphs = {}
        for name in ("then_branch", "else_branch"):
            inner, result = self.body(depth, level, [], None)
            constants = []
            if self.rng.random() < 0.4 and not self.maker.shadow:
                constant = inner.name()
                self.taken.add(constant)
                constants.append(helper.make_tensor(constant, TensorProto.FLOAT, [3], [1.0, 2.0, 3.0]))
                result = inner.add("Add", [result, constant]).output[0]
                self.taken |= inner.taken
            output = helper.make_tensor_value_info(result, TensorProto.FLOAT, [3])
            graphs[name] = helper.make_graph(inner.nodes, name, [], [output], constants)
        self.add("If", [self.rng.choice(self.flags)], **graphs)

    def loop(self, depth: int, level: int) -> None:
        """Add a Loop of two trips."""
        trips = f"k{self.maker.count()}"
        constant = helper.make_tensor("", TensorProto.INT64, [], [2])
        self.nodes.append(helper.make_node("Constant", [], [trips], value=constant))
        start = self.read()
        scratch = Text(self.rng, self.maker, self)
        state, flag, index = scratch.name(), f"f{self.maker.count()}", f"i{self.maker.count()}"
        inner, result = self.body(depth, level, [state], flag)
        again = f"f{self.maker.count()}"
        inner.nodes.append(helper.make_node("Identity", [flag], [again]))
        value = helper.make_tensor_value_info
        body = helper.make_graph(
            inner.nodes,
            "body",
            [
                value(index, TensorProto.INT64, []),
                value(flag, TensorProto.BOOL, []),
                value(state, TensorProto.FLOAT, [3]),
            ],
            [value(again, TensorProto.BOOL, []), value(result, TensorProto.FLOAT, [3])],
        )
        self.add("Loop", [trips, "", start], body=body)


class Made:
    """A function and what a caller must know of it."""

    def __init__(
        self, proto: onnx.FunctionProto, required: list[str], optional: list[str], attributes: list[str]
    ) -> None:
        self.proto = proto
        self.required = required
        self.optional = optional
        self.attributes = attributes


class Maker:
    """Writes one model."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.number = 0
        self.shadow = self.rng.random() < 0.25
        """Whether bodies may define names that are visible from outside: only onnx.reference runs such models."""
        self.functions: dict[int, list[Made]] = {}
        self.budget = 14

    def count(self) -> int:
        """Return a new number."""
        self.number += 1
        return self.number

    def function(self, level: int) -> Made:
        """Return a function of a level, mostly one that is there."""
        known = self.functions.setdefault(level, [])
        if known and (self.rng.random() < 0.7 or self.budget <= 0):
            return self.rng.choice(known)
        self.budget -= 1
        rng = self.rng
        text = Text(rng, self)
        required = [text.define(text.name()) for _ in range(rng.randint(1, 2))]
        optional = [text.name() for _ in range(rng.randint(0, 1))]
        text.optional = list(optional)
        attributes = [f"p{i}" for i in range(rng.randint(0, 2))]
        text.attributes = attributes
        flag = f"f{self.count()}"
        sums = f"k{self.count()}"
        zero = f"k{self.count()}"
        text.nodes.append(helper.make_node("Constant", [], [zero], value_float=0.0))
        text.nodes.append(helper.make_node("ReduceSum", [required[0]], [sums], keepdims=0))
        text.nodes.append(helper.make_node("Greater", [sums, zero], [flag]))
        text.flags.append(flag)
        if level < 4:
            text.call(level)
        for _ in range(rng.randint(1, 3)):
            text.step(0, level)
        outputs = [next(name for name in (*text.nodes[-1].output, text.read()) if name)]
        outputs += [text.read() for _ in range(rng.randint(0, 2))]
        if rng.random() < 0.9:  # checker and onnxruntime refuse a formal output that is listed twice
            outputs = list(dict.fromkeys(outputs))
        proto = helper.make_function(DOMAIN, f"F{level}", required + optional, outputs, text.nodes, OPSETS)
        proto.overload = f"o{len(known)}" if known else ""
        for name in attributes:
            if rng.random() < 0.5:
                proto.attribute_proto.append(helper.make_attribute(name, float(rng.randint(-3, 3))))
            else:
                proto.attribute.append(name)
        made = Made(proto, required, optional, attributes)
        known.append(made)
        return made

    def model(self) -> onnx.ModelProto:
        """Write the model."""
        rng = self.rng
        text = Text(rng, self)
        inputs = [text.define(text.name()) for _ in range(2)]
        text.own.add("flag")
        text.flags.append("flag")
        text.call(0)
        for _ in range(rng.randint(1, 4)):
            text.step(0, 0)
        outputs = [name for name in dict.fromkeys([*text.nodes[-1].output, text.read()]) if name and name not in inputs]
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            text.nodes,
            "g",
            [*[value(name, TensorProto.FLOAT, [3]) for name in inputs], value("flag", TensorProto.BOOL, [])],
            [value(name, TensorProto.FLOAT, [3]) for name in outputs],
        )
        functions = [made.proto for level in sorted(self.functions, reverse=True) for made in self.functions[level]]
        return helper.make_model(graph, functions=functions, opset_imports=OPSETS, ir_version=10)
