"""The process of an agent: signals, the lock that allows one agent a node, and messages to systemd."""

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
    """Return what sends a state (`READY=1`) to the socket of NOTIFY_SOCKET, or nowhere if that is empty."""

    def send(state: str) -> None:
        import socket

        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.connect(f"\0{address[1:]}" if address.startswith("@") else address)
            sock.send(state.encode())

    return send if address else lambda state: None


# One agent a node: the kernel keeps the lock until its holder ends, however it ends.

NAME = "agent.lock"
_PATIENCE, _PAUSE = 1.0, 0.05


@contextmanager
def hold_agent_lock(place: Place) -> Iterator[None]:
    """Forbidden if another agent is at work here.

    One that was killed while it started a command has the lock until the half-born process is that command.
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
        with suppress(OSError):  # a full disk keeps no agent from telling that it is full
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


# Signals: SIGHUP ends a waiting at once, SIGTERM and SIGINT end the agent between its steps.


class WaitInterrupted(Exception):
    """A waiting was ended by a signal."""


class Signals:
    """Nothing but a waiting is interrupted: an installation comes to its end first, also at a second signal.

    `ending` is the number of the signal that wants the agent to end; 0 while none does.
    """

    def __init__(self) -> None:
        self.ending = 0
        self.hurried = False
        self._waiting = False

    def listen(self) -> None:
        """Take the signals from now on."""
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._came)

    def _came(self, number: int, _: FrameType | None) -> None:
        if number == signal.SIGHUP:
            self.hurried = True
        else:
            self.ending = number
        # Before it is raised: a second signal must find nothing to interrupt.
        waiting, self._waiting = self._waiting, False
        if waiting:
            raise WaitInterrupted

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """A signal in here, or one that came before, raises WaitInterrupted."""
        self._waiting = True
        try:
            if self.ending or self.hurried:
                raise WaitInterrupted
            yield
        except RuntimeError as error:
            # Raised while an import makes a class, it comes as the cause of this (Python before 3.12).
            if isinstance(error.__cause__, WaitInterrupted):
                raise error.__cause__ from None
            raise
        finally:
            self._waiting = False

    def sleep(self, seconds: float) -> None:
        """Wait."""
        with self.waiting():
            time.sleep(max(0.0, seconds))

    def may_begin(self) -> None:
        """WaitInterrupted where the agent is to end: nothing that takes long is begun any more."""
        if self.ending:
            raise WaitInterrupted
