"""Let a scope tell the inference what rules record in it, and merge names where the caller asked for it."""

from __future__ import annotations

import re

from sardonyx.dims import Scope
from sardonyx.dims.expr import Expr, Symbol
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

    from sardonyx.dims import Dim
    from sardonyx.dims.expr import Atom
    from sardonyx.dims.pool import Pool
    from sardonyx.infer.notes import Notes

WORD = re.compile(r"\w+")
DIGITS = "0123456789"
LONGEST = 200
"""Characters of a label; what is longer is a name of the author's."""


@record
class Noted:
    """One thing that was recorded in a pass or a body that may not count."""

    what: Expr | tuple[Symbol, Dim]
    """What is not negative; or a symbol that was merged, and what stands for it."""
    atom: Atom | None
    """The atom that this bounds, None when it says more than that."""
    before: tuple[int | None, int | None]
    """Lower and upper bound of the atom until then."""
    supposed: bool
    """Whether a run of some node implies it, and nothing else."""


class InferenceScope(Scope):
    """The scope of one inference: a child of the model's."""

    __slots__ = ("engine", "input_dims", "input_names", "journal", "merged", "unify")

    def __init__(self, parent: Scope | None, engine: Notes, unify: bool) -> None:
        super().__init__(Scope() if parent is None else parent)
        self.engine = engine
        self.unify = unify
        self.merged: dict[Symbol, Dim] = {}
        """With `unify`: declared names and what stands for each."""
        self.input_dims: frozenset[Dim] = frozenset()
        """The dims that the main graph's inputs declare."""
        self.input_names: frozenset[str] = frozenset()
        self.journal: list[Noted] = []
        """What was recorded in passes that may not count, and what was known before."""

    def begin(self, dims: Set[Dim]) -> None:
        """Take in the dims that the main graph's inputs declare."""
        self.input_dims = frozenset([dim for dim in dims if isinstance(dim, int) or self.is_own(dim)])
        self.input_names = frozenset([one.name for one in symbols_in(self.input_dims) if not one.anonymous])

    def number(self, dims: Set[Dim]) -> None:
        """Let the names of anonymous symbols be numbered after those of the inputs, which have these dims.

        They are numbered as they are asked for, and keep clear of the inputs' names only: so an inference of a model
        that was saved with what is known of it makes the same names as the inference before.
        """
        if self.parent is None or self.pool is self.parent.pool:
            return
        numbers = [one.number for one in symbols_in(dims) if one.anonymous and one.pool is not self.pool]
        numbers += [int(name[len(name.rstrip(DIGITS)) :]) for name in self.input_names if is_label(name)]
        self.pool.labels = max(numbers, default=-1) + 1
        self.pool.counted = self.input_names

    def is_made(self, name: str) -> bool:
        """Whether a declared name has a part that an inference made, and no input declares."""
        return "_" in name and any(is_label(word) and word not in self.input_names for word in WORD.findall(name))

    def is_own(self, dim: Expr) -> bool:
        """Whether a dim is written in the model's symbols or this inference's, not in those of another inference."""
        pool: Pool | None = self.pool
        while pool is not None:
            if pool is dim.pool:
                return True
            pool = pool.parent
        return False

    def note_at_least(self, a: Dim, b: Dim) -> bool:
        """Record `a >= b`, also as a constraint of the inference."""
        self.engine.constrain(">=", a, b)
        if self.engine.tentative or self.engine.doubtful:
            difference = a - b
            if isinstance(difference, int):
                return difference >= 0
            self.enter(difference, self.engine.supposing)
        return super().note_at_least(a, b)

    def enter(self, difference: Expr, supposed: bool) -> None:
        """Note in the journal what is about to be recorded."""
        atom = only_atom(difference)
        before = (None, None) if atom is None else (self.lows.get(atom), self.highs.get(atom))
        self.journal.append(Noted(difference, atom, before, supposed))

    def undo(self, mark: int) -> bool:
        """Forget what was recorded since the journal had `mark` entries: in a branch that never runs, for one.

        Returns whether there was anything to forget.
        """
        if len(self.journal) == mark:
            return False
        while len(self.journal) > mark:
            one = self.journal.pop()
            if isinstance(one.what, tuple):
                del self.merged[one.what[0]]
                continue
            atom = one.atom
            if atom is None:
                for monomial, coefficient in one.what.terms.items():
                    if coefficient < 0 and monomial:
                        self.facts[monomial].pop()
                        if not self.facts[monomial]:
                            del self.facts[monomial]  # a scope without facts is asked less
                continue
            for known, before in zip((self.lows, self.highs), one.before, strict=True):
                if before is not None:
                    known[atom] = before
                else:
                    known.pop(atom, None)
        self.forget()
        return True

    def take_back(self, mark: int) -> bool:
        """Forget what was supposed since the journal had `mark` entries, and nothing else; return whether it was."""
        noted = self.journal[mark:]
        if not any(one.supposed for one in noted):
            return False
        self.undo(mark)
        for one in noted:
            if isinstance(one.what, tuple):
                self.merged[one.what[0]] = one.what[1]
                self.journal.append(one)
            elif not one.supposed:
                self.enter(one.what, False)
                super().note_at_least(one.what, 0)
        return True

    def broadcast(self, *dims: Dim) -> Dim:
        """Return the dim that is not 1; with `unify`, two names become one."""
        if self.unify:
            wide = [dim for dim in dims if dim != 1]
            for dim in wide[1:]:
                if self.join(wide[0], dim):
                    self.engine.assume("joined-dims", wide[0], dim)
            if wide:
                return super().broadcast(*[self.settled(dim) for dim in wide])
        return super().broadcast(*dims)

    def join(self, a: Dim, b: Dim) -> bool:
        """With `unify`, let two dims be one from now on; return whether they were not."""
        if not self.unify:
            return False
        a, b = self.settled(a), self.settled(b)
        if a == b:
            return False
        if isinstance(b, Symbol) and not (isinstance(a, Expr) and b in a.symbols):
            symbol, other = b, a
        elif isinstance(a, Symbol) and not (isinstance(b, Expr) and a in b.symbols):
            symbol, other = a, b
        else:
            return False
        self.merged[symbol] = other
        if self.engine.tentative or self.engine.doubtful:
            self.journal.append(Noted((symbol, other), None, (None, None), False))
        return True

    def settled(self, dim: Dim) -> Dim:
        """Return what stands for a dim."""
        passed: list[Symbol] = []
        while isinstance(dim, Symbol) and dim in self.merged:
            passed.append(dim)
            dim = self.merged[dim]
        if len(passed) > 1 and not (self.engine.tentative or self.engine.doubtful):  # the next one has a shorter way
            self.merged.update(dict.fromkeys(passed, dim))
        return dim


def only_atom(difference: Dim) -> Atom | None:
    """Return the atom of which a difference bounds a multiple, None when it says more than that."""
    if isinstance(difference, int):
        return None
    atoms = [monomial for monomial in difference.terms if monomial]
    return atoms[0][0] if len(atoms) == 1 and len(atoms[0]) == 1 else None


def is_label(name: str) -> bool:
    """Whether a name is one that anonymous symbols print with: a file may hold such, of an inference that was saved."""
    return name[:1] == "_" and name[-1] in DIGITS and len(name) <= LONGEST


def symbols_in(dims: Set[Dim]) -> set[Symbol]:
    """Return the symbols that dims are made of."""
    found: set[Symbol] = set()
    for dim in dims:
        if isinstance(dim, Symbol):
            found.add(dim)
        elif not isinstance(dim, int):
            found.update(dim.symbols)
    return found
