"""What is done to a server: requests without a pause, a steady fleet, and commits for every node."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import cycle
from statistics import median

from bench.agents.agent import Agent
from bench.agents.figures import Rate, Round, Steady
from bench.agents.process import Process
from bench.agents.sheet import Sheet, spread
from bench.agents.site import Site

_TOLD = 100.0
Meter = Callable[[], float]


class Phases:
    """A server, called by a name, and the agents that ask it. `database` is its CPU, None: it has none."""

    def __init__(
        self, name: str, process: Process, agents: Sequence[Agent], sheet: Sheet, database: Meter | None
    ) -> None:
        self.name, self.process, self.agents, self.sheet = name, process, agents, sheet
        self.database = database
        self._tasks: list[asyncio.Task[None]] = []

    async def flat(self, request: str, ask: Callable[[Agent], Awaitable[None]], seconds: float) -> Rate:
        """Agents ask in turn without a pause, each over its own connection, which is open by then."""
        await asyncio.gather(*map(ask, self.agents))
        turns, end, count = cycle(self.agents), time.monotonic() + seconds, 0

        async def worker() -> None:
            nonlocal count
            while time.monotonic() < end:
                await ask(next(turns))
                count += 1

        begun, cpu, base = time.monotonic(), self.process.cpu, self._meter()
        await asyncio.gather(*(worker() for _ in range(max(1, len(self.agents) // 2))))
        took = time.monotonic() - begun
        return Rate(
            server=self.name,
            request=request,
            count=count,
            seconds=took,
            cpu=self.process.cpu - cpu,
            database=None if base is None else (self._meter() or 0.0) - base,
        )

    async def steady(self, interval: float, seconds: float) -> Steady:
        """All agents live as agents do; measured is what comes after their first interval."""
        self._tasks = [asyncio.create_task(agent.run()) for agent in self.agents]
        await asyncio.sleep(interval * 1.1)
        self.process.forget()
        self.sheet.begin()
        wrong = self.sheet.wrong.total()
        begun, cpu, base, own = time.monotonic(), self.process.cpu, self._meter(), time.process_time()
        await asyncio.sleep(seconds)
        took = time.monotonic() - begun
        self.sheet.measuring = False
        return Steady(
            server=self.name,
            nodes=len(self.agents),
            interval=interval,
            seconds=took,
            cpu=self.process.cpu - cpu,
            database=None if base is None else (self._meter() or 0.0) - base,
            own=time.process_time() - own,
            peak=self.process.peak,
            sockets=self.process.sockets,
            checkins=spread(self.sheet.times["check-in"]),
            polls=spread(self.sheet.times["poll"]),
            wrong=self.sheet.wrong.total() - wrong,
        )

    async def round(self, site: Site, number: int) -> Round:
        """A commit that changes every node, until each has been told, or time is over."""
        commit = await asyncio.to_thread(site.commit, number)
        self.process.forget()
        self.sheet.begin()
        cpu, begun = self.process.cpu, time.monotonic()
        await asyncio.to_thread(site.accept, commit)
        told: list[float] = []
        while len(told) < len(self.agents) and time.monotonic() < begun + _TOLD:
            await asyncio.sleep(0.05)
            told = self.sheet.told.get(commit, [])
        self.sheet.measuring = False
        return Round(
            server=self.name,
            nodes=len(self.agents),
            told=len(told),
            first=min(told, default=begun) - begun,
            middle=median(told or [begun]) - begun,
            last=max(told, default=begun) - begun,
            cpu=self.process.cpu - cpu,
            peak=self.process.peak,
            sockets=self.process.sockets,
            checkins=spread(self.sheet.times["check-in"]),
        )

    async def rest(self) -> None:
        """Agents end; a check-in that is on its way is answered first: else nobody knows if it is kept.

        What an agent died of is raised.
        """
        for agent, task in zip(self.agents, self._tasks, strict=False):
            agent.ended = True
            if not agent.checking:
                task.cancel()
        ends = await asyncio.gather(*self._tasks, return_exceptions=True)
        for agent in self.agents:
            agent.line.close()
        self._tasks = []
        for end in ends:
            if isinstance(
                end, Exception
            ):  # an answer that does not count: nothing else that was measured does
                raise end

    def _meter(self) -> float | None:
        return None if self.database is None else self.database()
