"""The place of an installation: the node, its limits, its disk and its clock, as every function gets them."""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol

from .disk import Disk
from .redaction import NONE, Redaction


class Clock(Protocol):
    """Time and waiting."""

    def now(self) -> float:
        """Seconds of a clock that only goes forward."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The real one."""

    def now(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class Listener(Protocol):
    """What hears how far an installation is."""

    def notify(self, step: str, state: str) -> None:
        """`step` like `restart startd`; `state` is begun, done or failed."""


class NoListener:
    """A listener that ignores everything."""

    def notify(self, step: str, state: str) -> None:
        """Ignore it."""


class Limits(NamedTuple):
    """Seconds, but for `kept`, how many replaced files are kept, and `diff`, characters of a diff.

    The lock is waited for a second even by who does not want to wait: where an installation is killed while
    it starts a command, the half-born process has the lock until it becomes that command.
    """

    lock_wait: float = 1.0
    validate: float = 60.0
    activate: float = 300.0
    check_pause: float = 1.0
    kept: int = 100
    diff: int = 16_384


class Place(NamedTuple):
    """A node: `root` is "/" in production; `state` is a path below it; `who` names the holder of the lock.

    `redaction` is taken out of what commands say: an installation adds what its secrets say.
    """

    root: str
    state: str = "/var/lib/gitcfg"
    who: str = "gitcfg"
    listener: Listener = NoListener()
    limits: Limits = Limits()
    disk: Disk = Disk()
    clock: Clock = SystemClock()
    redaction: Redaction = NONE

    @property
    def folder(self) -> str:
        """The state folder as a normal absolute path below the root."""
        return "/" + self.state.strip("/")
