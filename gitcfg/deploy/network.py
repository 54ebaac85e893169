"""The network for a deploy: connections, lines to processes, and root on a node through sudo."""

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from gitcfg.deploy.messages import clean
from gitcfg.deploy.outcomes import Outcome
from gitcfg.model import GitcfgError


class ConnectOptions(msgspec.Struct, frozen=True):
    """How to connect: the ssh_config (None: the user's and the system's), the user, the timeout in seconds.

    `accept_new` accepts keys of unknown hosts and trusts them from then on. `keys` are the nodes' own keys
    (`ssh-ed25519 AAAA...`). `addresses` are of nodes that are not at their names; ssh_config has priority
    over them. `clock` counts seconds.
    """

    clock: Callable[[], float]
    ssh_config: str | None = None
    user: str | None = None
    connect_timeout: float = 10.0
    accept_new: bool = False
    keys: Mapping[str, str] = {}
    addresses: Mapping[str, str] = {}


class ConnectError(GitcfgError):
    """A host could not be reached, for the reason `outcome`; nothing was done there."""

    def __init__(self, outcome: Outcome, message: str, *hints: str) -> None:
        super().__init__(message, *hints, code=3)
        self.outcome = outcome


class Line(Protocol):
    """A process on a node, with its standard input and output. Failures are raised as OSError."""

    def send(self, data: bytes) -> None:
        """Write all of the data."""

    def receive(self, most: int) -> bytes:
        """Return up to `most` bytes, as soon as there are some; nothing at the end."""

    def stderr(self) -> str:
        """Return the end of the process's standard error."""

    def ended(self) -> int | None:
        """Return the exit code, once the process has ended."""


class WaitingLine(Line, Protocol):
    """A line that can wait for output."""

    def waits(self, seconds: float) -> bool:
        """Return whether nothing arrives by then, or sooner if there is output on its standard error."""


class NodeConnection(Protocol):
    """A connection to a node, as one of its users."""

    @property
    def user(self) -> str:
        """The user who is logged in there."""

    def line(self, command: str, deadline: float) -> WaitingLine:
        """Run a command there; at the deadline (of the clock) its line is cut."""

    def cut(self) -> None:
        """End the connection at once, from another thread; all waits on it end."""


class Network(Protocol):
    """A way to reach nodes."""

    def open(self, node: str) -> AbstractContextManager[NodeConnection]:
        """Open a connection to a node. Raise ConnectError with the reason if that fails."""

    def close(self) -> None:
        """Close what several nodes share."""


# Root through sudo, with a password that is sent over the line, and only when sudo asks.

PROMPT = "gitcfg-asks-for-sudo:"
"""Sudo's prompt for a password, on its standard error, so that nothing else receives the password."""
WITHOUT = ("sudo", "-n")
ASKING = ("sudo", "-S", "-p", PROMPT)
_LOOK = 0.05
_HINT = (
    "It was tried once, because some systems lock an account after a few tries. Use `--ask-sudo` to"
    " try again."
)


class Password:
    """A password that was entered once. If the first node rejects it, it is sent to no other node."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lock = threading.Lock()
        self._proven = False
        self._refused_by = ""

    def hand(self, line: WaitingLine, node: str) -> None:
        """Send it to a sudo that asks for it. Raise ConnectError if this or an earlier node rejects it."""
        with self._lock:
            if self._refused_by:
                message = f"sudo on {self._refused_by} rejected the password, so it was not sent here."
                raise ConnectError(Outcome.SUDO, message)
            proven = self._proven
            if not proven:  # the other nodes wait for the answer of the first one
                self._try(line, node)
        if proven:
            self._try(line, node)

    def _try(self, line: WaitingLine, node: str) -> None:
        before = line.stderr().count(PROMPT)
        line.send(f"{self._text}\n".encode())
        while line.waits(_LOOK):
            if line.stderr().count(PROMPT) > before:
                break
        else:
            if line.ended() in (None, 0):
                self._proven = True
                return
        if not self._proven:
            self._refused_by = node
        output = clean(line.stderr().replace(PROMPT, "").strip()[-500:])
        detail = f" Its output: {output}" if output else ""  # also if sudo accepts it, but not this user
        raise ConnectError(Outcome.SUDO, f"sudo rejected the password.{detail}", _HINT)


class SudoLine:
    """A line behind a sudo that may ask for a password, at once or after the output of a shell."""

    def __init__(self, line: WaitingLine, password: Password, node: str) -> None:
        self._line = line
        self._password = password
        self._node = node
        self._asked = False

    def send(self, data: bytes) -> None:
        """Write all of the data."""
        self._line.send(data)

    def receive(self, most: int) -> bytes:
        """Return up to `most` bytes, after answering a prompt of sudo."""
        while not self._asked and self._line.waits(_LOOK):
            if PROMPT in self._line.stderr():
                self._asked = True
                self._password.hand(self._line, self._node)
        return self._line.receive(most)

    def stderr(self) -> str:
        """Return the end of the process's standard error, without sudo's prompt."""
        return self._line.stderr().replace(PROMPT, "")

    def ended(self) -> int | None:
        """Return the exit code, once the process has ended."""
        return self._line.ended()
