"""The rows of the table of nodes: made at most once a second, however many visitors there are."""

import asyncio
from typing import NamedTuple
from weakref import WeakKeyDictionary

from gitcfg.inventory.standing import course
from gitcfg.server.roll import LastCheckin
from gitcfg.server.service import Service
from gitcfg.server.standing import collect_facts, list_names
from gitcfg.server.view import View
from gitcfg.web.row import Row

_FRESH = 1.0


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
    # In a thread: 50 ms of 10,000 nodes would keep all the others waiting.
    found = await asyncio.to_thread(_make_rows, view, dict(service.controller.registry.nodes), now)
    _ROWS[service] = _KeptRows(view, now, found)
    return found


def _make_rows(view: View, registry: dict[str, LastCheckin], now: float) -> tuple[Row, ...]:
    return tuple(make_row(view, name, registry.get(name), now) for name in list_names(view, registry))


def make_row(view: View, name: str, last: LastCheckin | None, now: float) -> Row:
    """Make the row of a node."""
    line, offer = view.outline.nodes.get(name), view.offer(name)
    towards, groups = (
        course(collect_facts(view, name, last, now)).value,
        line.groups if line is not None else (),
    )
    wanted = offer.commit if view.line(name) is not None else None
    retired, hold = line is not None and line.retired, offer.hold.name if offer.hold is not None else None
    if last is None:
        return Row(name, towards, groups, wanted=wanted, retired=retired, hold=hold)
    away = last.away(now)
    return Row(
        *(name, towards, groups, last.commit, wanted, last.last, last.outcome, last.drifts),
        *(away, retired, hold, last.agentless),
    )
