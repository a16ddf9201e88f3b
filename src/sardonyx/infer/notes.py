"""Note what one inference finds beside types: issues, assumptions, constraints; and take back what does not count.

A loop's body is walked until its states settle, and only the last pass counts; a branch that a known condition never
takes counts for nothing. What was noted since `begin` goes with `undo`, what the scope learned included.
"""

from __future__ import annotations

from itertools import islice

from sardonyx.errors import Issue, OnnxError, Place, node_label
from sardonyx.infer.activation import Activation, Level
from sardonyx.infer.scope import InferenceScope
from sardonyx.ops.common.widening import LetGo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim, Symbol
    from sardonyx.infer.events import Log
    from sardonyx.ir.graph import Graph, Model, Node, Value

    Spot = tuple[Level, int, Node | None]


class Notes:
    """What an inference noted so far, and where it is."""

    def __init__(self, model: Model, strict: bool, unify: bool, log: Log | None) -> None:
        self.model = model
        self.scope = InferenceScope(model.scope, self, unify)
        self.strict = strict
        self.log = log
        self.activation: Activation = None  # type: ignore[assignment]  # set when the main graph is entered
        self.level = Level(model.graph, None, None, 0, None)
        self.index = 0
        """Position of the node in hand in its graph."""
        self.issues: list[Issue] = []
        self.spots: list[Level] = []
        """Where each issue was found."""
        self.assumptions: dict[tuple[str, Dim, Dim], Spot | Value] = {}
        """(kind, a, b) to the place, or value, that first needed it."""
        self.constraints: dict[tuple[str, Dim, Dim], Spot | Value] = {}
        """(`==` or `>=`, a, b), which a claim or a rule says, to the value or place that said so first."""
        self.renames: dict[Symbol, Dim] = {}
        """Anonymous symbols that a claim gives a name or number."""
        self.phrases: dict[Symbol, Symbol] = {}
        """Anonymous symbols that a claim calls by a calculation that cannot be read; a name goes before."""
        self.equalities: list[tuple[Dim, Dim]] = []
        """Inferred dims with anonymous symbols in them, and what a claim says of each."""
        self.used: set[Dim] = set()
        """Declared names that were given to an anonymous symbol."""
        self.made: list[Activation] = []
        """Calls in passes that may not count, in the order in which what they came to was reached, for `undo`."""
        self.tentative = 0
        """How many passes that may not count are under way."""
        self.singly = 0
        """How many bodies under way are run for one element of a sequence alone."""
        self.lessons: dict[object, LetGo] = {}
        """What loops had to let go in the outermost pass that may not count, by their bodies and the way there."""
        self.rehearsing = False
        """Whether a rule is only asked whether it refuses its node."""
        self.doubtful = 0
        """How many bodies that may never run are under way."""
        self.supposing = False
        """Whether the inequality that the scope is told is what a run of a node implies, and no definition."""
        self.revised = False
        """Whether the scope was ever told to forget something."""

    # ------------------------------------------------------------------ what is noted

    def assume(self, kind: str, a: Dim, b: Dim) -> None:
        """Note something that a run implies and an answer depends on."""
        if isinstance(a, int) and isinstance(b, int):
            return
        key = (kind, a, b)
        if key not in self.assumptions:
            self.assumptions[key] = (self.level, self.index, self.activation.call.node)
        elif not self.revised:
            return
        if kind == "joined-dims":
            self.scope.join(a, b)
        elif kind == "window-fits":
            self.suppose(a, b)
        elif kind == "divisor-not-zero" and self.scope.at_least(a, 0):
            self.suppose(a, 1)

    def suppose(self, a: Dim, b: Dim) -> None:
        """Let the scope know `a >= b`, which a run of the node in hand implies; see `doubt`."""
        if self.scope.at_least(a, b) is None:
            self.supposing = True
            self.scope.note_at_least(a, b)
            self.supposing = False

    def constrain(self, relation: str, a: Dim, b: Dim) -> None:
        """Note an equality or inequality that holds in every run; rules state one through the scope."""
        key = (relation, a, b)
        if key not in self.constraints:
            node = None if self.activation is None else self.activation.call.node
            self.constraints[key] = (self.level, self.index, node)
            if self.log is not None:
                self.log.note(self, "bound" if relation == ">=" else "constraint", None, a, b)

    def tell(self, kind: str, what: object) -> None:
        """Note a step of a rule for the log: the branch that is taken, a state that is joined."""
        if self.log is not None:
            self.log.note(self, kind, None, None, what)

    # ------------------------------------------------------------------ passes that may turn out not to count

    def begin(self) -> tuple[int, ...]:
        """Start a pass over a body that may not be the last; `undo` or `keep` ends it."""
        self.tentative += 1
        return (len(self.issues), len(self.assumptions), len(self.constraints), len(self.equalities), len(self.made),
                0 if self.log is None else len(self.log.events), len(self.scope.journal))  # fmt: skip

    def undo(self, mark: tuple[int, ...]) -> None:
        """Forget what was noted since the mark."""
        self.tentative -= 1
        del self.issues[mark[0] :], self.spots[mark[0] :]
        for noted, count in ((self.assumptions, mark[1]), (self.constraints, mark[2])):
            while len(noted) > count:
                noted.popitem()
        del self.equalities[mark[3] :]
        revised = self.scope.undo(mark[6])
        self.revised = self.revised or revised
        for call in self.made[mark[4] :]:
            call.undone = True
            call.void = call.void or revised
        del self.made[mark[4] :]
        if self.log is not None:
            del self.log.events[mark[5] :]
        if not self.tentative:
            self.lessons.clear()

    def keep(self, mark: tuple[int, ...]) -> None:
        """Let what was noted since the mark stand; in strict mode its first error is raised now."""
        self.tentative -= 1
        if self.strict and not self.tentative:
            for issue in islice(self.issues, mark[0], None):
                if issue.severity == "error":
                    raise OnnxError(issue)
        if not self.tentative:
            self.lessons.clear()
            if not self.doubtful:
                self.scope.journal.clear()
                self.made.clear()
            if self.log is not None:
                self.log.flush()

    def doubt(self) -> tuple[int, int]:
        """Start a body that may never run: what its nodes imply holds nowhere else; `believe` ends it."""
        self.doubtful += 1
        return len(self.scope.journal), len(self.made)

    def believe(self, mark: tuple[int, int]) -> None:
        """Take back what nodes implied since the mark, for what is walked from here on; assumptions stay listed."""
        self.doubtful -= 1
        if self.scope.take_back(mark[0]):
            self.revised = True
            for call in self.made[mark[1] :]:
                call.void = True
        if not self.doubtful and not self.tentative:
            self.scope.journal.clear()
            self.made.clear()

    def let_go(self, body: Graph) -> LetGo:
        """Return what the loop in hand had to let go, for it to add to; forgotten with the outermost pass."""
        return LetGo() if self.rehearsing else self.lessons.setdefault((body, self.level.nearest), LetGo())

    # ------------------------------------------------------------------ trouble

    def warn(self, code: str, message: str) -> None:
        """Note something odd about the node in hand."""
        self.issue(code, message, "warning")

    def issue(
        self, code: str, message: str, severity: str, hint: str | None = None, attribute: str | None = None
    ) -> None:
        """Record an issue at the node in hand; in strict mode, raise an error."""
        node = self.activation.call.node
        label = None if node is None else node_label(node.name, node.op_type, self.index)
        place = Place(source=self.model.source, graph=self.level.text, node=label, attribute=attribute)
        self.add(Issue(code, message, place, hint, severity))

    def issue_of(self, value: Value, code: str, message: str) -> None:
        """Record an issue of a value, when the walk is over."""
        self.issues.append(Issue(code, message, Place(source=self.model.source, value=value.name), severity="warning"))
        self.spots.append(self.level)

    def add(self, issue: Issue) -> None:
        """Record an issue; in strict mode, raise an error unless the pass may not count."""
        if self.strict and issue.severity == "error" and not self.tentative:
            raise OnnxError(issue)
        self.issues.append(issue)
        self.spots.append(self.level)
        if self.log is not None:
            self.log.note(self, "issue", None, None, issue)
