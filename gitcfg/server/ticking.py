"""What time brings: releases go on, holds end, and what is old is forgotten."""

from datetime import date

from gitcfg.server import releases
from gitcfg.server.conductor import Conductor
from gitcfg.server.holding import lifted
from gitcfg.server.upkeep import prune

_HOUR = 3600.0


class Ticking:
    """`begun` is the day on which it began: what ended before is no news."""

    def __init__(self, conductor: Conductor, begun: date) -> None:
        self._conductor = conductor
        self._date = begun
        self._pruned = 0.0

    async def tick(self) -> None:
        """Let releases go on, holds end, and forget what is old."""
        conductor = self._conductor
        async with conductor.changing:
            await conductor.read_checkins()
            if conductor.view is not None and await releases.advance(conductor):
                await conductor.reload(conductor.view.accepted)
            await self._turn()
        await conductor.probe()
        if conductor.clock() - self._pruned > _HOUR:
            self._pruned = conductor.clock()
            await prune(conductor)

    async def _turn(self) -> None:
        """Let holds end with a day that is over."""
        conductor, today = self._conductor, self._conductor.today()
        if conductor.view is None or today == self._date:
            return
        await lifted(conductor, conductor.view.outline.holds, self._date, today)
        self._date = today
        await conductor.ask(lambda state: state.events.next_sequence(conductor.clock()))
        await conductor.reload(conductor.view.accepted)
