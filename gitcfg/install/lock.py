"""One lock for everything that installs on a node, which the kernel lets go of when its holder dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .place import Place
from .problems import Busy
from .store import Store

NAME = "lock"
_PAUSE = 0.1
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def held(store: Store, place: Place) -> Iterator[None]:
    """The lock, waited for as long as the limits say; Busy names who has it."""
    until = place.clock.now() + place.limits.lock_wait
    while True:
        file = os.open(NAME, _FLAGS, 0o600, dir_fd=store.at)
        try:
            _wait(file, place, until)
            if _is_the_lock(file, store):
                _sign(file, place)
                yield
                return
        finally:
            os.close(file)


def _wait(file: int, place: Place, until: float) -> None:
    while not _taken(file):
        if place.clock.now() >= until:
            holder = os.pread(file, 200, 0).decode(errors="replace") or "somebody"
            raise Busy(
                f"Another installation is at work on this node: {holder}.", "Try again when it has ended."
            )
        place.clock.sleep(_PAUSE)


def _is_the_lock(file: int, store: Store) -> bool:
    """Not if somebody removed or replaced it meanwhile: it would keep nobody out."""
    found = store.disk.stat(store.at, NAME)
    return found is not None and os.path.samestat(found, os.fstat(file))


def _sign(file: int, place: Place) -> None:
    """A full disk, where going back may be what is to be done, does not keep anybody from having the lock."""
    with suppress(OSError):
        os.ftruncate(file, 0)
        os.pwrite(file, f"{place.who}, process {os.getpid()}".encode(), 0)


def _taken(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
