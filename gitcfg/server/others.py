"""Nodes that come with another key than git has: set up anew perhaps, and told to whoever may accept it."""

from typing import TYPE_CHECKING

from aiohttp import web

from gitcfg.load.keys import fingerprint
from gitcfg.server.problems import Problem
from gitcfg.server.proxies import ORIGIN
from gitcfg.server.signed import PRESENTED, Signed, signed
from gitcfg.state.claims import ANOTHER
from gitcfg.state.records import OtherKey

if TYPE_CHECKING:
    from gitcfg.server.conductor import Conductor

_LOOK, _SAME, _ANOTHER = 0.2, 3600.0, 60.0
"""Seconds between two looks at whatever comes, and two notes of a node: of the same key, of another one."""


class Others:
    """Notes are few however many ask, and nobody is answered anything else because of them."""

    def __init__(self, conductor: "Conductor") -> None:
        self._conductor = conductor
        self._looked = 0.0
        self._noted: dict[str, tuple[str, float]] = {}

    async def note(self, request: web.Request, body: bytes) -> None:
        """Keep the key that a request is signed with, where that is another one than the node's."""
        conductor, now = self._conductor, self._conductor.clock()
        if PRESENTED not in request.headers or now - self._looked < _LOOK or conductor.view is None:
            return
        self._looked = now
        try:
            found = signed(request, body, {}, now)
        except Problem:
            return
        known = conductor.view.keys.get(found.node)
        if known is None or known == found.key or not self._due(found, now):
            return
        self._noted[found.node] = found.key, now
        other = OtherKey(found.key, now, request[ORIGIN].address)
        said = {"key": other.key, "fingerprint": fingerprint(other.key), "address": other.address}
        await conductor.ask(lambda state: state.claims.other(found.node, known, other, conductor.pending))
        await conductor.ask(lambda state: state.events.add(now, ANOTHER, said, found.node))
        conductor.log.warning("another key than git has", extra={"said": {"node": found.node, **said}})
        conductor.wake()

    def _due(self, found: Signed, now: float) -> bool:
        key, at = self._noted.get(found.node, ("", 0.0))
        return now - at > (_SAME if key == found.key else _ANOTHER)
