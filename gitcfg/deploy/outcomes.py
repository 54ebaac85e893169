"""What becomes of a node in a deploy: one word for each, what it weighs for all others, and errors."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from gitcfg.model import GitcfgError

_SOME_FAILED = 3


class Outcome(StrEnum):
    """What became of a node: one word, and each node has exactly one.

    Differs is said by a dry run. Refused: by the node's policy, by a hold, or because an agent is there;
    nothing was touched. Reverted and failed are the installation's own. Lost: the connection ended in the
    middle, and timeout: it took too long; what stands is told by the next run. Skipped: it was not begun.
    """

    OK = "ok"
    UNCHANGED = "unchanged"
    DIFFERS = "differs"
    REFUSED = "refused"
    REVERTED = "reverted"
    FAILED = "failed"
    FULL = "full"
    BUSY = "busy"
    SUDO = "sudo"
    NO_PYTHON = "no-python"
    TIMEOUT = "timeout"
    LOST = "lost"
    AUTH = "auth"
    HOST_KEY = "host-key"
    UNREACHABLE = "unreachable"
    SKIPPED = "skipped"


class Weight(StrEnum):
    """What an outcome means for whether others are begun: aside means nothing."""

    WELL = "well"
    FAILED = "failed"
    UNREACHED = "unreached"
    ASIDE = "aside"


WELL = frozenset((Outcome.OK, Outcome.UNCHANGED, Outcome.DIFFERS))
"""The node was reached, and there is nothing to be worried about."""
_UNREACHED = frozenset((Outcome.UNREACHABLE, Outcome.HOST_KEY, Outcome.AUTH))


class EndReason(StrEnum):
    """How a run ends: `limit` is that too much went wrong, `interrupted` that a person wanted it.

    `output` is that what it says cannot be written any more, `fault` one of gitcfg's own.
    """

    DONE = "done"
    LIMIT = "limit"
    INTERRUPTED = "interrupted"
    OUTPUT = "output"
    FAULT = "fault"


class Result(msgspec.Struct, frozen=True):
    """What became of a node. `message` is a sentence, `hint` says what to do about it.

    `step` is the step that failed and `output` the end of what it said. `commit` and `digest` are what is in
    force now, None where nobody knows; `before` is the commit that was. `differences` (a dry run's) are by
    path. `agent` is the one that is there: none, `installed` or `running`. `sent` and `received` are bytes.
    """

    node: str
    outcome: Outcome
    batch: int = 0
    message: str = ""
    hint: str = ""
    step: str = ""
    output: str = ""
    seconds: float = 0.0
    before: str | None = None
    commit: str | None = None
    digest: str | None = None
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    restarted: tuple[str, ...] = ()
    reloaded: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    differences: Mapping[str, str] = {}
    agent: str = ""
    sent: int = 0
    received: int = 0

    @property
    def weight(self) -> Weight:
        """What it means for the others. Who has an agent says nothing of how the commit fares."""
        if self.outcome in WELL:
            return Weight.WELL
        if self.outcome in _UNREACHED:
            return Weight.UNREACHED
        spared = self.outcome is Outcome.REFUSED and self.agent and not self.step
        aside = self.outcome is Outcome.SKIPPED or spared
        return Weight.ASIDE if aside else Weight.FAILED


def group_by_outcome(results: Iterable[Result]) -> dict[Outcome, tuple[Result, ...]]:
    """Group results by outcome, in the order of the outcomes, and in each by name."""
    found: dict[Outcome, list[Result]] = {outcome: [] for outcome in Outcome}
    for result in results:
        found[result.outcome].append(result)
    return {outcome: tuple(sorted(some, key=lambda one: one.node)) for outcome, some in found.items() if some}


class FarError(GitcfgError):
    """The far end could not do what it was asked for, and nothing was touched; `kind` is the outcome."""

    def __init__(self, kind: Outcome, message: str, *hints: str) -> None:
        super().__init__(message, *hints, code=_SOME_FAILED)
        self.kind = kind


class Unreadable(FarError):
    """What the node says is not what the far end of a deploy says."""

    def __init__(self, why: str = "") -> None:
        super().__init__(Outcome.REFUSED, " ".join(("Cannot read the node's answer.", why)).rstrip())


class Noisy(FarError):
    """The node's login writes without an end, so that the far end is not heard."""

    def __init__(self) -> None:
        hint = "A login without a terminal must print nothing: check the startup files of its shell."
        message = "The node's login prints too much output."
        super().__init__(Outcome.REFUSED, message, hint)


class NoPython(FarError):
    """There is no Python on the node that could run the far end."""

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(Outcome.NO_PYTHON, message, *hints)


class LineLost(FarError):
    """The line ended too early.

    `after` is the last step that was heard of, "" where the installation cannot have begun: a node is as it
    was then. Otherwise it goes on by itself, and the next `Hello` has its report.
    """

    def __init__(self, message: str, *hints: str, after: str = "") -> None:
        super().__init__(Outcome.LOST, message, *hints)
        self.after = after
