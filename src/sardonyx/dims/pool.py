"""Keep every expression once, so that equal ones are the same object and no operation is done twice."""

from __future__ import annotations

from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sardonyx.dims.expr import Atom, Dim, Expr, Symbol


class Pool:
    """Expressions over the symbols of one model, or over those of one inference, whose pool descends from it.

    An expression lives in the innermost pool among those of its symbols. What an inference made is therefore gone with
    its pool, and the model's own pool only grows by what its own symbols form.
    """

    __slots__ = (
        "atoms", "counted", "depth", "floors", "labels", "numbers", "parent", "printed", "products", "quotients",
        "serials", "sums", "sums_kept", "taken",
    )  # fmt: skip

    def __init__(self, parent: Pool | None = None) -> None:
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.atoms: dict[object, Atom] = {}
        self.sums_kept: dict[object, Expr] = {}
        # Results by operands.
        self.sums: dict[object, Dim] = {}
        self.products: dict[object, Dim] = {}
        self.quotients: dict[object, Dim] = {}
        self.floors: dict[object, tuple[Dim, int, Dim | None, int]] = {}
        """What `divide.floor_form` makes of an expression and a number."""
        self.serials: Iterator[int] = count() if parent is None else parent.serials
        # Names: those that are declared, and those that anonymous symbols were printed with. Numbers start where the
        # parent's ended, so that two inferences over one model print alike.
        self.taken: set[str] = set()
        self.printed: dict[str, Symbol] = {}
        self.numbers: int = 0 if parent is None else parent.numbers
        self.counted: Collection[str] | None = None
        """Declared names of ancestors that an anonymous symbol here must not have; None for all."""
        self.labels: int | None = None
        """The number in the next name, where names are numbered as they are asked for; else a symbol's own is."""

    def declare(self, name: str) -> None:
        """Take a name; an anonymous symbol that was printed with it prints with another from now on."""
        self.taken.add(name)
        printed = self.printed.pop(name, None)
        if printed is not None:
            printed.given = None

    def number(self) -> int:
        """Return the number of the next anonymous symbol."""
        self.numbers += 1
        return self.numbers - 1

    def unused_name(self, symbol: Symbol) -> str:
        """Return the name an anonymous symbol prints with: an identifier that nothing else in sight is called."""
        hint = "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in symbol.hint)
        if hint[-1:].isdigit() or hint[-1:] == "_":
            hint += "_"  # where it ends and the number begins
        number = symbol.number if self.labels is None else self.labels
        while self.knows(name := f"_{hint}{number}"):
            number = self.number() if self.labels is None else number + 1
        if self.labels is not None:
            self.labels = number + 1
        self.printed[name] = symbol
        return name

    def knows(self, name: str) -> bool:
        """Whether a symbol of this pool, or of an ancestor if that counts, has this name."""
        up: Pool | None = self
        while up is not None:
            if name in up.printed:
                return True
            if name in up.taken and (up is self or self.counted is None or name in self.counted):
                return True
            up = up.parent
        return False


def inner(one: Pool, other: Pool) -> Pool:
    """Return whichever of two pools of one line is the descendant.

    Raises:
        ValueError: Neither descends from the other, so their symbols have nothing to do with each other.
    """
    deep, flat = (one, other) if one.depth >= other.depth else (other, one)
    up: Pool | None = deep
    while up is not None and up.depth > flat.depth:
        up = up.parent
    if up is not flat:
        raise ValueError("dims of two unrelated scopes cannot be combined")
    return deep
