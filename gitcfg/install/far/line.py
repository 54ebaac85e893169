"""The line as the far end has it: its standard input and output, which may break or stop being read."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable, Mapping

from .wire import message, read_message

_IDLE, _STUCK = 900.0, 20.0
"""Seconds that the near end may think (it may have to compile a fleet), and that it may not read."""
_WRITE = 4096
"""Bytes that a pipe takes at once, without blocking, when it takes any."""
_HELD = 2048


class LineEnded(Exception):
    """Nobody is at the other end any more."""


class FarLine:
    """Once it is broken nothing more is said on it, and that is no error: an installation goes on."""

    def __init__(self, source: int = 0, sink: int = 1, first: bytes = b"") -> None:
        """`first` is said with the first message, in one packet with it."""
        self._source = source
        self._sink = sink
        self._held = first
        self.broken = False

    def receive(self, limits: Mapping[int, int]) -> tuple[int, bytes]:
        """The next message. LineEnded, or WireError for one that must not come."""
        return read_message(self._take, limits)

    def say(self, kind: int, parts: Iterable[bytes]) -> None:
        """A message, as far as anybody hears it."""
        for frame in message(kind, parts):
            self._write(self._taken() + frame)

    def told(self, kind: int, parts: Iterable[bytes]) -> None:
        """The same for what is only news: where the near end does not read, nobody waits for it."""
        if not self.broken and select.select([], [self._sink], [], 0)[1]:
            self.say(kind, parts)

    def hold(self, kind: int, parts: Iterable[bytes]) -> None:
        """The same for news that can wait for the next message: each packet is 0.1 ms of the near end."""
        if len(self._held) < _HELD:
            self._held += b"".join(message(kind, parts))

    def flush(self) -> None:
        """Say what is held."""
        self._write(self._taken())

    def _taken(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def _take(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            if not select.select([self._source], [], [], _IDLE)[0]:
                raise LineEnded
            try:
                more = os.read(self._source, size - len(found))
            except OSError:
                more = b""
            if not more:
                raise LineEnded
            found += more
        return found

    def _write(self, raw: bytes) -> None:
        until = time.monotonic() + _STUCK
        while raw and not self.broken:
            ready = select.select([], [self._sink], [], max(0.0, until - time.monotonic()))[1]
            try:
                written = os.write(self._sink, raw[:_WRITE]) if ready else 0
            except OSError:
                written = 0
            self.broken = not written
            raw = raw[written:]
