"""Nodes for which git has no key: they wait to be accepted, or walk in where the repository lets them."""

from typing import TYPE_CHECKING

import msgspec

from gitcfg.load.keys import fingerprint
from gitcfg.server.problems import Problem
from gitcfg.server.signed import Signed
from gitcfg.server.view import View

if TYPE_CHECKING:
    from gitcfg.server.conductor import Conductor

MOST_PENDING = 1000
MOST_WALK_INS = 20_000
"""So many are kept of each. Whoever comes then is told the same, and leaves no trace.

Nodes that git describes are always kept: nobody keeps them out by inventing names.
"""


class Stranger(msgspec.Struct, frozen=True):
    """Who asks, with which key and from where; `free`: it may walk in."""

    node: str
    key: str
    address: str
    free: bool

    @property
    def most(self) -> int:
        """How many of its kind are kept."""
        return MOST_WALK_INS if self.free else MOST_PENDING

    @property
    def kind(self) -> str:
        """The event that tells of it."""
        return "walk-in" if self.free else "pending"


class Strangers:
    """Each is known by the key that came first under its name."""

    def __init__(self, conductor: "Conductor") -> None:
        self._conductor = conductor
        self._count = 0
        self._counted: tuple[View | None, int] = (None, -1)

    async def admit(self, signed: Signed, address: str) -> None:
        """Let a node in that walks in, or that git once had. Problem: it is pending, or is somebody else."""
        view = self._conductor.view
        if view is None:
            raise Problem("unavailable", "No commit has been accepted yet.", {"Retry-After": "5"})
        free = view.outline.walk_in is not None and not view.knows(signed.node)
        known = self._conductor.roll.nodes.get(signed.node)
        if known is not None and known.key == signed.key and known.commit is not None:
            if view.knows(signed.node):
                raise pending(signed)
            return
        key = await self._claimed(Stranger(signed.node, signed.key, address, free), view)
        if free and key == signed.key:
            return
        if free and key is not None:
            raise Problem("unauthorized")
        raise pending(signed)

    async def _claimed(self, who: Stranger, view: View) -> str | None:
        """The key by which a node is known from now on; None: there are too many."""
        conductor = self._conductor
        known = conductor.roll.nodes.get(who.node)
        if known is not None and known.key:
            return known.key
        if known is None and not view.knows(who.node):
            if self._strangers(view) >= who.most:
                return None
            self._count += 1
        now = conductor.clock()
        key = await conductor.ask(lambda state: state.claims.claim(who.node, who.key, now, who.address))
        conductor.roll.claimed(who.node, key, now)
        if key == who.key:
            said = {"key": key, "fingerprint": fingerprint(key), "address": who.address}
            await conductor.ask(lambda state: state.events.add(now, who.kind, said, who.node))
            conductor.wake()
        return key

    def _strangers(self, view: View) -> int:
        """How many there are: counted once for each state of affairs, not for each that comes."""
        roll = self._conductor.roll
        if self._counted != (view, roll.forgotten):
            self._counted = (view, roll.forgotten)
            self._count = sum(1 for name in roll.nodes if not view.knows(name))
        return self._count


def pending(signed: Signed) -> Problem:
    """The node waits to be accepted."""
    return Problem("pending", "`gitcfg node accept` accepts its key.", fingerprint=fingerprint(signed.key))
