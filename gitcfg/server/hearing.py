"""Hears what others have written into the database: events, releases, and who is forgotten."""

from collections.abc import Iterable
from logging import INFO, WARNING

from gitcfg.rollout import Status
from gitcfg.server.conductor import Conductor
from gitcfg.state import Event
from gitcfg.state.deploys import DEPLOY
from gitcfg.state.forgetting import FORGOTTEN
from gitcfg.state.steering import RELEASE


class Hearing:
    """`told` is the number of the event that was heard last."""

    def __init__(self, conductor: Conductor, told: int) -> None:
        self._conductor = conductor
        self._told = told

    async def hear(self) -> None:
        """Take in what others have written, and hand events on."""
        conductor = self._conductor
        await conductor.woken.wait()
        conductor.woken.clear()
        while events := await conductor.ask(lambda state: state.events.after(self._told)):
            await self._forget(event.node for event in events if event.kind == FORGOTTEN)
            await self._deployed({event.node for event in events if event.kind == DEPLOY})
            self._told = events[-1].number
            self._log(events)
            conductor.streams.hand(events)
        async with conductor.changing:
            if conductor.view is not None:
                found = await conductor.ask(lambda state: (state.events.sequence(), state.releases.latest()))
                if found != (conductor.view.sequence, conductor.releases):
                    await conductor.reload(conductor.view.accepted)

    def _log(self, events: Iterable[Event]) -> None:
        """What became of releases, whichever server or person did it."""
        for event in events:
            if event.kind == RELEASE:
                grave = WARNING if event.data.get("status") == Status.HALTED else INFO
                self._conductor.log.log(grave, "release", extra={"said": dict(event.data)})

    async def _deployed(self, names: set[str]) -> None:
        """Know what deploys did, which may have been told long after."""
        if names:
            async with self._conductor.changing:
                found = await self._conductor.ask(lambda state: state.checkins.named(names))
                self._conductor.roll.read(found)

    async def _forget(self, nodes: Iterable[str]) -> None:
        """Know nothing of nodes any more; those of them that wait are let go."""
        names = frozenset(nodes)
        if not names:
            return
        async with self._conductor.changing:
            self._conductor.roll.forget(names)
        await self._conductor.polls.wake(names.__contains__)
