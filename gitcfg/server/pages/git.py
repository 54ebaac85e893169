"""What git says of commits, for several pages: who made them, and where their files can be read."""

from collections.abc import Iterable, Mapping

import msgspec

from gitcfg.git.history import History
from gitcfg.git.repository import Config
from gitcfg.server import source
from gitcfg.server.fleets import Fleets
from gitcfg.server.problems import Problem
from gitcfg.server.service import Service
from gitcfg.web.content import Commit
from gitcfg.web.places import Places, forge

URL = "gitcfg.url"
"""In git's configuration of the repository: a file's address at a forge, with {commit}, {file} and {line}."""


def in_short(commits: Iterable[str], fleets: Fleets) -> Mapping[str, Commit]:
    """Those commits that git has, in short."""
    history = History(fleets.source.repository)
    return {commit: about(history, commit) for commit in dict.fromkeys(commits) if history.has(commit)}


def about(history: History, commit: str) -> Commit:
    """A commit in short."""
    return msgspec.convert(history.about(commit), Commit, from_attributes=True)


def places(fleets: Fleets, commit: str) -> Places:
    """Where the files of a commit can be read."""
    repository = fleets.source.repository
    return Places(commit, forge(Config(repository).last(URL)), repository.prefix)


async def known(service: Service, text: str) -> str:
    """The commit that is asked for, which may be abbreviated. Problem: no protected branch has it."""
    found = await service.people.do(lambda fleets: source.reachable(fleets.source.repository, text))
    if found is None:
        raise Problem("not-found", "No protected branch has such a commit.")
    return found
