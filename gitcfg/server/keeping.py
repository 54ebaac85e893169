"""The background loops: they follow the repository, the clock, and the database that others change."""

import asyncio
from collections.abc import Awaitable, Callable

from gitcfg.model import GitcfgError
from gitcfg.server.conductor import Controller
from gitcfg.server.expiry import Expiry
from gitcfg.server.following import BranchFollower
from gitcfg.server.hearing import EventReader
from gitcfg.server.ticking import Clockwork

LOOK = 0.5
TICK = 2.0


async def begin_reading(controller: Controller) -> EventReader:
    """Load the state of nodes, and read events from then on. Raise GitcfgError if the database fails."""
    position = await controller.with_state(lambda state: state.events.newest())
    controller.registry.read(await controller.with_state(lambda state: state.checkins.nodes()))
    return EventReader(controller, position)


async def run_loops(controller: Controller, reader: EventReader) -> None:
    """Run all loops until cancelled."""
    follower, clockwork = BranchFollower(controller), Clockwork(controller, controller.today())
    expiry = Expiry(controller)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_repeat(controller, follower.follow, LOOK))
        tasks.create_task(_repeat(controller, clockwork.tick, TICK))
        tasks.create_task(_repeat(controller, expiry.expire, TICK))
        tasks.create_task(_repeat(controller, reader.read, 0.0))


async def _repeat(controller: Controller, work: Callable[[], Awaitable[None]], pause: float) -> None:
    while True:
        try:
            await work()
            controller.mark_working(work.__name__)
        except (GitcfgError, OSError) as error:
            # The database or the disk: what was answered until now is still answered.
            controller.mark_failing(work.__name__, error)
            controller.log.error("keeping up fails", extra={"fields": {"error": str(error)}})
            await asyncio.sleep(TICK)
        await asyncio.sleep(pause)
