"""Nodes for which git has no key: they wait to be accepted, or walk in where the repository allows it."""

from collections import OrderedDict
from typing import TYPE_CHECKING

from gitcfg.load.keys import fingerprint
from gitcfg.server.limits import RateLimiter
from gitcfg.server.problems import Problem
from gitcfg.server.signed import SignedRequest
from gitcfg.server.view import View
from gitcfg.state.claims import ANOTHER, PENDING, WALK_IN, Presented, origin_of

if TYPE_CHECKING:
    from gitcfg.server.conductor import Controller

MAX_WALK_INS = 20_000
"""Walk-in nodes that are kept. A further one is pending, and leaves no trace."""
_AGAIN = 60.0
"""Seconds until a key is noted again."""
_REFILL = 120.0
"""Seconds in which an address may bring as many new keys as are kept of it; all addresses half of all."""
_OF_NAME = 5
"""New keys for one described node, from one address, in the same time."""


class Admission:
    """Admits nodes for which git has no key: they wait to be accepted, or walk in where that is allowed."""

    def __init__(self, controller: "Controller") -> None:
        self._controller = controller
        self._count = 0
        self._counted: tuple[View | None, int] = (None, -1)
        limits = controller.pending
        self._noted: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._of_address = RateLimiter(limits.each, limits.each / _REFILL)
        self._of_name = RateLimiter(_OF_NAME, _OF_NAME / _REFILL)
        self._of_all = RateLimiter(limits.most, limits.most / _REFILL / 2)

    async def admit(self, signed: SignedRequest, address: str) -> None:
        """Admit a walk-in node, or one that git once had. Raise Problem if it is pending or an impostor."""
        view = self._controller.view
        if view is None:
            raise Problem("unavailable", "No commit has been accepted yet.", {"Retry-After": "5"})
        free = view.outline.walk_in is not None and not view.knows(signed.node)
        known = self._controller.registry.nodes.get(signed.node)
        if known is not None and known.key == signed.key and known.commit is not None:
            if view.knows(signed.node):
                raise pending_problem(signed)
            return
        if not free:
            await self._present(signed, address, view.knows(signed.node), PENDING)
            raise pending_problem(signed)
        key = await self._claimed(signed, address, view)
        if key == signed.key:
            return
        if key is None:
            raise pending_problem(signed)
        await self._present(signed, address, False, ANOTHER)
        raise Problem("unauthorized")

    async def _claimed(self, signed: SignedRequest, address: str, view: View) -> str | None:
        """Return the key by which a walk-in node is known from now on; None if there are too many."""
        controller = self._controller
        known = controller.registry.nodes.get(signed.node)
        if known is not None and known.key:
            return known.key
        if known is None:
            if self._strangers(view) >= MAX_WALK_INS:
                return None
            self._count += 1
        now = controller.clock()
        key = await controller.with_state(
            lambda state: state.claims.claim(signed.node, signed.key, now, address)
        )
        controller.registry.claim(signed.node, key, now)
        if key == signed.key:
            data = {"key": key, "fingerprint": fingerprint(key), "address": address}
            await controller.with_state(lambda state: state.events.add(now, WALK_IN, data, signed.node))
            controller.wake()
        return key

    async def _present(self, signed: SignedRequest, address: str, described: bool, kind: str) -> None:
        """Keep the key of a node that waits, for an operator who may accept it."""
        controller, now = self._controller, self._controller.clock()
        if not self._due(signed, address, described, now):
            return
        claim = Presented(signed.node, signed.key, now, address, described, kind)
        kept = await controller.with_state(lambda state: state.claims.present(claim, controller.pending))
        controller.registry.forget(kept.gone)
        if kept.known:
            controller.registry.claim(signed.node, kept.known, now)
        if kept.fresh:
            controller.wake()

    def _due(self, signed: SignedRequest, address: str, described: bool, now: float) -> bool:
        """Return whether to keep a key: neither again within a minute, nor beyond the rate limits.

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
        while len(self._noted) > self._controller.pending.most:
            self._noted.popitem(last=False)
        return True

    def _strangers(self, view: View) -> int:
        """Count the walk-in nodes; again only after a change, not for each request."""
        registry = self._controller.registry
        if self._counted != (view, registry.forgotten):
            self._counted = (view, registry.forgotten)
            self._count = sum(1 for name in registry.nodes if not view.knows(name))
        return self._count


def pending_problem(signed: SignedRequest) -> Problem:
    """Return the problem of a node that waits to be accepted."""
    return Problem("pending", "`gitcfg node accept` accepts its key.", fingerprint=fingerprint(signed.key))
