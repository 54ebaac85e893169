"""One node's agent: what it was told, what it is handed, and what it remembers."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

from ..install import Debt, Drift, InstallError, Package, Place, debts, installed
from .client import Client
from .facts import Facts
from .memory import MOST_DRIFT, Memory, Running, keep
from .problems import PENDING, SECRETS, AgentError, Declined
from .settings import Settings
from .target import Target
from .wakes import Wakes

_REMEMBERED = 8
"""Troubles that are not told twice."""


class Agent:
    """`say` tells people a line, `tell` one that may come again in each round; `wall` is this node's clock,
    seconds since the epoch.
    """

    def __init__(
        self,
        settings: Settings,
        place: Place,
        client: Client,
        memory: Memory,
        say: Callable[[str], None],
        wall: Callable[[], float],
        version: str,
        facts: Facts,
    ) -> None:
        self.settings = settings
        self.place = place
        self.client = client
        self.memory = memory
        self.say = say
        self.wall = wall
        self.version = version
        self.facts = facts
        self.wakes = Wakes()
        self.drifted: tuple[Drift, ...] = ()
        self.patient_until = -math.inf
        """When a server may next ask that what failed be tried again (`time.monotonic`)."""
        self._told: deque[str] = deque(maxlen=_REMEMBERED)

    def remember(self, **changes: Any) -> None:
        """Keep what changed. With a full disk it is known until this process ends, and that is said."""
        self.memory = self.memory._replace(**changes)
        try:
            keep(self.place, self.memory)
        except OSError as error:
            self.tell(f"What happened cannot be kept on the disk: {error.strerror}.")

    def tell(self, message: str) -> None:
        """Tell people of a trouble; what was told since a server answered last is not told again."""
        if message not in self._told:
            self._told.append(message)
            self.say(message)

    def explain(self, error: AgentError | InstallError | OSError) -> None:
        """Tell people what went wrong."""
        self.tell(_sentence(error))

    def heard(self, target: Target, **changes: Any) -> None:
        """Keep what the server said. That it says anything does not mean that it can hand secrets over."""
        if not self._lacks_secrets():
            self._answered()
            while len(self._told) > 1:
                self._told.popleft()
        told = {"sequence": target.sequence, "told": target.digest, "problem": self.memory.problem}
        self.remember(**told, **self._contact(), **changes)

    def supplied(self) -> None:
        """What the server names is here: fetched, or in force before."""
        if self._lacks_secrets():
            self._answered()
            self.remember()

    def _lacks_secrets(self) -> bool:
        return (self.memory.problem or {}).get("kind") == SECRETS

    def _answered(self) -> None:
        """What was in the way is over; who calls keeps that on the disk."""
        problem = self.memory.problem
        if problem is not None:
            self._told.clear()  # else a second outage, with the same words, would not be told
            accepted = problem.get("kind") == PENDING
            ended = f"{self.client.server} answers as it should again."
            self.say("This node's key is accepted now." if accepted else ended)
            self.memory = self.memory._replace(problem=None)

    def troubled(self, error: AgentError | InstallError | OSError, again: float = 0.0) -> None:
        """Keep what is in the way, and when the next round begins."""
        kind = error.kind if isinstance(error, AgentError) else AgentError.kind
        problem = {"kind": kind, "message": _sentence(error), "at": self.wall()}
        contact = self._contact() if isinstance(error, Declined) else {}
        self.remember(**{"problem": problem, "next": again, "drift": self._drift(), **contact})

    def _contact(self) -> dict[str, Any]:
        server, offset = str(self.client.server), self.client.clock.offset
        return {"contact": self.wall(), "server": server, "offset": offset, "drift": self._drift()}

    def _drift(self) -> tuple[dict[str, str], ...]:
        return tuple({"path": one.path, "kind": one.kind} for one in self.drifted[:MOST_DRIFT])

    def in_force(self) -> Package | None:
        """The package in force; None where there is none, or its record cannot be read (`settle` tells)."""
        try:
            return installed(self.place)
        except InstallError:
            return None

    def owed(self) -> tuple[Debt, ...]:
        """What subsystems still have to do for it; nothing where that cannot be read (`settle` tells)."""
        try:
            return debts(self.place)
        except InstallError:
            return ()

    def running(self, package: Package | None) -> Running | None:
        """What is in force; an installation that another program made counts from when it is noticed."""
        if package is None:
            return None
        known = self.memory.running
        if known is None or known.digest != package.digest:
            known = Running(package.commit, package.digest, self.client.clock.now())
            self.remember(running=known)
        return known


def _sentence(error: AgentError | InstallError | OSError) -> str:
    if not isinstance(error, OSError):
        return str(error)
    return f"{error.strerror}{f' {error.filename}' if error.filename else ''}."
