"""Walk a model once, in order, and ask each node's rule what its outputs are.

The engine finds the rule, calls it, compares the answer with what the file declared, and adds the place to anything
that is wrong. Bodies are walked when a rule asks for it, functions when a call is met; calls within calls wait on a
list, not on Python's stack.
"""

from __future__ import annotations

from sardonyx.dims import TooLarge
from sardonyx.errors import Issue, OnnxError
from sardonyx.infer import functions
from sardonyx.infer.activation import Activation, Entry, Level, attribute_of
from sardonyx.infer.blur import blurred
from sardonyx.infer.callsites import LOOK, CallSites
from sardonyx.infer.merge import claims_of, merge
from sardonyx.infer.notes import Notes
from sardonyx.infer.resolve import opsets, resolve
from sardonyx.ir.graph import canonical
from sardonyx.ir.types import SparseTensorType, TensorType
from sardonyx.ops.call import MOST_ELEMENTS, Call, Fact, Refused, Untyped
from sardonyx.ops.common.elements import read_elements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set
    from typing import Any

    from sardonyx.infer.events import Log
    from sardonyx.infer.functions import Plan
    from sardonyx.infer.signed import Checks
    from sardonyx.ir.graph import Function, Graph, Model, Node, Value
    from sardonyx.ir.types import Type
    from sardonyx.limits import Limits
    from sardonyx.ops.call import Content
    from sardonyx.ops.rules import Rule

    Cursor = Iterator[tuple[int, Node]]

DEEPEST = 100
"""Bodies inside each other, through calls of functions too; files nest them less deeply, see `max_nesting`."""


class Engine(Notes):
    """One inference of one model; the `Service` that rules are given."""

    def __init__(
        self,
        model: Model,
        *,
        strict: bool,
        open_defaults: bool,
        limits: Limits,
        unify: bool = False,
        log: Log | None = None,
    ) -> None:
        super().__init__(model, strict, unify, log)
        self.open_defaults = open_defaults
        self.limits = limits
        self.main_inputs = frozenset(model.graph.inputs)
        # Calls of functions:
        self.active: dict[Function, Activation] = {}
        """The calls under way, outermost first."""
        self.plans: dict[Function, Plan] = {}
        self.sites = CallSites(model)
        self.frames = 0
        self.again = 0
        """Walks of functions that had been walked before."""
        self.look = LOOK
        """How many of them there are when to look again whether the calls under way can end within the limit."""
        self.left_out = 0
        """Bodies and calls that were not walked, since there are too many."""
        self.repeated = 0
        """Calls that others inside a call saved, as if all had been walked."""
        self.hopeless: Activation | None = None
        """The call that cannot end within the limit, until what is left of it has been left out."""
        self.full = False
        self.depth = 0

    # ------------------------------------------------------------------ the walk

    def run_main(
        self,
        types: Mapping[Value, Type],
        contents: Mapping[Value, Content] | None = None,
        claims: Mapping[Value, Type] | None = None,
    ) -> Activation:
        """Infer the main graph; `types` are those of its inputs, `contents` what is known of their elements."""
        graph = self.model.graph
        imports = {canonical(domain): version for domain, version in self.model.opset_imports.items()}
        known = opsets(imports, self.sites.overridden)
        activation = Activation(self.level, known, claims_of(graph) if claims is None else claims)
        activation.call = Call(self, activation.types, activation.contents)
        self.activation = activation
        activation.types.update(types)
        if contents:
            activation.contents.update(contents)
        self.enter(graph, activation, self.main_inputs)
        if self.model.ir_version < 4:
            for value in graph.initializers:
                if value in self.main_inputs and value in activation.claims:
                    merge(self, value, activation.types[value], activation.claims[value])
        self.run(graph, activation)
        return activation

    def enter(self, graph: Graph, activation: Activation, inputs: Set[Value] = frozenset()) -> None:
        """Take in a graph's constants; the types of `inputs` are set already."""
        types, constants = activation.types, activation.constants
        for value, tensor in graph.initializers.items():
            constants[value] = tensor
            if value not in inputs or value not in types:
                types[value] = TensorType(tensor.dtype or None, tensor.shape)
        for value, sparse in graph.sparse_initializers.items():
            types[value] = SparseTensorType(sparse.dtype, sparse.shape)
        if self.log is not None:
            self.log.entered(self, graph, activation)

    def run(self, graph: Graph, activation: Activation) -> None:
        """Walk a graph, and the functions that it calls; the level is that of the graph."""
        waiting: list[tuple[Cursor, Activation, Level]] = [(enumerate(graph.nodes), activation, self.level)]
        while True:
            cursor, activation, level = waiting[-1]
            self.activation, self.level = activation, level
            callee = self.walk(cursor, activation)
            if callee is not None:
                waiting.append((enumerate(callee.level.graph.nodes), callee, callee.level))
                continue
            waiting.pop()
            if not waiting:
                return
            caller = waiting[-1][1]
            self.activation, self.level, self.index = caller, waiting[-1][2], activation.level.index
            answer = functions.finish(self, activation)
            self.store(caller.call.node, answer, caller)
            if self.log is not None:
                self.log.done(self, caller.call.node, caller)

    def walk(self, cursor: Cursor, activation: Activation) -> Activation | None:
        """Ask the rules of nodes, in order; stop at a call of a function that must be walked, and return it."""
        types, contents, claims, call = activation.types, activation.contents, activation.claims, activation.call
        default, find, absent = activation.opsets.default, self.find, activation.absent
        for index, node in cursor:
            entry = default.get(node.op_type) if node.domain == "" else None
            if entry is None:
                entry = find(node, activation)
            if absent:
                node = without(node, absent)
            call.node = node
            call.opset = entry.opset
            self.index = index
            rule = entry.rule
            answer: object = None
            checks = entry.checks
            if checks is not None:
                inputs = node.inputs
                count = len(inputs)
                try:
                    if count == 1:
                        fits = (types[inputs[0]].dtype,) in checks.good  # type: ignore
                    elif count == 2:
                        fits = (types[inputs[0]].dtype, types[inputs[1]].dtype) in checks.good  # type: ignore
                    else:
                        fits = tuple([types[one].dtype for one in inputs] if count else ()) in checks.good  # type: ignore
                except (KeyError, AttributeError):
                    fits = False
                if not fits or len(node.outputs) != 1:
                    self.check(checks, node, types, rule)
            if rule is not None:
                try:
                    answer = rule(call)
                except Untyped as missing:
                    missing.__traceback__ = None  # one instance serves all, and would gather the frames of all
                except Refused as refused:
                    self.issue(refused.code, refused.message, "error", refused.hint, refused.attribute)
                except Exception as problem:
                    answer = self.recover(problem, entry, activation)
                outputs = node.outputs
                value = outputs[0] if len(outputs) == 1 else None
                if value is not None:  # most nodes
                    if type(answer) is TensorType:
                        if value in claims:
                            answer = merge(self, value, answer, claims[value])
                        types[value] = answer  # type: ignore[assignment]
                        if value in contents:
                            del contents[value]
                        continue
                    if type(answer) is Fact and answer.type and answer.content is not None and value not in claims:
                        types[value] = answer.type
                        contents[value] = answer.content
                        continue
            elif entry.function is not None:
                begun = functions.begin(self, node, entry.function, activation)
                if type(begun) is Activation:
                    return begun
                answer = begun
            self.store(node, answer, activation)
        return None

    def store(self, node: Node, answer: object, activation: Activation) -> None:
        """Keep what is known of a node's outputs."""
        types, contents, claims = activation.types, activation.contents, activation.claims
        if type(answer) is not tuple:
            answer = (answer,)
        for at, value in enumerate(node.outputs):
            if value is None:
                continue
            one: Any = answer[at] if at < len(answer) else None
            content: Content | None = None
            if type(one) is Fact:
                one, content = one.type, one.content
            if value in claims:
                one = merge(self, value, one, claims[value])
            if one is None:
                types.pop(value, None)
            else:
                types[value] = one
            if content is not None:
                contents[value] = content
            elif value in contents:
                del contents[value]

    def find(self, node: Node, activation: Activation) -> Entry:
        """Resolve an operator or a call, once for all nodes that are alike."""
        opsets = activation.opsets
        domain = canonical(node.domain)
        key = (domain, node.op_type, node.overload)
        entry = opsets.others.get(key)
        if entry is None:
            version = opsets.imports.get(domain, 1)
            function = self.model.functions.get(key) if self.model.functions else None
            entry = resolve(domain, node.op_type, version) if function is None else Entry(None, function, version)
            opsets.others[key] = entry
            if domain == "" and function is None and not node.overload and entry.rule is not None:
                opsets.default[node.op_type] = entry
            if entry.rule is None and function is None:
                activation.call.node = node
                self.issue("no-rule", f"nothing is known of operator {node.op} in opset {version}", "warning")
        return entry

    def check(self, checks: Checks, node: Node, types: Mapping[Value, Type], rule: Rule | None) -> None:
        """Report where a node does not fit its operator's signature, unless its rule refuses it anyway.

        What onnxruntime registers is less of a law than what ONNX defines, so that a warning must do.
        """
        problems = checks.problems(node, types)
        if not problems:
            return
        if rule is not None:
            self.rehearsing = True  # without bodies: each would be walked twice, those inside it four times
            try:
                rule(self.activation.call)
            except Refused:
                return
            except Exception:  # whatever it is, the walk meets it again
                pass
            finally:
                self.rehearsing = False
        for code, message in problems:
            self.issue(code, message, "error" if checks.signature.standard else "warning")

    def recover(self, problem: Exception, entry: Entry, activation: Activation) -> object:
        """Answer for a rule that failed: dims may outgrow what an expression holds, and rules may have faults."""
        if isinstance(problem, TooLarge):
            if entry.rule is not None:
                with blurred(self, activation):
                    try:
                        return entry.rule(activation.call)
                    except (Untyped, Refused, TooLarge):
                        pass
            self.issue("dim-too-large", f"a dim outgrew what is kept of one: {problem}", "warning")
            return None
        if isinstance(problem, OnnxError):
            if self.strict and problem.issue.severity == "error":
                raise problem
            self.add(problem.issue)
            return None
        trace = problem.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        at = "" if trace is None else f" in {trace.tb_frame.f_globals.get('__name__')}, line {trace.tb_lineno}"
        self.issue("rule-failed", f"the operator's rule failed: {type(problem).__name__}: {problem}{at}", "error")
        return None

    # ------------------------------------------------------------------ what rules ask for

    def content_of(self, value: Value) -> Content | None:
        """Return the elements of a value nobody has asked about yet: those of a small constant, or None."""
        activation = self.activation
        chain = []
        while value in activation.borrowed:
            actual, home = activation.actuals[activation.borrowed[value]], activation.home
            if actual is None or home is None:
                break
            chain.append((activation, value))
            activation, value = home, actual
        if value in activation.contents:
            found = activation.contents[value]
        else:
            found = activation.contents[value] = self.constant(value, activation)
        if chain and found is None:
            found = functions.symbols_for(self, value, activation)
        for user, formal in chain:
            user.contents[formal] = user.needed[formal] = found
        return found

    def constant(self, value: Value, activation: Activation) -> Content | None:
        """Read the elements of a small constant."""
        tensor = activation.constants.get(value)
        if tensor is None or tensor.size > MOST_ELEMENTS or not self.may_use(value):
            return None
        try:
            return read_elements(tensor)
        except OnnxError as problem:  # a data file that is not there, or the model was closed
            self.add(Issue(problem.code, problem.message, problem.place, problem.hint, "warning"))
        return None

    def may_use(self, value: Value) -> bool:
        """Return whether an initializer's elements may be used: a caller may give an input's default another value.

        Before IR 4 every initializer was listed as an input, and all were constants.
        """
        if value in self.main_inputs and self.model.ir_version >= 4:
            if self.open_defaults:
                return False
            self.assumptions.setdefault(("default-kept", 0, 0), value)
        return True

    def run_body(
        self,
        graph: Graph,
        types: Sequence[Type | None],
        contents: Sequence[Content | None] = (),
        *,
        varied: Set[int] = frozenset(),
        certain: bool = True,
    ) -> list[Fact | None]:
        """Walk a body of the node in hand; its values join the activation's tables.

        What the file declares of the inputs at the positions `varied` is not taken: it is known to differ from one
        iteration to the next. A body that is not `certain` to run says nothing of what is outside of it.
        """
        if self.rehearsing:
            return [None] * len(graph.outputs)
        self.frames += 1
        most = self.limits.max_frames
        if self.depth >= DEEPEST or (most is not None and self.frames > most):
            self.overfull()
            return [None] * len(graph.outputs)
        caller, level, index = self.activation, self.level, self.index
        node, opset = caller.call.node, caller.call.opset
        home = caller.passed.get(graph)
        activation = caller if home is None else functions.borrow(self, graph, home, caller, node)
        self.level = Level(graph, level, node, index, attribute_of(node, graph) or passed_as(node, graph, caller))
        if home is not None:
            caller.foreign[node, self.level.attribute or ""] = activation
            activation.level = self.level
        self.activation = activation
        claims = activation.claims
        for at, value in enumerate(graph.inputs):
            kind = types[at] if at < len(types) else None
            if value in claims and at not in varied:
                kind = merge(self, value, kind, claims[value])
            if kind is None:
                activation.types.pop(value, None)
            else:
                activation.types[value] = kind
            activation.contents[value] = contents[at] if at < len(contents) else None
        self.enter(graph, activation, frozenset(graph.inputs))
        self.depth += 1
        doubt = None if certain else self.doubt()
        self.run(graph, activation)
        self.depth -= 1
        found = [self.outcome(activation, value) for value in graph.outputs]
        if doubt is not None:
            self.believe(doubt)
        self.activation, self.level, self.index = caller, level, index
        caller.call.node, caller.call.opset = node, opset
        return found

    def outcome(self, activation: Activation, value: Value) -> Fact | None:
        """Return what is known of a value that a body or a function returns."""
        kind = activation.types.get(value)
        content = activation.contents.get(value)
        if content is None and kind is not None and (value in activation.constants or value in activation.borrowed):
            content = self.content_of(value)
        return None if kind is None else Fact(kind, content)

    def overfull(self, message: str | None = None) -> None:
        """Leave out a body or a call; the first time, report it."""
        self.left_out += 1
        if not self.full:
            self.full = True
            hint: str | None = "raise Limits(max_frames=...) if you trust this model"
            if message is not None:
                pass
            elif self.depth >= DEEPEST:
                message, hint = f"bodies and calls nest more than {DEEPEST} deep; what is deeper stays unknown", None
            else:
                message = f"more than {self.limits.max_frames} bodies and calls were walked; the rest stays unknown"
            self.issue("limit-exceeded", message, "warning", hint)


def without(node: Node, absent: Set[Value]) -> Node:
    """Return a node as it is when the call leaves out some of what it reads."""
    if any(value in absent for value in node.inputs):
        return node.replace(inputs=tuple(None if value in absent else value for value in node.inputs))
    return node


def passed_as(node: Node, graph: Graph, activation: Activation) -> str | None:
    """Return the attribute that stands for a body which the caller of a function passed."""
    for name, attr in node.attrs.items():
        ref = getattr(attr, "ref", None)
        if ref is not None and ref in activation.bound and activation.bound[ref].value is graph:
            return name
    return None
