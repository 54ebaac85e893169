"""Admission of nodes with keys that git does not have: pending nodes, walk-in nodes, and other keys."""

from collections import OrderedDict

from aiohttp import web

from gitcfg.load.keys import fingerprint
from gitcfg.server.controller import Controller
from gitcfg.server.http import ORIGIN, Problem, RateLimiter
from gitcfg.server.signatures import PRESENTED, SignedRequest, verify_request
from gitcfg.server.view import View
from gitcfg.state.nodes import ANOTHER, PENDING, WALK_IN, PresentedKey, find_origin
from gitcfg.state.records import OtherKey

MAX_WALK_INS = 20_000
"""The limit of walk-in nodes. A further one is pending, and nothing is stored about it."""
_AGAIN = 60.0
"""Seconds until a key is stored again."""
_REFILL = 120.0
"""Seconds in which an address may present its limit of new keys; all addresses together half of all."""
_OF_NAME = 5
"""New keys for one described node, from one address, in the same time."""
_LOOK, _SAME, _ANOTHER = 0.2, 3600.0, 60.0
"""Seconds between checks of requests, and between records for a node: with the same key, with another one."""


class Admission:
    """Admission of nodes for which git has no key: they are pending, or walk in where that is allowed."""

    def __init__(self, controller: Controller) -> None:
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
        key = await self._claim(signed, address, view)
        if key == signed.key:
            return
        if key is None:
            raise pending_problem(signed)
        await self._present(signed, address, False, ANOTHER)
        raise Problem("unauthorized")

    async def _claim(self, signed: SignedRequest, address: str, view: View) -> str | None:
        """Return the key by which a walk-in node is known from now on; None if there are too many nodes."""
        controller = self._controller
        known = controller.registry.nodes.get(signed.node)
        if known is not None and known.key:
            return known.key
        if known is None:
            if self._count_walk_ins(view) >= MAX_WALK_INS:
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
        """Store the key of a pending node, for an operator who may accept it."""
        controller, now = self._controller, self._controller.clock()
        if not self._is_due(signed, address, described, now):
            return
        claim = PresentedKey(signed.node, signed.key, now, address, described, kind)
        report = await controller.with_state(lambda state: state.claims.present(claim, controller.pending))
        controller.registry.forget(report.gone)
        if report.known:
            controller.registry.claim(signed.node, report.known, now)
        if report.fresh:
            controller.wake()

    def _is_due(self, signed: SignedRequest, address: str, described: bool, now: float) -> bool:
        """Return whether to store a key: not again within a minute, and not beyond the rate limits.

        Nodes that git describes have limits of their own, so that invented names do not use these up.
        """
        claim = signed.node, signed.key
        at = self._noted.get(claim)
        if at is not None and now - at < _AGAIN:
            return False
        if at is None:
            try:
                origin = find_origin(address)
                if described:
                    self._of_name.count(f"{origin} {signed.node}", now)
                else:
                    self._of_address.count(origin, now)
                self._of_all.count("described" if described else "invented", now)
            except Problem:
                return False
        self._noted[claim] = now
        self._noted.move_to_end(claim)
        while len(self._noted) > self._controller.pending.most:
            self._noted.popitem(last=False)
        return True

    def _count_walk_ins(self, view: View) -> int:
        """Count the walk-in nodes; only after a change, not for each request."""
        registry = self._controller.registry
        if self._counted != (view, registry.forgotten):
            self._counted = (view, registry.forgotten)
            self._count = sum(1 for name in registry.nodes if not view.knows(name))
        return self._count


def pending_problem(signed: SignedRequest) -> Problem:
    """Return the problem of a pending node."""
    return Problem(
        "pending", "Run `gitcfg node accept` to accept its key.", fingerprint=fingerprint(signed.key)
    )


class OtherKeys:
    """Keys of requests that a node signed with another key than git has; their number is limited."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._checked = 0.0
        self._noted: dict[str, tuple[str, float]] = {}

    async def note(self, request: web.Request, body: bytes) -> None:
        """Store the key that a request is signed with, if git has another one for the node."""
        controller, now = self._controller, self._controller.clock()
        if PRESENTED not in request.headers or now - self._checked < _LOOK or controller.view is None:
            return
        self._checked = now
        try:
            found = verify_request(request, body, {}, now)
        except Problem:
            return
        known = controller.view.keys.get(found.node)
        key, at = self._noted.get(found.node, ("", 0.0))
        is_due = now - at > (_SAME if key == found.key else _ANOTHER)
        if known is None or known == found.key or not is_due:
            return
        self._noted[found.node] = found.key, now
        other = OtherKey(found.key, now, request[ORIGIN].address)
        data = {"key": other.key, "fingerprint": fingerprint(other.key), "address": other.address}
        await controller.with_state(
            lambda state: state.claims.other(found.node, known, other, controller.pending)
        )
        await controller.with_state(lambda state: state.events.add(now, ANOTHER, data, found.node))
        controller.log.warning(
            "a node signs with another key", extra={"fields": {"node": found.node, **data}}
        )
        controller.wake()
