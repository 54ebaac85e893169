"""The page of a search: nodes, commits, and definitions."""

from functools import partial
from itertools import groupby, islice
from typing import NamedTuple
from weakref import WeakKeyDictionary

from aiohttp import web

from gitcfg.explain.search import Match, search
from gitcfg.git.history import History
from gitcfg.model import GitcfgError
from gitcfg.server import source
from gitcfg.server.fleets import FleetCache
from gitcfg.server.pages.git import make_links, summarize_commit
from gitcfg.server.pages.shown import page_handler
from gitcfg.server.service import SERVICE
from gitcfg.server.standing import list_names
from gitcfg.web.asked import parse_page_number
from gitcfg.web.content import Commit, SearchGroup, SearchPage
from gitcfg.web.table import paginate

_LONGEST = 200
_COMMITS = 2000
"""The number of newest commits that a search looks through: 30 ms."""
_MATCHES = 100


class _KeptMatches(NamedTuple):
    key: tuple[str, str]
    matches: tuple[Match, ...]


_LAST_SEARCH: WeakKeyDictionary[FleetCache, _KeptMatches] = WeakKeyDictionary()
"""A digit is found 43,000 times in 10,000 nodes, which takes 3 s."""


async def show_search(request: web.Request) -> SearchPage:
    """Show what contains a text, in any case."""
    service, text = request.app[SERVICE], request.query.get("q", "")[:_LONGEST].strip()
    if not text:
        return SearchPage("")
    view, low = service.view, text.lower()
    accepted = view.accepted
    nodes = tuple(name for name in list_names(view, service.controller.registry.nodes) if low in name.lower())
    commits, looked = await service.people.run(partial(_find_commits, accepted, text))
    matches = await service.people.run(partial(_find_matches, accepted, text))
    number, pages, part = paginate(matches, parse_page_number(request.query.get("page", "")), _MATCHES)
    where = await service.people.run(lambda fleets: make_links(fleets, accepted))
    return SearchPage(
        text, nodes, commits, looked, _group_matches(tuple(part)), len(matches), number, pages, where
    )


def _find_commits(start: str, text: str, fleets: FleetCache) -> tuple[tuple[Commit, ...], int]:
    """Find commits by id, subject or author; return also how many were searched."""
    repository = fleets.source.repository
    history, low = History(repository), text.lower()
    newest = [summarize_commit(history, commit) for commit in islice(history.walk(start), _COMMITS)]
    fit = [one for one in newest if low in one.subject.lower() or low in one.author.lower()]
    named = source.find_reachable(repository, low)
    if named is not None and all(one.commit != named for one in fit):
        fit.insert(0, summarize_commit(history, named))
    return tuple(fit), len(newest)


def _find_matches(accepted: str, text: str, fleets: FleetCache) -> tuple[Match, ...]:
    """Search all definitions; the last result is kept for the next of its pages."""
    kept = _LAST_SEARCH.get(fleets)
    if kept is None or kept.key != (accepted, text):
        kept = _LAST_SEARCH[fleets] = _KeptMatches(
            (accepted, text), _search_definitions(accepted, text, fleets)
        )
    return kept.matches


def _search_definitions(accepted: str, text: str, fleets: FleetCache) -> tuple[Match, ...]:
    try:
        every = search(fleets.at(accepted).compiled, [text])
    except GitcfgError:
        return ()
    # Of a secret in plain text not even that it was found: else it could be guessed letter by letter.
    return tuple(one for one in every if not (one.veiled or one.origin.file.startswith("secrets/")))


def _group_matches(matches: tuple[Match, ...]) -> tuple[SearchGroup, ...]:
    kinds = groupby(matches, key=lambda one: one.kind)
    return tuple(
        SearchGroup(kind, {name: tuple(same) for name, same in groupby(alike, key=lambda one: one.name)})
        for kind, alike in kinds
    )


ROUTES = [web.get("/search", page_handler(show_search))]
