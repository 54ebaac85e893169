"""Hosts to jump over on the way to nodes: one connection to each, for all nodes behind it."""

import threading
from collections.abc import Callable
from typing import Any

from fabric import Connection
from paramiko.ssh_exception import SSHException

from gitcfg.deploy.outcomes import Outcome
from gitcfg.deploy.reach import Unreached
from gitcfg.deploy.ssh_problems import reason

Connect = Callable[[str, str], Connection]
"""Connects to a host over other hosts (`a,b`), or over those that ssh_config says where these are none."""


class Jumps:
    """By how ssh_config writes them, `a,b`: a bastion sees one connection, not hundreds.

    `patience` is how many seconds a way may take to open, and how long one that failed is not tried again.
    """

    def __init__(self, connect: Connect, clock: Callable[[], float], patience: float) -> None:
        self._connect = connect
        self._clock = clock
        self._patience = patience
        self._known: dict[str, _Jump] = {}
        self._lock = threading.Lock()

    def channel(self, hops: str, host: str, port: int) -> Any:
        """A way to a host behind some others. Unreached: they do not lead there."""
        before, _, hop = hops.replace(" ", "").rpartition(",")
        connection = self._jump(hops).opened(lambda: self._connect(hop, before), hop)
        try:
            return connection.transport.open_channel(
                "direct-tcpip", (host, port), ("", 0), timeout=self._patience
            )
        except (SSHException, OSError, EOFError) as error:
            message = f"The jump host {hop} cannot reach {host}: {reason(error)}."
            raise Unreached(Outcome.UNREACHABLE, message) from None

    def close(self) -> None:
        """End them all."""
        for jump in self._known.values():
            jump.close()

    def _jump(self, hops: str) -> "_Jump":
        with self._lock:
            return self._known.setdefault(hops, _Jump(self._clock, self._patience))


class _Jump:
    """A connection that is opened by who comes first, and anew when it has ended."""

    def __init__(self, clock: Callable[[], float], patience: float) -> None:
        self._clock = clock
        self._patience = patience
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._failed: tuple[float, Unreached] | None = None

    def opened(self, connect: Callable[[], Connection], hop: str) -> Connection:
        """The connection. Where it fails, those that wait do not try one after the other."""
        with self._lock:
            if self._connection is not None and self._connection.is_connected:
                return self._connection
            if self._failed is not None and self._clock() - self._failed[0] < self._patience:
                raise self._failed[1]
            try:
                self._connection = connect()
            except Unreached as error:
                message = f"The jump host {hop} cannot be used. {error.message}"
                failed = Unreached(error.outcome, message, *error.hints)
                self._failed = self._clock(), failed
                raise failed from None
            return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.client.close()
