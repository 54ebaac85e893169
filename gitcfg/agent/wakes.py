"""Signals: SIGHUP ends a waiting at once, SIGTERM and SIGINT end the agent between its steps."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Woken(Exception):
    """A waiting was ended by a signal."""


class Wakes:
    """Nothing but a waiting is interrupted: an installation comes to its end first, also at a second signal.

    `ending` is the number of the signal that wants the agent to end; 0 while none does.
    """

    def __init__(self) -> None:
        self.ending = 0
        self.hurried = False
        self._waiting = False

    def listen(self) -> None:
        """Take the signals from now on."""
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._came)

    def _came(self, number: int, _: FrameType | None) -> None:
        if number == signal.SIGHUP:
            self.hurried = True
        else:
            self.ending = number
        # Before it is raised: a second signal must find nothing to interrupt.
        waiting, self._waiting = self._waiting, False
        if waiting:
            raise Woken

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """A signal in here, or one that came before, raises Woken."""
        self._waiting = True
        try:
            if self.ending or self.hurried:
                raise Woken
            yield
        except RuntimeError as error:
            # Raised while an import makes a class, it comes as the cause of this (Python before 3.12).
            if isinstance(error.__cause__, Woken):
                raise error.__cause__ from None
            raise
        finally:
            self._waiting = False

    def sleep(self, seconds: float) -> None:
        """Wait."""
        with self.waiting():
            time.sleep(max(0.0, seconds))

    def may_begin(self) -> None:
        """Woken where the agent is to end: nothing that takes long is begun any more."""
        if self.ending:
            raise Woken
