"""One child of a pool, the batch of requests that it works on, and what becomes of them when it dies."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from gitcfg.sandbox import Guard, GuardError, Killed, OutOfMemory

_TRIES = 4  # more, for a request whose child is killed

ALWAYS = -1
"""A rank before all others: what is asked whatever ends parsers."""


class Asked:
    """A request on its way; `place` is its rank among all. In the end it has an `answer` or an `error`,
    and whoever asked is told.
    """

    def __init__(self, request: bytes, place: int, told: Callable[["Asked"], None] = lambda _: None) -> None:
        self.request, self.place, self._told = request, place, told
        self.settled = False
        self.answer: Any = None
        self.error: GuardError | None = None
        self.tries = 0

    def settle(self, answer: Any = None, error: GuardError | None = None) -> None:
        """The end of it: what it holds is not needed any more."""
        self.request = b""
        self.settled, self.answer, self.error = True, answer, error
        self._told(self)


class Member:
    """One child and the batch that it works on."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.batch: list[Asked] = []
        self._used = False

    def ask(self, batch: list[Asked]) -> None:
        """Post a batch, if there is any of it."""
        if self._used and any(asked.tries for asked in batch):
            self.close()
        self.batch = batch
        if batch:
            message = msgspec.msgpack.encode([msgspec.Raw(asked.request) for asked in batch])
            try:
                self.guard.post(message)
            except GuardError as error:  # no child can be started
                self.batch = []
                for asked in batch:
                    asked.settle(error=error)

    def collected(self) -> Iterator[Asked]:
        """Settle what is answered. What has to be asked once more, each alone, is given, the last first."""
        if not self.batch:
            return
        try:
            message = self.guard.answer()
        except GuardError as error:
            yield from self._failed(error)
            return
        if message is not None:
            batch, self.batch, self._used = self.batch, [], True
            for asked, answer in zip(batch, msgspec.msgpack.decode(message), strict=True):
                asked.settle(answer)

    def _failed(self, error: GuardError) -> list[Asked]:
        batch, self.batch = self.batch, []
        used, self._used = self._used, False
        if len(batch) > 1:
            return batch[::-1]
        (asked,) = batch
        # Want of memory may be others' fault, and SIGKILL nobody's: a new child has the last word.
        if (isinstance(error, OutOfMemory) and used) or (isinstance(error, Killed) and asked.tries < _TRIES):
            asked.tries += 1
            return [asked]
        asked.settle(error=error)
        return []

    def close(self) -> None:
        self.guard.close()
        self.batch, self._used = [], False
