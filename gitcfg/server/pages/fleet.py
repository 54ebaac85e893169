"""The overview of the fleet: counts, releases, what happened, and the table of nodes."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import date
from functools import partial

from aiohttp import web

from gitcfg.inventory.standing import COURSE
from gitcfg.model.delivery import ends_soon, is_over
from gitcfg.model.nodeset import fold
from gitcfg.server.outline import Held, Outline, Overriding
from gitcfg.server.pages.git import in_short
from gitcfg.server.pages.releases import release
from gitcfg.server.pages.rows import rows
from gitcfg.server.pages.shown import shown
from gitcfg.server.service import SERVICE, Service
from gitcfg.state import Event, State
from gitcfg.web.asked import asked
from gitcfg.web.content import Commit, Count, Ending, Overview, Runs
from gitcfg.web.happened import happened
from gitcfg.web.row import NOTABLE, Row
from gitcfg.web.table import table

_COMMITS = 20  # a node may say that it runs anything
_EVENTS = 1000
_HAPPENINGS = 12


async def overview(request: web.Request) -> Overview:
    """How the fleet stands."""
    service = request.app[SERVICE]
    found = await rows(service)
    events = await service.conductor.ask(_events)
    running = Counter(row.running for row in found if row.running is not None)
    most = running.most_common(_COMMITS)
    commits = await service.people.do(partial(in_short, [commit for commit, _ in most]))
    return Overview(
        len(found),
        _standings(found),
        tuple(Count(name, sum(map(holds, found))) for name, holds in NOTABLE.items()),
        tuple(Runs(commits.get(one, Commit(one)), number) for one, number in most),
        len(running) - len(most),
        tuple([await release(service, one) for one in service.conductor.releases[: _shown(service)]]),
        happened(events, _HAPPENINGS),
        await asyncio.to_thread(table, found, asked(request.query)),
        tuple(_endings(service.view.outline, service.today())),
    )


def _endings(outline: Outline, today: date) -> Iterator[Ending]:
    """What is overdue, then what ends soon, each in order of its last day."""
    lasting = (one for one in outline.holds if not is_over(one.until, today))
    found: list[Held | Overriding] = [*outline.overrides, *lasting]
    for one in sorted(found, key=lambda each: each.until):
        over = is_over(one.until, today)
        if over or ends_soon(one.until, today):
            kind = "hold" if isinstance(one, Held) else "override"
            yield Ending(kind, one.name, one.reason, str(one.until), over, len(one.nodes), fold(one.nodes))


def _standings(found: tuple[Row, ...]) -> tuple[Count, ...]:
    counts = Counter(row.standing for row in found)
    return tuple(Count(each.value, counts[each.value]) for each in reversed(COURSE))


def _shown(service: Service) -> int:
    """The newest release, and those before it that are not over."""
    going = [one.progress.status in ("running", "halted") for one in service.conductor.releases]
    return max(1, len(going) - going[::-1].index(True) if True in going else 1)


def _events(state: State) -> list[Event]:
    return state.events.after(max(0, state.events.newest() - _EVENTS), _EVENTS)


ROUTES = [web.get("/", shown(overview))]
