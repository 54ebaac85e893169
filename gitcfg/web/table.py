"""The table of nodes: filtered, sorted, and a page at a time."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from gitcfg.web.asked import TableQuery
from gitcfg.web.row import SORTS, Row

PAGE = 100


class Table(msgspec.Struct, frozen=True):
    """A page of rows; `count` is how many there are on all pages, `names` their nodes."""

    query: TableQuery
    rows: tuple[Row, ...]
    count: int
    pages: int
    names: tuple[str, ...]


def build_table(rows: Iterable[Row], query: TableQuery) -> Table:
    """Return the rows that a query selects; `rows` are in order of name."""
    found = [row for row in rows if _matches_query(row, query)] if _is_filtered(query) else list(rows)
    if query.sort != "name":
        found.sort(key=SORTS[query.sort])
    if query.down:
        found.reverse()
    number, pages, shown = paginate(found, query.page, PAGE)
    return Table(
        replace(query, page=number), tuple(shown), len(found), pages, tuple(row.name for row in found)
    )


def paginate(items: Sequence[Any], number: int, size: int) -> tuple[int, int, Sequence[Any]]:
    """Return a page's number, the number of pages, and its items; past the end it is the last page."""
    pages = max(1, -(-len(items) // size))
    number = min(number, pages)
    return number, pages, items[(number - 1) * size : number * size]


def _is_filtered(query: TableQuery) -> bool:
    return bool(query.q or query.state or query.commit or query.group)


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
    """Join groups into one text to search; most nodes share theirs with many others."""
    return "\n".join(groups).lower()
