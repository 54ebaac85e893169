"""Which commit a node is to run, by all releases that have not reached everybody."""

from collections.abc import Iterable

import msgspec

from gitcfg.rollout.plan import Plan
from gitcfg.rollout.progress import Progress, Status


class Rollout:
    """A commit on its way: its plan, and how far it has got."""

    def __init__(self, plan: Plan, progress: Progress) -> None:
        self.plan = plan
        self.progress = progress
        self._ranks = plan.ranks

    def reached(self, name: str) -> bool:
        """Is the commit for this node? What does not change a node need not wait for its turn."""
        progress = self.progress
        if progress.status in (Status.DONE, Status.ABORTED):
            return progress.status is Status.DONE
        rank = self._ranks.get(name)
        return rank is None or rank < self.plan.sizes[progress.stage]


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
