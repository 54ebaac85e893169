"""Which commits count as reviewed: those that a protected branch has, as the server is known to have it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from gitcfg.gate.policy import load_administrator, load_policy
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Config, Repository
from gitcfg.load.repository import FILE

_HEADS, _REMOTE = "refs/heads/", "refs/remotes/"


class Branch(msgspec.Struct, frozen=True):
    """A branch that counts, by its full name, and the commit that it is at."""

    ref: str
    commit: str

    @property
    def name(self) -> str:
        """As people say it: `main`, `origin/main`."""
        return self.ref.removeprefix(_HEADS).removeprefix(_REMOTE)


def fetched(repository: Repository, branch: Branch) -> float | None:
    """When a branch of a remote was last as it is there, fetched or pushed; seconds since the epoch.

    None: it is a branch of this repository, or nobody knows. A clone has its branches from when it was made.
    """
    if repository.git is None or repository.shared is None or not branch.ref.startswith(_REMOTE):
        return None
    own, shared = Path(repository.git.path), repository.shared
    places = (own / "FETCH_HEAD", shared / "FETCH_HEAD", shared / branch.ref)
    times = [place.stat().st_mtime for place in places if place.is_file()]
    packed = shared / "packed-refs"
    return max(times) if times else packed.stat().st_mtime if packed.is_file() else None


class Reviewed:
    """The protected branches: of each its upstream where it has one, for nobody judged what is not pushed."""

    def __init__(self, repository: Repository) -> None:
        """GitcfgError: there is no git repository."""
        self._refs = Refs(repository)
        self._config = Config(repository)
        found = dict.fromkeys(self._counting(_protects(repository, self._refs)))
        tips = ((ref, self._refs.tip(ref)) for ref in found)
        self.branches = tuple(Branch(ref, tip) for ref, tip in tips if tip is not None)

    @property
    def usual(self) -> Branch | None:
        """What is deployed where nothing is said: HEAD's branch if it counts, else the first that does."""
        return next(iter(self.branches), None)

    def has(self, commit: str) -> bool:
        """Does one of them have a commit?"""
        return any(self._refs.includes(branch.commit, commit) for branch in self.branches)

    def _counting(self, protects: Callable[[str], bool]) -> Iterator[str]:
        names = self._refs.names()
        heads = [name for name in names if name.startswith(_HEADS) and protects(name)]
        for name in sorted(heads, key=lambda name: name != self._refs.head):
            yield self._upstream(name) or name
        for name in names:
            branch = name.removeprefix(f"{_REMOTE}origin/")
            if branch != name and _HEADS + branch not in names and protects(_HEADS + branch):
                yield name

    def _upstream(self, name: str) -> str | None:
        """The branch that a local one follows, as it was fetched last."""
        branch = name.removeprefix(_HEADS)
        remote = self._config.last(f"branch.{branch}.remote") or "origin"
        merged = self._config.last(f"branch.{branch}.merge") or name
        if remote == ".":
            return merged if self._refs.tip(merged) is not None else None
        found = f"{_REMOTE}{remote}/{merged.removeprefix(_HEADS)}"
        return found if self._refs.tip(found) is not None else None


def _protects(repository: Repository, refs: Refs) -> Callable[[str], bool]:
    tip = refs.tip(refs.head)
    tree = repository.at(tip) if tip is not None else None
    ruling = tree if tree is not None and tree.entry(FILE) is not None else None
    head = refs.head if ruling is None else None
    return load_policy(ruling, head, load_administrator(Config(repository))).protects
