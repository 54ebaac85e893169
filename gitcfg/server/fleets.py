"""The repository that is served, the verdict on its tip, and threads with caches of opened fleets."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import TypeVar

import msgspec

from gitcfg.comparison.comparison import Consequences
from gitcfg.delivery.configuration import Configuration, find_consequences, make_configuration
from gitcfg.gate.policy import Policy, load_administrator, load_policy
from gitcfg.git.history import History
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Config, Repository
from gitcfg.inventory.nodes import build_walk_in
from gitcfg.library import Fleet, Source
from gitcfg.model import GitcfgError

COMMIT = re.compile(r"[0-9a-f]{40}")
_ABBREVIATED = re.compile(r"[0-9a-f]{4,40}")
_BACK = 50
"""The number of ancestors of an invalid tip to try if no valid commit is known."""
T = TypeVar("T")
Opener = Callable[[], Source]


class Tip(msgspec.Struct, frozen=True):
    """The protected branch and its commit; None if it has none."""

    ref: str
    commit: str | None


class TipVerdict(msgspec.Struct, frozen=True):
    """The accepted commit, the tip, and the errors of the tip."""

    tip: Tip
    accepted: str | None
    errors: int = 0
    message: str = ""


def find_tip(repository: Repository) -> Tip:
    """Find the branch of HEAD if it is protected, otherwise the first protected one."""
    refs = Refs(repository)
    head = refs.head
    protects = _load_policy(repository, refs).protects
    if protects(head):
        return Tip(head, refs.tip(head))
    ref = next((name for name in refs.names() if protects(name)), head)
    return Tip(ref, refs.tip(ref))


def has_moved(repository: Repository, known: Tip) -> bool:
    """Return whether the branch has moved. Cheap: it is polled."""
    refs = Refs(repository)
    return refs.tip(known.ref) != known.commit or known.commit is None


def judge_tip(source: Source, tip: Tip, good: str | None) -> TipVerdict:
    """Choose the accepted commit: the tip, or while that is invalid `good`, the last one accepted."""
    if tip.commit is None:
        return TipVerdict(tip, good, 0, f"{tip.ref} has no commit.")
    errors, message = _count_errors(source, tip.commit)
    if not errors:
        return TipVerdict(tip, tip.commit)
    return TipVerdict(tip, good or _find_valid_ancestor(source, tip.commit), errors, message)


def find_reachable(repository: Repository, text: str) -> str | None:
    """Return the commit that a text names, if a protected ref reaches it, otherwise None."""
    if not _ABBREVIATED.fullmatch(text) or not repository.knows(text):
        return None
    commit = str(repository.commit(text).id)
    if not commit.startswith(text):
        return None  # the name of a branch that looks like an id
    refs = Refs(repository)
    protects = _load_policy(repository, refs).protects
    tips = (refs.tip(name) for name in refs.names() if protects(name))
    return commit if any(tip is not None and refs.includes(tip, commit) for tip in tips) else None


def is_ancestor(repository: Repository, commit: str, other: str) -> bool:
    """Return whether a commit is a proper ancestor of another."""
    return commit != other and History(repository).includes(other, commit)


def _load_policy(repository: Repository, refs: Refs) -> Policy:
    tip = refs.tip(refs.head)
    tree = repository.at(tip) if tip is not None else None
    if tree is not None and tree.entry("gitcfg.yaml") is None:
        tree = None
    return load_policy(tree, refs.head, load_administrator(Config(repository)))


def _count_errors(source: Source, commit: str) -> tuple[int, str]:
    """Return how many errors a commit has, and the first."""
    try:
        with source.at(commit) as fleet:
            wrong = [finding for finding in fleet.checked.findings if finding.is_error]
    except GitcfgError as error:
        return 1, error.message
    return len(wrong), f"{wrong[0].code}: {wrong[0].message}" if wrong else ""


def _find_valid_ancestor(source: Source, commit: str) -> str | None:
    """Find the newest ancestor of an invalid commit that has no errors."""
    history = History(source.repository)
    for _ in range(_BACK):
        parents = history.parents(commit)
        if not parents:
            return None
        commit = parents[0]
        if not _count_errors(source, commit)[0]:
            return commit
    return None


class FleetCache:
    """The fleets used last, by commit."""

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
        """Return the configuration of a node at a commit; None if it gets nothing."""
        with self.fleet_with(commit, name) as fleet:
            if fleet is None:
                return None
            if fleet is not self._kept.get(commit):
                return make_configuration(fleet, name)
            if commit not in self._consequences:
                self._consequences[commit] = find_consequences(fleet)
            return make_configuration(fleet, name, self._consequences[commit])

    def digest(self, commit: str, name: str) -> str | None:
        """Return the digest of a node's configuration at a commit; None if it gets nothing."""
        with self.fleet_with(commit, name) as fleet:
            return fleet[name].digest if fleet is not None else None

    @contextmanager
    def fleet_with(self, commit: str, name: str) -> Iterator[Fleet | None]:
        """Yield the fleet that has a node at a commit; None if it gets nothing there."""
        fleet = self.at(commit)
        if name in fleet:
            yield fleet
            return
        found = build_walk_in(fleet, name, self.source.today)
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
    """A thread with its own cache of fleets, which runs one function at a time."""

    def __init__(self, name: str, opener: Opener, most: int) -> None:
        self._fleets = FleetCache(opener, most)
        self._thread = ThreadPoolExecutor(1, f"gitcfg-{name}")

    async def run(self, work: Callable[[FleetCache], T]) -> T:
        """Run a function on this thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._fleets)

    def close(self) -> None:
        """Stop once the current function has finished."""
        self._thread.submit(self._fleets.close)
        self._thread.shutdown(wait=True, cancel_futures=False)
