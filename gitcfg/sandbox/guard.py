"""A guard: hostile input is handled by a child process that can do no harm and may die of it."""

import math
import select
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from gitcfg.sandbox.closing import Closing
from gitcfg.sandbox.frames import encoded
from gitcfg.sandbox.limits import GuardError, Limits, OutOfMemory
from gitcfg.sandbox.process import Child, start

_NO_LIMITS_BUT_THE_USUAL = Limits()


class Guard(Closing):
    """Requests to a module that calls `serve`, in one child for many of them.

    The child starts with the first request and again after it died. `opening`, if given, is the
    first request to every child (its answer is dropped). Linux ends a child with the thread that
    started it; the next request then starts another.
    """

    def __init__(self, module: str, limits: Limits = _NO_LIMITS_BUT_THE_USUAL, opening: Any = None) -> None:
        self._module, self._limits = module, limits
        self._opening = None if opening is None else msgspec.msgpack.encode(opening)
        self._child: Child | None = None
        self._end: Callable[[], Any] | None = None
        self._turn = threading.Lock()
        self._told: bytes | None = None

    def reopen(self, opening: Any) -> None:
        """This opening from now on. A child that was told another is told it before the next request."""
        message = msgspec.msgpack.encode(opening)
        if message != self._opening:
            self._opening = message

    def begin(self) -> None:
        """Start the child ahead of the first request: it gets ready meanwhile."""
        with self._turn:
            self._alive()

    def request(self, payload: Any, within: float = math.inf) -> Any:
        """The handler's answer; both are plain data. GuardError if the child did not live to give it.

        `within` so many seconds, if they are fewer than the limit.
        """
        message = encoded(payload)
        with self._turn:
            answer = self._ask_fairly(message, within)
        return msgspec.msgpack.decode(answer)

    def post(self, message: bytes) -> None:
        """Ask without waiting; `message` is encoded. The next question is asked when this is answered."""
        with self._turn:
            self._alive().post(message)

    def answer(self) -> bytes | None:
        """The encoded answer to what was posted, if it is there. GuardError as for `request`."""
        if self._child is None:
            raise GuardError("was closed")
        answered = False
        try:
            answer = self._child.answer(0.0)
            answered = True
            return answer
        finally:
            if not answered:
                self.close()

    @property
    def pid(self) -> int | None:
        """The child's process, if there is a child, whether it still runs or not."""
        return None if self._child is None else self._child.pid

    @property
    def line(self) -> tuple[int, int] | None:
        """What to wait for until an answer may be there; see `wait`."""
        return None if self._child is None else self._child.line

    def close(self) -> None:
        """End the child. A later request starts another."""
        end, self._end, self._child = self._end, None, None
        if end is not None:
            end()

    def _ask_fairly(self, message: bytes, within: float) -> bytes:
        """What earlier requests left in memory is not this one's fault: a new child has the last word."""
        used = self._child is not None and self._child.running
        try:
            return self._ask(message, within)
        except OutOfMemory:
            if not used:
                raise
            return self._ask(message, within)

    def _ask(self, message: bytes, within: float) -> bytes:
        answered = False
        try:
            answer = self._alive().ask(message, within)
            answered = True
            return answer
        finally:
            if not answered:
                self.close()

    def _alive(self) -> Child:
        if self._child is None or not self._child.running:
            self.close()
            self._child = start(self._module, self._limits)
            # Whoever forgets to close leaves neither a process nor a folder behind.
            self._end = weakref.finalize(self, self._child.end)
            self._told = None
        if self._opening is not None and self._told is not self._opening:
            self._child.ask(self._opening)
            self._told = self._opening
        return self._child


def wait(guards: Iterable[Guard], seconds: float) -> None:
    """Wait until one of those that were posted something can go on, but no longer than this."""
    poll = select.poll()
    for line in (guard.line for guard in guards):
        if line is not None:
            poll.register(*line)
    poll.poll(seconds * 1000)
