"""Nodes that sign with another key than git has: reinstalled perhaps, and reported to operators."""

from typing import TYPE_CHECKING

from aiohttp import web

from gitcfg.load.keys import fingerprint
from gitcfg.server.problems import Problem
from gitcfg.server.proxies import ORIGIN
from gitcfg.server.signed import PRESENTED, SignedRequest, verify_request
from gitcfg.state.claims import ANOTHER
from gitcfg.state.records import OtherKey

if TYPE_CHECKING:
    from gitcfg.server.conductor import Controller

_LOOK, _SAME, _ANOTHER = 0.2, 3600.0, 60.0
"""Seconds between checks of requests, and between notes of a node: of the same key, of another one."""


class OtherKeys:
    """Keys of requests that a node signed with another key than git has; few are kept however many come."""

    def __init__(self, controller: "Controller") -> None:
        self._controller = controller
        self._looked = 0.0
        self._noted: dict[str, tuple[str, float]] = {}

    async def note(self, request: web.Request, body: bytes) -> None:
        """Keep the key that a request is signed with, if git has another one for the node."""
        controller, now = self._controller, self._controller.clock()
        if PRESENTED not in request.headers or now - self._looked < _LOOK or controller.view is None:
            return
        self._looked = now
        try:
            found = verify_request(request, body, {}, now)
        except Problem:
            return
        known = controller.view.keys.get(found.node)
        if known is None or known == found.key or not self._due(found, now):
            return
        self._noted[found.node] = found.key, now
        other = OtherKey(found.key, now, request[ORIGIN].address)
        data = {"key": other.key, "fingerprint": fingerprint(other.key), "address": other.address}
        await controller.with_state(
            lambda state: state.claims.other(found.node, known, other, controller.pending)
        )
        await controller.with_state(lambda state: state.events.add(now, ANOTHER, data, found.node))
        controller.log.warning("another key than git has", extra={"fields": {"node": found.node, **data}})
        controller.wake()

    def _due(self, found: SignedRequest, now: float) -> bool:
        key, at = self._noted.get(found.node, ("", 0.0))
        return now - at > (_SAME if key == found.key else _ANOTHER)
