"""Read what other processes have written to the database: events, releases, forgotten nodes."""

from collections.abc import Iterable
from logging import INFO, WARNING

from gitcfg.rollout import Status
from gitcfg.server.conductor import Controller
from gitcfg.state import Event
from gitcfg.state.deploys import DEPLOY
from gitcfg.state.forgetting import FORGOTTEN
from gitcfg.state.steering import RELEASE


class EventReader:
    """Reads events and releases that others write; `position` is the number of the last event read."""

    def __init__(self, controller: Controller, position: int) -> None:
        self._controller = controller
        self._position = position

    async def read(self) -> None:
        """Take in what others have written, and pass events on."""
        controller = self._controller
        await controller.woken.wait()
        controller.woken.clear()
        while events := await controller.with_state(lambda state: state.events.after(self._position)):
            await self._forget(event.node for event in events if event.kind == FORGOTTEN)
            await self._deployed({event.node for event in events if event.kind == DEPLOY})
            self._position = events[-1].number
            self._log(events)
            controller.streams.publish(events)
        async with controller.view_lock:
            if controller.view is not None:
                found = await controller.with_state(
                    lambda state: (state.events.sequence(), state.releases.latest())
                )
                if found != (controller.view.sequence, controller.releases):
                    await controller.reload(controller.view.accepted)

    def _log(self, events: Iterable[Event]) -> None:
        """Log what became of releases, whichever server or person did it."""
        for event in events:
            if event.kind == RELEASE:
                grave = WARNING if event.data.get("status") == Status.HALTED else INFO
                self._controller.log.log(grave, "release", extra={"fields": dict(event.data)})

    async def _deployed(self, names: set[str]) -> None:
        """Take in results of deploys, which may be reported long after."""
        if names:
            async with self._controller.view_lock:
                found = await self._controller.with_state(lambda state: state.checkins.named(names))
                self._controller.registry.read(found)

    async def _forget(self, nodes: Iterable[str]) -> None:
        """Forget nodes; their waiting polls end."""
        names = frozenset(nodes)
        if not names:
            return
        async with self._controller.view_lock:
            self._controller.registry.forget(names)
        await self._controller.polls.wake(names.__contains__)
