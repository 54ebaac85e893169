"""Threads with caches of opened fleets; the event loop never waits for git."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import TypeVar

from gitcfg.comparison.comparison import Consequences
from gitcfg.delivery.configuration import Configuration, find_consequences, make_configuration
from gitcfg.inventory.guests import guest
from gitcfg.library import Fleet, Source

T = TypeVar("T")

Opener = Callable[[], Source]


class FleetCache:
    """Fleets by commit, the last ones used."""

    def __init__(self, opener: Opener, most: int) -> None:
        self._opener = opener
        self._most = most
        self._kept: OrderedDict[str, Fleet] = OrderedDict()
        self._consequences: dict[str, Consequences] = {}

    @cached_property
    def source(self) -> Source:
        """The repository, opened for this thread."""
        return self._opener()

    def reopen(self) -> Source:
        """Open the repository again, with its current state and date."""
        return self._opener()

    def at(self, commit: str) -> Fleet:
        """Return the fleet of a commit with its classes compiled, so that a node costs only its own part."""
        found = self._kept.get(commit)
        if found is None:
            found = self._kept[commit] = self.source.at(commit)
            _ = found.compiled.classes
        self._kept.move_to_end(commit)
        while len(self._kept) > self._most:
            gone, fleet = self._kept.popitem(last=False)
            self._consequences.pop(gone, None)
            fleet.close()
        return found

    def configuration(self, commit: str, name: str) -> Configuration | None:
        """Return what a node gets at a commit; None if nothing."""
        with self.fleet_with(commit, name) as fleet:
            if fleet is None:
                return None
            if fleet is not self._kept.get(commit):
                return make_configuration(fleet, name)
            if commit not in self._consequences:
                self._consequences[commit] = find_consequences(fleet)
            return make_configuration(fleet, name, self._consequences[commit])

    def digest(self, commit: str, name: str) -> str | None:
        """Return the digest of all that a node gets at a commit; None if it gets nothing."""
        with self.fleet_with(commit, name) as fleet:
            return fleet[name].digest if fleet is not None else None

    @contextmanager
    def fleet_with(self, commit: str, name: str) -> Iterator[Fleet | None]:
        """Yield the fleet that has a node at a commit; None if it gets nothing there."""
        fleet = self.at(commit)
        if name in fleet:
            yield fleet
            return
        found = guest(fleet, name, self.source.today)
        if found is None:
            yield None
            return
        with found:
            yield found

    def close(self) -> None:
        """Close all fleets."""
        self._consequences.clear()
        while self._kept:
            self._kept.popitem()[1].close()


class FleetWorker:
    """A thread with its own cache of fleets, which runs one function after the other."""

    def __init__(self, name: str, opener: Opener, most: int) -> None:
        self._fleets = FleetCache(opener, most)
        self._thread = ThreadPoolExecutor(1, f"gitcfg-{name}")

    async def run(self, work: Callable[[FleetCache], T]) -> T:
        """Run a function on this thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._fleets)

    def close(self) -> None:
        """End once the current function has finished."""
        self._thread.submit(self._fleets.close)
        self._thread.shutdown(wait=True, cancel_futures=False)
