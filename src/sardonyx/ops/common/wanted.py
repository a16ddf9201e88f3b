"""Take sizes that a node asks for or implies: elements of a tensor, equal parts of a whole, dims that must be equal."""

from __future__ import annotations

from sardonyx.dims import Expr, TooLarge
from sardonyx.ops.common.sizes import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call, Content, Element


def same(call: Call, a: Dim, b: Dim, what: str) -> Dim:
    """Return the one size of two dims; `what` words them for a message: "channels of X and of W"."""
    if a is b or a == b:
        return a
    return joined(call, a, b, f"{what} must be equal, but are {a} and {b}")


def share(call: Call, whole: Dim, parts: int, what: str) -> Dim:
    """Return `whole / parts` where a run implies that it comes out even: a hidden size by a number of heads."""
    if parts < 1:
        call.fail("bad-attribute", f"{what} cannot be split in {parts} parts")
    try:
        return call.scope.exact_div(whole, parts)
    except ValueError:
        call.fail("bad-input", f"{what} is {whole}, which is no multiple of {parts}")
    except TooLarge:
        return call.fresh()


def size_of(call: Call, element: Element, what: str) -> Dim:
    """Return an element of an integer tensor as a size; refuse a negative number."""
    if isinstance(element, Expr):
        return element
    if not isinstance(element, int):
        return call.fresh()
    if element < 0:
        call.fail("bad-input", f"{what} is {element}, but a size cannot be negative")
    return element


def sizes_of(call: Call, content: Content, what: str) -> tuple[Dim, ...]:
    """Return the elements of an integer tensor as sizes."""
    return tuple(size_of(call, element, what) for element in content)


def fresh_dims(call: Call, count: int) -> tuple[Dim, ...]:
    """Return dims of which nothing is known."""
    return tuple(call.fresh() for _ in range(count))
