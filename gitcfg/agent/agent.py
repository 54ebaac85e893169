"""One node's agent: what it was told, what it is handed, and what it remembers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..install import InstallError, Package, Place
from .client import Client
from .facts import Facts
from .memory import Memory, Running, keep
from .problems import AgentError
from .settings import Settings
from .target import Target
from .wakes import Wakes


@dataclass
class Agent:
    """`say` tells people a line; `wall` is this node's clock, seconds since the epoch."""

    settings: Settings
    place: Place
    client: Client
    wakes: Wakes
    memory: Memory
    say: Callable[[str], None]
    wall: Callable[[], float]
    version: str
    facts: Facts = field(default_factory=dict)
    said: str = ""

    def remember(self, **changes: Any) -> None:
        """Keep what changed. With a full disk it is known until this process ends, and that is said."""
        self.memory = replace(self.memory, **changes)
        try:
            keep(self.place, self.memory)
        except OSError as error:
            self.tell(f"What happened cannot be kept on the disk: {error.strerror}.")

    def tell(self, message: str) -> None:
        """Tell people, once as long as it stays the same."""
        if message != self.said:
            self.said = message
            self.say(message)

    def explain(self, error: AgentError | InstallError | OSError) -> None:
        """Tell people what went wrong."""
        where = f" {error.filename}" if isinstance(error, OSError) and error.filename else ""
        self.tell(f"{error.strerror}{where}." if isinstance(error, OSError) else str(error))

    def heard(self, target: Target, **changes: Any) -> None:
        """Keep what the server said."""
        offset = self.client.clock.offset
        told = {"sequence": target.sequence, "told": target.digest, "contact": self.wall(), "offset": offset}
        self.remember(**told, **changes)

    def running(self, package: Package | None) -> Running | None:
        """What is in force; an installation that another program made counts from when it is noticed."""
        if package is None:
            return None
        known = self.memory.running
        if known is None or known.digest != package.digest:
            known = Running(package.commit, package.digest, self.client.clock.now())
            self.remember(running=known)
        return known
