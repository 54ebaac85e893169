"""Where fleets come from: a repository that is opened, or files in memory."""

import os
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

from gitcfg.cache import Cache, NoCache, open_cache
from gitcfg.git.repository import Repository
from gitcfg.git.tree import DictTree, Tree
from gitcfg.library.fleet import Fleet

if TYPE_CHECKING:
    from gitcfg.history.blame import Blamer
    from gitcfg.history.log import Log


class Source:
    """An opened repository, from which fleets are made."""

    def __init__(self, repository: Repository, today: date, cache: Cache | None = None) -> None:
        """`cache` keeps from one time to the next what was found out; without it nothing is kept."""
        self.repository = repository
        self.today = today
        self.cache: Cache = cache or NoCache()

    def at(self, revision: str) -> Fleet:
        """The fleet of a commit. GitcfgError: there is no such revision."""
        return self._fleet(self.repository.at(revision))

    def worktree(self) -> Fleet:
        """The fleet as the files lie there, committed or not."""
        return self._fleet(self.repository.worktree())

    def index(self, file: str | None = None) -> Fleet:
        """The fleet as it would be committed; `file` is another index than the repository's own."""
        return self._fleet(self.repository.index(file))

    def merged(self, ours: str, theirs: str) -> Fleet:
        """The fleet that merging one revision into another would give. GitcfgError: conflicts."""
        return self._fleet(self.repository.merged(ours, theirs))

    def blamer(self, revision: str | None = None) -> "Blamer":
        """Who to blame for what, from a revision or the work tree on. GitcfgError: no such revision."""
        from gitcfg.history.blame import Blamer

        return Blamer(self.repository, revision)

    def log(
        self,
        name: str,
        param: str | None = None,
        *,
        kind: str | None = None,
        revision: str = "HEAD",
        limit: int | None = None,
    ) -> "Log":
        """The commits that changed what a node, parameter, feature or group is, newest first.

        With `param`, those that changed that parameter's value on a node; `kind` says which one is meant
        where several things have the name: "node", "param", "feature" or "group". GitcfgError: there
        never was such a thing, or there is no such revision.
        """
        from gitcfg.history.log import Logs, Subject, answered

        logs = Logs(self.repository, revision, self.cache)
        return answered(logs, name, param, Subject(kind) if kind is not None else None, limit)

    def _fleet(self, tree: Tree) -> Fleet:
        return Fleet(tree, self.repository.before(tree), self.today, self.cache)


def open(path: str | os.PathLike[str] = ".", today: date | None = None, user: int | None = None) -> Source:
    """Open the repository that a folder belongs to. GitcfgError: there is none.

    With the id of a `user`, what is found out is kept for that user beside the repository's objects.
    """
    repository = Repository.open(path)
    cache = open_cache(repository, user) if user is not None else None
    return Source(repository, today or date.today(), cache)


def in_memory(files: Mapping[str, str | bytes], today: date | None = None) -> Fleet:
    """The fleet of files that are held in a dictionary, path to content."""
    return Fleet(DictTree(files), None, today or date.today(), NoCache())
