"""The state that requests are answered by, and that the background loops share and change."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from logging import Logger
from typing import TypeVar

from gitcfg.model import GitcfgError
from gitcfg.model.delivery import is_over
from gitcfg.rollout import Rollout
from gitcfg.server.fleets import FleetWorker
from gitcfg.server.holding import find_held_nodes
from gitcfg.server.outlines import OutlineCache
from gitcfg.server.polls import Polls
from gitcfg.server.roll import NodeRegistry
from gitcfg.server.source import TipVerdict
from gitcfg.server.streams import Streams
from gitcfg.server.view import View, has_news
from gitcfg.state import Checkin, State, StoredRelease
from gitcfg.state.claims import USUAL, Limits

T = TypeVar("T")

WRITES = "writing"
"""Fails while check-ins cannot be written. Then /readyz keeps them away, so `probe` has to try."""


class Controller:
    """What requests are answered by. `view` is None until a commit is accepted; `pending` are the limits
    of what is kept of nodes that wait to be accepted.

    Whatever changes `view` or `releases` holds `view_lock`.
    """

    def __init__(
        self,
        state: State,
        worker: FleetWorker,
        polls: Polls,
        streams: Streams,
        clock: Callable[[], float],
        today: Callable[[], date],
        log: Logger,
        pending: Limits = USUAL,
    ) -> None:
        self.pending = pending
        self.state, self.worker, self.polls, self.streams, self.log = state, worker, polls, streams, log
        self.clock, self.today = clock, today
        self.registry = NodeRegistry()
        self.outlines = OutlineCache(worker)
        self.view: View | None = None
        self.judged: TipVerdict | None = None
        self.releases: tuple[StoredRelease, ...] = ()
        self.lost_holds: list[dict[str, str]] = []
        self.threads = ThreadPoolExecutor(4, "gitcfg-state")
        self.view_lock = asyncio.Lock()
        self.woken = asyncio.Event()
        self._faults: dict[str, str] = {}

    async def with_state(self, work: Callable[[State], T]) -> T:
        """Run a function of the database in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, work, self.state)

    @property
    def failing(self) -> str:
        """What fails, the database or the repository; "" if nothing does."""
        return "; ".join(dict.fromkeys(self._faults.values()))

    def mark_failing(self, what: str, error: Exception) -> None:
        """Remember that something fails, until it works."""
        self._faults[what] = str(error)

    def mark_working(self, what: str) -> None:
        """Remember that something works again."""
        self._faults.pop(what, None)

    def record(self, checkins: Sequence[Checkin]) -> tuple[bool, ...]:
        """Write check-ins, in the thread of the caller. Raise GitcfgError if the database takes none."""
        try:
            return self.state.checkins.record(checkins)
        except GitcfgError as error:
            self.mark_failing(WRITES, error)
            raise

    async def read_checkins(self) -> None:
        """Read the check-ins that other servers have written, while `view_lock` is held.

        Who is forgotten meanwhile must not come back by what was read before: reader waits for this.
        """
        unread = self.registry.unread
        self.registry.read(await self.with_state(lambda state: state.checkins.nodes(unread)))

    async def probe(self) -> None:
        """Try whether check-ins can be written again. Raise GitcfgError if not."""
        if WRITES in self._faults:
            await self.with_state(lambda state: state.probe(self.clock()))
            self.mark_working(WRITES)

    def wake(self) -> None:
        """Note that the database has changed."""
        self.woken.set()

    async def reload(self, accepted: str) -> None:
        """Make a new view, and wake the nodes that get something else by it."""
        self.releases, sequence = await self.with_state(_load_releases)
        outline = await self.outlines.of(accepted)
        today = self.today()
        held = await find_held_nodes(
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
            await self.with_state(lambda state: state.claims.settle(new.keys))
        if old is not None:
            await self.polls.wake(lambda name: has_news(old, new, name))
        self.wake()


def _load_releases(state: State) -> tuple[tuple[StoredRelease, ...], int]:
    """Load releases with their sequence number, again if it rose meanwhile."""
    while True:
        number = state.events.sequence()
        found = state.releases.latest()
        if state.events.sequence() == number:
            return found, number
