"""The state behind all answers, which the background loops change; polls and event streams."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from logging import Logger
from typing import TypeVar

import msgspec
from aiohttp import web

from gitcfg.model import GitcfgError
from gitcfg.model.delivery import is_over
from gitcfg.rollout import Rollout
from gitcfg.server import fleets as source
from gitcfg.server.fleets import FleetCache, FleetWorker, TipVerdict
from gitcfg.server.status import NodeRegistry
from gitcfg.server.view import OutlineCache, OutlineHold, View, has_news
from gitcfg.state.nodes import USUAL, Limits
from gitcfg.state.records import Checkin, Event, StoredRelease
from gitcfg.state.state import State

SLICE = 100
"""Nodes that are woken before other tasks run: 30 ms of answers, each signed for its node."""
HEARTBEAT = 15.0
_MOST_WAITING = 2000
MOST_STREAMS = 200
T = TypeVar("T")
WRITES = "writing"
"""The fault that is marked while check-ins cannot be written.

Then /readyz keeps them away, so `probe` has to try.
"""


class Polls:
    """Waiting requests, by node."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self._closed = False
        self.count = 0

    async def wait(self, node: str, seconds: float) -> None:
        """Wait until there is news for a node, the time is over, or the server stops."""
        if self._closed or seconds <= 0:
            return
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _resolve, future)
        self._waiting.setdefault(node, set()).add(future)
        self.count += 1
        try:
            await future
        finally:
            timer.cancel()
            self.count -= 1
            waiting = self._waiting[node]
            waiting.discard(future)
            if not waiting:
                del self._waiting[node]

    async def wake(self, concerned: Callable[[str], bool]) -> None:
        """Wake the nodes for which a predicate is true."""
        names = list(self._waiting)
        for start in range(0, len(names), SLICE):
            for name in names[start : start + SLICE]:
                if concerned(name):
                    for future in self._waiting.get(name, ()):
                        _resolve(future)
            await asyncio.sleep(0)

    def close(self) -> None:
        """End all waiting requests, and accept no new ones."""
        self._closed = True
        for waiting in self._waiting.values():
            for future in waiting:
                _resolve(future)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Streams:
    """Watchers of events. A watcher that is too slow is disconnected, and resumes from its last event."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[Event | None]] = set()
        self.closed = False

    @property
    def count(self) -> int:
        """The number of watchers."""
        return len(self._queues)

    def subscribe(self) -> "asyncio.Queue[Event | None]":
        """Return a queue of events from now on."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue(_MOST_WAITING)
        self._queues.add(queue)
        return queue

    def unsubscribe(self, queue: "asyncio.Queue[Event | None]") -> None:
        """Remove a queue."""
        self._queues.discard(queue)

    def publish(self, events: Iterable[Event]) -> None:
        """Put events into all queues."""
        for event in events:
            for queue in list(self._queues):
                try:
                    queue.put_nowait(event)
                except asyncio.QueueFull:
                    self._end(queue)

    def close(self) -> None:
        """Disconnect all watchers."""
        self.closed = True
        for queue in list(self._queues):
            self._end(queue)

    def _end(self, queue: "asyncio.Queue[Event | None]") -> None:
        self.unsubscribe(queue)
        while queue.full():
            queue.get_nowait()
        queue.put_nowait(None)


def format_event(event: Event) -> bytes:
    """Format an event for a stream."""
    data = msgspec.json.encode({"at": event.at, "node": event.node or None, "kind": event.kind, **event.data})
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.number, event.kind.encode(), data)


async def send_events(
    response: web.StreamResponse, queue: "asyncio.Queue[Event | None]", after: int, heartbeat: float
) -> None:
    """Send events, with heartbeats between them, until the watcher is disconnected.

    Raise TimeoutError if the watcher no longer reads.
    """
    while True:
        try:
            event = await asyncio.wait_for(queue.get(), heartbeat)
        except TimeoutError:
            await write_or_time_out(response, b": alive\n\n", heartbeat)
            continue
        if event is None:
            return
        if event.number > after:
            await write_or_time_out(response, format_event(event), heartbeat)


async def write_or_time_out(response: web.StreamResponse, data: bytes, seconds: float) -> None:
    """Write to a stream. Raise TimeoutError if the client has not read for that long."""
    await asyncio.wait_for(response.write(data), seconds)


class Controller:
    """The state behind all answers. `view` is None until a commit is accepted.

    `pending` are the limits for nodes that wait to be accepted. Code that changes `view` or `releases` must
    hold `view_lock`.
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
        """The current faults of the database or the repository; "" if there are none."""
        return "; ".join(dict.fromkeys(self._faults.values()))

    def mark_failing(self, what: str, error: Exception) -> None:
        """Set a fault, until the same thing works again."""
        self._faults[what] = str(error)

    def mark_working(self, what: str) -> None:
        """Clear a fault."""
        self._faults.pop(what, None)

    def record(self, checkins: Sequence[Checkin]) -> tuple[bool, ...]:
        """Write check-ins, in the thread of the caller.

        Raise GitcfgError if the database does not accept them.
        """
        try:
            return self.state.checkins.record(checkins)
        except GitcfgError as error:
            self.mark_failing(WRITES, error)
            raise

    async def read_checkins(self) -> None:
        """Read the check-ins that other servers have written, while `view_lock` is held.

        The lock makes the event reader wait. Otherwise a node that it deletes could return with an older
        read.
        """
        unread = self.registry.unread
        self.registry.read(await self.with_state(lambda state: state.checkins.nodes(unread)))

    async def probe(self) -> None:
        """Test whether check-ins can be written again. Raise GitcfgError if not."""
        if WRITES in self._faults:
            await self.with_state(lambda state: state.probe(self.clock()))
            self.mark_working(WRITES)

    def wake(self) -> None:
        """Set the event that the database has changed."""
        self.woken.set()

    async def reload(self, accepted: str) -> None:
        """Make a new view, and wake the nodes whose configuration it changes."""
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
    """Load releases with their sequence number; repeat if the number rose in the meantime."""
    while True:
        number = state.events.sequence()
        found = state.releases.latest()
        if state.events.sequence() == number:
            return found, number


async def find_held_nodes(
    controller: Controller, holds: list[OutlineHold], accepted: str
) -> dict[str, tuple[str, OutlineHold]]:
    """Find the nodes that are held. The last of several holds by name wins; report lost commits."""
    found: dict[str, tuple[str, OutlineHold]] = {}
    for hold in holds:
        commit = await controller.worker.run(partial(_find_commit, hold.commit))
        if commit is None:
            await _report_lost_hold(controller, hold)
            found |= {name: (_find_present_commit(controller, name, accepted), hold) for name in hold.nodes}
        else:
            found |= dict.fromkeys(hold.nodes, (commit, hold))
    return found


async def report_lifted_holds(
    controller: Controller, holds: Iterable[OutlineHold], before: date | None, today: date
) -> None:
    """Report holds that ended since a day."""
    for hold in holds:
        if before is not None and before <= hold.until < today:
            data = {"hold": hold.name, "commit": hold.commit, "message": f"It ended on {hold.until}."}
            controller.log.info("a hold has ended", extra={"fields": data})
            await controller.with_state(partial(_add_hold_event, controller.clock(), data))


def _add_hold_event(now: float, data: dict[str, str], state: State) -> None:
    state.events.add(now, "hold", data)


def _find_commit(text: str, fleets: FleetCache) -> str | None:
    return source.find_reachable(fleets.source.repository, text)


def _find_present_commit(controller: Controller, name: str, accepted: str) -> str:
    """Return the commit that a node runs or was offered, at which it stays if its hold's commit is lost."""
    known = controller.registry.nodes.get(name)
    if known is not None and known.commit is not None:
        return known.commit
    return controller.view.offer(name).commit if controller.view is not None else accepted


async def _report_lost_hold(controller: Controller, hold: OutlineHold) -> None:
    data = {"hold": hold.name, "commit": hold.commit, "message": "No protected branch has that commit."}
    if data not in controller.lost_holds:
        controller.lost_holds.append(data)
        controller.log.warning("a hold has no valid commit", extra={"fields": data})
        await controller.with_state(partial(_add_hold_event, controller.clock(), data))
