"""Which commit a node is to run, by all releases that have not reached everybody."""

from collections.abc import Container, Iterable

import msgspec

from gitcfg.rollout.plan import Plan
from gitcfg.rollout.progress import Progress, Status


class Rollout:
    """A commit on its way: its plan, how far it has got, and whom it describes (None: whoever asks)."""

    def __init__(self, plan: Plan, progress: Progress, described: Container[str] | None = None) -> None:
        self.plan = plan
        self.progress = progress
        self._described = described
        self._ranks = plan.ranks

    def reached(self, name: str) -> bool:
        """Is the commit for this node? What does not change a node need not wait for its turn."""
        progress = self.progress
        if progress.status in (Status.DONE, Status.ABORTED):
            return progress.status is Status.DONE
        rank = self._ranks.get(name)
        if rank is None:
            return self._reached_beside(name)
        return rank < self.plan.sizes[progress.stage]

    def _reached_beside(self, name: str) -> bool:
        """Is it for a node without a turn: one that it does not change, or that came since it began?

        Who walks in comes last. Where it is halted nobody gets it any more: what it does not change is the
        same before, and who is new there waits.
        """
        if self.progress.status is Status.HALTED:
            return False
        known = self._described is None or name in self._described
        return known or self.progress.stage + 1 == len(self.plan.sizes)


class Offer(msgspec.Struct, frozen=True):
    """The commit that a node is to run, and whether that is one from before what it may run already."""

    commit: str
    back: bool = False


def offered(name: str, newest_first: Iterable[Rollout], base: str) -> Offer:
    """The newest commit that has reached a node; `base` is the one that has reached everybody before.

    It is a way back where an aborted release had reached the node.
    """
    back = False
    for rollout in newest_first:
        if rollout.reached(name):
            return Offer(rollout.progress.commit, back)
        back = back or rollout.progress.status is Status.ABORTED
    return Offer(base, back)
