"""Prune old state: nonces, results, events, and nodes that were never accepted."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitcfg.server.conductor import Controller

KEEP_EVENTS, KEEP_RESULTS = 7 * 86400.0, 90 * 86400.0


async def prune_state(controller: "Controller") -> None:
    """Delete old nonces, results, events, claims, and nodes that were never accepted."""
    now = controller.clock()
    await controller.with_state(lambda state: state.checkins.prune(now, KEEP_RESULTS))
    await controller.with_state(lambda state: state.events.prune(now - KEEP_EVENTS))
    controller.registry.forget(
        await controller.with_state(lambda state: state.claims.prune(now, controller.pending))
    )
    view = controller.view
    if view is None:
        return
    old = [
        name
        for name, last in controller.registry.nodes.items()
        if last.commit is None and not view.knows(name) and last.last < now - controller.pending.seconds
    ]
    await controller.with_state(lambda state: state.checkins.forget(old))
    controller.registry.forget(old)
