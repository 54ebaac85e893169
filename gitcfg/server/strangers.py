"""Nodes for which git has no key: they wait to be accepted, or walk in where the repository lets them."""

from collections import OrderedDict
from typing import TYPE_CHECKING

from gitcfg.load.keys import fingerprint
from gitcfg.server.limits import Limits
from gitcfg.server.problems import Problem
from gitcfg.server.signed import Signed
from gitcfg.server.view import View
from gitcfg.state.claims import ANOTHER, PENDING, WALK_IN, Presented, origin_of

if TYPE_CHECKING:
    from gitcfg.server.conductor import Conductor

MOST_WALK_INS = 20_000
"""So many are kept. Whoever comes then is told to be pending, and leaves no trace."""
_AGAIN = 60.0
"""Seconds until it is kept once more that a key has come."""
_REFILL = 120.0
"""In so many seconds an address may bring as many new keys as are kept of it; all together half as many."""
_OF_NAME = 5
"""So many new keys for one name that git describes, from one address, in the same time."""


class Strangers:
    """Who waits leaves every key it comes with, within limits; who walks in is known by its first."""

    def __init__(self, conductor: "Conductor") -> None:
        self._conductor = conductor
        self._count = 0
        self._counted: tuple[View | None, int] = (None, -1)
        limits = conductor.pending
        self._noted: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._of_address = Limits(limits.each, limits.each / _REFILL)
        self._of_name = Limits(_OF_NAME, _OF_NAME / _REFILL)
        self._of_all = Limits(limits.most, limits.most / _REFILL / 2)

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
        if not free:
            await self._present(signed, address, view.knows(signed.node), PENDING)
            raise pending(signed)
        key = await self._claimed(signed, address, view)
        if key == signed.key:
            return
        if key is None:
            raise pending(signed)
        await self._present(signed, address, False, ANOTHER)
        raise Problem("unauthorized")

    async def _claimed(self, signed: Signed, address: str, view: View) -> str | None:
        """The key by which a node that walks in is known from now on; None: there are too many."""
        conductor = self._conductor
        known = conductor.roll.nodes.get(signed.node)
        if known is not None and known.key:
            return known.key
        if known is None:
            if self._strangers(view) >= MOST_WALK_INS:
                return None
            self._count += 1
        now = conductor.clock()
        key = await conductor.ask(lambda state: state.claims.claim(signed.node, signed.key, now, address))
        conductor.roll.claimed(signed.node, key, now)
        if key == signed.key:
            said = {"key": key, "fingerprint": fingerprint(key), "address": address}
            await conductor.ask(lambda state: state.events.add(now, WALK_IN, said, signed.node))
            conductor.wake()
        return key

    async def _present(self, signed: Signed, address: str, described: bool, kind: str) -> None:
        """Keep a key by which somebody asks, for whoever may accept it."""
        conductor, now = self._conductor, self._conductor.clock()
        if not self._due(signed, address, described, now):
            return
        said = Presented(signed.node, signed.key, now, address, described, kind)
        kept = await conductor.ask(lambda state: state.claims.present(said, conductor.pending))
        conductor.roll.forget(kept.gone)
        if kept.known:
            conductor.roll.claimed(signed.node, kept.known, now)
        if kept.fresh:
            conductor.wake()

    def _due(self, signed: Signed, address: str, described: bool, now: float) -> bool:
        """Is it to be kept? Neither what was a moment ago, nor what comes in too great numbers.

        Names that git describes are counted apart: who invents others does not keep these out.
        """
        who = signed.node, signed.key
        at = self._noted.get(who)
        if at is not None and now - at < _AGAIN:
            return False
        if at is None:
            try:
                origin = origin_of(address)
                if described:
                    self._of_name.count(f"{origin} {signed.node}", now)
                else:
                    self._of_address.count(origin, now)
                self._of_all.count("described" if described else "invented", now)
            except Problem:
                return False
        self._noted[who] = now
        self._noted.move_to_end(who)
        while len(self._noted) > self._conductor.pending.most:
            self._noted.popitem(last=False)
        return True

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
