"""Write check-ins and events in batches, one transaction for many."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from gitcfg.model import GitcfgError
from gitcfg.server.http import Problem
from gitcfg.state.records import Checkin, Event

if TYPE_CHECKING:
    from gitcfg.server.controller import Controller

PAUSE = 0.05
_MOST = 1000
_MOST_WAITING = 20_000

Record = Callable[[Sequence[Checkin]], tuple[bool, ...]]
EVENT_PAUSE = 0.2
_MOST_EVENTS = 20_000


class CheckinWriter:
    """Writes check-ins in batches: 8,000 nodes every 30 s are 13 a batch, and 20 transactions a second."""

    def __init__(self, thread: Executor, record: Record) -> None:
        self._thread = thread
        self._record = record
        self._waiting: list[tuple[Checkin, asyncio.Future[bool]]] = []
        self._task: asyncio.Task[None] | None = None

    async def write(self, checkin: Checkin) -> bool:
        """Write a check-in; return False if it is a replay. Raise GitcfgError if the database fails."""
        if len(self._waiting) >= _MOST_WAITING:
            raise Problem("unavailable", "Too many check-ins wait to be written.", {"Retry-After": "5"})
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((checkin, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            await asyncio.sleep(PAUSE)
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            written = loop.run_in_executor(self._thread, self._record, [checkin for checkin, _ in batch])
            (found,) = await asyncio.gather(written, return_exceptions=True)
            for place, (_, future) in enumerate(batch):
                if future.done():  # whoever asked has gone
                    continue
                if isinstance(found, BaseException):
                    future.set_exception(found)
                else:
                    future.set_result(found[place])


class EventWriter:
    """Writes events in batches. What does not fit is dropped: the inventory has it all."""

    def __init__(self, controller: "Controller") -> None:
        self._controller = controller
        self._waiting: list[Event] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, at: float, kind: str, data: Mapping[str, Any], node: str = "") -> None:
        """Queue an event."""
        if len(self._waiting) < _MOST_EVENTS:
            self._waiting.append(Event(0, at, kind, node, data))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._waiting:
            await asyncio.sleep(EVENT_PAUSE)
            events, self._waiting = self._waiting, []
            try:
                await self._controller.with_state(lambda state: state.events.extend(events))  # noqa: B023
            except GitcfgError as error:
                self._controller.log.error("events are lost", extra={"fields": {"error": error.message}})
            self._controller.wake()
