"""The outlines of the commits that nodes may run, by commit: each made once, in the thread that judges."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from gitcfg.model import GitcfgError
from gitcfg.server.fleets import Bench, Fleets
from gitcfg.server.outline import Outline, outline

_MOST = 16


class Outlines:
    """Those asked for last."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._kept: OrderedDict[str, Outline] = OrderedDict()

    async def of(self, commit: str) -> Outline:
        """The outline of a commit. GitcfgError: it is not there."""
        found = self._kept.get(commit)
        if found is None:
            found = await self._bench.do(lambda fleets: _of(fleets, commit))
            self._kept[commit] = found
        self._kept.move_to_end(commit)
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return found

    async def all(self, commits: Iterable[str]) -> Mapping[str, Outline]:
        """Those of several commits, without those that git no longer has."""
        found = {}
        for commit in dict.fromkeys(commits):
            try:
                found[commit] = await self.of(commit)
            except GitcfgError:
                continue
        return found


def _of(fleets: Fleets, commit: str) -> Outline:
    source = fleets.fresh()
    with source.at(commit) as fleet:
        return outline(fleet, source.cache)
