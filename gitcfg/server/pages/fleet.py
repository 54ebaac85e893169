"""The overview of the fleet: counts, releases, recent events, and the table of nodes."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import date
from functools import partial

from aiohttp import web

from gitcfg.inventory.standing import COURSE
from gitcfg.model.delivery import ends_soon, is_over
from gitcfg.model.nodeset import fold
from gitcfg.server.outline import Outline, OutlineHold, OutlineOverride
from gitcfg.server.pages.git import summarize_commits
from gitcfg.server.pages.releases import make_release
from gitcfg.server.pages.rows import load_rows
from gitcfg.server.pages.shown import page_handler
from gitcfg.server.service import SERVICE, Service
from gitcfg.state import Event, State
from gitcfg.web.asked import parse_query
from gitcfg.web.content import Commit, CommitCount, Count, ExpiringItem, Overview
from gitcfg.web.happened import group_events
from gitcfg.web.row import NODE_FLAGS, Row
from gitcfg.web.table import build_table

_COMMITS = 20  # a node may say that it runs anything
_EVENTS = 1000
_HAPPENINGS = 12


async def show_fleet(request: web.Request) -> Overview:
    """Show the fleet."""
    service = request.app[SERVICE]
    found = await load_rows(service)
    events = await service.controller.with_state(_load_events)
    running = Counter(row.running for row in found if row.running is not None)
    most = running.most_common(_COMMITS)
    commits = await service.people.run(partial(summarize_commits, [commit for commit, _ in most]))
    return Overview(
        len(found),
        _count_statuses(found),
        tuple(Count(name, sum(map(holds, found))) for name, holds in NODE_FLAGS.items()),
        tuple(CommitCount(commits.get(one, Commit(one)), number) for one, number in most),
        len(running) - len(most),
        tuple(
            [
                await make_release(service, one)
                for one in service.controller.releases[: _count_shown_releases(service)]
            ]
        ),
        group_events(events, _HAPPENINGS),
        await asyncio.to_thread(build_table, found, parse_query(request.query)),
        tuple(_find_expiring(service.view.outline, service.today())),
    )


def _find_expiring(outline: Outline, today: date) -> Iterator[ExpiringItem]:
    """Find what is overdue, then what ends soon, each in order of its last day."""
    lasting = (one for one in outline.holds if not is_over(one.until, today))
    found: list[OutlineHold | OutlineOverride] = [*outline.overrides, *lasting]
    for one in sorted(found, key=lambda each: each.until):
        over = is_over(one.until, today)
        if over or ends_soon(one.until, today):
            kind = "hold" if isinstance(one, OutlineHold) else "override"
            yield ExpiringItem(
                kind, one.name, one.reason, str(one.until), over, len(one.nodes), fold(one.nodes)
            )


def _count_statuses(found: tuple[Row, ...]) -> tuple[Count, ...]:
    counts = Counter(row.status for row in found)
    return tuple(Count(each.value, counts[each.value]) for each in reversed(COURSE))


def _count_shown_releases(service: Service) -> int:
    """Count the newest release, and those before it that are not over."""
    going = [one.progress.status in ("running", "halted") for one in service.controller.releases]
    return max(1, len(going) - going[::-1].index(True) if True in going else 1)


def _load_events(state: State) -> list[Event]:
    return state.events.after(max(0, state.events.newest() - _EVENTS), _EVENTS)


ROUTES = [web.get("/", page_handler(show_fleet))]
