"""Opened fleets, a few of them, each used by one thread alone: the event loop never waits for git."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import TypeVar

from gitcfg.comparison.comparison import Consequences
from gitcfg.delivery import Configuration, configuration, consequences
from gitcfg.inventory.guests import guest
from gitcfg.library import Fleet, Source

T = TypeVar("T")

Opener = Callable[[], Source]


class Fleets:
    """Those that were asked for last, by commit."""

    def __init__(self, opener: Opener, most: int) -> None:
        self._opener = opener
        self._most = most
        self._kept: OrderedDict[str, Fleet] = OrderedDict()
        self._consequences: dict[str, Consequences] = {}

    @cached_property
    def source(self) -> Source:
        """The repository, opened for this thread."""
        return self._opener()

    def fresh(self) -> Source:
        """The repository as it is by now, and today."""
        return self._opener()

    def at(self, commit: str) -> Fleet:
        """The fleet of a commit, all compiled: of the next node only what is its own has to be made."""
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
        """What a node gets at a commit; None: nothing."""
        with self.of(commit, name) as fleet:
            if fleet is None:
                return None
            if fleet is not self._kept.get(commit):
                return configuration(fleet, name)
            if commit not in self._consequences:
                self._consequences[commit] = consequences(fleet)
            return configuration(fleet, name, self._consequences[commit])

    def digest(self, commit: str, name: str) -> str | None:
        """The digest of all that a node gets at a commit; None: it gets nothing."""
        with self.of(commit, name) as fleet:
            return fleet[name].digest if fleet is not None else None

    @contextmanager
    def of(self, commit: str, name: str) -> Iterator[Fleet | None]:
        """The fleet that knows a node at a commit; None: it gets nothing there."""
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
        """Close them all."""
        self._consequences.clear()
        while self._kept:
            self._kept.popitem()[1].close()


class Bench:
    """A thread with fleets of its own, which does one thing after the other."""

    def __init__(self, name: str, opener: Opener, most: int) -> None:
        self._fleets = Fleets(opener, most)
        self._thread = ThreadPoolExecutor(1, f"gitcfg-{name}")

    async def do(self, work: Callable[[Fleets], T]) -> T:
        """Have something done there."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._fleets)

    def close(self) -> None:
        """End, once what is being done is done."""
        self._thread.submit(self._fleets.close)
        self._thread.shutdown(wait=True, cancel_futures=False)
