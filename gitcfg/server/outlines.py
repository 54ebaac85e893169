"""A cache of outlines, each loaded once, on the judging thread."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from gitcfg.model import GitcfgError
from gitcfg.server.fleets import FleetCache, FleetWorker
from gitcfg.server.outline import Outline, load_outline

_MOST = 16


class OutlineCache:
    """The outlines used last."""

    def __init__(self, worker: FleetWorker) -> None:
        self._worker = worker
        self._kept: OrderedDict[str, Outline] = OrderedDict()

    async def of(self, commit: str) -> Outline:
        """Return the outline of a commit. Raise GitcfgError if git does not have it."""
        found = self._kept.get(commit)
        if found is None:
            found = await self._worker.run(lambda fleets: _load_outline(fleets, commit))
            self._kept[commit] = found
        self._kept.move_to_end(commit)
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return found

    async def all(self, commits: Iterable[str]) -> Mapping[str, Outline]:
        """Return the outlines of those commits that git still has."""
        found = {}
        for commit in dict.fromkeys(commits):
            try:
                found[commit] = await self.of(commit)
            except GitcfgError:
                continue
        return found


def _load_outline(fleets: FleetCache, commit: str) -> Outline:
    source = fleets.reopen()
    with source.at(commit) as fleet:
        return load_outline(fleet, source.cache)
