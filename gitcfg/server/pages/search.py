"""The page of a search: nodes, commits, and everything that is defined."""

from functools import partial
from itertools import groupby, islice
from typing import NamedTuple
from weakref import WeakKeyDictionary

from aiohttp import web

from gitcfg.explain.search import Match, search
from gitcfg.git.history import History
from gitcfg.model import GitcfgError
from gitcfg.server import source
from gitcfg.server.fleets import Fleets
from gitcfg.server.pages.git import about, places
from gitcfg.server.pages.shown import shown
from gitcfg.server.service import SERVICE
from gitcfg.server.standing import names
from gitcfg.web.asked import page_number
from gitcfg.web.content import Commit, SearchPage, Sought
from gitcfg.web.table import paged

_LONGEST = 200
_COMMITS = 2000
"""In so many of the newest commits texts are looked for: 30 ms."""
_MATCHES = 100


class _Kept(NamedTuple):
    asked: tuple[str, str]
    matches: tuple[Match, ...]


_LAST: WeakKeyDictionary[Fleets, _Kept] = WeakKeyDictionary()
"""A digit is found 43,000 times in 10,000 nodes, which takes 3 s."""


async def found(request: web.Request) -> SearchPage:
    """What holds a text; small and capital letters are one."""
    service, text = request.app[SERVICE], request.query.get("q", "")[:_LONGEST].strip()
    if not text:
        return SearchPage("")
    view, low = service.view, text.lower()
    accepted = view.accepted
    nodes = tuple(name for name in names(view, service.conductor.roll.nodes) if low in name.lower())
    commits, looked = await service.people.do(partial(_commits, accepted, text))
    matches = await service.people.do(partial(_matches, accepted, text))
    number, pages, part = paged(matches, page_number(request.query.get("page", "")), _MATCHES)
    where = await service.people.do(lambda fleets: places(fleets, accepted))
    return SearchPage(text, nodes, commits, looked, _sought(tuple(part)), len(matches), number, pages, where)


def _commits(start: str, text: str, fleets: Fleets) -> tuple[tuple[Commit, ...], int]:
    """Those whose id begins with a text or whose subject or author holds it, and how many were looked at."""
    repository = fleets.source.repository
    history, low = History(repository), text.lower()
    newest = [about(history, commit) for commit in islice(history.walk(start), _COMMITS)]
    fit = [one for one in newest if low in one.subject.lower() or low in one.author.lower()]
    named = source.reachable(repository, low)
    if named is not None and all(one.commit != named for one in fit):
        fit.insert(0, about(history, named))
    return tuple(fit), len(newest)


def _matches(accepted: str, text: str, fleets: Fleets) -> tuple[Match, ...]:
    """In all definitions; what was looked for last is kept, for the next of its pages."""
    kept = _LAST.get(fleets)
    if kept is None or kept.asked != (accepted, text):
        kept = _LAST[fleets] = _Kept((accepted, text), _looked(accepted, text, fleets))
    return kept.matches


def _looked(accepted: str, text: str, fleets: Fleets) -> tuple[Match, ...]:
    try:
        every = search(fleets.at(accepted).compiled, [text])
    except GitcfgError:
        return ()
    # Of a secret in plain text not even that it was found: else it could be guessed letter by letter.
    return tuple(one for one in every if not (one.veiled or one.origin.file.startswith("secrets/")))


def _sought(matches: tuple[Match, ...]) -> tuple[Sought, ...]:
    kinds = groupby(matches, key=lambda one: one.kind)
    return tuple(
        Sought(kind, {name: tuple(same) for name, same in groupby(alike, key=lambda one: one.name)})
        for kind, alike in kinds
    )


ROUTES = [web.get("/search", shown(found))]
