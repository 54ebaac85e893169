"""Rollouts: how a commit reaches nodes, their results, and when it is halted.

All are pure functions of the plan, of the known state of nodes, and of the time.
"""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from gitcfg.model import Release, Share


class Status(StrEnum):
    """The state of a release. Overtaken: a newer commit continues from its stage."""

    RUNNING = "running"
    HALTED = "halted"
    DONE = "done"
    OVERTAKEN = "overtaken"
    ABORTED = "aborted"


class Progress(msgspec.Struct, frozen=True):
    """The progress of a commit. `since` is when its stage was offered it, `well` since when that is well.

    Failures before `forgiven` are tried again. `why` is the reason of a halt. Times are in seconds.
    """

    commit: str
    since: float
    stage: int = 0
    well: float | None = None
    status: Status = Status.RUNNING
    forgiven: float = 0.0
    why: str = ""


def resume(progress: Progress, now: float) -> Progress:
    """Continue a halted release: failures until now are tried again."""
    return replace(progress, status=Status.RUNNING, forgiven=now, well=None, why="")


def abort(progress: Progress) -> Progress:
    """Give nodes that have the commit the previous one again."""
    return replace(progress, status=Status.ABORTED)


class Plan(msgspec.Struct, frozen=True):
    """The nodes that a commit changes, in the order in which they get it.

    `sizes` is how many of them have it after each stage. `settle` is how many seconds a stage must be well
    before the next one; `max_failures` is how many nodes may fail.
    """

    order: tuple[str, ...]
    sizes: tuple[int, ...]
    settle: float = 0.0
    max_failures: int = 0

    @property
    def ranks(self) -> Mapping[str, int]:
        """The position of each node in the order."""
        return {name: rank for rank, name in enumerate(self.order)}

    def offered(self, stage: int) -> tuple[str, ...]:
        """Return the nodes of a stage and of all stages before it."""
        return self.order[: self.sizes[stage]]

    def span(self, stage: int) -> tuple[int, int]:
        """Return where a stage begins and ends in the order."""
        return self.sizes[stage - 1] if stage else 0, self.sizes[stage]

    def joining(self, stage: int) -> tuple[str, ...]:
        """Return the nodes that get the commit in a stage."""
        begin, end = self.span(stage)
        return self.order[begin:end]


def plan_rollout(
    commit: str,
    changed: Iterable[str],
    release: Release | None,
    first: Collection[str] = (),
    back: bool = False,
) -> Plan:
    """Plan how a commit reaches the nodes that it changes; those in `first` come first.

    Every server computes the same plan. A rollback has the same stages without pauses. Without a release, all
    nodes get the commit at once.
    """

    def rank(name: str) -> tuple[bool, bytes]:
        # The order depends on the commit, so that no node is always among the first.
        return name not in first, sha256(f"{commit} {name}".encode()).digest()

    order = tuple(sorted(changed, key=rank))
    if release is None:
        return Plan(order, (len(order),), 0.0, len(order))
    settle = 0.0 if back else release.settle
    return Plan(order, _sizes(release.stages, len(order)), settle, release.max_failures)


def _sizes(stages: Sequence[Share], nodes: int) -> tuple[int, ...]:
    """Return how many nodes have the commit after each stage: each adds nodes, and the last has all."""
    sizes: list[int] = []
    for share in stages:
        size = share.of(nodes)
        if size > (sizes[-1] if sizes else 0):
            sizes.append(size)
    return tuple(sizes) if sizes and sizes[-1] == nodes else (*sizes, nodes)


class Rollout:
    """A commit on its way: its plan, its progress, and the nodes that it describes (None: all)."""

    def __init__(self, plan: Plan, progress: Progress, described: Container[str] | None = None) -> None:
        self.plan = plan
        self.progress = progress
        self._described = described
        self._ranks = plan.ranks

    def reached(self, name: str) -> bool:
        """Return whether a node gets the commit; one that it does not change need not wait."""
        progress = self.progress
        if progress.status in (Status.DONE, Status.ABORTED):
            return progress.status is Status.DONE
        rank = self._ranks.get(name)
        if rank is not None:
            return rank < self.plan.sizes[progress.stage]
        # The node is unchanged or newer. While the release is halted, it does not get the commit: an
        # unchanged node runs the same without it, and a new one waits. Walk-in nodes come last.
        if progress.status is Status.HALTED:
            return False
        known = self._described is None or name in self._described
        return known or progress.stage + 1 == len(self.plan.sizes)


class Offer(msgspec.Struct, frozen=True):
    """The commit that a node must run; `back` means that it may already run a newer one."""

    commit: str
    back: bool = False


def find_offer(name: str, newest_first: Iterable[Rollout], base: str) -> Offer:
    """Return the newest commit that has reached a node; `base` is the one that reached all nodes before.

    It is a rollback if an aborted release had reached the node.
    """
    back = False
    for rollout in newest_first:
        if rollout.reached(name):
            return Offer(rollout.progress.commit, back)
        back = back or rollout.progress.status is Status.ABORTED
    return Offer(base, back)


# The results of nodes, and the progress of a rollout.

LEAST, MOST = 15 * 60.0, 24 * 3600.0
MISSED = 3
"""The number of missed check-ins after which a node is away, within the limits LEAST and MOST (seconds)."""


class Outcome(StrEnum):
    """The result of a commit on a node."""

    WELL = "well"
    FAILED = "failed"
    MISSING = "missing"
    PENDING = "pending"
    AWAY = "away"


class Presence(msgspec.Struct, frozen=True):
    """When a node last checked in, since when without a gap, and when it last failed at the commit.

    Times are seconds since the epoch. `patience` is how many seconds the node may be silent. Without
    `reports`, it has no agent, and gets the commit when someone deploys it.
    """

    last: float
    present: float
    runs: bool = False
    failed: float | None = None
    patience: float = LEAST
    reports: bool = True


class Tally(msgspec.Struct, frozen=True):
    """The numbers of nodes by their result of a commit."""

    well: int = 0
    failed: int = 0
    missing: int = 0
    pending: int = 0
    away: int = 0

    @property
    def failures(self) -> int:
        """The number of nodes that failed or are missing."""
        return self.failed + self.missing

    @property
    def tried(self) -> bool:
        """Whether any node has a result."""
        return bool(self.well or self.failures)


FindPresence = Callable[[str], Presence | None]


def count_outcomes(
    progress: Progress, nodes: Iterable[str], find_presence: FindPresence, now: float
) -> Tally:
    """Count nodes that were offered the commit, by their result."""
    counts = dict.fromkeys(Outcome, 0)
    for name in nodes:
        counts[judge_node(progress, find_presence(name), now)] += 1
    return Tally(*(counts[each] for each in Outcome))


def judge_node(progress: Progress, presence: Presence | None, now: float) -> Outcome:
    """Return the result of one node. A node that was away before the offer stays away.

    A failure before `forgiven` is tried again, and pending until then. A node that does not report is not
    waited for, like one that is away.
    """
    if presence is None:
        return Outcome.AWAY
    failed = presence.failed is not None and presence.failed >= progress.forgiven
    if not presence.reports:
        if presence.runs:
            return Outcome.WELL
        return Outcome.FAILED if failed else Outcome.AWAY
    silent = now - max(presence.last, progress.forgiven) > presence.patience
    if presence.runs:
        return Outcome.MISSING if silent else Outcome.WELL
    if failed:
        return Outcome.FAILED
    if silent:
        return Outcome.AWAY if presence.last < progress.since - presence.patience else Outcome.MISSING
    waiting = now - max(progress.since, progress.forgiven, presence.present)
    return Outcome.MISSING if waiting > presence.patience else Outcome.PENDING


def is_present(presence: Presence | None, now: float) -> bool:
    """Return whether a node checked in lately, and therefore tries a commit by itself."""
    return presence is not None and presence.reports and now - presence.last <= presence.patience


def compute_patience(interval: float | None) -> float:
    """Return the seconds that a node may be silent before it is away, or take to report on a commit.

    `interval` is its announced time between two check-ins.
    """
    return min(max(LEAST, MISSED * (interval or 0.0)), MOST)


def fill_stage(plan: Plan, stage: int, find_presence: FindPresence, now: float) -> Plan:
    """Return the plan with present nodes from later stages in the place of a stage's absent ones.

    Otherwise a stage of absent nodes would test nothing. The last stage has all nodes anyway.
    """
    begin, end = plan.span(stage)
    order = list(plan.order)
    later = (rank for rank in range(end, len(order)) if is_present(find_presence(order[rank]), now))
    for rank in range(begin, end):
        if not is_present(find_presence(order[rank]), now):
            other = next(later, None)
            if other is None:
                break
            order[rank], order[other] = order[other], order[rank]
    return replace(plan, order=tuple(order)) if tuple(order) != plan.order else plan


def advance(plan: Plan, progress: Progress, find_presence: FindPresence, now: float) -> tuple[Plan, Progress]:
    """Advance a release as far as possible by now: into the next stages, to its end, or to a halt.

    The plan changes if present nodes replace others that are away.
    """
    while progress.status is Status.RUNNING:
        after = _advance_once(plan, progress, find_presence, now)
        if after == (plan, progress):
            break
        plan, progress = after
    return plan, progress


def _advance_once(
    plan: Plan, progress: Progress, find_presence: FindPresence, now: float
) -> tuple[Plan, Progress]:
    all_counts = count_outcomes(progress, plan.offered(progress.stage), find_presence, now)
    stage_counts = count_outcomes(progress, plan.joining(progress.stage), find_presence, now)
    why = _describe_failures(plan, progress, all_counts, stage_counts)
    if why:
        return plan, replace(progress, status=Status.HALTED, why=why, well=None)
    if all_counts.pending:
        return plan, replace(progress, well=None)
    last = progress.stage + 1 == len(plan.sizes)
    if not last and not stage_counts.tried:
        # If a whole stage is away, other nodes try the commit; if there are none, it waits.
        filled = fill_stage(plan, progress.stage, find_presence, now)
        since = now if filled != plan else progress.since
        return filled, replace(progress, since=since, well=None)
    if progress.well is None:
        return plan, replace(progress, well=now)
    if now - progress.well < plan.settle:
        return plan, progress
    if last:
        return plan, replace(progress, status=Status.DONE)
    return fill_stage(plan, progress.stage + 1, find_presence, now), replace(
        progress, stage=progress.stage + 1, since=now, well=None
    )


def _describe_failures(plan: Plan, progress: Progress, all_counts: Tally, stage_counts: Tally) -> str:
    """Return why the release halts, or "": too many failed, or at least half of those in the stage."""
    if all_counts.failures > plan.max_failures:
        return f"{_describe_counts(all_counts)}, the limit is {plan.max_failures}"
    failures, well = stage_counts.failures, stage_counts.well
    if not stage_counts.pending and failures and failures >= well:
        return f"{_describe_counts(stage_counts)} of the {failures + well} in stage {progress.stage + 1}"
    return ""


def _describe_counts(tally: Tally) -> str:
    counts = {"failed": tally.failed, "missing": tally.missing}
    return " and ".join(f"{count} {name}" for name, count in counts.items() if count)
