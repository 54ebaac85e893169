"""Which commit each node is to run, at one moment: a value by which every request is answered."""

from collections.abc import Mapping
from functools import cached_property

import msgspec

from gitcfg.rollout import Rollout, offered
from gitcfg.server.outline import Outline, OutlineHold, OutlineNode


class Offer(msgspec.Struct, frozen=True):
    """The commit that a node is to run; `back`: it is a rollback. `hold` keeps the node there."""

    commit: str
    back: bool = False
    hold: OutlineHold | None = None


class View:
    """Which commit each node is to run, at one moment. `outlines` are of all commits that a node may run.

    `held` are the nodes that a hold keeps at a commit, by its full id.
    """

    def __init__(
        self,
        accepted: str,
        outlines: Mapping[str, Outline],
        rollouts: tuple[Rollout, ...] = (),
        base: str | None = None,
        held: Mapping[str, tuple[str, OutlineHold]] | None = None,
        sequence: int = 0,
    ) -> None:
        self.accepted = accepted
        self.outlines = outlines
        self.rollouts = rollouts
        self.base = base or accepted
        self.held = held or {}
        self.sequence = sequence

    @property
    def outline(self) -> Outline:
        """The outline of the accepted commit."""
        return self.outlines[self.accepted]

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """The nodes' keys by the accepted commit, whatever a node runs."""
        return self.outline.keys

    def offer(self, name: str) -> Offer:
        """Return the commit for a node, whether or not it is known there."""
        if name in self.held:
            commit, hold = self.held[name]
            return Offer(commit, hold=hold)
        return self.released(name)

    def released(self, name: str) -> Offer:
        """Return the commit that releases have for a node, which a hold may keep from it."""
        found = offered(name, self.rollouts, self.base)
        return Offer(found.commit, found.back)

    def line(self, name: str, offer: Offer | None = None) -> OutlineNode | None:
        """Return what a node is to run, or would by an offer; None if that commit does not know it."""
        outline = self.outlines.get((offer or self.offer(name)).commit)
        return outline.nodes.get(name) if outline is not None else None

    def knows(self, name: str) -> bool:
        """Return whether the accepted commit describes a node."""
        return name in self.outline.nodes


def has_news(old: View, new: View, name: str) -> bool:
    """Return whether a node is to run something else than before."""
    before, after = old.line(name), new.line(name)
    if before is None and after is None:
        return old.offer(name).commit != new.offer(name).commit
    return before is None or after is None or before.digest != after.digest
