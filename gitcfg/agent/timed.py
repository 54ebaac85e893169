"""Reading from a socket until a deadline, whatever comes in between."""

from __future__ import annotations

import io
import socket
import time
from typing import Any


class _Timed(io.RawIOBase):
    """What a socket receives, until a deadline."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock = sock
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time ran out")
        self._sock.settimeout(left)
        return self._sock.recv_into(buffer)


class Readable:
    """All that `http.client` asks of a socket."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._raw = _Timed(sock, until)

    def makefile(self, mode: str) -> io.BufferedReader:
        """A file to read from."""
        return io.BufferedReader(self._raw)
