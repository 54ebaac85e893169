"""One run of the benchmark: a repository, then each server in turn with the same agents."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from bench.agents.agent import Agent
from bench.agents.crew import identities, keys
from bench.agents.figures import Figures
from bench.agents.kept import kept
from bench.agents.phases import Meter, Phases
from bench.agents.process import Process, begun
from bench.agents.servers import database, ready
from bench.agents.sheet import Sheet
from bench.agents.site import Site, drawn, names, site
from gitcfg.agent.keys import Identity
from tests import postgres

GITCFG = (sys.executable, "-m", "gitcfg")


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """A run: `flat` seconds without a pause by `few` agents; of `every` answers one is verified."""

    fleet: str = "large"
    nodes: int = 8000
    interval: float = 30.0
    seconds: float = 30.0
    flat: float = 5.0
    few: int = 400
    rounds: int = 2
    every: int = 20
    databases: tuple[str, ...] = ("sqlite", "postgresql")


class Run:
    """Made anew for each run: nothing of another one is left."""

    def __init__(self, size: Size, home: Path, say: Callable[[str], None]) -> None:
        self.size, self.home, self.say = size, home, say
        self.figures = Figures()

    async def all(self) -> Figures:
        """Everything."""
        found = await asyncio.to_thread(drawn, self.size.fleet, self.size.nodes)
        crew = list(identities(names(found)))
        made = await asyncio.to_thread(site, self.home, found, keys(crew))
        await self._bare(made, crew)
        for number, kind in enumerate(self.size.databases):
            with database(kind, self.home) as (url, meter):
                if url:
                    await self._gitcfg(made, crew, (kind, url, meter), number)
                else:
                    self.figures.skipped.append(f"{kind}: {postgres.missing()}")
        return self.figures

    async def _bare(self, made: Site, crew: Sequence[Identity]) -> None:
        self.say("bare")
        words = (sys.executable, "-m", "bench.agents.bare", str(made.desk / "keys/all.txt"))
        with begun(words, self.home / "bare.log") as process:
            phases = self._phases("bare", process, crew[: self.size.few], sys.maxsize, None)
            self.figures.rates.append(await phases.flat("check-in", Agent.check_in, self.size.flat))
            await phases.rest()

    async def _gitcfg(
        self, made: Site, crew: Sequence[Identity], given: tuple[str, str, Meter | None], number: int
    ) -> None:
        kind, url, meter = given
        state = str(self.home / f"state-{kind}")
        words = (*GITCFG, "-C", str(made.bare), "serve", "--listen", "127.0.0.1:0", "--state", state)
        with begun((*words, "--database", url), self.home / f"{kind}.log") as process:
            name = f"gitcfg, {kind}"
            phases = self._phases(name, process, crew, self.size.every, meter)
            await ready(process)
            await self._flat(phases)
            self.say(f"{name}: {len(crew)} agents")
            self.figures.steady.append(await phases.steady(self.size.interval, self.size.seconds))
            for turn in range(self.size.rounds):
                self.say(f"{name}: a commit for all")
                self.figures.rounds.append(await phases.round(made, 1 + turn + number * self.size.rounds))
            await phases.rest()
            self.figures.kept.append(kept(name, url, phases.sheet))

    async def _flat(self, whole: Phases) -> None:
        """A few of the agents, whose check-ins are kept and counted like all others."""
        self.say(f"{whole.name}: without a pause")
        few = Phases(whole.name, whole.process, whole.agents[: self.size.few], whole.sheet, whole.database)
        for request, ask in _ASKED:
            self.figures.rates.append(await few.flat(request, ask, self.size.flat))

    def _phases(
        self, name: str, process: Process, crew: Sequence[Identity], every: int, meter: Meter | None
    ) -> Phases:
        sheet = Sheet(process.key, every)
        agents = [Agent(who, process.place, sheet, self.size.interval) for who in crew]
        return Phases(name, process, agents, sheet, meter)


async def _poll(agent: Agent) -> None:
    await agent.wait(0)


_ASKED = (("check-in", Agent.check_in), ("poll without a wait", _poll), ("package", Agent.fetch))
