"""Outcomes of nodes in a deploy: one word for each, its weight for the run, and errors."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from gitcfg.model import GitcfgError

_SOME_FAILED = 3


class Outcome(StrEnum):
    """The outcome of a node: one word, and each node has exactly one.

    Differs: in a dry run. Refused: by the node's policy, by a hold, or because of an agent; nothing was
    touched. Reverted and failed: as the installation's. Lost: the connection ended in the middle, and
    timeout: it took too long; the next run shows what the node has. Skipped: it was not begun.
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
    """The effect of an outcome on other nodes: the last one has none."""

    WELL = "well"
    FAILED = "failed"
    UNREACHED = "unreached"
    ASIDE = "aside"


WELL = frozenset((Outcome.OK, Outcome.UNCHANGED, Outcome.DIFFERS))
"""The outcomes of a node that was reached without a problem."""
_UNREACHED = frozenset((Outcome.UNREACHABLE, Outcome.HOST_KEY, Outcome.AUTH))


class EndReason(StrEnum):
    """How a run ends: `limit` after too many problems, `interrupted` by a person.

    `output` means that its output can no longer be written, `fault` is an error in gitcfg itself.
    """

    DONE = "done"
    LIMIT = "limit"
    INTERRUPTED = "interrupted"
    OUTPUT = "output"
    FAULT = "fault"


class Result(msgspec.Struct, frozen=True):
    """The result of a node. `message` is a sentence, `hint` an instruction.

    `step` is the step that failed and `output` the end of its output. `commit` and `digest` are now
    installed, None if unknown; `before` is the commit before. `differences` (of a dry run) are by path.
    `agent` is that of the node: none, `installed` or `running`. `sent` and `received` are bytes.
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
        """The effect on other nodes. A node with an agent shows nothing about the commit."""
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
    """The far end could not follow its order, and nothing was touched; `kind` is the outcome."""

    def __init__(self, kind: Outcome, message: str, *hints: str) -> None:
        super().__init__(message, *hints, code=_SOME_FAILED)
        self.kind = kind


class Unreadable(FarError):
    """The node's output is not from the far end of a deploy."""

    def __init__(self, why: str = "") -> None:
        super().__init__(Outcome.REFUSED, " ".join(("Cannot read the node's answer.", why)).rstrip())


class Noisy(FarError):
    """The node's login prints so much output that the far end's is not found."""

    def __init__(self) -> None:
        hint = "A login without a terminal must print nothing: check the startup files of its shell."
        message = "The node's login prints too much output."
        super().__init__(Outcome.REFUSED, message, hint)


class NoPython(FarError):
    """The node has no Python that can run the far end."""

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(Outcome.NO_PYTHON, message, *hints)


class LineLost(FarError):
    """The line ended too early.

    `after` is the last reported step, "" if the installation cannot have begun: the node is then unchanged.
    Otherwise the installation continues without the line, and the next `Hello` has its report.
    """

    def __init__(self, message: str, *hints: str, after: str = "") -> None:
        super().__init__(Outcome.LOST, message, *hints)
        self.after = after
