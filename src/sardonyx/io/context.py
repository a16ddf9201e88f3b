"""Carry what every step of one load needs: the input, the limits, the symbols, and what to do about a fault."""

from __future__ import annotations

from sardonyx.errors import Issue, OnnxError, Place
from sardonyx.wire.locate import with_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Scope
    from sardonyx.io.external import ExternalFiles
    from sardonyx.ir.source import Lifetime, Source
    from sardonyx.limits import Limits


class Context:
    """One load in progress.

    A fault goes to `fault`: in strict mode it is raised, in collecting mode (`sx.check`) it is noted and the caller
    goes on with the best it can make of the input.
    """

    __slots__ = ("collect", "files", "issues", "lifetime", "limits", "scope", "source")

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

    def fault(self, problem: OnnxError) -> None:
        """Raise a fault, or note it when collecting; the input's name is filled in.

        Raises:
            OnnxError: in strict mode.
        """
        issue = self.placed(problem.issue)
        if not self.collect:
            raise OnnxError(*with_paths([issue], self.source.data()))
        self.issues.append(issue)

    def placed(self, issue: Issue) -> Issue:
        """Fill in the input's name.

        Finding the field path of an offset takes a walk through the file. `fault` takes it for the fault that it
        raises; what is collected waits until all paths can be found in one walk (see findings.py).
        """
        return issue.within(Place(source=self.source.name))

    def warn(self, code: str, message: str, place: Place, hint: str | None = None) -> None:
        """Note something odd but defined."""
        self.issues.append(self.placed(Issue(code, message, place, hint, "warning")))
