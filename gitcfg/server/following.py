"""Follows the repository: what the protected branch has moved to is judged, accepted and released."""

import gc
from typing import Any

from gitcfg.server import releases, source
from gitcfg.server.conductor import Conductor
from gitcfg.server.source import Judged, Tip

LAG = 600.0
"""A commit that others released and that is not here may be on its way for so many seconds."""


class Following:
    """What it remembers is only how long this server's repository has been behind those of others."""

    def __init__(self, conductor: Conductor) -> None:
        self._conductor = conductor
        self._lagging: float | None = None

    async def follow(self) -> None:
        """Accept what the protected branch has moved to."""
        conductor, known = self._conductor, self._conductor.judged
        if known is not None and conductor.view is not None and not await self._moved(known.tip):
            await self._catch_up()
            return
        tip = await conductor.bench.do(lambda fleets: source.look(fleets.fresh().repository))
        if known is not None and tip == known.tip:
            return
        good = known.accepted if known is not None else await self._accepted_before(tip)
        judged = await conductor.bench.do(lambda fleets: source.judge(fleets.fresh(), tip, good))
        if judged.accepted is not None and (known is None or known.accepted != judged.accepted):
            await self._accept(judged.accepted, moved=known is not None)
            _lasting()
        await self._say(judged, known)
        conductor.judged = judged  # last: what fails on the way is tried again

    async def _moved(self, tip: Tip) -> bool:
        return await self._conductor.bench.do(lambda fleets: source.moved(fleets.source.repository, tip))

    async def _accepted_before(self, tip: Tip) -> str | None:
        """What counted before this server began, if the branch still reaches it."""
        found = await self._conductor.ask(lambda state: state.releases.newest(1))
        if not found or tip.commit is None:
            return None
        commit = found[0].commit
        return await self._conductor.bench.do(
            lambda fleets: source.reachable(fleets.source.repository, commit)
        )

    async def _say(self, judged: Judged, known: Judged | None) -> None:
        conductor = self._conductor
        said: dict[str, Any] = {"ref": judged.tip.ref, "tip": judged.tip.commit, "commit": judged.accepted}
        if judged.errors:
            said |= {"errors": judged.errors, "message": judged.message}
            conductor.log.warning("the tip is invalid", extra={"said": said})
            await conductor.ask(lambda state: state.events.add(conductor.clock(), "invalid", said))
        elif judged.accepted is None:
            conductor.log.info("waits for the first commit", extra={"said": said})
        elif known is None or known.accepted != judged.accepted:
            conductor.log.info("accepted", extra={"said": said})

    async def _accept(self, commit: str, moved: bool) -> None:
        conductor = self._conductor
        outline = await conductor.outlines.of(commit)
        async with conductor.changing:
            await conductor.reload(commit)
            assert conductor.view is not None
            begun = releases.Begun(commit, outline, conductor.view, conductor.releases, conductor.clock())
            if await self._due(commit, moved) and await releases.begin(conductor, begun):
                await conductor.reload(commit)

    async def _catch_up(self) -> None:
        """Begin what was not begun because others had released a commit that was not here."""
        judged = self._conductor.judged
        if self._lagging is not None and judged is not None and judged.accepted is not None:
            await self._accept(judged.accepted, moved=False)

    async def _due(self, commit: str, moved: bool) -> bool:
        """Is a release of the commit to begin? Not where others are ahead of this server's repository."""
        known, now = self._conductor.releases, self._conductor.clock()
        newest = known[0].commit if known else None
        if newest is None or newest == commit:
            self._lagging = None
            return newest is None
        if await self._conductor.bench.do(lambda fleets: fleets.source.repository.knows(newest)):
            self._lagging = None
            return moved or not await self._behind(commit, newest)
        self._lagging = self._lagging or now
        return now - self._lagging > LAG

    async def _behind(self, commit: str, newest: str) -> bool:
        """Does the branch lead from the commit to the one that others have released?"""
        return await self._conductor.bench.do(
            lambda fleets: (
                source.reachable(fleets.fresh().repository, newest) is not None
                and source.came_before(fleets.source.repository, commit, newest)
            )
        )


def _lasting() -> None:
    """What a commit has brought lasts until the next one, and ends by itself then.

    To look through it for garbage again and again took 150 to 370 ms each time, with 8,000 agents every 5 to
    20 s, and nobody was answered meanwhile.
    """
    gc.collect()
    gc.freeze()
