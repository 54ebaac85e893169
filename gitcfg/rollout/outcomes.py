"""What nodes have made of a commit that they were offered, and how far its release gets by that.

All are pure functions of the plan, of what is known of nodes, and of the time.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from gitcfg.rollout.plan import Plan, Progress, Status

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
        """How many nodes did not come through."""
        return self.failed + self.missing

    @property
    def tried(self) -> bool:
        """Whether any node has made anything of it."""
        return bool(self.well or self.failures)


Look = Callable[[str], Seen | None]


def count_outcomes(progress: Progress, nodes: Iterable[str], seen: Look, now: float) -> Tally:
    """Count nodes that were offered the commit by what they have made of it."""
    counts = dict.fromkeys(Outcome, 0)
    for name in nodes:
        counts[judge_node(progress, seen(name), now)] += 1
    return Tally(*(counts[each] for each in Outcome))


def judge_node(progress: Progress, seen: Seen | None, now: float) -> Outcome:
    """Return what one node has made of a commit. A node that was away when it was offered, and
    still is, is away.

    What failed before it was forgiven is to be tried again, and is pending until then. One that does not
    report is waited for no more than one that is away.
    """
    if seen is None:
        return Outcome.AWAY
    if not seen.reports:
        return _judge_deployed(progress, seen)
    silent = now - max(seen.last, progress.forgiven) > seen.patience
    if seen.runs:
        return Outcome.MISSING if silent else Outcome.WELL
    if seen.failed is not None and seen.failed >= progress.forgiven:
        return Outcome.FAILED
    if silent:
        return Outcome.AWAY if seen.last < progress.since - seen.patience else Outcome.MISSING
    waiting = now - max(progress.since, progress.forgiven, seen.present)
    return Outcome.MISSING if waiting > seen.patience else Outcome.PENDING


def _judge_deployed(progress: Progress, seen: Seen) -> Outcome:
    if seen.runs:
        return Outcome.WELL
    failed = seen.failed is not None and seen.failed >= progress.forgiven
    return Outcome.FAILED if failed else Outcome.AWAY


def is_present(seen: Seen | None, now: float) -> bool:
    """Return whether a node checked in lately, and so tries a commit by itself."""
    return seen is not None and seen.reports and now - seen.last <= seen.patience


def compute_patience(interval: float | None) -> float:
    """Return how many seconds a node may be silent until it is away, or take to report on a commit.

    `interval` is how long it says to be silent between two check-ins.
    """
    return min(max(LEAST, MISSED * (interval or 0.0)), MOST)


def fill_stage(plan: Plan, stage: int, seen: Look, now: float) -> Plan:
    """Return the plan in which a stage's nodes that are away have changed places with later, present ones.

    Else a stage whose nodes are all away would try out nothing. The last stage has all nodes anyway.
    """
    begin, end = plan.span(stage)
    order = list(plan.order)
    later = (rank for rank in range(end, len(order)) if is_present(seen(order[rank]), now))
    for rank in range(begin, end):
        if not is_present(seen(order[rank]), now):
            other = next(later, None)
            if other is None:
                break
            order[rank], order[other] = order[other], order[rank]
    return replace(plan, order=tuple(order)) if tuple(order) != plan.order else plan


def advance(plan: Plan, progress: Progress, seen: Look, now: float) -> tuple[Plan, Progress]:
    """Advance a release as far as it gets by now: into the next stages, to its end, or to a halt.

    The plan changes where nodes that are there stand in for others that are away.
    """
    while progress.status is Status.RUNNING:
        after = _advance_once(plan, progress, seen, now)
        if after == (plan, progress):
            break
        plan, progress = after
    return plan, progress


def _advance_once(plan: Plan, progress: Progress, seen: Look, now: float) -> tuple[Plan, Progress]:
    everybody = count_outcomes(progress, plan.offered(progress.stage), seen, now)
    joined = count_outcomes(progress, plan.joining(progress.stage), seen, now)
    why = _describe_failures(plan, progress, everybody, joined)
    if why:
        return plan, replace(progress, status=Status.HALTED, why=why, well=None)
    if everybody.pending:
        return plan, replace(progress, well=None)
    last = progress.stage + 1 == len(plan.sizes)
    if not last and not joined.tried:
        return _replace_absent(plan, progress, seen, now)
    if progress.well is None:
        return plan, replace(progress, well=now)
    if now - progress.well < plan.settle:
        return plan, progress
    if last:
        return plan, replace(progress, status=Status.DONE)
    return fill_stage(plan, progress.stage + 1, seen, now), replace(
        progress, stage=progress.stage + 1, since=now, well=None
    )


def _replace_absent(plan: Plan, progress: Progress, seen: Look, now: float) -> tuple[Plan, Progress]:
    """Let other nodes try the commit where a whole stage is away; without others it waits."""
    found = fill_stage(plan, progress.stage, seen, now)
    since = now if found != plan else progress.since
    return found, replace(progress, since=since, well=None)


def _describe_failures(plan: Plan, progress: Progress, everybody: Tally, joined: Tally) -> str:
    """Return why no other node gets it, or "": too many failed, or most of those in the stage."""
    if everybody.failures > plan.max_failures:
        return f"{_describe_counts(everybody)}, and at most {plan.max_failures} may fail"
    if not joined.pending and joined.failures and joined.failures >= joined.well:
        return (
            f"{_describe_counts(joined)} of the {joined.failures + joined.well} in stage {progress.stage + 1}"
        )
    return ""


def _describe_counts(found: Tally) -> str:
    said = [f"{found.failed} failed"] if found.failed else []
    said += [f"{found.missing} missing"] if found.missing else []
    return " and ".join(said)
