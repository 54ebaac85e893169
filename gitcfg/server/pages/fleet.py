"""The overview of the fleet with the table of nodes, and the page of a search."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import date
from functools import partial
from itertools import groupby, islice
from typing import NamedTuple
from weakref import WeakKeyDictionary

from aiohttp import web

from gitcfg.explain.search import Match, search
from gitcfg.git.history import History
from gitcfg.inventory.nodes import COMMIT_STATUSES, find_commit_status
from gitcfg.model import GitcfgError
from gitcfg.model.delivery import ends_soon, is_over
from gitcfg.nodeset import fold
from gitcfg.server import fleets as source
from gitcfg.server.fleets import FleetCache
from gitcfg.server.pages.base import (
    make_links,
    make_release,
    page_handler,
    summarize_commit,
    summarize_commits,
)
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.status import LastCheckin, collect_facts, list_names
from gitcfg.server.view import Outline, OutlineHold, OutlineOverride, View
from gitcfg.web.content import (
    Commit,
    CommitCount,
    Count,
    ExpiringItem,
    Overview,
    SearchGroup,
    SearchPage,
    group_events,
)
from gitcfg.web.table import NODE_FLAGS, Row, build_table, paginate, parse_page_number, parse_query

_FRESH = 1.0
_LONGEST = 200
_COMMITS = 2000
"""The number of newest commits that a search reads, in 30 ms."""
_MATCHES = 100
_MOST_COMMITS = 20  # a limit, because a node may report any commit
_EVENTS = 1000
_HAPPENINGS = 12


class _KeptRows(NamedTuple):
    view: View
    at: float
    rows: tuple[Row, ...]


_ROWS: WeakKeyDictionary[Service, _KeptRows] = WeakKeyDictionary()


async def load_rows(service: Service) -> tuple[Row, ...]:
    """Load the rows of all nodes, in order of name. Raise Problem if nothing has been accepted yet."""
    view, now = service.view, service.clock()
    kept = _ROWS.get(service)
    if kept is not None and kept.view is view and 0 <= now - kept.at < _FRESH:
        return kept.rows
    registry = dict(service.controller.registry.nodes)

    def make_rows() -> tuple[Row, ...]:
        return tuple(make_row(view, name, registry.get(name), now) for name in list_names(view, registry))

    # In a thread, because 50 ms for 10,000 nodes would block all other requests.
    found = await asyncio.to_thread(make_rows)
    _ROWS[service] = _KeptRows(view, now, found)
    return found


def make_row(view: View, name: str, last: LastCheckin | None, now: float) -> Row:
    """Make the row of a node."""
    line, offer = view.outline.nodes.get(name), view.offer(name)
    towards = find_commit_status(collect_facts(view, name, last, now)).value
    groups = line.groups if line is not None else ()
    wanted = offer.commit if view.line(name) is not None else None
    retired, hold = line is not None and line.retired, offer.hold.name if offer.hold is not None else None
    if last is None:
        return Row(name, towards, groups, wanted=wanted, retired=retired, hold=hold)
    away = last.away(now)
    return Row(
        *(name, towards, groups, last.commit, wanted, last.last, last.outcome, last.drifts),
        *(away, retired, hold, last.agentless),
    )


class _KeptMatches(NamedTuple):
    key: tuple[str, str]
    matches: tuple[Match, ...]


_LAST_SEARCH: WeakKeyDictionary[FleetCache, _KeptMatches] = WeakKeyDictionary()
"""The last search. One for a digit finds 43,000 places in 10,000 nodes, which takes 3 s."""


async def show_search(request: web.Request) -> SearchPage:
    """Show where a text is found, in upper or lower case."""
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
    """Search all definitions; keep the last result for its other pages."""
    kept = _LAST_SEARCH.get(fleets)
    if kept is None or kept.key != (accepted, text):
        found = _search_definitions(accepted, text, fleets)
        kept = _LAST_SEARCH[fleets] = _KeptMatches((accepted, text), found)
    return kept.matches


def _search_definitions(accepted: str, text: str, fleets: FleetCache) -> tuple[Match, ...]:
    try:
        every = search(fleets.at(accepted).compiled, [text])
    except GitcfgError:
        return ()
    # Not even the existence of a match in a secret is shown: it would allow guessing letter by letter.
    return tuple(one for one in every if not (one.veiled or one.origin.file.startswith("secrets/")))


def _group_matches(matches: tuple[Match, ...]) -> tuple[SearchGroup, ...]:
    return tuple(
        SearchGroup(kind, {name: tuple(same) for name, same in groupby(alike, key=lambda one: one.name)})
        for kind, alike in groupby(matches, key=lambda one: one.kind)
    )


async def show_fleet(request: web.Request) -> Overview:
    """Show the fleet."""
    service = request.app[SERVICE]
    found = await load_rows(service)
    events = await service.controller.with_state(
        lambda state: state.events.after(max(0, state.events.newest() - _EVENTS), _EVENTS)
    )
    statuses = Counter(row.status for row in found)
    running = Counter(row.running for row in found if row.running is not None)
    most = running.most_common(_MOST_COMMITS)
    commits = await service.people.run(partial(summarize_commits, [commit for commit, _ in most]))
    kept = service.controller.releases[: _count_shown_releases(service)]
    releases = tuple([await make_release(service, one) for one in kept])
    return Overview(
        len(found),
        tuple(Count(each.value, statuses[each.value]) for each in reversed(COMMIT_STATUSES)),
        tuple(Count(name, sum(map(holds, found))) for name, holds in NODE_FLAGS.items()),
        tuple(CommitCount(commits.get(one, Commit(one)), number) for one, number in most),
        len(running) - len(most),
        releases,
        group_events(events, _HAPPENINGS),
        await asyncio.to_thread(build_table, found, parse_query(request.query)),
        tuple(_find_expiring(service.view.outline, service.today())),
    )


def _find_expiring(outline: Outline, today: date) -> Iterator[ExpiringItem]:
    """Yield what is overdue, then what ends soon, each in order of its last day."""
    lasting = (one for one in outline.holds if not is_over(one.until, today))
    found: list[OutlineHold | OutlineOverride] = [*outline.overrides, *lasting]
    for one in sorted(found, key=lambda each: each.until):
        over = is_over(one.until, today)
        if over or ends_soon(one.until, today):
            kind = "hold" if isinstance(one, OutlineHold) else "override"
            yield ExpiringItem(
                kind, one.name, one.reason, str(one.until), over, len(one.nodes), fold(one.nodes)
            )


def _count_shown_releases(service: Service) -> int:
    """Count the newest release, and the active ones before it."""
    going = [one.progress.status in ("running", "halted") for one in service.controller.releases]
    return max(1, len(going) - going[::-1].index(True) if True in going else 1)


ROUTES = [
    web.get("/search", page_handler(show_search)),
    web.get("/", page_handler(show_fleet)),
]
