"""Carry what every step of one load needs: the input, the limits, the symbols, and what to do about a fault."""

from __future__ import annotations

from sardonyx.errors import Issue, OnnxError, Place
from sardonyx.wire.locate import locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Scope
    from sardonyx.io.external import ExternalFiles
    from sardonyx.ir.source import Lifetime, Source
    from sardonyx.limits import Limits

MOST_PATHS = 100
"""Faults of one input whose field path is looked up."""


class Context:
    """One load in progress.

    A fault goes to `fault`: in strict mode it is raised, in collecting mode (`sx.check`) it is noted and the caller
    goes on with the best it can make of the input.
    """

    __slots__ = ("collect", "files", "issues", "lifetime", "limits", "located", "scope", "source")

    def __init__(
        self,
        source: Source,
        limits: Limits,
        scope: Scope,
        files: ExternalFiles,
        lifetime: Lifetime,
        collect: bool = False,
    ) -> None:
        self.source = source
        self.limits = limits
        self.scope = scope
        self.files = files
        self.lifetime = lifetime
        self.collect = collect
        self.issues: list[Issue] = []
        self.located = 0

    def fault(self, problem: OnnxError) -> None:
        """Raise a fault, or note it when collecting; the input's name is filled in.

        Raises:
            OnnxError: in strict mode.
        """
        issue = self.placed(problem.issue)
        if not self.collect:
            raise OnnxError(issue)
        self.issues.append(issue)

    def placed(self, issue: Issue) -> Issue:
        """Fill in what the whole input tells about an issue's place: its name, and the field path of the offset.

        An offset is the start of a message's payload here, so the byte before it belongs to that message's field.
        Finding a path takes a walk through the file, so warnings do without, and so do faults after the first hundred.
        """
        place = issue.place
        path = None
        if place.path is None and place.offset is not None and issue.severity == "error" and self.located < MOST_PATHS:
            self.located += 1
            path = locate(self.source.data(), place.offset - 1) if place.offset > 0 else "ModelProto"
        return issue.within(Place(source=self.source.name, path=path))

    def warn(self, code: str, message: str, place: Place, hint: str | None = None) -> None:
        """Note something odd but defined."""
        self.issues.append(self.placed(Issue(code, message, place, hint, "warning")))
