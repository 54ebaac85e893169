"""The plan of a release, its progress, and the commit that each node is to run because of it."""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from gitcfg.model import Release, Share


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
    order = tuple(sorted(changed, key=lambda name: (name not in first, _hash(commit, name))))
    if release is None:
        return Plan(order, (len(order),), 0.0, len(order))
    settle = 0.0 if back else release.settle
    return Plan(order, _sizes(release.stages, len(order)), settle, release.max_failures)


def _hash(commit: str, name: str) -> bytes:
    """Return what orders nodes: other ones come first with another commit, so none bears the brunt of all."""
    return sha256(f"{commit} {name}".encode()).digest()


def _sizes(stages: Sequence[Share], nodes: int) -> tuple[int, ...]:
    """Return how many nodes have the commit after each stage: none adds no node, the last one has all."""
    found: list[int] = []
    for share in stages:
        size = share.of(nodes)
        if size > (found[-1] if found else 0):
            found.append(size)
    return tuple(found) if found and found[-1] == nodes else (*found, nodes)


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
        if rank is None:
            return self._reached_beside(name)
        return rank < self.plan.sizes[progress.stage]

    def _reached_beside(self, name: str) -> bool:
        """Return whether it is for a node without a turn: one that it does not change, or that came since.

        Nodes that walk in come last. Once it is halted no other node gets it: those that it does not change
        run the same before, and those that are new wait.
        """
        if self.progress.status is Status.HALTED:
            return False
        known = self._described is None or name in self._described
        return known or self.progress.stage + 1 == len(self.plan.sizes)


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
