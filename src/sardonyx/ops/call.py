"""Show a rule one node: its inputs' types and contents, its attributes, its opset.

A rule asks only for what it needs. An input whose type is not known ends the rule (its outputs stay unknown), so no
rule checks for that; a rule whose answer does not need the input asks with `peek`. What is wrong with the node ends
the rule through `fail`. A rule never names the node: the engine does.

Contents are what is known of the elements of a small tensor, in row-major order. An element is

- of an integer tensor: an `int`, or an expression over symbols (one that nothing is known of is a symbol of its own);
- of a bool tensor: a `bool`, a `Test` (an undecided comparison), or None;
- of a float tensor: a `float`, a `Ratio` (an exact fraction of an expression), a `Quotient` (one that a run rounds), or
  None;
- of a string tensor: `bytes` or None.
"""

from __future__ import annotations

from sardonyx.ir.attrs import Attr, AttrKind, AttrRef
from sardonyx.ir.types import DTYPES, DType, SequenceType, TensorType
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from typing import Any, NoReturn, Protocol, TypeAlias, TypeVar

    from sardonyx.dims import Dim, Expr, Scope, Symbol
    from sardonyx.ir.graph import Graph, Node, Value
    from sardonyx.ir.tensor import Tensor
    from sardonyx.ir.types import Type
    from sardonyx.ops.common.widening import LetGo

    T = TypeVar("T")
    Int: TypeAlias = int  # inside `Call`, `int` and `str` are accessors of attributes
    Str: TypeAlias = str

    class Service(Protocol):
        """What the engine does for a rule."""

        @property
        def scope(self) -> Scope: ...

        singly: int

        def content_of(self, value: Value) -> Content | None: ...

        def assume(self, kind: str, a: Dim, b: Dim) -> None: ...

        def warn(self, code: str, message: str) -> None: ...

        def run_body(
            self,
            graph: Graph,
            types: Sequence[Type | None],
            contents: Sequence[Content | None],
            *,
            varied: Set[int],
            certain: bool,
        ) -> list[Fact | None]: ...

        def begin(self) -> tuple[int, ...]: ...

        def undo(self, mark: tuple[int, ...]) -> None: ...

        def keep(self, mark: tuple[int, ...]) -> None: ...

        def let_go(self, body: Graph) -> LetGo: ...

        def tell(self, kind: str, what: object) -> None: ...


MOST_ELEMENTS = 1024
"""Contents are kept for tensors of at most this many elements."""

INTEGERS = frozenset(
    (
        DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64,
        DType.INT4, DType.UINT4, DType.INT2, DType.UINT2,
    )
)  # fmt: skip
UNSIGNED = frozenset((DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64, DType.UINT4, DType.UINT2))
FLOATS = frozenset((DType.FLOAT, DType.DOUBLE, DType.FLOAT16, DType.BFLOAT16))


@record
class Test:
    """An undecided comparison, as an element of a bool tensor."""

    expr: Expr
    equal: bool = False
    """Whether the test is `expr == 0`; else it is `expr >= 0`."""
    negated: bool = False
    """Whether the element is the opposite of the test."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Test)
            and other.expr == self.expr
            and other.equal == self.equal
            and other.negated == self.negated
        )

    def __hash__(self) -> int:
        return hash((self.expr, self.equal, self.negated))


@record
class Ratio:
    """`expr / divisor` exactly, as an element of a float tensor; the divisor is a positive number."""

    expr: Dim
    divisor: int = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ratio) and other.expr == self.expr and other.divisor == self.divisor

    def __hash__(self) -> int:
        return hash((self.expr, self.divisor))


@record
class Quotient:
    """The float nearest to `expr / divisor`, as an element of a float tensor: only its floor and ceiling are exact."""

    expr: Dim
    divisor: int
    """A positive number, no power of two."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quotient) and other.expr == self.expr and other.divisor == self.divisor

    def __hash__(self) -> int:
        return hash((Quotient, self.expr, self.divisor))


if TYPE_CHECKING:
    Element: TypeAlias = int | float | bool | bytes | Expr | Test | Ratio | Quotient | None
    Content: TypeAlias = tuple[Element, ...]


@record
class Fact:
    """The type of an output together with what is known of its elements."""

    type: Type | None
    content: Content | None = None
    """Elements in row-major order, one for each; None when nothing is known."""


class Untyped(Exception):
    """Ends a rule: it needs an input of which nothing is known."""


class Refused(Exception):
    """Ends a rule: the node cannot run."""

    def __init__(self, code: str, message: str, hint: str | None = None, attribute: str | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.hint = hint
        self.attribute = attribute


MISSING: Any = object()


class Call:
    """One node, as its rule sees it."""

    __slots__ = ("bound", "contents", "node", "opset", "scope", "service", "types")

    def __init__(self, service: Service, types: dict[Value, Type], contents: dict[Value, Content | None]) -> None:
        self.service = service
        self.scope = service.scope
        """The symbols of this inference: `scope.floordiv`, `scope.maximum`, `scope.broadcast` and so on."""
        self.types = types
        self.contents = contents
        self.node: Node = None  # type: ignore[assignment]  # set by the engine before every call
        self.opset = 0
        """The version imported for the node's domain."""
        self.bound: Mapping[Str, Attr] = {}
        """In a function body: what the call gives for the function's attributes, defaults included."""

    # --- inputs

    def value(self, at: Int) -> Value | None:
        """Return the value at an input position, None when omitted."""
        inputs = self.node.inputs
        return inputs[at] if at < len(inputs) else None

    @property
    def count(self) -> Int:
        """Number of actual inputs, omitted ones before the last included."""
        return len(self.node.inputs)

    def has(self, at: Int) -> bool:
        """Return whether an input is given."""
        inputs = self.node.inputs
        return at < len(inputs) and inputs[at] is not None

    def tensor(self, at: Int) -> TensorType:
        """Return the type of a required tensor input."""
        inputs = self.node.inputs
        if at < len(inputs):
            value = inputs[at]
            if value is not None:
                found = self.types.get(value)
                if found is None:
                    raise Untyped
                if isinstance(found, TensorType):
                    return found
                self.fail("wrong-kind", f"input {at} ({value.name!r}) is a {found.type_str}, not a tensor")
        return self.missing(at)

    def sequence(self, at: Int) -> SequenceType:
        """Return the type of a required sequence input."""
        found = self.any(at)
        if not isinstance(found, SequenceType):
            self.fail("wrong-kind", f"input {at} is a {found.type_str}, not a sequence")
        return found

    def any(self, at: Int) -> Type:
        """Return the type of a required input of any kind."""
        value = self.value(at)
        if value is None:
            self.missing(at)
        found = self.types.get(value)
        if found is None:
            raise Untyped
        return found

    def optional(self, at: Int) -> TensorType | None:
        """Return the type of an optional tensor input, None when omitted."""
        return self.tensor(at) if self.has(at) else None

    def peek(self, at: Int) -> Type | None:
        """Return the type of an input, None when omitted or not known; ends no rule."""
        inputs = self.node.inputs
        return self.types.get(inputs[at]) if at < len(inputs) else None  # type: ignore[arg-type]  # None has no type

    def missing(self, at: Int) -> NoReturn:
        """Refuse the node: a required input is not given."""
        self.fail("missing-input", f"input {at} is required, but is not given")

    def known(self, at: Int) -> Content | None:
        """Return what is known of the elements of an input; None when nothing is known, or it is omitted."""
        inputs = self.node.inputs
        if at >= len(inputs):
            return None
        value = inputs[at]
        found = self.contents.get(value, MISSING)  # type: ignore[arg-type]  # None has no contents
        if found is not MISSING:
            return found
        return None if value is None else self.service.content_of(value)

    def content(self, at: Int) -> Content | None:
        """Return the elements of an input whenever their number is known, unknown ones included.

        An unknown integer element is a signed symbol: asked for twice, it is the same one. None when the input is
        omitted, or its number of elements is not known or over `MOST_ELEMENTS`.
        """
        found = self.known(at)
        if found is not None:
            return found
        value = self.value(at)
        if value is None:
            return None
        kind = self.types.get(value)
        if not isinstance(kind, TensorType) or kind.shape is None:
            return None
        count = 1
        for dim in kind.shape:
            if not isinstance(dim, int):
                return None
            count *= dim
        if count > MOST_ELEMENTS:
            return None
        if kind.dtype in INTEGERS:
            signed = kind.dtype not in UNSIGNED
            found = tuple(self.scope.fresh(signed=signed) for _ in range(count))
        else:
            found = (None,) * count
        self.contents[value] = found
        return found

    def scalar(self, at: Int) -> Element:
        """Return the one element of an input, None when it is omitted or nothing is known of it."""
        found = self.content(at)
        return found[0] if found is not None and len(found) == 1 else None

    # --- attributes

    def attr(self, name: Str, kind: AttrKind, default: T) -> Any | T:
        """Return an attribute's value, a reference resolved; refuse one of another kind."""
        found = self.node.attrs.get(name)
        if type(found) is AttrRef:
            found = self.bound.get(found.ref)
        if found is None:
            return default
        if found.kind is not kind:
            self.fail("attribute-kind", f"is {found.kind.name}, must be {kind.name}", attr=name)
        return found.value

    def int(self, name: Str, default: Any = MISSING) -> Any:
        """Return an INT attribute."""
        found = self.node.attrs.get(name)
        if type(found) is Attr and found.kind is AttrKind.INT:  # most often
            return found.content
        return self.required(name, self.attr(name, AttrKind.INT, default))

    def ints(self, name: Str, default: Any = MISSING) -> Any:
        """Return an INTS attribute as a tuple."""
        found = self.node.attrs.get(name)
        if type(found) is Attr and found.kind is AttrKind.INTS:
            return found.content
        return self.required(name, self.attr(name, AttrKind.INTS, default))

    def float(self, name: Str, default: Any = MISSING) -> Any:
        """Return a FLOAT attribute."""
        return self.required(name, self.attr(name, AttrKind.FLOAT, default))

    def floats(self, name: Str, default: Any = MISSING) -> Any:
        """Return a FLOATS attribute as a tuple."""
        return self.required(name, self.attr(name, AttrKind.FLOATS, default))

    def str(self, name: Str, default: Any = MISSING) -> Any:
        """Return a STRING attribute as text."""
        found = self.required(name, self.attr(name, AttrKind.STRING, default))
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else found

    def strings(self, name: Str, default: Any = MISSING) -> Any:
        """Return a STRINGS attribute as a tuple of bytes."""
        return self.required(name, self.attr(name, AttrKind.STRINGS, default))

    def dtype(self, name: Str, default: Any = MISSING) -> DType:
        """Return an INT attribute that is an element type."""
        code: Int = self.int(name, default)
        if not 0 < code < len(DTYPES):
            self.fail("bad-element-type", f"{code} is not an element type", attr=name)
        return DTYPES[code]

    def tensor_attr(self, name: Str) -> Tensor | None:
        """Return a TENSOR attribute, None when absent."""
        return self.attr(name, AttrKind.TENSOR, None)

    def graph(self, name: Str) -> Graph:
        """Return a GRAPH attribute."""
        found: Graph = self.required(name, self.attr(name, AttrKind.GRAPH, MISSING))
        return found  # for the type

    def required(self, name: Str, found: Any) -> Any:
        """Refuse a node that lacks a required attribute."""
        if found is MISSING:
            self.fail("missing-attribute", f"attribute {name!r} is required, but is not given", attr=name)
        return found

    # --- outputs

    @property
    def outputs(self) -> Int:
        """Number of outputs the node lists, omitted ones before the last included."""
        return len(self.node.outputs)

    def wants(self, at: Int) -> bool:
        """Return whether an output is wanted."""
        outputs = self.node.outputs
        return at < len(outputs) and outputs[at] is not None

    # --- dims

    def fresh(self, hint: Str | None = None, *, signed: bool = False) -> Symbol:
        """Return a dim of which nothing is known: a symbol equal only to itself, at least 0 unless `signed`."""
        return self.scope.fresh(hint, signed=signed)

    def axis(self, axis: Int, rank: Int, what: Str = "axis", attr: Str | None = None) -> Int:
        """Return an axis counted from the front; refuse one outside `[-rank, rank)`."""
        if not -rank <= axis < rank:
            self.fail("axis-out-of-range", f"{what} {axis} is out of range for rank {rank}", attr=attr)
        return axis + rank if axis < 0 else axis

    def assume(self, kind: Str, a: Dim, b: Dim = 0) -> None:
        """Record what the answer depends on and a run implies; see `Inference.assumptions` for the kinds."""
        self.service.assume(kind, a, b)

    def warn(self, code: Str, message: Str) -> None:
        """Note something odd about the node without ending the rule."""
        self.service.warn(code, message)

    def run_body(
        self,
        graph: Graph,
        types: Sequence[Type | None],
        contents: Sequence[Content | None] = (),
        *,
        varied: Set[Int] = frozenset(),
        certain: bool = True,
    ) -> list[Fact | None]:
        """Infer a body whose inputs have these types and contents; return what is known of its outputs.

        Declared types are not taken for the inputs at the positions `varied`: they differ between iterations. Without
        `certain` the body may never run, so that what its nodes imply of sizes is taken back in the end. What a pass
        notes that turns out not to be the last is taken back between `service.begin` and `service.undo`.
        """
        return self.service.run_body(graph, types, contents, varied=varied, certain=certain)

    def fail(self, code: Str, message: Str, *, attr: Str | None = None, hint: Str | None = None) -> NoReturn:
        """Refuse the node: it cannot run. The message is one sentence; the engine adds the place."""
        raise Refused(code, message, hint, attr)
