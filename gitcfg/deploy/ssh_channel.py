"""A command on a node as a line: its standard input and output as they are, with an end to all waiting."""

import time
from collections.abc import Callable

from paramiko import Channel

_KEPT = 8192
_LOOK = 0.02
_STATUS = 5.0
_NONE = -1
"""No exit code: a signal ended it, or nobody has told."""
_PIECE = 32768


class ChannelLine:
    """A channel on which a command runs. What waits after `deadline` (of the clock) is a TimeoutError."""

    def __init__(self, channel: Channel, deadline: float, clock: Callable[[], float]) -> None:
        self._channel = channel
        self._deadline = deadline
        self._clock = clock
        self._said = b""

    def send(self, data: bytes) -> None:
        """Write all of it."""
        view = memoryview(data)
        while view:
            self._wait()
            view = view[self._channel.send(view[:_PIECE]) :]

    def receive(self, most: int) -> bytes:
        """At most that many bytes, as soon as there are some; nothing at the end."""
        self._wait()
        data: bytes = self._channel.recv(most)
        self._listen()
        return data

    def waits(self, seconds: float) -> bool:
        """Is nothing to be received by then, or sooner if there is news on its standard error?"""
        end = self._clock() + seconds
        while not (self._channel.recv_ready() or self._channel.closed or self._channel.eof_received):
            self._wait()
            if self._listen() or self._clock() >= end:
                return True
            time.sleep(_LOOK)
        return False

    def said(self) -> str:
        """The end of what it wrote to its standard error."""
        self._listen()
        return self._said.decode("utf-8", "replace")

    def ended(self) -> int | None:
        """Its exit code, once it is over; it comes after the end of what is to be received, or never."""
        if self._channel.eof_received or self._channel.closed:
            self._channel.status_event.wait(max(0.0, min(_STATUS, self._deadline - self._clock())))
        code = self._channel.exit_status
        return None if code == _NONE else int(code)

    def _wait(self) -> None:
        left = self._deadline - self._clock()
        if left <= 0:
            raise TimeoutError("time ran out")
        self._channel.settimeout(left)

    def _listen(self) -> bool:
        """Take in what it wrote to its standard error: unread, it would stop there some day."""
        heard = False
        while self._channel.recv_stderr_ready():
            piece = self._channel.recv_stderr(_PIECE)
            heard = heard or bool(piece)
            self._said = (self._said + piece)[-_KEPT:]
            if not piece:
                break
        return heard
