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
    from sardonyx.wire.schema import Message


class Context:
    """One load in progress.

    A fault goes to `fault`: in strict mode it is raised, in collecting mode (`sx.check`) it is noted and the caller
    goes on with the best it can make of the input.
    """

    __slots__ = ("blamed", "collect", "files", "issues", "lifetime", "limits", "scope", "source")

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
        self.blamed: set[Message] = set()
        """Messages that the decoder shares and that faults were collected for."""

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

    def blame(self, count: int, message: Message, place: Place) -> bool:
        """Add `place` to what was collected since there were `count` issues; return whether there is any.

        Equal messages are decoded once and have the offset of the first. That of a later one is not known, so that its
        faults are told at the offset of `place`, which is what holds it.
        """
        found = self.issues[count:]
        if not found or not self.collect:
            return False
        if message in self.blamed:
            found = [issue.at(place.offset) for issue in found]
        self.blamed.add(message)
        self.issues[count:] = [issue.within(place) for issue in found]
        return True

    def warn(self, code: str, message: str, place: Place, hint: str | None = None) -> None:
        """Note something odd but defined."""
        self.issues.append(self.placed(Issue(code, message, place, hint, "warning")))
