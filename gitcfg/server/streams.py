"""Events for who watches: read once from the database, whoever wrote them, and handed to all."""

import asyncio
from collections.abc import Iterable

import msgspec
from aiohttp import web

from gitcfg.state import Event

HEARTBEAT = 15.0
_MOST_WAITING = 2000
MOST_STREAMS = 200


class Streams:
    """Who watches. One that does not keep up is let go: it comes back and says what it saw last."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[Event | None]] = set()
        self.closed = False

    @property
    def count(self) -> int:
        """How many watch."""
        return len(self._queues)

    def open(self) -> "asyncio.Queue[Event | None]":
        """Watch from now on."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue(_MOST_WAITING)
        self._queues.add(queue)
        return queue

    def leave(self, queue: "asyncio.Queue[Event | None]") -> None:
        """Watch no more."""
        self._queues.discard(queue)

    def hand(self, events: Iterable[Event]) -> None:
        """Give events to all who watch."""
        for event in events:
            for queue in list(self._queues):
                try:
                    queue.put_nowait(event)
                except asyncio.QueueFull:
                    self._end(queue)

    def close(self) -> None:
        """Let everybody go."""
        self.closed = True
        for queue in list(self._queues):
            self._end(queue)

    def _end(self, queue: "asyncio.Queue[Event | None]") -> None:
        self.leave(queue)
        while queue.full():
            queue.get_nowait()
        queue.put_nowait(None)


def written(event: Event) -> bytes:
    """An event as a stream has it."""
    said = msgspec.json.encode({"at": event.at, "node": event.node or None, "kind": event.kind, **event.data})
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.number, event.kind.encode(), said)


async def send(
    response: web.StreamResponse, queue: "asyncio.Queue[Event | None]", after: int, heartbeat: float
) -> None:
    """Send what comes, and now and then a sign of life, until whoever watches is let go.

    TimeoutError: whoever watches takes nothing any more.
    """
    while True:
        try:
            event = await asyncio.wait_for(queue.get(), heartbeat)
        except TimeoutError:
            await give(response, b": alive\n\n", heartbeat)
            continue
        if event is None:
            return
        if event.number > after:
            await give(response, written(event), heartbeat)


async def give(response: web.StreamResponse, said: bytes, seconds: float) -> None:
    """Send something. TimeoutError: it was not taken for so long, nor what was sent before."""
    await asyncio.wait_for(response.write(said), seconds)
