"""What nodes have made of a commit that they were offered, by when they were seen and what they said."""

from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec

from gitcfg.rollout.progress import Progress

LEAST, MOST = 15 * 60.0, 24 * 3600.0
MISSED = 3
"""A node that missed so many check-ins is away, but not before LEAST seconds, nor after MOST."""


class Outcome(StrEnum):
    """What a node has made of a commit."""

    WELL = "well"
    FAILED = "failed"
    MISSING = "missing"
    PENDING = "pending"
    AWAY = "away"


class Seen(msgspec.Struct, frozen=True):
    """When a node was seen last, and since when without a gap; `failed` is when it last failed at the commit.

    Times are seconds since the epoch. `patience` is how many seconds it may be silent. Not `reports`: no
    agent is there that would say anything; it gets the commit when somebody deploys it.
    """

    last: float
    present: float
    runs: bool = False
    failed: float | None = None
    patience: float = LEAST
    reports: bool = True


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

    @property
    def tried(self) -> bool:
        """Has anybody made anything of it?"""
        return bool(self.well or self.failures)


Look = Callable[[str], Seen | None]


def tally(progress: Progress, nodes: Iterable[str], seen: Look, now: float) -> Tally:
    """Nodes that were offered the commit, by what they have made of it."""
    counts = dict.fromkeys(Outcome, 0)
    for name in nodes:
        counts[outcome(progress, seen(name), now)] += 1
    return Tally(*(counts[each] for each in Outcome))


def outcome(progress: Progress, seen: Seen | None, now: float) -> Outcome:
    """What one node has made of a commit. One that was away when it was offered, and still is, is away.

    What failed before it was forgiven is to be tried again, and is pending until then. One that does not
    report is waited for no more than one that is away.
    """
    if seen is None:
        return Outcome.AWAY
    if not seen.reports:
        return _deployed(progress, seen)
    silent = now - max(seen.last, progress.forgiven) > seen.patience
    if seen.runs:
        return Outcome.MISSING if silent else Outcome.WELL
    if seen.failed is not None and seen.failed >= progress.forgiven:
        return Outcome.FAILED
    if silent:
        return Outcome.AWAY if seen.last < progress.since - seen.patience else Outcome.MISSING
    waiting = now - max(progress.since, progress.forgiven, seen.present)
    return Outcome.MISSING if waiting > seen.patience else Outcome.PENDING


def _deployed(progress: Progress, seen: Seen) -> Outcome:
    if seen.runs:
        return Outcome.WELL
    failed = seen.failed is not None and seen.failed >= progress.forgiven
    return Outcome.FAILED if failed else Outcome.AWAY


def is_there(seen: Seen | None, now: float) -> bool:
    """Was a node heard of lately, that it would try a commit by itself?"""
    return seen is not None and seen.reports and now - seen.last <= seen.patience


def patience(interval: float | None) -> float:
    """How many seconds a node may be silent until it is away, and may take to report on a commit.

    `interval` is how long it says to be silent between two check-ins.
    """
    return min(max(LEAST, MISSED * (interval or 0.0)), MOST)
