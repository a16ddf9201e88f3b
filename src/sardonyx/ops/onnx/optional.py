"""Rules for optionals: what they hold is a type of its own, and whether they hold it is kept beside it.

What is known of the "elements" of an optional is one bool: whether it is there.
"""

from __future__ import annotations

from sardonyx.ir.attrs import AttrKind
from sardonyx.ir.types import DType, OptionalType, TensorType
from sardonyx.ops.call import Fact
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Call

rules = Rules("")


@rules("Optional", since=15)
def optional(call: Call) -> Fact:
    """Wrap a value; without one, the attribute `type` says what there would be."""
    if call.has(0):
        kind = call.any(0)
        if isinstance(kind, OptionalType):
            call.fail("wrong-kind", f"input 0 is a {kind.type_str} already")
        return Fact(OptionalType(kind), (True,))
    declared: Type | None = call.attr("type", AttrKind.TYPE_PROTO, None)
    if declared is None:
        call.fail("missing-attribute", "attribute 'type' is required when there is no input", attr="type")
    return Fact(declared if isinstance(declared, OptionalType) else OptionalType(declared), (False,))


@rules("OptionalHasElement", since=15)
def optional_has_element(call: Call) -> Fact:
    """Return whether a value is there; from opset 18 also of what is no optional, or not given."""
    result = TensorType(DType.BOOL, ())
    if not call.has(0):
        if call.opset < 18:
            call.missing(0)
        return Fact(result, (False,))
    kind = call.peek(0)
    if kind is not None and not isinstance(kind, OptionalType):
        if call.opset < 18:
            call.fail("wrong-kind", f"input 0 is a {kind.type_str}, not an optional")
        return Fact(result, (True,))
    known = call.known(0) if kind is not None else None
    return Fact(result, known if known is not None and len(known) == 1 else None)


@rules("OptionalGetElement", since=15)
def optional_get_element(call: Call) -> Fact | Type | None:
    """Return what an optional holds; from opset 18 also what is no optional, as it is."""
    kind = call.any(0)
    if isinstance(kind, OptionalType):
        if call.known(0) == (False,):
            call.fail("bad-input", "the optional is empty")
        return kind.elem
    if call.opset < 18:
        call.fail("wrong-kind", f"input 0 is a {kind.type_str}, not an optional")
    return Fact(kind, call.known(0))
