"""Commits and links to files, for several pages."""

from collections.abc import Iterable, Mapping

import msgspec

from gitcfg.git.history import History
from gitcfg.git.repository import Config
from gitcfg.server import source
from gitcfg.server.fleets import FleetCache
from gitcfg.server.problems import Problem
from gitcfg.server.service import Service
from gitcfg.web.content import Commit
from gitcfg.web.places import SourceLinks, parse_forge

URL = "gitcfg.url"
"""In git's configuration of the repository: a file's address at a forge, with {commit}, {file} and {line}."""


def summarize_commits(commits: Iterable[str], fleets: FleetCache) -> Mapping[str, Commit]:
    """Summarize those commits that git has."""
    history = History(fleets.source.repository)
    return {
        commit: summarize_commit(history, commit) for commit in dict.fromkeys(commits) if history.has(commit)
    }


def summarize_commit(history: History, commit: str) -> Commit:
    """Summarize a commit."""
    return msgspec.convert(history.about(commit), Commit, from_attributes=True)


def make_links(fleets: FleetCache, commit: str) -> SourceLinks:
    """Return links to the files of a commit."""
    repository = fleets.source.repository
    return SourceLinks(commit, parse_forge(Config(repository).last(URL)), repository.prefix)


async def resolve_commit(service: Service, text: str) -> str:
    """Resolve a commit, which may be abbreviated. Raise Problem if no protected branch has it."""
    found = await service.people.run(lambda fleets: source.find_reachable(fleets.source.repository, text))
    if found is None:
        raise Problem("not-found", "No protected branch has such a commit.")
    return found
