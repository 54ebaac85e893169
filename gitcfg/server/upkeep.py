"""Forgets what is old: nonces, results, events, and strangers that nobody accepted."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitcfg.server.conductor import Conductor

KEEP_EVENTS, KEEP_RESULTS = 7 * 86400.0, 90 * 86400.0


async def prune(conductor: "Conductor") -> None:
    """Forget what nobody asks for any more."""
    now = conductor.clock()
    await conductor.ask(lambda state: state.checkins.prune(now, KEEP_RESULTS))
    await conductor.ask(lambda state: state.events.prune(now - KEEP_EVENTS))
    conductor.roll.forget(await conductor.ask(lambda state: state.claims.prune(now, conductor.pending)))
    view = conductor.view
    if view is None:
        return
    old = [
        name
        for name, last in conductor.roll.nodes.items()
        if last.commit is None and not view.knows(name) and last.last < now - conductor.pending.seconds
    ]
    await conductor.ask(lambda state: state.checkins.forget(old))
    conductor.roll.forget(old)
