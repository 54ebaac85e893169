"""Keeps up with everything: with the repository, with time, and with the database that others change."""

import asyncio
from collections.abc import Awaitable, Callable

from gitcfg.model import GitcfgError
from gitcfg.server.conductor import Conductor
from gitcfg.server.expiry import Expiry
from gitcfg.server.following import Following
from gitcfg.server.hearing import Hearing
from gitcfg.server.ticking import Ticking

LOOK = 0.5
TICK = 2.0


async def begun(conductor: Conductor) -> Hearing:
    """Read what is known of nodes, and hear what comes after that. GitcfgError: the database fails."""
    told = await conductor.ask(lambda state: state.events.newest())
    conductor.roll.read(await conductor.ask(lambda state: state.checkins.nodes()))
    return Hearing(conductor, told)


async def keep_up(conductor: Conductor, hearing: Hearing) -> None:
    """Keep up with everything, until it is cancelled."""
    following, ticking = Following(conductor), Ticking(conductor, conductor.today())
    expiry = Expiry(conductor)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_repeated(conductor, following.follow, LOOK))
        tasks.create_task(_repeated(conductor, ticking.tick, TICK))
        tasks.create_task(_repeated(conductor, expiry.expire, TICK))
        tasks.create_task(_repeated(conductor, hearing.hear, 0.0))


async def _repeated(conductor: Conductor, work: Callable[[], Awaitable[None]], pause: float) -> None:
    while True:
        try:
            await work()
            conductor.works(work.__name__)
        except (GitcfgError, OSError) as error:
            # The database or the disk: what was answered until now is still answered.
            conductor.fails(work.__name__, error)
            conductor.log.error("keeping up fails", extra={"said": {"error": str(error)}})
            await asyncio.sleep(TICK)
        await asyncio.sleep(pause)
