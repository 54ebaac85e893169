"""How far a release has got: a pure function of what nodes have reported, and of the time."""

from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from gitcfg.rollout.plan import Plan

AWAY = 15 * 60.0
"""A node that was silent for so many seconds is away. Nobody waits for one that was when it began."""
PATIENCE = 15 * 60.0
"""How many seconds a node that is there has to report on a commit that it was offered."""


class Status(StrEnum):
    """Where a release stands. Overtaken: a newer commit goes on from where this one had got."""

    RUNNING = "running"
    HALTED = "halted"
    DONE = "done"
    OVERTAKEN = "overtaken"
    ABORTED = "aborted"


class Outcome(StrEnum):
    """What a node has made of a commit."""

    WELL = "well"
    FAILED = "failed"
    MISSING = "missing"
    PENDING = "pending"
    AWAY = "away"


class Seen(msgspec.Struct, frozen=True):
    """When a node was seen last, and since when without a gap; `failed` is when it last failed at the commit.

    Times are seconds since the epoch.
    """

    last: float
    present: float
    runs: bool = False
    failed: float | None = None


class Progress(msgspec.Struct, frozen=True):
    """How far a commit has got. `since` is when the stage was offered it, `well` since when it is well there.

    What failed before `forgiven` counts no more. `why` says what halted it. Times are seconds, as above.
    """

    commit: str
    since: float
    stage: int = 0
    well: float | None = None
    status: Status = Status.RUNNING
    forgiven: float = 0.0
    why: str = ""


class Tally(msgspec.Struct, frozen=True):
    """Nodes by what they have made of a commit."""

    well: int = 0
    failed: int = 0
    missing: int = 0
    pending: int = 0
    away: int = 0

    @property
    def failures(self) -> int:
        """How many did not come through."""
        return self.failed + self.missing


Look = Callable[[str], Seen | None]


def tally(progress: Progress, nodes: Iterable[str], seen: Look, now: float) -> Tally:
    """Nodes that were offered the commit, by what they have made of it."""
    counts = dict.fromkeys(Outcome, 0)
    for name in nodes:
        counts[outcome(progress, seen(name), now)] += 1
    return Tally(*(counts[each] for each in Outcome))


def outcome(progress: Progress, seen: Seen | None, now: float) -> Outcome:
    """What one node has made of a commit. One that was away when it was offered, and still is, is away."""
    if seen is None:
        return Outcome.AWAY
    silent = now - max(seen.last, progress.forgiven) > AWAY
    if seen.runs:
        return Outcome.MISSING if silent else Outcome.WELL
    if seen.failed is not None:
        return Outcome.FAILED if seen.failed >= progress.forgiven else Outcome.AWAY
    if silent:
        return Outcome.AWAY if seen.last < progress.since - AWAY else Outcome.MISSING
    waiting = now - max(progress.since, progress.forgiven, seen.present)
    return Outcome.MISSING if waiting > PATIENCE else Outcome.PENDING


def advanced(plan: Plan, progress: Progress, seen: Look, now: float) -> Progress:
    """As far as a release gets by now: into the next stages, to its end, or to a halt."""
    while progress.status is Status.RUNNING:
        after = _step(plan, progress, seen, now)
        if after == progress:
            break
        progress = after
    return progress


def _step(plan: Plan, progress: Progress, seen: Look, now: float) -> Progress:
    everybody = tally(progress, plan.offered(progress.stage), seen, now)
    joined = tally(progress, plan.joining(progress.stage), seen, now)
    why = _too_many(plan, progress, everybody, joined)
    if why:
        return replace(progress, status=Status.HALTED, why=why, well=None)
    if everybody.pending:
        return replace(progress, well=None)
    if progress.well is None:
        return replace(progress, well=now)
    if now - progress.well < plan.settle:
        return progress
    if progress.stage + 1 == len(plan.sizes):
        return replace(progress, status=Status.DONE)
    return replace(progress, stage=progress.stage + 1, since=now, well=None)


def _too_many(plan: Plan, progress: Progress, everybody: Tally, joined: Tally) -> str:
    """Why nobody else gets it. Where most of a stage fails, that one node may fail helps nobody."""
    if everybody.failures > plan.max_failures:
        return f"{_counted(everybody)}, and at most {plan.max_failures} may fail"
    if not joined.pending and joined.failures and joined.failures >= joined.well:
        return f"{_counted(joined)} of the {joined.failures + joined.well} in stage {progress.stage + 1}"
    return ""


def _counted(found: Tally) -> str:
    said = [f"{found.failed} failed"] if found.failed else []
    said += [f"{found.missing} missing"] if found.missing else []
    return " and ".join(said)


def resumed(progress: Progress, now: float) -> Progress:
    """A halted release goes on, and what failed until now no longer counts."""
    return replace(progress, status=Status.RUNNING, forgiven=now, well=None, why="")


def aborted(progress: Progress) -> Progress:
    """Nodes that have the commit get the one before it again."""
    return replace(progress, status=Status.ABORTED)


def overtaken(progress: Progress) -> Progress:
    """A newer commit is there: nobody else gets this one."""
    return replace(progress, status=Status.OVERTAKEN)
