"""One agent a node: the kernel keeps the lock until its holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..install.place import Place
from ..install.store import opened
from .problems import Forbidden

NAME = "agent.lock"
_PATIENCE, _PAUSE = 1.0, 0.05
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def alone(place: Place) -> Iterator[None]:
    """Forbidden if another agent is at work here.

    One that was killed while it started a command has the lock until the half-born process is that command.
    """
    with opened(place) as store:
        file = os.open(NAME, _FLAGS, 0o600, dir_fd=store.at)
    try:
        if not _awaited(file):
            holder = os.pread(file, 32, 0).decode(errors="replace") or "unknown"
            raise Forbidden(
                f"Another agent is at work on this node: process {holder}.",
                f"`kill -HUP {holder}` makes it look at once.",
            )
        with suppress(OSError):  # a full disk keeps no agent from telling that it is full
            os.ftruncate(file, 0)
            os.pwrite(file, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(file)


def _awaited(file: int) -> bool:
    until = time.monotonic() + _PATIENCE
    while not _taken(file):
        if time.monotonic() >= until:
            return False
        time.sleep(_PAUSE)
    return True


def _taken(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
