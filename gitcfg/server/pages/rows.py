"""All nodes as the table of the overview has them: made at most once a second, however many look."""

import asyncio
from typing import NamedTuple
from weakref import WeakKeyDictionary

from gitcfg.inventory.standing import course
from gitcfg.server.roll import Last
from gitcfg.server.service import Service
from gitcfg.server.standing import names, stands
from gitcfg.server.view import View
from gitcfg.web.row import Row

_FRESH = 1.0


class _Kept(NamedTuple):
    view: View
    at: float
    rows: tuple[Row, ...]


_KEPT: WeakKeyDictionary[Service, _Kept] = WeakKeyDictionary()


async def rows(service: Service) -> tuple[Row, ...]:
    """Every node that git knows or that came, in order of name. Problem: nothing has been accepted yet."""
    view, now = service.view, service.clock()
    kept = _KEPT.get(service)
    if kept is not None and kept.view is view and 0 <= now - kept.at < _FRESH:
        return kept.rows
    # In a thread: 50 ms of 10,000 nodes would keep all the others waiting.
    found = await asyncio.to_thread(_all, view, dict(service.conductor.roll.nodes), now)
    _KEPT[service] = _Kept(view, now, found)
    return found


def _all(view: View, roll: dict[str, Last], now: float) -> tuple[Row, ...]:
    return tuple(row(view, name, roll.get(name), now) for name in names(view, roll))


def row(view: View, name: str, last: Last | None, now: float) -> Row:
    """One of them."""
    line, offer = view.outline.nodes.get(name), view.offer(name)
    towards, groups = course(stands(view, name, last, now)).value, line.groups if line is not None else ()
    wanted = offer.commit if view.line(name) is not None else None
    retired, hold = line is not None and line.retired, offer.hold.name if offer.hold is not None else None
    if last is None:
        return Row(name, towards, groups, wanted=wanted, retired=retired, hold=hold)
    away = last.away(now)
    return Row(
        *(name, towards, groups, last.commit, wanted, last.last, last.outcome, last.drifts),
        *(away, retired, hold, last.agentless),
    )
