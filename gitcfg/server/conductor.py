"""Keeps up: with the repository, with the database that others change, and with releases on their way."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from logging import Logger
from typing import Any, TypeVar

from gitcfg.model import GitcfgError
from gitcfg.rollout import Rollout
from gitcfg.server import releases, source
from gitcfg.server.fleets import Bench
from gitcfg.server.holding import held_nodes, lifted
from gitcfg.server.outlines import Outlines
from gitcfg.server.polls import Polls
from gitcfg.server.roll import Roll
from gitcfg.server.source import Judged, Tip
from gitcfg.server.streams import Streams
from gitcfg.server.upkeep import prune
from gitcfg.server.view import View, news
from gitcfg.state import State, StoredRelease

T = TypeVar("T")

LOOK = 0.5
TICK = 2.0
LAG = 600.0
"""A commit that others released and that is not here may be on its way for so many seconds."""
_HOUR = 3600.0


class Conductor:
    """`view` is what requests are answered by; None: nothing has been accepted yet."""

    def __init__(
        self,
        state: State,
        bench: Bench,
        polls: Polls,
        streams: Streams,
        clock: Callable[[], float],
        today: Callable[[], date],
        log: Logger,
    ) -> None:
        self.state, self.bench, self.polls, self.streams, self.log = state, bench, polls, streams, log
        self.clock, self._today = clock, today
        self.roll = Roll()
        self.outlines = Outlines(bench)
        self.view: View | None = None
        self.judged: Judged | None = None
        self.releases: tuple[StoredRelease, ...] = ()
        self._faults: dict[str, str] = {}
        self.threads = ThreadPoolExecutor(4, "gitcfg-state")
        self._told = 0
        self._date: date | None = None
        self._lagging: float | None = None
        self._changing = asyncio.Lock()
        self._woken = asyncio.Event()
        self._pruned = 0.0
        self.strayed: list[dict[str, str]] = []

    async def ask(self, work: Callable[[State], T]) -> T:
        """Have something done with the database, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, work, self.state)

    @property
    def failing(self) -> str:
        """What does not work, the database or the repository; nothing: all does."""
        return "; ".join(self._faults.values())

    def wake(self) -> None:
        """Somebody has changed the database."""
        self._woken.set()

    async def start(self) -> None:
        """Read what is known of nodes. GitcfgError: the database fails."""
        self.roll.read(await self.ask(lambda state: state.checkins.nodes()))
        self._told = await self.ask(lambda state: state.events.newest())
        self._date = self._today()

    async def run(self) -> None:
        """Keep up with everything, until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._repeated(self._follow, LOOK))
            tasks.create_task(self._repeated(self._tick, TICK))
            tasks.create_task(self._repeated(self._hear, 0.0))

    async def _repeated(self, work: Callable[[], Awaitable[None]], pause: float) -> None:
        while True:
            try:
                await work()
                self._faults.pop(work.__name__, None)
            except (GitcfgError, OSError) as error:
                # The database or the disk: what was answered until now is still answered.
                self._faults[work.__name__] = str(error)
                self.log.error("keeping up fails", extra={"said": {"error": str(error)}})
                await asyncio.sleep(TICK)
            await asyncio.sleep(pause)

    async def _follow(self) -> None:
        """Accept what the protected branch has moved to."""
        known = self.judged
        if known is not None and self.view is not None:
            here = known.tip
            if not await self.bench.do(lambda fleets: source.moved(fleets.source.repository, here)):
                await self._catch_up()
                return
        tip = await self.bench.do(lambda fleets: source.look(fleets.fresh().repository))
        if known is not None and tip == known.tip:
            return
        good = known.accepted if known is not None else await self._accepted_before(tip)
        judged = await self.bench.do(lambda fleets: source.judge(fleets.fresh(), tip, good))
        if judged.accepted is not None and (known is None or known.accepted != judged.accepted):
            await self._accept(judged.accepted, moved=known is not None)
        await self._say(judged, known)
        self.judged = judged  # last: what fails on the way is tried again

    async def _accepted_before(self, tip: Tip) -> str | None:
        """What counted before this server began, if the branch still reaches it."""
        found = await self.ask(lambda state: state.releases.newest(1))
        if not found or tip.commit is None:
            return None
        commit = found[0].commit
        return await self.bench.do(lambda fleets: source.reachable(fleets.source.repository, commit))

    async def _say(self, judged: Judged, known: Judged | None) -> None:
        said: dict[str, Any] = {"ref": judged.tip.ref, "tip": judged.tip.commit, "commit": judged.accepted}
        if judged.errors:
            said |= {"errors": judged.errors, "message": judged.message}
            self.log.warning("the tip is invalid", extra={"said": said})
            await self.ask(lambda state: state.events.add(self.clock(), "invalid", said))
        elif known is None or known.accepted != judged.accepted:
            self.log.info("accepted", extra={"said": said})

    async def _accept(self, commit: str, moved: bool) -> None:
        outline = await self.outlines.of(commit)
        async with self._changing:
            await self._reload(commit)
            assert self.view is not None
            begun = releases.Begun(commit, outline, self.view, self.releases, self.clock())
            if await self._due(commit, moved) and await releases.begin(self, begun):
                await self._reload(commit)

    async def _catch_up(self) -> None:
        """Begin what was not begun because others had released a commit that was not here."""
        if self._lagging is not None and self.judged is not None and self.judged.accepted is not None:
            await self._accept(self.judged.accepted, moved=False)

    async def _due(self, commit: str, moved: bool) -> bool:
        """Is a release of the commit to begin? Not where others are ahead of this server's repository."""
        newest = self.releases[0].commit if self.releases else None
        if newest is None or newest == commit:
            self._lagging = None
            return newest is None
        here = await self.bench.do(lambda fleets: fleets.source.repository.knows(newest))
        if here:
            self._lagging = None
            behind = await self.bench.do(
                lambda fleets: (
                    source.reachable(fleets.fresh().repository, newest) is not None
                    and source.came_before(fleets.source.repository, commit, newest)
                )
            )
            return moved or not behind
        self._lagging = self._lagging or self.clock()
        return self.clock() - self._lagging > LAG

    async def _tick(self) -> None:
        """Let releases go on, holds end, and forget what is old."""
        states = await self.ask(lambda state: state.checkins.nodes(self.roll.unread))
        self.roll.read(states)
        async with self._changing:
            if self.view is not None and await releases.advance(self):
                await self._reload(self.view.accepted)
            if self.view is not None and self._date != self._today():
                await lifted(self, self.view.outline.holds, self._date, self._today())
                self._date = self._today()
                await self.ask(lambda state: state.events.next_sequence(self.clock()))
                await self._reload(self.view.accepted)
        if self.clock() - self._pruned > _HOUR:
            self._pruned = self.clock()
            await prune(self)

    async def _hear(self) -> None:
        """Take in what others have written, and hand events on."""
        await self._woken.wait()
        self._woken.clear()
        while events := await self.ask(lambda state: state.events.after(self._told)):
            self._told = events[-1].number
            self.streams.hand(events)
        async with self._changing:
            if self.view is not None:
                found = await self.ask(lambda state: (state.events.sequence(), state.releases.latest()))
                if found != (self.view.sequence, self.releases):
                    await self._reload(self.view.accepted)

    async def _reload(self, accepted: str) -> None:
        """See how everything stands, and wake the nodes whom that concerns."""
        self.releases, sequence = await self.ask(_standing)
        outline = await self.outlines.of(accepted)
        today = self._today()
        held = await held_nodes(self, [hold for hold in outline.holds if today <= hold.until], accepted)
        commits = [accepted, *(one.commit for one in self.releases), *(commit for commit, _ in held.values())]
        outlines = await self.outlines.all(commits)
        rollouts = tuple(Rollout(one.plan, one.progress) for one in self.releases if one.commit in outlines)
        base = rollouts[-1].progress.commit if rollouts else accepted
        old, new = self.view, View(accepted, outlines, rollouts, base, held, sequence)
        self.view = new
        if old is not None:
            await self.polls.wake(lambda name: news(old, new, name))
        self.wake()


def _standing(state: State) -> tuple[tuple[StoredRelease, ...], int]:
    """Releases, and the number that belongs to them: asked again if it rose meanwhile."""
    while True:
        number = state.events.sequence()
        found = state.releases.latest()
        if state.events.sequence() == number:
            return found, number
