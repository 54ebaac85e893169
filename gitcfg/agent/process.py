"""The process of an agent: signals, the lock that allows one agent per node, and messages to systemd."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from ..install.store import LOCK_FLAGS, Place, open_store, try_lock
from .errors import Forbidden


def make_notifier(address: str) -> Callable[[str], None]:
    """Return a function that sends a state (`READY=1`) to NOTIFY_SOCKET; it does nothing if that is empty."""

    def send(state: str) -> None:
        import socket

        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.connect(f"\0{address[1:]}" if address.startswith("@") else address)
            sock.send(state.encode())

    return send if address else lambda state: None


# One agent per node: the kernel keeps the lock until its holder ends, however it ends.

NAME = "agent.lock"
_PATIENCE, _PAUSE = 1.0, 0.05


@contextmanager
def hold_agent_lock(place: Place) -> Iterator[None]:
    """Hold the lock; raise Forbidden if another agent is running here.

    An agent that was killed while it started a command keeps the lock until that new process executes the
    command.
    """
    with open_store(place) as store:
        file = os.open(NAME, LOCK_FLAGS, 0o600, dir_fd=store.at)
    try:
        if not _wait_for_lock(file):
            holder = os.pread(file, 32, 0).decode(errors="replace") or "unknown"
            raise Forbidden(
                f"Another agent is running on this node: process {holder}.",
                f"Run `kill -HUP {holder}` to start its next round at once.",
            )
        with suppress(OSError):  # even on a full disk, the agent must run and report that
            os.ftruncate(file, 0)
            os.pwrite(file, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(file)


def _wait_for_lock(file: int) -> bool:
    until = time.monotonic() + _PATIENCE
    while not try_lock(file):
        if time.monotonic() >= until:
            return False
        time.sleep(_PAUSE)
    return True


# Signals: SIGHUP ends a wait at once; SIGTERM and SIGINT end the agent between its steps.


class WaitInterrupted(Exception):
    """A signal ended a wait."""


class Signals:
    """The signals of an agent. Only a wait is interrupted: an installation finishes first, even after two.

    `ending` is the number of the signal that asks the agent to end, 0 if there was none.
    """

    def __init__(self) -> None:
        self.ending = 0
        self.hurried = False
        self._waiting = False

    def listen(self) -> None:
        """Handle the signals from now on."""
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._came)

    def _came(self, number: int, _: FrameType | None) -> None:
        if number == signal.SIGHUP:
            self.hurried = True
        else:
            self.ending = number
        # Before the exception is raised: a second signal must find nothing to interrupt.
        waiting, self._waiting = self._waiting, False
        if waiting:
            raise WaitInterrupted

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Raise WaitInterrupted at a signal inside this context, or at one that came before."""
        self._waiting = True
        try:
            if self.ending or self.hurried:
                raise WaitInterrupted
            yield
        except RuntimeError as error:
            # A signal during the creation of a class in an import: Python before 3.12 raises it as this one's
            # cause.
            if isinstance(error.__cause__, WaitInterrupted):
                raise error.__cause__ from None
            raise
        finally:
            self._waiting = False

    def sleep(self, seconds: float) -> None:
        """Sleep for a number of seconds; raise WaitInterrupted at a signal."""
        with self.waiting():
            time.sleep(max(0.0, seconds))

    def may_begin(self) -> None:
        """Raise WaitInterrupted if the agent is to end: it must not begin anything that takes long."""
        if self.ending:
            raise WaitInterrupted
