"""How far a release has got, and how somebody steers it."""

from enum import StrEnum

import msgspec
from msgspec.structs import replace


class Status(StrEnum):
    """Where a release stands. Overtaken: a newer commit goes on from where this one had got."""

    RUNNING = "running"
    HALTED = "halted"
    DONE = "done"
    OVERTAKEN = "overtaken"
    ABORTED = "aborted"


class Progress(msgspec.Struct, frozen=True):
    """How far a commit has got. `since` is when the stage was offered it, `well` since when it is well there.

    What failed before `forgiven` is to be tried again. `why` says what halted it. Times are in seconds.
    """

    commit: str
    since: float
    stage: int = 0
    well: float | None = None
    status: Status = Status.RUNNING
    forgiven: float = 0.0
    why: str = ""


def resumed(progress: Progress, now: float) -> Progress:
    """A halted release goes on, once what failed until now has come through."""
    return replace(progress, status=Status.RUNNING, forgiven=now, well=None, why="")


def aborted(progress: Progress) -> Progress:
    """Nodes that have the commit get the one before it again."""
    return replace(progress, status=Status.ABORTED)


def overtaken(progress: Progress) -> Progress:
    """A newer commit is there: nobody else gets this one."""
    return replace(progress, status=Status.OVERTAKEN)
