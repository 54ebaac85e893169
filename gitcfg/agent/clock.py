"""The server's time, by which requests are signed: this node's own clock may be anywhere."""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST = 2.0
"""Seconds that a clock may seem off and be right: servers tell whole ones, and an answer takes its time."""
TOLERATED = 5.0
"""Seconds that a clock may be off before it is not used as it is."""


class ServerClock:
    """`offset` is what must be added to this node's clock, as the last answer told."""

    def __init__(self, offset: float = 0.0, wall: Callable[[], float] = time.time) -> None:
        self._wall = wall
        self.offset = offset

    def now(self) -> float:
        """Seconds since the epoch, as the server has them."""
        return self._wall() + self._used(self.offset)

    def seen(self, server: float) -> bool:
        """Note the server's time; whether requests are signed by another one from now on."""
        before, apart = self.offset, server - self._wall()
        self.offset = float(round(apart)) if abs(apart) >= LEAST else 0.0
        return abs(self._used(self.offset) - self._used(before)) > TOLERATED

    @staticmethod
    def _used(offset: float) -> float:
        return offset if abs(offset) > TOLERATED else 0.0


def date_of(header: str) -> float | None:
    """The time that a Date header says."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(header).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
