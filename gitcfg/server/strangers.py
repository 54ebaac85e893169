"""Nodes for which git has no key: they wait to be accepted, or walk in where the repository lets them."""

from typing import TYPE_CHECKING

from gitcfg.load.keys import fingerprint
from gitcfg.server.problems import Problem
from gitcfg.server.signed import Signed
from gitcfg.server.view import View

if TYPE_CHECKING:
    from gitcfg.server.conductor import Conductor

MOST_PENDING = 1000
MOST_WALK_INS = 20_000
"""So many are kept of each. Whoever comes then is told the same, and leaves no trace."""


class Strangers:
    """Each is known by the key that came first under its name."""

    def __init__(self, conductor: "Conductor") -> None:
        self._conductor = conductor
        self._count = 0
        self._counted: View | None = None

    async def admit(self, signed: Signed) -> None:
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
        most, kind = (MOST_WALK_INS, "walk-in") if free else (MOST_PENDING, "pending")
        key = await self._claimed(signed, most, kind)
        if free and key == signed.key:
            return
        if free and key is not None:
            raise Problem("unauthorized")
        raise pending(signed)

    async def _claimed(self, signed: Signed, most: int, kind: str) -> str | None:
        """The key by which a node is known from now on; None: there are too many."""
        conductor = self._conductor
        known = conductor.roll.nodes.get(signed.node)
        if known is not None and known.key:
            return known.key
        if known is None and self._strangers() >= most:
            return None
        now = conductor.clock()
        self._count += known is None
        key = await conductor.ask(lambda state: state.checkins.claim(signed.node, signed.key, now))
        conductor.roll.claimed(signed.node, key, now)
        if key == signed.key:
            said = {"key": key, "fingerprint": fingerprint(key)}
            await conductor.ask(lambda state: state.events.add(now, kind, said, signed.node))
            conductor.wake()
        return key

    def _strangers(self) -> int:
        """How many there are: counted once for each state of affairs, not for each that comes."""
        view, roll = self._conductor.view, self._conductor.roll
        if view is not None and view is not self._counted:
            self._counted = view
            self._count = sum(1 for name in roll.nodes if not view.knows(name) or name not in view.keys)
        return self._count


def pending(signed: Signed) -> Problem:
    """The node waits to be accepted."""
    return Problem("pending", "`gitcfg node accept` accepts its key.", fingerprint=fingerprint(signed.key))
