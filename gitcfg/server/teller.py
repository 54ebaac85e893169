"""Keeps events that nobody waits for: many of them at once, in one transaction."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gitcfg.model import GitcfgError
from gitcfg.state import Event

if TYPE_CHECKING:
    from gitcfg.server.conductor import Conductor

PAUSE = 0.2
_MOST = 20_000


class Teller:
    """What does not fit is dropped: events are for who watches, and the inventory has it all."""

    def __init__(self, conductor: "Conductor") -> None:
        self._conductor = conductor
        self._waiting: list[Event] = []
        self._task: asyncio.Task[None] | None = None

    def tell(self, at: float, kind: str, data: Mapping[str, Any], node: str = "") -> None:
        """Keep an event soon."""
        if len(self._waiting) < _MOST:
            self._waiting.append(Event(0, at, kind, node, data))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._waiting:
            await asyncio.sleep(PAUSE)
            events, self._waiting = self._waiting, []
            try:
                await self._conductor.ask(lambda state: state.events.extend(events))  # noqa: B023
            except GitcfgError as error:
                self._conductor.log.error("events are lost", extra={"said": {"error": error.message}})
            self._conductor.wake()
