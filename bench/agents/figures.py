"""What is measured of a server under agents."""

import msgspec

from bench.agents.sheet import Spread


class Steady(msgspec.Struct, frozen=True, kw_only=True):
    """Agents that do what agents do, for some seconds. CPU is in seconds; `own` is that of the agents."""

    server: str
    nodes: int
    interval: float
    seconds: float
    cpu: float
    database: float | None
    own: float
    peak: float
    sockets: int
    checkins: Spread
    polls: Spread
    wrong: int


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """Requests one after the other, as fast as the server answers, from some connections at once."""

    server: str
    request: str
    count: int
    seconds: float
    cpu: float
    database: float | None = None

    @property
    def each(self) -> float:
        """Microseconds of the server's CPU a request."""
        return self.cpu / max(1, self.count) * 1e6


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """A commit for all: seconds from the moment when the branch pointed to it; `told` heard of it in time.

    `checkins` are those that were answered meanwhile.
    """

    server: str
    nodes: int
    told: int
    first: float
    middle: float
    last: float
    cpu: float
    peak: float
    sockets: int
    checkins: Spread


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """Check-ins that were answered by 200, those in the database, and nodes whose last one is not there."""

    server: str
    answered: int
    found: int
    behind: int
    verified: int
    wrong: str = ""


class Figures(msgspec.Struct):
    """All that was measured in one run."""

    steady: list[Steady] = []
    rates: list[Rate] = []
    rounds: list[Round] = []
    kept: list[Kept] = []
    skipped: list[str] = []
