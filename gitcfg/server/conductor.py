"""How everything stands: what requests are answered by, and what all that keeps up with the world shares."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from logging import Logger
from typing import TypeVar

from gitcfg.model import GitcfgError
from gitcfg.model.delivery import is_over
from gitcfg.rollout import Rollout
from gitcfg.server.fleets import Bench
from gitcfg.server.holding import held_nodes
from gitcfg.server.outlines import Outlines
from gitcfg.server.polls import Polls
from gitcfg.server.roll import Roll
from gitcfg.server.source import Judged
from gitcfg.server.streams import Streams
from gitcfg.server.view import View, news
from gitcfg.state import Checkin, State, StoredRelease
from gitcfg.state.claims import USUAL, Limits

T = TypeVar("T")

WRITES = "writing"
"""Fails where check-ins cannot be kept. A balancer that looks at /readyz sends none then: it is tried out."""


class Conductor:
    """`view` is what requests are answered by; None: nothing has been accepted yet. `pending` are the limits
    of what is kept of nodes that wait to be accepted.

    Who changes `view` or `releases` holds `changing`.
    """

    def __init__(
        self,
        state: State,
        bench: Bench,
        polls: Polls,
        streams: Streams,
        clock: Callable[[], float],
        today: Callable[[], date],
        log: Logger,
        pending: Limits = USUAL,
    ) -> None:
        self.pending = pending
        self.state, self.bench, self.polls, self.streams, self.log = state, bench, polls, streams, log
        self.clock, self.today = clock, today
        self.roll = Roll()
        self.outlines = Outlines(bench)
        self.view: View | None = None
        self.judged: Judged | None = None
        self.releases: tuple[StoredRelease, ...] = ()
        self.strayed: list[dict[str, str]] = []
        self.threads = ThreadPoolExecutor(4, "gitcfg-state")
        self.changing = asyncio.Lock()
        self.woken = asyncio.Event()
        self._faults: dict[str, str] = {}

    async def ask(self, work: Callable[[State], T]) -> T:
        """Have something done with the database, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, work, self.state)

    @property
    def failing(self) -> str:
        """What does not work, the database or the repository; nothing: all does."""
        return "; ".join(dict.fromkeys(self._faults.values()))

    def fails(self, what: str, error: Exception) -> None:
        """Something does not work, until it does."""
        self._faults[what] = str(error)

    def works(self, what: str) -> None:
        """It works, or works again."""
        self._faults.pop(what, None)

    def record(self, checkins: Sequence[Checkin]) -> tuple[bool, ...]:
        """Keep check-ins, in whatever thread. GitcfgError: the database takes none."""
        try:
            return self.state.checkins.record(checkins)
        except GitcfgError as error:
            self.fails(WRITES, error)
            raise

    async def read_checkins(self) -> None:
        """Take in what nodes have told other servers, while `changing` is held.

        Who is forgotten meanwhile must not come back by what was read before: hearing waits for this.
        """
        unread = self.roll.unread
        self.roll.read(await self.ask(lambda state: state.checkins.nodes(unread)))

    async def probe(self) -> None:
        """Can check-ins be kept again, where they could not be? GitcfgError: no."""
        if WRITES in self._faults:
            await self.ask(lambda state: state.probe(self.clock()))
            self.works(WRITES)

    def wake(self) -> None:
        """Somebody has changed the database."""
        self.woken.set()

    async def reload(self, accepted: str) -> None:
        """See how everything stands, and wake the nodes whom that concerns."""
        self.releases, sequence = await self.ask(_standing)
        outline = await self.outlines.of(accepted)
        today = self.today()
        held = await held_nodes(
            self, [hold for hold in outline.holds if not is_over(hold.until, today)], accepted
        )
        commits = [accepted, *(one.commit for one in self.releases), *(commit for commit, _ in held.values())]
        outlines = await self.outlines.all(commits)
        rollouts = tuple(
            Rollout(one.plan, one.progress, outlines[one.commit].nodes)
            for one in self.releases
            if one.commit in outlines
        )
        base = rollouts[-1].progress.commit if rollouts else accepted
        old, new = self.view, View(accepted, outlines, rollouts, base, held, sequence)
        self.view = new
        if old is None or old.keys is not new.keys:
            await self.ask(lambda state: state.claims.settle(new.keys))
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
