"""Count how much is known of a model's values."""

from __future__ import annotations

from sardonyx.ir.types import MapType, OptionalType, SequenceType, TensorType
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

    from sardonyx.dims import Dim, Symbol
    from sardonyx.infer.frames import Frame
    from sardonyx.infer.inference import Inference
    from sardonyx.ir.graph import Value
    from sardonyx.ir.types import Type


@record
class Coverage:
    """How much is known of the values of the main graph and its bodies."""

    values: int
    """Values there are."""
    typed: int
    """Values whose kind and element type is known, down to the tensors that they are made of."""
    ranked: int
    """Values whose rank is known, too; of sequences, optionals and maps that of all that they are made of."""
    expressed: int
    """Ranked values each of whose dims and lengths is a number or written in names that the model's inputs declare."""
    dims: int
    """Dims and lengths of all ranked values."""
    known: int
    """Dims that are numbers or written in declared names."""
    distinct: int
    """Different dims among them that are no numbers."""
    unknown: tuple[tuple[str, str], ...]
    """Values that are not expressed: (name, with the way to its body; what is known)."""

    def __str__(self) -> str:
        return (
            f"{self.values} values: {share(self.typed, self.values)} typed, {share(self.ranked, self.values)} ranked, "
            f"{share(self.expressed, self.values)} with every dim expressed; {self.distinct} distinct symbolic dims"
        )


def share(part: int, whole: int) -> str:
    """Word a part of a whole in percent; rounding never makes 100 of less."""
    if part == whole:
        return "100%"
    return f"{min(99.9, 100 * part / whole):.1f}%"


def cover(inference: Inference) -> Coverage:
    """Count the values of the main graph and of every body in it, functions' values aside."""
    from sardonyx.infer.frames import main_frame

    values = typed = ranked = expressed = dims = known = 0
    distinct: dict[object, None] = {}
    unknown: list[tuple[str, str]] = []
    named = {
        symbol
        for dim in inference.engine.scope.input_dims
        if not isinstance(dim, int)
        for symbol in dim.symbols
        if not symbol.anonymous
    }
    waiting = [main_frame(inference)]
    while waiting:
        frame = waiting.pop()
        waiting.extend(below for below in reversed(list(frame.steps())) if below.level.attribute is not None)
        for value in frame.graph.values:
            values += 1
            kind = frame.type(value)
            parts = Parts(kind, frame.content(value) == (False,) if isinstance(kind, OptionalType) else False)
            clear = 0
            if parts.typed:
                typed += 1
                if parts.ranked:
                    ranked += 1
                    dims += len(parts.dims)
                    clear = sum(is_clear(dim, named) for dim in parts.dims)
                    known += clear
                    distinct.update(
                        {dim: None for dim in parts.dims if not isinstance(dim, int) and is_clear(dim, named)}
                    )
            if parts.ranked and clear == len(parts.dims):
                expressed += 1
            else:
                unknown.append((label(frame, value), "" if kind is None else str(kind)))
    return Coverage(values, typed, ranked, expressed, dims, known, len(distinct), tuple(unknown))


class Parts:
    """What a type is made of: whether all of it has an element type and a rank, and the dims and lengths in it."""

    def __init__(self, kind: Type | None, is_empty: bool) -> None:
        self.typed = self.ranked = True
        self.dims: list[Dim | None] = []
        waiting: list[tuple[Type | None, bool]] = [(kind, is_empty)]
        while waiting:
            part, is_empty = waiting.pop()
            if part is None:
                self.typed = False
            elif isinstance(part, TensorType):
                self.typed = self.typed and part.dtype is not None
                if part.shape is not None:
                    self.dims += part.shape if not is_empty else ()
                elif not is_empty:
                    self.ranked = False
            elif isinstance(part, SequenceType):
                if part.elements:
                    waiting += [(one, is_empty) for one in part.elements]
                else:  # the elements of an empty sequence have no shape to know
                    waiting.append((part.elem, is_empty or part.elements is not None or part.length == 0))
                    if not is_empty and part.elements is None:
                        self.dims.append(part.length)
            elif isinstance(part, OptionalType):
                waiting.append((part.elem, is_empty))
            elif isinstance(part, MapType):
                self.typed = self.typed and part.key is not None
                waiting.append((part.value, is_empty))
        self.ranked = self.ranked and self.typed


def is_clear(dim: Dim | None, named: Set[Symbol]) -> bool:
    """Whether a dim or length is a number or written in declared names."""
    if dim is None or isinstance(dim, int):
        return dim is not None
    return all(symbol in named for symbol in dim.symbols)


def label(frame: Frame, value: Value) -> str:
    """Name a value with the way to its body."""
    way = frame.level.text
    return f"{way} > {value.name}" if way else value.name
