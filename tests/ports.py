"""Ports for servers of the tests' own that end and come back where they were."""

import os
import socket
from itertools import chain

_FIRST, _LAST = 20_000, 32_000
"""Below those that the system gives away by itself: what has ended finds its port free again."""


def free_port() -> int:
    """A port on loopback that nobody uses; each test process begins its search elsewhere."""
    start = _FIRST + os.getpid() * 37 % (_LAST - _FIRST)
    for port in chain(range(start, _LAST), range(_FIRST, start)):
        if port not in _GIVEN and _free(port):
            _GIVEN.add(port)
            return port
    raise AssertionError("there is no free port")


_GIVEN: set[int] = set()


def _free(port: int) -> bool:
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
