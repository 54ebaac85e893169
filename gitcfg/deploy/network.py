"""The network as a deploy sees it: connections, lines to processes, and root on a node through sudo."""

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from gitcfg.deploy.messages import clean
from gitcfg.deploy.outcomes import Outcome
from gitcfg.model import GitcfgError


class ConnectOptions(msgspec.Struct, frozen=True):
    """How: by which ssh_config (None: the user's and the system's), as whom, and how long to try (seconds).

    `accept_new` lets unknown hosts show a key that is trusted from then on. `keys` are the nodes'
    own keys (`ssh-ed25519 AAAA...`), `addresses` where nodes are looked for that are elsewhere than their
    names say; what ssh_config says of a node beats that. `clock` counts seconds.
    """

    clock: Callable[[], float]
    ssh_config: str | None = None
    user: str | None = None
    connect_timeout: float = 10.0
    accept_new: bool = False
    keys: Mapping[str, str] = {}
    addresses: Mapping[str, str] = {}


class ConnectError(GitcfgError):
    """A host could not be reached, as `outcome` says; nothing was done there."""

    def __init__(self, outcome: Outcome, message: str, *hints: str) -> None:
        super().__init__(message, *hints, code=3)
        self.outcome = outcome


class Line(Protocol):
    """A process on a node, its standard input and output. What it cannot do is an OSError."""

    def send(self, data: bytes) -> None:
        """Write all of it."""

    def receive(self, most: int) -> bytes:
        """At most that many bytes, as soon as there are some; nothing at the end."""

    def stderr(self) -> str:
        """Return the end of what it wrote to its standard error."""

    def ended(self) -> int | None:
        """Return its exit code, once it is over."""


class WaitingLine(Line, Protocol):
    """A line of which can be asked whether it has something to say."""

    def waits(self, seconds: float) -> bool:
        """Return whether nothing arrives by then, or sooner if there is output on its standard error."""


class NodeConnection(Protocol):
    """A connection to a node, as a user of it."""

    @property
    def user(self) -> str:
        """Who is logged in there."""

    def line(self, command: str, deadline: float) -> WaitingLine:
        """Run a command there; by the deadline (of the clock) its line is cut."""

    def cut(self) -> None:
        """End it at once, from another thread: nothing waits on it any longer."""


class Network(Protocol):
    """What reaches nodes."""

    def open(self, node: str) -> AbstractContextManager[NodeConnection]:
        """Return a connection to a node, until its end. ConnectError: why there is none."""

    def close(self) -> None:
        """End what is shared by several nodes."""


# Root through sudo, with a password that goes to it over the line, and only when it asks.

PROMPT = "gitcfg-asks-for-sudo:"
"""What sudo writes to its standard error where it wants a password, so that none is sent to anything else."""
WITHOUT = ("sudo", "-n")
ASKING = ("sudo", "-S", "-p", PROMPT)
_LOOK = 0.05
_HINT = (
    "It was tried once, because some systems lock an account after a few tries. Use `--ask-sudo` to"
    " try again."
)


class Password:
    """One that was asked for once. Where the first node refuses it, it is sent to no other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lock = threading.Lock()
        self._proven = False
        self._refused_by = ""

    def hand(self, line: WaitingLine, node: str) -> None:
        """Hand it to a sudo that asks for it. ConnectError: it is not taken, or was not taken elsewhere."""
        with self._lock:
            if self._refused_by:
                message = f"sudo on {self._refused_by} rejected the password, so it was not sent here."
                raise ConnectError(Outcome.SUDO, message)
            proven = self._proven
            if not proven:  # the others wait for what the first one says
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
        detail = f" Its output: {output}" if output else ""  # also of whom it knows, and may not be root
        raise ConnectError(Outcome.SUDO, f"sudo rejected the password.{detail}", _HINT)


class SudoLine:
    """A line behind a sudo that may ask for a password, at once or after what a shell says first."""

    def __init__(self, line: WaitingLine, password: Password, node: str) -> None:
        self._line = line
        self._password = password
        self._node = node
        self._asked = False

    def send(self, data: bytes) -> None:
        """Write all of it."""
        self._line.send(data)

    def receive(self, most: int) -> bytes:
        """At most that many bytes; what sudo asks for is answered before."""
        while not self._asked and self._line.waits(_LOOK):
            if PROMPT in self._line.stderr():
                self._asked = True
                self._password.hand(self._line, self._node)
        return self._line.receive(most)

    def stderr(self) -> str:
        """Return the end of what it wrote to its standard error, but for what sudo asked."""
        return self._line.stderr().replace(PROMPT, "")

    def ended(self) -> int | None:
        """Return its exit code, once it is over."""
        return self._line.ended()
