"""Check rules one line at a time: `case("MatMul", "f32[b,4,8] f32[8,16]", "f32[b,4,16]")`.

Inputs and outputs are written as `words.py` reads them; attributes are keyword arguments (an int is INT, a float FLOAT,
text STRING, lists INTS, FLOATS or STRINGS, an array TENSOR, a `Graph` GRAPH, an `Attr` itself). Every case also runs

- with its symbols replaced by 0, 1, 2, 5 and 7: the answer for symbols, evaluated, must be the answer for numbers,
  wherever the node runs and what was assumed holds;
- with less known of each input (no elements, one element or dim less, no shape, no element type, nothing): what is
  still said must be true of the case as given.
"""

from __future__ import annotations

import itertools
import random

from sardonyx.dims import Expr, Scope, Symbol, evaluate
from sardonyx.infer.engine import Engine
from sardonyx.ir.attrs import Attr, AttrKind
from sardonyx.ir.graph import Graph, Model, Node, Value
from sardonyx.ir.tensor import Tensor, tensor_of
from sardonyx.ir.types import DType, SequenceType, TensorType
from sardonyx.limits import DEFAULT
from sardonyx.ops.call import INTEGERS, Fact, Quotient, Ratio, Test
from tests.ops.words import OMITTED, Reader, write

NEWEST = {"": 28, "ai.onnx.ml": 5, "com.microsoft": 1, "ai.onnx.preview.training": 1, "ai.onnx.preview": 1}
SIZES = (0, 1, 2, 5, 7)
MOST_RUNS = 60


class Outcome:
    """What the engine said of one node."""

    def __init__(self, facts, issues, assumptions, scope):
        self.facts = facts
        self.issues = issues
        self.assumptions = assumptions
        """Assumed things as (kind, a, b)."""
        self.scope = scope

    @property
    def errors(self):
        """Codes of the errors found."""
        return [issue.code for issue in self.issues if issue.severity == "error"]

    @property
    def text(self):
        return " ".join(write(fact) for fact in self.facts)

    @property
    def assumed(self):
        """The assumptions as text: `reshape-zero b s`."""
        return [f"{kind} {a} {b}" for kind, a, b in self.assumptions]


def attribute(name, given):
    """Make an attribute of a Python value."""
    if isinstance(given, Attr):
        return given
    if isinstance(given, (bool, int)):
        return Attr(name, AttrKind.INT, int(given))
    if isinstance(given, float):
        return Attr(name, AttrKind.FLOAT, given)
    if isinstance(given, str):
        return Attr(name, AttrKind.STRING, given.encode())
    if isinstance(given, Graph):
        return Attr(name, AttrKind.GRAPH, given)
    if isinstance(given, Tensor):
        return Attr(name, AttrKind.TENSOR, given)
    if isinstance(given, (list, tuple)):
        if given and all(isinstance(one, float) for one in given):
            return Attr(name, AttrKind.FLOATS, tuple(given))
        if given and all(isinstance(one, str) for one in given):
            return Attr(name, AttrKind.STRINGS, tuple(one.encode() for one in given))
        return Attr(name, AttrKind.INTS, tuple(given))
    return Attr(name, AttrKind.TENSOR, tensor_of(given, name))


class Question:
    """One node with what is known of its inputs."""

    def __init__(self, op_type, facts, outputs, opset, domain, attributes, scope):
        self.op_type = op_type
        self.facts = facts
        self.outputs = outputs
        self.opset = opset
        self.domain = domain
        self.attributes = attributes
        self.scope = scope

    def ask(self, facts=None):
        """Run the engine, with other facts if given."""
        facts = self.facts if facts is None else facts
        values = [None if fact is OMITTED else Value(f"x{at}") for at, fact in enumerate(facts)]
        outputs = tuple(Value(f"y{at}") for at in range(self.outputs))
        attrs = {name: attribute(name, given) for name, given in self.attributes.items()}
        node = Node(self.op_type, tuple(values), outputs, attrs, domain=self.domain)
        inputs = tuple(value for value in values if value is not None)
        graph = Graph("case", inputs, outputs, (node,))
        model = Model(graph, {self.domain: self.opset}, scope=self.scope)
        engine = Engine(model, strict=False, open_defaults=False, limits=DEFAULT)
        given = [(value, fact) for value, fact in zip(values, facts, strict=True) if value is not None]
        types = {value: fact.type for value, fact in given if fact.type is not None}
        contents = {value: fact.content for value, fact in given if fact.content is not None}
        activation = engine.run_main(types, contents)
        found = [Fact(activation.types.get(value), activation.contents.get(value)) for value in outputs]
        return Outcome(found, engine.issues, list(engine.assumptions), engine.scope)


def question(op_type, inputs, outputs, opset, domain, least, attributes):
    scope = Scope()
    reader = Reader(scope)
    facts = reader.facts(inputs)
    for name, number in (least or {}).items():
        assert scope.assume_at_least(scope.symbol(name), number)
    opset = NEWEST.get(domain, 1) if opset is None else opset
    return Question(op_type, facts, outputs, opset, domain, attributes, scope)


def case(op_type, inputs, outputs, /, *, opset=None, domain="", least=None, deeper=True, **attributes):
    """Check what a rule answers; `least` maps names of symbols to numbers they are never below.

    Without `deeper`, only the answer itself is checked. Returns the `Outcome`.
    """
    from tests.ops.words import pieces

    wanted = pieces(outputs, None)
    asked = question(op_type, inputs, len(wanted), opset, domain, least, attributes)
    outcome = asked.ask()
    assert not outcome.errors, f"refused: {[issue.message for issue in outcome.issues]}"
    assert not any(issue.code == "no-rule" for issue in outcome.issues), f"no rule for {op_type}"
    reader = Reader(outcome.scope, wildcards=True)
    for fact, word in zip(outcome.facts, wanted, strict=True):
        if word != "-":
            assert agrees(outcome.scope, fact, reader.fact(word)), f"\n  expected {outputs}\n  answered {outcome.text}"
    if deeper:
        check_numbers(asked, outcome, least or {})
        check_less(asked, outcome, least or {})
    return outcome


def fails(op_type, inputs, code, /, *, opset=None, domain="", outputs=1, **attributes):
    """Check that a rule refuses a node with this code; returns the message."""
    asked = question(op_type, inputs, outputs, opset, domain, None, attributes)
    outcome = asked.ask()
    assert outcome.errors == [code], f"answered {outcome.text}, errors {outcome.errors}"
    return next(issue.message for issue in outcome.issues if issue.severity == "error")


# ---------------------------------------------------------------- is the answer the expected one?


def agrees(scope, fact, wanted):
    """Whether a fact is what a case expects; None in it (a `?`) stands for anything not known."""
    if not same_type(scope, fact.type, wanted.type):
        return False
    if wanted.content is None:
        return True
    content = fact.content
    if wanted.content == () and wanted.type.shape != (0,):
        return content is None or all(is_unknown(one) for one in content)
    return (
        content is not None
        and len(content) == len(wanted.content)
        and all(same_element(scope, mine, one) for mine, one in zip(content, wanted.content, strict=True))
    )


def same_type(scope, mine, wanted):
    if type(mine) is not type(wanted):
        return False
    if isinstance(wanted, TensorType):
        if mine.dtype is not wanted.dtype or (mine.shape is None) != (wanted.shape is None):
            return False
        return wanted.shape is None or (
            len(mine.shape) == len(wanted.shape)
            and all(same_element(scope, a, b) for a, b in zip(mine.shape, wanted.shape, strict=True))
        )
    if isinstance(wanted, SequenceType):
        if (mine.elements is None) != (wanted.elements is None):
            return False
        if wanted.elements is not None:
            return len(mine.elements) == len(wanted.elements) and all(
                same_type(scope, a, b) for a, b in zip(mine.elements, wanted.elements, strict=True)
            )
        same_length = same_element(scope, mine.length, wanted.length) or mine.length == wanted.length
        return same_length and same_type(scope, mine.elem, wanted.elem)
    if hasattr(wanted, "elem"):
        return same_type(scope, mine.elem, wanted.elem)
    if hasattr(wanted, "value"):
        return mine.key is wanted.key and same_type(scope, mine.value, wanted.value)
    return mine == wanted


def same_element(scope, mine, wanted):
    if wanted is None:
        return is_unknown(mine)
    if isinstance(wanted, (int, Expr)) and isinstance(mine, (int, Expr)) and not isinstance(wanted, bool):
        return mine == wanted or scope.equal(mine, wanted) is True
    if isinstance(wanted, float) and wanted != wanted:
        return isinstance(mine, float) and mine != mine
    return type(mine) is type(wanted) and mine == wanted


def is_unknown(one):
    return one is None or (isinstance(one, Expr) and any(symbol.anonymous for symbol in one.symbols))


# ---------------------------------------------------------------- the answer for numbers


class Unknown(Exception):
    """Raised where an answer depends on something that has no value."""


def number(dim, sizes):
    """Evaluate a dim; raise Unknown for an anonymous symbol that has no value."""
    if isinstance(dim, int):
        return dim
    for symbol in dim.symbols:
        if symbol not in sizes:
            raise Unknown
    return evaluate(dim, sizes)


def number_element(one, sizes):
    if isinstance(one, Test):
        value = number(one.expr, sizes)
        return (value == 0 if one.equal else value >= 0) is not one.negated
    if isinstance(one, Ratio):
        return number(one.expr, sizes) / one.divisor
    if isinstance(one, Quotient):
        raise Unknown
    if isinstance(one, Expr):
        return number(one, sizes)
    if one is None:
        raise Unknown
    return one


def number_type(kind, sizes, dim=number):
    """Evaluate a type; dims that cannot be become None."""

    def maybe(one):
        try:
            return dim(one, sizes)
        except Unknown:
            return None

    if isinstance(kind, TensorType):
        return kind if kind.shape is None else kind.with_shape(maybe(one) for one in kind.shape)
    if isinstance(kind, SequenceType):
        elements = None if kind.elements is None else tuple(number_type(one, sizes) for one in kind.elements)
        length = None if kind.length is None else maybe(kind.length)
        return SequenceType(None if kind.elem is None else number_type(kind.elem, sizes), elements, length)
    if hasattr(kind, "elem") and kind.elem is not None:
        return type(kind)(number_type(kind.elem, sizes))
    return kind


def number_content(content, sizes):
    found = []
    for one in content:
        try:
            found.append(number_element(one, sizes))
        except Unknown:
            found.append(None)
    return tuple(found)


def assignments(symbols, least):
    """Return sizes for the symbols, all combinations or a sample."""
    if not symbols:
        return
    count = len(SIZES) ** len(symbols)
    if count <= MOST_RUNS:
        every = itertools.product(SIZES, repeat=len(symbols))
    else:
        chance = random.Random(7)
        every = (tuple(chance.choice(SIZES) for _ in symbols) for _ in range(MOST_RUNS))
    for sizes in every:
        if all(size >= least.get(symbol.given, 0) for symbol, size in zip(symbols, sizes, strict=True)):
            yield dict(zip(symbols, sizes, strict=True))


def symbols_of(facts):
    """Return every symbol in some facts, in order."""
    found = {}

    def visit(one):
        if isinstance(one, Expr):
            found.update(dict.fromkeys(one.symbols))
        elif isinstance(one, (Test, Ratio, Quotient)):
            visit(one.expr)

    def visit_type(kind):
        for dim in getattr(kind, "shape", None) or ():
            visit(dim)
        if isinstance(kind, SequenceType):
            visit(kind.length)
            for one in kind.elements or ():
                visit_type(one)
        if getattr(kind, "elem", None) is not None:
            visit_type(kind.elem)

    for fact in facts:
        if fact is not OMITTED:
            visit_type(fact.type)
            for one in fact.content or ():
                visit(one)
    return list(found)


def holds(assumptions, sizes):
    """Whether what was assumed is true for these sizes; what cannot be evaluated may be."""
    for kind, a, b in assumptions:
        try:
            left, right = number(a, sizes), number(b, sizes)
        except (Unknown, ZeroDivisionError, ValueError):
            continue
        if kind == "joined-dims" and left != right:
            return False
        if kind == "divisor-not-zero" and left == 0:
            return False
        if kind == "window-fits" and left < right:
            return False
        if kind == "reshape-zero" and left == 0 and left != right:
            return False
    return True


def with_sizes(facts, sizes):
    """Put numbers into facts, or return None where a dim would be negative or is not defined."""
    found = []
    try:
        for fact in facts:
            if fact is OMITTED:
                found.append(fact)
                continue
            kind = number_type(fact.type, sizes)
            if any(dim is not None and dim < 0 for dim in getattr(kind, "shape", None) or ()):
                return None
            content = None if fact.content is None else number_content(fact.content, sizes)
            found.append(Fact(kind, content))
    except (ZeroDivisionError, ValueError):
        return None
    return found


def check_numbers(asked, outcome, least):
    """Compare with the answers for numbers."""
    for sizes in assignments(symbols_of(asked.facts), least):
        facts = with_sizes(asked.facts, sizes)
        if facts is None or not holds(outcome.assumptions, sizes):
            continue
        concrete = asked.ask(facts)
        if concrete.errors:
            continue
        shown = {str(symbol): size for symbol, size in sizes.items()}
        for mine, real in zip(outcome.facts, concrete.facts, strict=True):
            try:
                claimed = Fact(
                    number_type(mine.type, sizes), None if mine.content is None else number_content(mine.content, sizes)
                )
            except (ZeroDivisionError, ValueError) as problem:
                raise AssertionError(f"with {shown}: {write(mine)} has no value: {problem}") from problem
            assert not contradicts(claimed, real), f"with {shown}: {write(mine)} but {write(real)}"


def contradicts(one, other):
    """Whether two facts cannot both be true; None and anonymous symbols may be anything."""
    return contradicts_type(one.type, other.type) or (
        one.content is not None
        and other.content is not None
        and (len(one.content) != len(other.content) or any(map(differ, one.content, other.content)))
    )


def contradicts_type(one, other):
    if one is None or other is None:
        return False
    if type(one) is not type(other):
        return True
    if isinstance(one, TensorType):
        if one.dtype is not None and other.dtype is not None and one.dtype is not other.dtype:
            return True
        if one.shape is None or other.shape is None:
            return False
        return len(one.shape) != len(other.shape) or any(map(differ, one.shape, other.shape))
    if isinstance(one, SequenceType):
        if one.elements is not None and other.elements is not None:
            return len(one.elements) != len(other.elements) or any(map(contradicts_type, one.elements, other.elements))
        return contradicts_type(one.elem, other.elem) or differ(one.length, other.length)
    if hasattr(one, "elem"):
        return contradicts_type(one.elem, other.elem)
    return False


def differ(a, b):
    """Whether two numbers (elements, dims) differ; what is not a number differs from nothing."""
    known = (int, float, bool, bytes)
    if not isinstance(a, known) or not isinstance(b, known):
        return False
    return a != b and not (a != a and b != b)


# ---------------------------------------------------------------- the answer with less known


def weaker(asked):
    """Yield facts with less known of one input, what was left out of it, and a map of new symbols to what they hide."""
    scope = asked.scope
    for at, fact in enumerate(asked.facts):
        if fact is OMITTED or fact.type is None:
            continue
        for what, less, hidden in weaker_facts(scope, fact):
            yield f"input {at} without {what}", [*asked.facts[:at], less, *asked.facts[at + 1 :]], hidden


def weaker_facts(scope, fact):
    kind, content = fact.type, fact.content
    yield "type", Fact(None, None), {}
    if content is not None:
        yield "elements", Fact(kind, None), {}
        if kind.dtype in INTEGERS and len(content) <= 8:
            for at, one in enumerate(content):
                if not (isinstance(one, Symbol) and one.anonymous):
                    fresh = scope.fresh(signed=True)
                    yield f"element {at}", Fact(kind, (*content[:at], fresh, *content[at + 1 :])), {fresh: one}
        elif len(content) <= 8:
            for at in range(len(content)):
                yield f"element {at}", Fact(kind, (*content[:at], None, *content[at + 1 :])), {}
    if isinstance(kind, TensorType):
        if kind.dtype is not None and content is None:
            yield "element type", Fact(kind.with_dtype(None), None), {}
        if kind.shape is not None:
            yield "shape", Fact(kind.with_shape(None), None), {}
            for axis, dim in enumerate(kind.shape):
                fresh = scope.fresh()
                dims = (*kind.shape[:axis], fresh, *kind.shape[axis + 1 :])
                yield f"dim {axis}", Fact(kind.with_shape(dims), None), {fresh: dim}
    elif isinstance(kind, SequenceType):
        if kind.elements is not None:
            yield "elements", Fact(SequenceType(kind.elem, None, kind.length)), {}
        yield "length", Fact(SequenceType(kind.elem, None, None)), {}


def check_less(asked, outcome, least):
    """Compare with the answers for less."""
    symbols = symbols_of(asked.facts)
    samples = list(itertools.islice(assignments(symbols, least), 0, None, 5))[:6] if symbols else [{}]
    for what, facts, hidden in weaker(asked):
        less = asked.ask(facts)
        for sizes in samples:
            real_facts = with_sizes(asked.facts, sizes)
            if real_facts is None or not holds(outcome.assumptions, sizes):
                continue
            if symbols and asked.ask(real_facts).errors:
                continue
            assert not less.errors, f"{what}: refused, {[issue.message for issue in less.issues]}"
            try:
                sizes = {**sizes, **{new: number(old, sizes) for new, old in hidden.items()}}
            except (Unknown, ZeroDivisionError, ValueError):
                continue
            if not holds(less.assumptions, sizes):
                continue
            for mine, full in zip(less.facts, outcome.facts, strict=True):
                try:
                    said = Fact(
                        number_type(mine.type, sizes),
                        None if mine.content is None else number_content(mine.content, sizes),
                    )
                    real = Fact(
                        number_type(full.type, sizes),
                        None if full.content is None else number_content(full.content, sizes),
                    )
                except (ZeroDivisionError, ValueError) as problem:
                    raise AssertionError(f"{what}: {write(mine)} has no value: {problem}") from problem
                assert not contradicts(said, real), f"{what}: {write(mine)} but {write(full)} (sizes {sizes})"


__all__ = ["DType", "Outcome", "case", "fails"]
