"""Walk a model once, in order, and ask each node's rule what its outputs are.

The engine finds the rule, calls it, compares the answer with what the file declared, and adds the place to anything
that is wrong. Bodies and functions are walked when a rule or a call asks for them.
"""

from __future__ import annotations

from sardonyx.dims import TooLarge
from sardonyx.errors import Issue, OnnxError, Place, node_label
from sardonyx.infer.activation import Activation, Entry, Opsets
from sardonyx.infer.merge import merge
from sardonyx.ir.graph import canonical
from sardonyx.ir.types import TensorType
from sardonyx.ops.call import MOST_ELEMENTS, Call, Fact, Refused, Untyped
from sardonyx.ops.common.elements import read_elements
from sardonyx.ops.rules import find_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sardonyx.dims import Dim
    from sardonyx.ir.graph import Graph, Model, Node, Value
    from sardonyx.ir.types import Type
    from sardonyx.limits import Limits
    from sardonyx.ops.call import Content


class Engine:
    """One inference of one model; the `Service` that rules are given."""

    def __init__(self, model: Model, *, strict: bool, open_defaults: bool, limits: Limits) -> None:
        from sardonyx.dims import Scope

        self.model = model
        self.scope = Scope() if model.scope is None else model.scope.child()
        self.strict = strict
        self.open_defaults = open_defaults
        self.limits = limits
        self.issues: list[Issue] = []
        self.assumptions: dict[tuple[str, Dim, Dim], str] = {}
        """(kind, a, b) to the place that first needed it."""
        self.constraints: dict[tuple[Dim, Dim], str] = {}
        """Inferred dim and claimed dim that must be equal, to the value that said so."""
        self.renames: dict[Dim, Dim] = {}
        """Anonymous symbols that a claim gives a name or number."""
        self.main_inputs = frozenset(model.graph.inputs)
        self.activation: Activation = None  # type: ignore[assignment]  # set by `run_main`
        self.node: Node | None = None
        self.index = 0
        self.without_rule: dict[str, None] = {}

    # ------------------------------------------------------------------ the walk

    def run_main(self, types: Mapping[Value, Type], contents: Mapping[Value, Content] | None = None) -> Activation:
        """Infer the main graph; `types` are those of its inputs, `contents` what is known of their elements."""
        graph = self.model.graph
        imports = {canonical(domain): version for domain, version in self.model.opset_imports.items()}
        activation = Activation(graph, (), Opsets(imports, {}, {}))
        self.activation = activation
        activation.call = Call(self, activation.types, activation.contents)
        inputs = set(graph.inputs)
        activation.types.update(types)
        if contents:
            activation.contents.update(contents)
        self.enter(graph, activation, inputs)
        self.walk(graph, activation)
        return activation

    def enter(self, graph: Graph, activation: Activation, inputs: set[Value]) -> None:
        """Take in a graph's constants and claims; of its inputs, types are set already."""
        types, constants = activation.types, activation.constants
        for value, tensor in graph.initializers.items():
            constants[value] = tensor
            if value not in inputs or value not in types:
                types[value] = TensorType(tensor.dtype or None, tensor.shape)
        for value, sparse in graph.sparse_initializers.items():
            from sardonyx.ir.types import SparseTensorType

            types[value] = SparseTensorType(sparse.dtype, sparse.shape)
        claims = activation.claims
        for declared in graph.declared:
            value, kind = declared.value, declared.type
            if value is not None and kind is not None and value not in claims and value not in types:
                claims[value] = kind

    def walk(self, graph: Graph, activation: Activation) -> None:
        """Ask the rules of a graph's nodes, in order."""
        types, contents, claims, call = activation.types, activation.contents, activation.claims, activation.call
        default, find = activation.opsets.default, self.find
        for index, node in enumerate(graph.nodes):
            entry = default.get(node.op_type) if node.domain == "" else None
            if entry is None:
                entry = find(node, activation)
            call.node = self.node = node
            call.opset = entry.opset
            self.index = index
            rule = entry.rule
            answer: object = None
            if rule is not None:
                try:
                    answer = rule(call)
                except (Untyped, TooLarge):
                    pass
                except Refused as refused:
                    self.refuse(refused)
            elif entry.function is not None:
                answer = self.call_function(node, entry, activation)
            outputs = node.outputs
            if type(answer) is TensorType and len(outputs) == 1:  # most nodes
                value = outputs[0]
                if value is not None:
                    types[value] = merge(self, value, answer, claims[value]) if value in claims else answer
                    if value in contents:
                        del contents[value]
                continue
            if type(answer) is not tuple:
                answer = (answer,)
            for at, value in enumerate(outputs):
                if value is None:
                    continue
                one = answer[at] if at < len(answer) else None
                content = None
                if type(one) is Fact:
                    one, content = one.type, one.content
                claim = claims.get(value)
                if claim is not None:
                    one = merge(self, value, one, claim)
                if one is None:
                    types.pop(value, None)
                else:
                    types[value] = one  # type: ignore[assignment]
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
            rule = None if function is not None else find_rule(domain, node.op_type, version)
            entry = opsets.others[key] = Entry(rule, function, version)
            if domain == "" and function is None and not node.overload:
                opsets.default[node.op_type] = entry
            if rule is None and function is None:
                self.node = node
                self.issue("no-rule", f"nothing is known of operator {node.op} in opset {version}", "warning")
        return entry

    def call_function(self, node: Node, entry: Entry, activation: Activation) -> tuple[Fact | None, ...] | None:
        """Infer a call of a model-local function."""
        from sardonyx.infer.functions import call_function

        return call_function(self, node, entry, activation)

    # ------------------------------------------------------------------ what rules ask for

    def content_of(self, value: Value) -> Content | None:
        """Return the elements of a value nobody has asked about yet: those of a small constant, or None."""
        activation = self.activation
        tensor = activation.constants.get(value)
        found: Content | None = None
        if tensor is not None and tensor.size <= MOST_ELEMENTS and self.may_use(value):
            try:
                found = read_elements(tensor)
            except OnnxError as problem:  # a data file that is not there, or the model was closed
                self.issues.append(Issue(problem.code, problem.message, problem.place, problem.hint, "warning"))
        activation.contents[value] = found
        return found

    def may_use(self, value: Value) -> bool:
        """Return whether an initializer's elements may be used: a caller may give an input's default another value.

        Before IR 4 every initializer was listed as an input, and all were constants.
        """
        if value in self.main_inputs and self.model.ir_version >= 4:
            if self.open_defaults:
                return False
            self.assumptions.setdefault(("default-kept", 0, 0), value.name)
        return True

    def assume(self, kind: str, a: Dim, b: Dim) -> None:
        """Note something that a run implies and an answer depends on."""
        if isinstance(a, int) and isinstance(b, int):
            return
        self.assumptions.setdefault((kind, a, b), self.label())

    def warn(self, code: str, message: str) -> None:
        """Note something odd about the node in hand."""
        self.issue(code, message, "warning")

    def run_body(
        self, graph: Graph, types: Sequence[Type | None], contents: Sequence[Content | None]
    ) -> list[Fact | None]:
        """Walk a body of the node in hand; its values join the activation's tables."""
        activation = self.activation
        call, node, index = activation.call, self.node, self.index
        opset = call.opset
        for at, value in enumerate(graph.inputs):
            kind = types[at] if at < len(types) else None
            content = contents[at] if at < len(contents) else None
            if kind is None:
                activation.types.pop(value, None)
            else:
                activation.types[value] = kind
            activation.contents[value] = content
        self.enter(graph, activation, set(graph.inputs))
        self.walk(graph, activation)
        call.node, call.opset, self.node, self.index = node, opset, node, index  # type: ignore[assignment]
        found: list[Fact | None] = []
        for value in graph.outputs:
            kind = activation.types.get(value)
            content = activation.contents.get(value)
            if content is None and value in activation.constants:
                content = self.content_of(value)
            found.append(None if kind is None and content is None else Fact(kind, content))
        return found

    # ------------------------------------------------------------------ trouble

    def label(self) -> str:
        """Word the node in hand."""
        node = self.node
        return "" if node is None else node_label(node.name, node.op_type, self.index)

    def refuse(self, refused: Refused) -> None:
        """Turn a rule's refusal into an issue; raise it in strict mode."""
        self.issue(refused.code, refused.message, "error", refused.hint, refused.attribute)

    def issue(
        self, code: str, message: str, severity: str, hint: str | None = None, attribute: str | None = None
    ) -> None:
        """Record an issue at the node in hand."""
        place = Place(source=self.model.source, node=self.label() or None, attribute=attribute)
        issue = Issue(code, message, place, hint, severity)
        if self.strict and severity == "error":
            raise OnnxError(issue)
        self.issues.append(issue)
