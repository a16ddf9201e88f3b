"""Walk a model once, in order, and ask each node's rule what its outputs are.

The engine finds the rule, calls it, compares the answer with what the file declared, and adds the place to anything
that is wrong. Bodies are walked when a rule asks for it, functions when a call is met; calls within calls wait on a
list, not on Python's stack.
"""

from __future__ import annotations

from itertools import islice

from sardonyx.dims import TooLarge
from sardonyx.errors import Issue, OnnxError, Place, node_label
from sardonyx.infer import functions
from sardonyx.infer.activation import Activation, Entry, Level, attribute_of
from sardonyx.infer.blur import blurred
from sardonyx.infer.callsites import LOOK, CallSites
from sardonyx.infer.merge import claims_of, merge
from sardonyx.infer.resolve import opsets, resolve
from sardonyx.infer.scope import InferenceScope
from sardonyx.ir.graph import canonical
from sardonyx.ir.types import SparseTensorType, TensorType
from sardonyx.ops.call import MOST_ELEMENTS, Call, Fact, Refused, Untyped
from sardonyx.ops.common.elements import read_elements
from sardonyx.ops.common.widening import LetGo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set
    from typing import Any

    from sardonyx.dims import Dim, Symbol
    from sardonyx.infer.events import Log
    from sardonyx.infer.functions import Plan
    from sardonyx.infer.signed import Checks
    from sardonyx.ir.graph import Function, Graph, Model, Node, Value
    from sardonyx.ir.types import Type
    from sardonyx.limits import Limits
    from sardonyx.ops.call import Content
    from sardonyx.ops.rules import Rule

    Cursor = Iterator[tuple[int, Node]]
    Spot = tuple[Level, int, Node | None]

DEEPEST = 100
"""Bodies inside each other, through calls of functions too; files nest them less deeply, see `max_nesting`."""


class Engine:
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
        self.model = model
        self.scope = InferenceScope(model.scope, self, unify)
        self.strict = strict
        self.open_defaults = open_defaults
        self.limits = limits
        self.log = log
        self.issues: list[Issue] = []
        self.spots: list[Level] = []
        """Where each issue was found."""
        self.assumptions: dict[tuple[str, Dim, Dim], Spot | Value] = {}
        """(kind, a, b) to the place, or value, that first needed it."""
        self.constraints: dict[tuple[str, Dim, Dim], Spot | Value] = {}
        """(`==` or `>=`, a, b), which a claim or a rule says, to the value or place that said so first."""
        self.renames: dict[Symbol, Dim] = {}
        """Anonymous symbols that a claim gives a name or number."""
        self.phrases: dict[Symbol, Symbol] = {}
        """Anonymous symbols that a claim calls by a calculation that cannot be read; a name goes before."""
        self.equalities: list[tuple[Dim, Dim]] = []
        """Inferred dims with anonymous symbols in them, and what a claim says of each."""
        self.main_inputs = frozenset(model.graph.inputs)
        self.activation: Activation = None  # type: ignore[assignment]  # set by `run_main`
        self.level = Level(model.graph, None, None, 0, None)
        self.index = 0
        self.used: set[Dim] = set()
        """Declared names that were given to an anonymous symbol."""
        # Calls of functions:
        self.active: dict[Function, Activation] = {}
        """The calls under way, outermost first."""
        self.plans: dict[Function, Plan] = {}
        self.sites = CallSites(model)
        self.made: list[Activation] = []
        """Calls in passes that may not count, in the order in which what they came to was reached, for `undo`."""
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
        self.tentative = 0
        """How many passes that may not count are under way."""
        self.lessons: dict[object, LetGo] = {}
        """What loops had to let go in the outermost pass that may not count, by their bodies and the way there."""
        self.rehearsing = False
        """Whether a rule is only asked whether it refuses its node."""
        self.doubtful = 0
        """How many bodies that may never run are under way."""
        self.supposing = False
        """Whether the inequality that the scope is told is what a run of a node implies, and no definition."""
        self.revised = False
        """Whether the scope was ever told to forget something."""

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

    def assume(self, kind: str, a: Dim, b: Dim) -> None:
        """Note something that a run implies and an answer depends on."""
        if isinstance(a, int) and isinstance(b, int):
            return
        key = (kind, a, b)
        if key not in self.assumptions:
            self.assumptions[key] = (self.level, self.index, self.activation.call.node)
        elif not self.revised:
            return
        if kind == "joined-dims":
            self.scope.join(a, b)
        elif kind == "window-fits":
            self.suppose(a, b)
        elif kind == "divisor-not-zero" and self.scope.at_least(a, 0):
            self.suppose(a, 1)

    def suppose(self, a: Dim, b: Dim) -> None:
        """Let the scope know `a >= b`, which a run of the node in hand implies; see `doubt`."""
        if self.scope.at_least(a, b) is None:
            self.supposing = True
            self.scope.note_at_least(a, b)
            self.supposing = False

    def doubt(self) -> tuple[int, int]:
        """Start a body that may never run: what its nodes imply holds nowhere else; `believe` ends it."""
        self.doubtful += 1
        return len(self.scope.journal), len(self.made)

    def believe(self, mark: tuple[int, int]) -> None:
        """Take back what nodes implied since the mark, for what is walked from here on; assumptions stay listed."""
        self.doubtful -= 1
        if self.scope.take_back(mark[0]):
            self.revised = True
            for call in self.made[mark[1] :]:
                call.void = True
        if not self.doubtful and not self.tentative:
            self.scope.journal.clear()
            self.made.clear()

    def constrain(self, relation: str, a: Dim, b: Dim) -> None:
        """Note an equality or inequality that holds in every run; rules state one through the scope."""
        key = (relation, a, b)
        if key not in self.constraints:
            node = None if self.activation is None else self.activation.call.node
            self.constraints[key] = (self.level, self.index, node)
            if self.log is not None:
                self.log.note(self, "bound" if relation == ">=" else "constraint", None, a, b)

    def warn(self, code: str, message: str) -> None:
        """Note something odd about the node in hand."""
        self.issue(code, message, "warning")

    def tell(self, kind: str, what: object) -> None:
        """Note a step of a rule for the log: the branch that is taken, a state that is joined."""
        if self.log is not None:
            self.log.note(self, kind, None, None, what)

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

    # ------------------------------------------------------------------ passes that may turn out not to count

    def begin(self) -> tuple[int, ...]:
        """Start a pass over a body that may not be the last; `undo` or `keep` ends it."""
        self.tentative += 1
        return (len(self.issues), len(self.assumptions), len(self.constraints), len(self.equalities), len(self.made),
                0 if self.log is None else len(self.log.events), len(self.scope.journal))  # fmt: skip

    def undo(self, mark: tuple[int, ...]) -> None:
        """Forget what was noted since the mark."""
        self.tentative -= 1
        del self.issues[mark[0] :], self.spots[mark[0] :]
        for noted, count in ((self.assumptions, mark[1]), (self.constraints, mark[2])):
            while len(noted) > count:
                noted.popitem()
        del self.equalities[mark[3] :]
        revised = self.scope.undo(mark[6])
        self.revised = self.revised or revised
        for call in self.made[mark[4] :]:
            call.undone = True
            call.void = call.void or revised
        del self.made[mark[4] :]
        if self.log is not None:
            del self.log.events[mark[5] :]
        if not self.tentative:
            self.lessons.clear()

    def keep(self, mark: tuple[int, ...]) -> None:
        """Let what was noted since the mark stand; in strict mode its first error is raised now."""
        self.tentative -= 1
        if self.strict and not self.tentative:
            for issue in islice(self.issues, mark[0], None):
                if issue.severity == "error":
                    raise OnnxError(issue)
        if not self.tentative:
            self.lessons.clear()
            if not self.doubtful:
                self.scope.journal.clear()
                self.made.clear()
            if self.log is not None:
                self.log.flush()

    def let_go(self, body: Graph) -> LetGo:
        """Return what the loop in hand had to let go, for it to add to; forgotten with the outermost pass."""
        return LetGo() if self.rehearsing else self.lessons.setdefault((body, self.level.nearest), LetGo())

    # ------------------------------------------------------------------ trouble

    def issue(
        self, code: str, message: str, severity: str, hint: str | None = None, attribute: str | None = None
    ) -> None:
        """Record an issue at the node in hand; in strict mode, raise an error."""
        node = self.activation.call.node
        label = None if node is None else node_label(node.name, node.op_type, self.index)
        place = Place(source=self.model.source, graph=self.level.text, node=label, attribute=attribute)
        self.add(Issue(code, message, place, hint, severity))

    def issue_of(self, value: Value, code: str, message: str) -> None:
        """Record an issue of a value, when the walk is over."""
        self.issues.append(Issue(code, message, Place(source=self.model.source, value=value.name), severity="warning"))
        self.spots.append(self.level)

    def add(self, issue: Issue) -> None:
        """Record an issue; in strict mode, raise an error unless the pass may not count."""
        if self.strict and issue.severity == "error" and not self.tentative:
            raise OnnxError(issue)
        self.issues.append(issue)
        self.spots.append(self.level)
        if self.log is not None:
            self.log.note(self, "issue", None, None, issue)


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
