"""Write events in batches, one transaction for many."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gitcfg.model import GitcfgError
from gitcfg.state import Event

if TYPE_CHECKING:
    from gitcfg.server.conductor import Controller

PAUSE = 0.2
_MOST = 20_000


class EventWriter:
    """Writes events in batches. What does not fit is dropped: the inventory has it all."""

    def __init__(self, controller: "Controller") -> None:
        self._controller = controller
        self._waiting: list[Event] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, at: float, kind: str, data: Mapping[str, Any], node: str = "") -> None:
        """Queue an event."""
        if len(self._waiting) < _MOST:
            self._waiting.append(Event(0, at, kind, node, data))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._waiting:
            await asyncio.sleep(PAUSE)
            events, self._waiting = self._waiting, []
            try:
                await self._controller.with_state(lambda state: state.events.extend(events))  # noqa: B023
            except GitcfgError as error:
                self._controller.log.error("events are lost", extra={"fields": {"error": error.message}})
            self._controller.wake()
