"""Rollouts: how a commit reaches nodes, what they make of it, and when it goes no further.

All are pure functions of the plan, of what is known of nodes, and of the time.
"""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from gitcfg.model import Release, Share


class Status(StrEnum):
    """The state of a release. Overtaken: a newer commit continues from the stage of this one."""

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


def resume(progress: Progress, now: float) -> Progress:
    """Let a halted release go on: what failed until now is to be tried again."""
    return replace(progress, status=Status.RUNNING, forgiven=now, well=None, why="")


def abort(progress: Progress) -> Progress:
    """Give nodes that have the commit the one before it again."""
    return replace(progress, status=Status.ABORTED)


class Plan(msgspec.Struct, frozen=True):
    """The nodes that a commit changes, in the order in which they get it.

    `sizes` says how many of them have it once each stage was offered it. `settle` is how long a stage must
    have been well, in seconds, before the next one is; `max_failures` is how many nodes may fail.
    """

    order: tuple[str, ...]
    sizes: tuple[int, ...]
    settle: float = 0.0
    max_failures: int = 0

    @property
    def ranks(self) -> Mapping[str, int]:
        """The place of each node in the order."""
        return {name: rank for rank, name in enumerate(self.order)}

    def offered(self, stage: int) -> tuple[str, ...]:
        """The nodes of a stage and of all before it."""
        return self.order[: self.sizes[stage]]

    def span(self, stage: int) -> tuple[int, int]:
        """Where in the order a stage begins, and where it ends."""
        return self.sizes[stage - 1] if stage else 0, self.sizes[stage]

    def joining(self, stage: int) -> tuple[str, ...]:
        """The nodes that get it in a stage."""
        begin, end = self.span(stage)
        return self.order[begin:end]


def plan_rollout(
    commit: str,
    changed: Iterable[str],
    release: Release | None,
    first: Collection[str] = (),
    back: bool = False,
) -> Plan:
    """Plan how a commit gets to the nodes that it changes; those in `first` come first.

    Every server finds the same plan. Going back has the same stages and waits in none of them. Without a
    release all nodes get it at once.
    """

    def rank(name: str) -> tuple[bool, bytes]:
        # With another commit other nodes come first, so that none bears the brunt of all.
        return name not in first, sha256(f"{commit} {name}".encode()).digest()

    order = tuple(sorted(changed, key=rank))
    if release is None:
        return Plan(order, (len(order),), 0.0, len(order))
    settle = 0.0 if back else release.settle
    return Plan(order, _sizes(release.stages, len(order)), settle, release.max_failures)


def _sizes(stages: Sequence[Share], nodes: int) -> tuple[int, ...]:
    """Return how many nodes have the commit after each stage: none adds no node, the last one has all."""
    sizes: list[int] = []
    for share in stages:
        size = share.of(nodes)
        if size > (sizes[-1] if sizes else 0):
            sizes.append(size)
    return tuple(sizes) if sizes and sizes[-1] == nodes else (*sizes, nodes)


class Rollout:
    """A commit on its way: its plan, how far it has got, and the nodes it describes (None: all)."""

    def __init__(self, plan: Plan, progress: Progress, described: Container[str] | None = None) -> None:
        self.plan = plan
        self.progress = progress
        self._described = described
        self._ranks = plan.ranks

    def reached(self, name: str) -> bool:
        """Return whether the commit is for this node, which need not wait for what does not change it."""
        progress = self.progress
        if progress.status in (Status.DONE, Status.ABORTED):
            return progress.status is Status.DONE
        rank = self._ranks.get(name)
        if rank is not None:
            return rank < self.plan.sizes[progress.stage]
        # A node that it does not change, or that came since. Once it is halted no other node gets it: those
        # that it does not change run the same before, and those that are new wait. Walk-in nodes come last.
        if progress.status is Status.HALTED:
            return False
        known = self._described is None or name in self._described
        return known or progress.stage + 1 == len(self.plan.sizes)


class Offer(msgspec.Struct, frozen=True):
    """The commit that a node is to run, and whether that is one from before what it may run already."""

    commit: str
    back: bool = False


def find_offer(name: str, newest_first: Iterable[Rollout], base: str) -> Offer:
    """Return the newest commit that has reached a node; `base` is the one that reached all nodes before.

    It is a way back where an aborted release had reached the node.
    """
    back = False
    for rollout in newest_first:
        if rollout.reached(name):
            return Offer(rollout.progress.commit, back)
        back = back or rollout.progress.status is Status.ABORTED
    return Offer(base, back)


# What nodes make of a commit, and how far its rollout gets by that.

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


class Presence(msgspec.Struct, frozen=True):
    """When a node checked in last, since when without a gap, and when it last `failed` at the commit.

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


FindPresence = Callable[[str], Presence | None]


def count_outcomes(
    progress: Progress, nodes: Iterable[str], find_presence: FindPresence, now: float
) -> Tally:
    """Count nodes that were offered the commit by what they have made of it."""
    counts = dict.fromkeys(Outcome, 0)
    for name in nodes:
        counts[judge_node(progress, find_presence(name), now)] += 1
    return Tally(*(counts[each] for each in Outcome))


def judge_node(progress: Progress, presence: Presence | None, now: float) -> Outcome:
    """Return what one node has made of a commit. One that has been away since before the offer is away.

    What failed before it was forgiven is to be tried again, and is pending until then. One that does not
    report is waited for no more than one that is away.
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
    """Return whether a node checked in lately, and so tries a commit by itself."""
    return presence is not None and presence.reports and now - presence.last <= presence.patience


def compute_patience(interval: float | None) -> float:
    """Return how many seconds a node may be silent until it is away, or take to report on a commit.

    `interval` is how long it says to be silent between two check-ins.
    """
    return min(max(LEAST, MISSED * (interval or 0.0)), MOST)


def fill_stage(plan: Plan, stage: int, find_presence: FindPresence, now: float) -> Plan:
    """Return the plan in which a stage's nodes that are away have changed places with later, present ones.

    Else a stage whose nodes are all away would try out nothing. The last stage has all nodes anyway.
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
    """Advance a release as far as it gets by now: into the next stages, to its end, or to a halt.

    The plan changes where nodes that are there stand in for others that are away.
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
        # Where a whole stage is away others try the commit; without others it waits.
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
    """Return why no other node gets it, or "": too many failed, or most of those in the stage."""
    if all_counts.failures > plan.max_failures:
        return f"{_describe_counts(all_counts)}, the limit is {plan.max_failures}"
    failures, well = stage_counts.failures, stage_counts.well
    if not stage_counts.pending and failures and failures >= well:
        return f"{_describe_counts(stage_counts)} of the {failures + well} in stage {progress.stage + 1}"
    return ""


def _describe_counts(tally: Tally) -> str:
    counts = {"failed": tally.failed, "missing": tally.missing}
    return " and ".join(f"{count} {name}" for name, count in counts.items() if count)
