"""The background loops: they follow the repository, the clock, and changes of the database by others."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterable
from datetime import date
from logging import INFO, WARNING
from typing import Any

from gitcfg.model import GitcfgError
from gitcfg.rollout import Status
from gitcfg.server import fleets as source
from gitcfg.server import releases
from gitcfg.server.controller import Controller, report_lifted_holds
from gitcfg.server.expiry import Expiry
from gitcfg.server.fleets import Tip, TipVerdict
from gitcfg.state.nodes import DEPLOY, FORGOTTEN
from gitcfg.state.releases import RELEASE

LAG = 600.0
"""Seconds for which a commit that other servers have released may be missing in this repository."""
KEEP_EVENTS, KEEP_RESULTS = 7 * 86400.0, 90 * 86400.0
_HOUR = 3600.0
LOOK = 0.5
TICK = 2.0


class BranchFollower:
    """Follower of the protected branch, which knows since when this repository is behind those of others."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._lagging: float | None = None

    async def follow(self) -> None:
        """Accept the new commit of the protected branch."""
        controller, known = self._controller, self._controller.judged
        worker = controller.worker
        if (
            known is not None
            and controller.view is not None
            and not await worker.run(lambda fleets: source.has_moved(fleets.source.repository, known.tip))
        ):
            # A release may have waited because others had released a commit that was not here.
            if self._lagging is not None and known.accepted is not None:
                await self._accept(known.accepted, moved=False)
            return
        tip = await worker.run(lambda fleets: source.find_tip(fleets.reopen().repository))
        if known is not None and tip == known.tip:
            return
        good = known.accepted if known is not None else await self._accepted_before(tip)
        judged = await worker.run(lambda fleets: source.judge_tip(fleets.reopen(), tip, good))
        if judged.accepted is not None and (known is None or known.accepted != judged.accepted):
            await self._accept(judged.accepted, moved=known is not None)
            # The objects of a fleet last until the next commit. Garbage collections of these again and again
            # took 150 to 370 ms each, with 8,000 agents every 5 to 20 s, and no request was answered
            # meanwhile.
            gc.collect()
            gc.freeze()
        await self._log(judged, known)
        controller.judged = judged  # last, so that a failure above is tried again

    async def _accepted_before(self, tip: Tip) -> str | None:
        """Return the commit accepted before this server started, if the branch still reaches it."""
        found = await self._controller.with_state(lambda state: state.releases.newest(1))
        if not found or tip.commit is None:
            return None
        commit = found[0].commit
        return await self._controller.worker.run(
            lambda fleets: source.find_reachable(fleets.source.repository, commit)
        )

    async def _log(self, judged: TipVerdict, known: TipVerdict | None) -> None:
        controller = self._controller
        data: dict[str, Any] = {"ref": judged.tip.ref, "tip": judged.tip.commit, "commit": judged.accepted}
        if judged.errors:
            data |= {"errors": judged.errors, "message": judged.message}
            controller.log.warning("the tip is invalid", extra={"fields": data})
            await controller.with_state(lambda state: state.events.add(controller.clock(), "invalid", data))
        elif judged.accepted is None:
            controller.log.info("waiting for the first commit", extra={"fields": data})
        elif known is None or known.accepted != judged.accepted:
            controller.log.info("accepted", extra={"fields": data})

    async def _accept(self, commit: str, moved: bool) -> None:
        controller = self._controller
        outline = await controller.outlines.of(commit)
        async with controller.view_lock:
            await controller.reload(commit)
            assert controller.view is not None
            begun = releases.NewRelease(
                commit, outline, controller.view, controller.releases, controller.clock()
            )
            if await self._is_due(commit, moved) and await releases.begin_release(controller, begun):
                await controller.reload(commit)

    async def _is_due(self, commit: str, moved: bool) -> bool:
        """Return whether to release the commit; False while other servers are ahead of this repository."""
        known, now = self._controller.releases, self._controller.clock()
        newest = known[0].commit if known else None
        if newest is None or newest == commit:
            self._lagging = None
            return newest is None
        if await self._controller.worker.run(lambda fleets: fleets.source.repository.knows(newest)):
            self._lagging = None
            return moved or not await self._is_behind(commit, newest)
        self._lagging = self._lagging or now
        return now - self._lagging > LAG

    async def _is_behind(self, commit: str, newest: str) -> bool:
        """Return whether the branch leads from the commit to the one that others have released."""
        return await self._controller.worker.run(
            lambda fleets: (
                source.find_reachable(fleets.reopen().repository, newest) is not None
                and source.is_ancestor(fleets.source.repository, commit, newest)
            )
        )


class EventReader:
    """Reader of events and releases of all servers; `position` is the number of the last event read."""

    def __init__(self, controller: Controller, position: int) -> None:
        self._controller = controller
        self._position = position

    async def read(self) -> None:
        """Apply what others have written, and publish the events."""
        controller = self._controller
        await controller.woken.wait()
        controller.woken.clear()
        while events := await controller.with_state(lambda state: state.events.after(self._position)):
            await self._forget(event.node for event in events if event.kind == FORGOTTEN)
            await self._read_deployed({event.node for event in events if event.kind == DEPLOY})
            self._position = events[-1].number
            for event in events:  # releases of any server or person
                if event.kind == RELEASE:
                    level = WARNING if event.data.get("status") == Status.HALTED else INFO
                    controller.log.log(level, "release", extra={"fields": dict(event.data)})
            controller.streams.publish(events)
        async with controller.view_lock:
            if controller.view is not None:
                found = await controller.with_state(
                    lambda state: (state.events.sequence(), state.releases.latest())
                )
                if found != (controller.view.sequence, controller.releases):
                    await controller.reload(controller.view.accepted)

    async def _read_deployed(self, names: set[str]) -> None:
        """Read results of deploys, which may be reported long after."""
        if names:
            async with self._controller.view_lock:
                found = await self._controller.with_state(lambda state: state.checkins.named(names))
                self._controller.registry.read(found)

    async def _forget(self, nodes: Iterable[str]) -> None:
        """Delete nodes from memory, and end their waiting polls."""
        names = frozenset(nodes)
        if not names:
            return
        async with self._controller.view_lock:
            self._controller.registry.forget(names)
        await self._controller.polls.wake(names.__contains__)


async def prune_state(controller: Controller) -> None:
    """Delete old nonces, results, events, claims, and nodes that were never accepted."""
    now = controller.clock()
    await controller.with_state(lambda state: state.checkins.prune(now, KEEP_RESULTS))
    await controller.with_state(lambda state: state.events.prune(now - KEEP_EVENTS))
    controller.registry.forget(
        await controller.with_state(lambda state: state.claims.prune(now, controller.pending))
    )
    view = controller.view
    if view is None:
        return
    old = [
        name
        for name, last in controller.registry.nodes.items()
        if last.commit is None and not view.knows(name) and last.last < now - controller.pending.seconds
    ]
    await controller.with_state(lambda state: state.checkins.forget(old))
    controller.registry.forget(old)


class Clockwork:
    """Work that is due after some time. Holds that ended before `begun` are not reported."""

    def __init__(self, controller: Controller, begun: date) -> None:
        self._controller = controller
        self._date = begun
        self._pruned = 0.0

    async def tick(self) -> None:
        """Advance releases, end holds, and delete old state."""
        controller = self._controller
        async with controller.view_lock:
            await controller.read_checkins()
            if controller.view is not None and await releases.advance_release(controller):
                await controller.reload(controller.view.accepted)
            await self._end_day()
        await controller.probe()
        if controller.clock() - self._pruned > _HOUR:
            self._pruned = controller.clock()
            await prune_state(controller)

    async def _end_day(self) -> None:
        """End holds at the end of a day."""
        controller, today = self._controller, self._controller.today()
        if controller.view is None or today == self._date:
            return
        await report_lifted_holds(controller, controller.view.outline.holds, self._date, today)
        self._date = today
        await controller.with_state(lambda state: state.events.next_sequence(controller.clock()))
        await controller.reload(controller.view.accepted)


async def begin_reading(controller: Controller) -> EventReader:
    """Load the state of nodes, and read events from then on. Raise GitcfgError if the database fails."""
    position = await controller.with_state(lambda state: state.events.newest())
    controller.registry.read(await controller.with_state(lambda state: state.checkins.nodes()))
    return EventReader(controller, position)


async def run_loops(controller: Controller, reader: EventReader) -> None:
    """Run all loops until cancelled."""
    follower, clockwork = BranchFollower(controller), Clockwork(controller, controller.today())
    expiry = Expiry(controller)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_repeat(controller, follower.follow, LOOK))
        tasks.create_task(_repeat(controller, clockwork.tick, TICK))
        tasks.create_task(_repeat(controller, expiry.expire, TICK))
        tasks.create_task(_repeat(controller, reader.read, 0.0))


async def _repeat(controller: Controller, work: Callable[[], Awaitable[None]], pause: float) -> None:
    while True:
        try:
            await work()
            controller.mark_working(work.__name__)
        except (GitcfgError, OSError) as error:
            # The database or the disk fails. Requests that need neither are still answered.
            controller.mark_failing(work.__name__, error)
            controller.log.error("background work failed", extra={"fields": {"error": str(error)}})
            await asyncio.sleep(TICK)
        await asyncio.sleep(pause)
