"""The network as a deploy sees it: connections, lines to processes, and why a node was not reached."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from gitcfg.deploy.outcomes import Outcome
from gitcfg.model import GitcfgError


class Reaching(msgspec.Struct, frozen=True):
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


class Unreached(GitcfgError):
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

    def said(self) -> str:
        """Return the end of what it wrote to its standard error."""

    def ended(self) -> int | None:
        """Return its exit code, once it is over."""


class Patient(Line, Protocol):
    """A line of which can be asked whether it has something to say."""

    def waits(self, seconds: float) -> bool:
        """Return whether nothing arrives by then, or sooner if there is output on its standard error."""


class Opened(Protocol):
    """A connection to a node, as a user of it."""

    @property
    def user(self) -> str:
        """Who is logged in there."""

    def line(self, command: str, deadline: float) -> Patient:
        """Run a command there; by the deadline (of the clock) its line is cut."""

    def cut(self) -> None:
        """End it at once, from another thread: nothing waits on it any longer."""


class Network(Protocol):
    """What reaches nodes."""

    def open(self, node: str) -> AbstractContextManager[Opened]:
        """Return a connection to a node, until its end. Unreached: why there is none."""

    def close(self) -> None:
        """End what is shared by several nodes."""
