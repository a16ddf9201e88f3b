"""Write a rule as the documentation of an operator writes its shapes: `documented("0[b,s,_] 1[_,n] -> 0[b,s,n]")`.

Before the arrow stand inputs by position, with names for their dims; `_` is a dim that doesn't matter, `...` at the
front any number of axes. After it stand the outputs: the input that an output shares its element type with (or an
element type by name), and its dims: a name, a number, `@attr` for an INT attribute, `?` for what the data decides.
"""

from __future__ import annotations

from sardonyx.ir.types import DTYPES, DType, TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer, Rule

NAMED = {dtype.text: dtype for dtype in DTYPES}


def documented(text: str) -> Rule:
    """Return the rule that a text describes.

    An input with another number of axes than documented leaves the shapes of all outputs unknown, and so does one of
    unknown rank that is written with `...`.
    """
    before, _, after = text.partition("->")
    inputs = [(int(head), dims) for head, dims in map(parse, before.split())]
    outputs = [parse(word) for word in after.split()]

    def rule(call: Call) -> tuple[Answer, ...]:
        front, sizes, fits = matched(call, inputs)
        return tuple(
            TensorType(dtype_of(call, head), spelled(call, dims, front, sizes) if fits else None)
            for head, dims in outputs
        )

    rule.__doc__ = f"Answer as documented: {text}"
    return rule


def parse(word: str) -> tuple[str, tuple[str, ...]]:
    """Split `0[b,s]` into its head and its dims."""
    head, _, dims = word.partition("[")
    return head, tuple(dim for dim in dims.rstrip("]").split(",") if dim)


def matched(call: Call, inputs: list[tuple[int, tuple[str, ...]]]) -> tuple[Shape, dict[str, Dim], bool]:
    """Return what `...` stands for, the size of each name, and whether the inputs are as documented."""
    front: Shape = ()
    sizes: dict[str, Dim] = {}
    for at, dims in inputs:
        shape = shape_of(call, at)
        spread = dims[:1] == ("...",)
        if shape is None:
            if spread:
                return front, sizes, False
            continue
        names = dims[1:] if spread else dims
        extra = len(shape) - len(names)
        if extra < 0 or (extra and not spread):
            return front, sizes, False
        if spread:
            front = shape[:extra]
        for name, dim in zip(names, shape[extra:], strict=True):
            if name != "_":
                sizes.setdefault(name, dim)
    return front, sizes, True


def spelled(call: Call, dims: tuple[str, ...], front: Shape, sizes: dict[str, Dim]) -> Shape:
    """Return the shape that an output's dims spell."""
    found: list[Dim] = []
    for name in dims:
        if name == "...":
            found += front
        elif name.isdigit():
            found.append(int(name))
        elif name[0] == "@":
            size: int = call.int(name[1:])
            found.append(size if size >= 0 else call.fresh())
        else:
            known = sizes.get(name)
            if known is None:
                known = call.fresh()
                if name != "?":
                    sizes[name] = known
            found.append(known)
    return tuple(found)


def dtype_of(call: Call, head: str) -> DType | None:
    """Return the element type that an output's head names."""
    if head.isdigit():
        kind = call.peek(int(head))
        return kind.dtype if isinstance(kind, TensorType) else None
    return NAMED[head]


def shape_of(call: Call, at: int) -> Shape | None:
    """Return the shape of an input, None when it is omitted or its rank is not known."""
    kind = call.peek(at)
    return kind.shape if isinstance(kind, TensorType) else None
