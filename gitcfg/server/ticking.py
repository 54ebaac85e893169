"""What depends on time: releases advance, holds end, old state is pruned."""

from datetime import date

from gitcfg.server import releases
from gitcfg.server.conductor import Controller
from gitcfg.server.holding import report_lifted_holds
from gitcfg.server.upkeep import prune_state

_HOUR = 3600.0


class Clockwork:
    """Does what time brings; holds that ended before `begun` are no news."""

    def __init__(self, controller: Controller, begun: date) -> None:
        self._controller = controller
        self._date = begun
        self._pruned = 0.0

    async def tick(self) -> None:
        """Advance releases, end holds, and prune old state."""
        controller = self._controller
        async with controller.view_lock:
            await controller.read_checkins()
            if controller.view is not None and await releases.advance_release(controller):
                await controller.reload(controller.view.accepted)
            await self._turn()
        await controller.probe()
        if controller.clock() - self._pruned > _HOUR:
            self._pruned = controller.clock()
            await prune_state(controller)

    async def _turn(self) -> None:
        """End holds at the end of a day."""
        controller, today = self._controller, self._controller.today()
        if controller.view is None or today == self._date:
            return
        await report_lifted_holds(controller, controller.view.outline.holds, self._date, today)
        self._date = today
        await controller.with_state(lambda state: state.events.next_sequence(controller.clock()))
        await controller.reload(controller.view.accepted)
