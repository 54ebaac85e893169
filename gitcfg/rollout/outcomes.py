"""What nodes have made of a commit that they were offered, by when they were seen and what they said."""

from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec

from gitcfg.rollout.progress import Progress

AWAY = 15 * 60.0
"""A node that was silent for so many seconds is away. Nobody waits for one that was when it began."""
PATIENCE = 15 * 60.0
"""How many seconds a node that is there has to report on a commit that it was offered."""


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
