"""Streams of events: read once from the database, and sent to all watchers."""

import asyncio
from collections.abc import Iterable

import msgspec
from aiohttp import web

from gitcfg.state import Event

HEARTBEAT = 15.0
_MOST_WAITING = 2000
MOST_STREAMS = 200


class Streams:
    """Watchers of events. One that does not keep up is disconnected, and resumes from its last event."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[Event | None]] = set()
        self.closed = False

    @property
    def count(self) -> int:
        """The number of watchers."""
        return len(self._queues)

    def subscribe(self) -> "asyncio.Queue[Event | None]":
        """Return a queue of events from now on."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue(_MOST_WAITING)
        self._queues.add(queue)
        return queue

    def unsubscribe(self, queue: "asyncio.Queue[Event | None]") -> None:
        """Remove a queue."""
        self._queues.discard(queue)

    def publish(self, events: Iterable[Event]) -> None:
        """Put events into all queues."""
        for event in events:
            for queue in list(self._queues):
                try:
                    queue.put_nowait(event)
                except asyncio.QueueFull:
                    self._end(queue)

    def close(self) -> None:
        """Disconnect all watchers."""
        self.closed = True
        for queue in list(self._queues):
            self._end(queue)

    def _end(self, queue: "asyncio.Queue[Event | None]") -> None:
        self.unsubscribe(queue)
        while queue.full():
            queue.get_nowait()
        queue.put_nowait(None)


def format_event(event: Event) -> bytes:
    """Format an event for a stream."""
    data = msgspec.json.encode({"at": event.at, "node": event.node or None, "kind": event.kind, **event.data})
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.number, event.kind.encode(), data)


async def send_events(
    response: web.StreamResponse, queue: "asyncio.Queue[Event | None]", after: int, heartbeat: float
) -> None:
    """Send events, with heartbeats between, until the watcher is disconnected.

    TimeoutError: whoever watches takes nothing any more.
    """
    while True:
        try:
            event = await asyncio.wait_for(queue.get(), heartbeat)
        except TimeoutError:
            await write_or_time_out(response, b": alive\n\n", heartbeat)
            continue
        if event is None:
            return
        if event.number > after:
            await write_or_time_out(response, format_event(event), heartbeat)


async def write_or_time_out(response: web.StreamResponse, data: bytes, seconds: float) -> None:
    """Write to a stream. Raise TimeoutError if the client has not read for that long."""
    await asyncio.wait_for(response.write(data), seconds)
