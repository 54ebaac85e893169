"""Requests of nodes that wait for news: each costs a future and a timer, and no work until there is some."""

import asyncio
from collections.abc import Callable

SLICE = 100
"""Nodes woken before other tasks get their turn: 30 ms of answers, each signed for its node."""


class Polls:
    """Waiting requests, by node."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self._closed = False
        self.count = 0

    async def wait(self, node: str, seconds: float) -> None:
        """Wait until there is news for a node, the time is over, or the server ends."""
        if self._closed or seconds <= 0:
            return
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _resolve, future)
        self._waiting.setdefault(node, set()).add(future)
        self.count += 1
        try:
            await future
        finally:
            timer.cancel()
            self.count -= 1
            waiting = self._waiting[node]
            waiting.discard(future)
            if not waiting:
                del self._waiting[node]

    async def wake(self, concerned: Callable[[str], bool]) -> None:
        """Wake the nodes for which a predicate is true."""
        names = list(self._waiting)
        for start in range(0, len(names), SLICE):
            for name in names[start : start + SLICE]:
                if concerned(name):
                    for future in self._waiting.get(name, ()):
                        _resolve(future)
            await asyncio.sleep(0)

    def close(self) -> None:
        """Let all requests go, and accept none."""
        self._closed = True
        for waiting in self._waiting.values():
            for future in waiting:
                _resolve(future)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
