"""Which commit each node is to run, at one moment: a value, by which every request is answered."""

from collections.abc import Mapping
from functools import cached_property

import msgspec

from gitcfg.rollout import Rollout, offered
from gitcfg.server.outline import Held, Line, Outline


class Offer(msgspec.Struct, frozen=True):
    """The commit that a node is to run; `back`: it is one from before. `hold` keeps it there."""

    commit: str
    back: bool = False
    hold: Held | None = None


class View:
    """`accepted` is the commit that counts; `outlines` are those of all commits that anybody may run.

    `held` are the nodes that a hold keeps at a commit, by its full id.
    """

    def __init__(
        self,
        accepted: str,
        outlines: Mapping[str, Outline],
        rollouts: tuple[Rollout, ...] = (),
        base: str | None = None,
        held: Mapping[str, tuple[str, Held]] | None = None,
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
        """The outline of the commit that counts."""
        return self.outlines[self.accepted]

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """The nodes' keys: what was reviewed last counts, whatever a node runs."""
        return self.outline.keys

    def offer(self, name: str) -> Offer:
        """The commit for a node, whether or not it is known there."""
        if name in self.held:
            commit, hold = self.held[name]
            return Offer(commit, hold=hold)
        return self.released(name)

    def released(self, name: str) -> Offer:
        """The commit that releases have for a node, which a hold may keep from it."""
        found = offered(name, self.rollouts, self.base)
        return Offer(found.commit, found.back)

    def line(self, name: str, offer: Offer | None = None) -> Line | None:
        """What a node is to run, or would by an offer; None: that commit does not know it."""
        outline = self.outlines.get((offer or self.offer(name)).commit)
        return outline.nodes.get(name) if outline is not None else None

    def knows(self, name: str) -> bool:
        """Does the commit that counts describe a node?"""
        return name in self.outline.nodes


def news(old: View, new: View, name: str) -> bool:
    """Is there anything else for a node than before?"""
    before, after = old.line(name), new.line(name)
    if before is None and after is None:
        return old.offer(name).commit != new.offer(name).commit
    return before is None or after is None or before.digest != after.digest
