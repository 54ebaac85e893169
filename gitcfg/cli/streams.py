"""Streams that stand for a terminal while a pager has it."""

import io
from collections.abc import Callable
from typing import IO, Any, TextIO


class Kept(io.StringIO):
    """What is said on a terminal later."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return True

    def told(self) -> TextIO:
        """The terminal, after it has been told."""
        self._terminal.write(self.getvalue())
        return self._terminal


class Pipe(io.RawIOBase):
    """The way into a pager, which starts with the first byte."""

    def __init__(self, start: Callable[[], IO[bytes]]) -> None:
        self._start = start
        self._target: IO[bytes] | None = None
        self._ended = False

    def isatty(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self._ended:
            return len(data)
        self._target = self._target or self._start()
        try:
            return self._target.write(data)
        except BrokenPipeError:
            self.end()
            raise

    def end(self) -> None:
        """Drop all that may still come."""
        self._ended = True
