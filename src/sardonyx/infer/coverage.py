"""Count how much is known of a model's values."""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.infer.frames import Frame
    from sardonyx.infer.inference import Inference
    from sardonyx.ir.graph import Value


@record
class Coverage:
    """How much is known of the values of the main graph and its bodies."""

    values: int
    """Values there are."""
    typed: int
    """Values whose kind and element type is known."""
    ranked: int
    """Values whose rank is known, too; of those that are no tensors, all that are typed."""
    expressed: int
    """Ranked values each of whose dims is a number or written in the names that the model's inputs declare."""
    dims: int
    """Dims of all ranked tensors."""
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
    named = {symbol for dim in inference.engine.scope.input_dims if not isinstance(dim, int) for symbol in dim.symbols}
    waiting = [main_frame(inference)]
    while waiting:
        frame = waiting.pop()
        waiting.extend(below for below in reversed(list(frame.steps())) if below.level.attribute is not None)
        for value in frame.graph.values:
            values += 1
            kind = frame.type(value)
            if kind is None or (isinstance(kind, TensorType) and kind.dtype is None):
                unknown.append((label(frame, value), "" if kind is None else str(kind)))
                continue
            typed += 1
            if isinstance(kind, TensorType):
                if kind.shape is None:
                    unknown.append((label(frame, value), str(kind)))
                    continue
                dims += len(kind.shape)
                clear = 0
                for dim in kind.shape:
                    if isinstance(dim, int):
                        clear += 1
                    elif all(symbol in named and not symbol.anonymous for symbol in dim.symbols):
                        clear += 1
                        distinct[dim] = None
                known += clear
                if clear < len(kind.shape):
                    unknown.append((label(frame, value), str(kind)))
                else:
                    expressed += 1
            else:
                expressed += 1
            ranked += 1
    return Coverage(values, typed, ranked, expressed, dims, known, len(distinct), tuple(unknown))


def label(frame: Frame, value: Value) -> str:
    """Name a value with the way to its body."""
    way = frame.level.text
    return f"{way} > {value.name}" if way else value.name
