"""The table of nodes: its rows, its queries and their URLs, filtered, sorted, and a page at a time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace

_BAD_FIRST = ("failed", "refused", "reverted", "pending", "behind", "gone", "never", "ok")
_RANK = {name: rank for rank, name in enumerate(_BAD_FIRST)}
_FILTERS = ("q", "state", "commit", "group")
_LONGEST = 200
PAGE = 100


class Row(msgspec.Struct, frozen=True, gc=False):
    """A node in the table. `status` is one word; the flags apply in addition.

    `deployed`: its agent does not check in, and what it runs is known from deploys over SSH.
    """

    name: str
    status: str
    groups: tuple[str, ...] = ()
    running: str | None = None
    wanted: str | None = None
    last: float | None = None
    outcome: str | None = None
    drifts: int = 0
    away: bool = False
    retired: bool = False
    hold: str | None = None
    deployed: bool = False

    def has(self, state: str) -> bool:
        """Return whether the node is in a state: a status, or drifted, away, retired, held, deployed."""
        flag = NODE_FLAGS.get(state)
        return self.status == state or (flag is not None and flag(self))


NODE_FLAGS: Mapping[str, Callable[[Row], bool]] = {
    "drifted": lambda row: row.drifts > 0,
    "away": lambda row: row.away,
    "held": lambda row: row.hold is not None,
    "retired": lambda row: row.retired,
    "deployed": lambda row: row.deployed,
}
"""States of nodes that apply in addition to the statuses."""
SORTS: Mapping[str, Callable[[Row], Any]] = {
    "name": lambda row: row.name,
    "state": lambda row: _RANK.get(row.status, len(_RANK)),
    "commit": lambda row: row.running or "",
    "result": lambda row: row.outcome or "",
    "checkin": lambda row: -(row.last or 0.0),
}
"""The orders of the table. Check-ins: the latest first."""


class TableQuery(msgspec.Struct, frozen=True):
    """A query for the table: words in names or groups, a state, a commit, a group, an order, a page."""

    q: str = ""
    state: str = ""
    commit: str = ""
    group: str = ""
    sort: str = "name"
    down: bool = False
    page: int = 1

    def address(self, **other: Any) -> str:
        """Return the query as part of a URL, with some values replaced; another query begins on page 1."""
        query = replace(self, **{"page": 1, **other})
        values = ((name, getattr(query, name)) for name in _FILTERS)
        parts = {name: value for name, value in values if value}
        if query.sort != "name":
            parts["sort"] = query.sort
        if query.down:
            parts["order"] = "down"
        if query.page != 1:
            parts["page"] = query.page
        return f"?{urlencode(parts)}" if parts else "?"

    def sorted_address(self, sort: str) -> str:
        """Return the query that sorts by a column, or in reverse if it sorts by that already."""
        return self.address(sort=sort, down=self.sort == sort and not self.down)


def parse_query(query: Mapping[str, str]) -> TableQuery:
    """Parse the query of a URL; ignore what is invalid."""
    filters = {name: query.get(name, "")[:_LONGEST] for name in _FILTERS}
    sort = query.get("sort", "")
    page = parse_page_number(query.get("page", ""))
    down = query.get("order") == "down"
    return TableQuery(**filters, sort=sort if sort in SORTS else "name", down=down, page=page)


def parse_page_number(text: str) -> int:
    """Parse the number of a page; 1 if the text is not one."""
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 7 else 1


class Table(msgspec.Struct, frozen=True):
    """A page of rows; `count` is the number of rows on all pages, `names` the nodes of all pages."""

    query: TableQuery
    rows: tuple[Row, ...]
    count: int
    pages: int
    names: tuple[str, ...]


def build_table(rows: Iterable[Row], query: TableQuery) -> Table:
    """Return the rows that a query selects; `rows` are in order of name."""
    filtered = any(getattr(query, name) for name in _FILTERS)
    found = [row for row in rows if _matches_query(row, query)] if filtered else list(rows)
    if query.sort != "name":
        found.sort(key=SORTS[query.sort])
    if query.down:
        found.reverse()
    number, pages, shown = paginate(found, query.page, PAGE)
    names = tuple(row.name for row in found)
    return Table(replace(query, page=number), tuple(shown), len(found), pages, names)


def paginate(items: Sequence[Any], number: int, size: int) -> tuple[int, int, Sequence[Any]]:
    """Return a page's number, the number of pages, and its items; the last page for a number past the end."""
    pages = max(1, -(-len(items) // size))
    number = min(number, pages)
    return number, pages, items[(number - 1) * size : number * size]


def _matches_query(row: Row, query: TableQuery) -> bool:
    if query.state and not row.has(query.state):
        return False
    if query.commit and not (row.running or "").startswith(query.commit):
        return False
    if query.group and query.group not in row.groups:
        return False
    words = query.q.lower().split()
    return not words or all(word in row.name.lower() or word in _search_text(row.groups) for word in words)


@lru_cache(4096)
def _search_text(groups: tuple[str, ...]) -> str:
    """Join groups into one text to search. Cached: most nodes share their groups with many others."""
    return "\n".join(groups).lower()
