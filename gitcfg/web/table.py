"""The table of nodes: those that are asked for, in the order that is asked for, a page at a time."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from gitcfg.web.asked import Asked
from gitcfg.web.row import SORTS, Row

PAGE = 100


class Table(msgspec.Struct, frozen=True):
    """A page of rows; `count` is how many there are on all pages, `names` who they are."""

    asked: Asked
    rows: tuple[Row, ...]
    count: int
    pages: int
    names: tuple[str, ...]


def table(rows: Iterable[Row], asked: Asked) -> Table:
    """The rows that are asked for; `rows` are in order of name."""
    found = [row for row in rows if _fits(row, asked)] if _narrows(asked) else list(rows)
    if asked.sort != "name":
        found.sort(key=SORTS[asked.sort])
    if asked.down:
        found.reverse()
    number, pages, shown = paged(found, asked.page, PAGE)
    return Table(
        replace(asked, page=number), tuple(shown), len(found), pages, tuple(row.name for row in found)
    )


def paged(items: Sequence[Any], number: int, size: int) -> tuple[int, int, Sequence[Any]]:
    """A page of so many, its number, and how many there are; past the end it is the last one."""
    pages = max(1, -(-len(items) // size))
    number = min(number, pages)
    return number, pages, items[(number - 1) * size : number * size]


def _narrows(asked: Asked) -> bool:
    return bool(asked.q or asked.state or asked.commit or asked.group)


def _fits(row: Row, asked: Asked) -> bool:
    if asked.state and not row.has(asked.state):
        return False
    if asked.commit and not (row.running or "").startswith(asked.commit):
        return False
    if asked.group and asked.group not in row.groups:
        return False
    words = asked.q.lower().split()
    return not words or all(word in row.name.lower() or word in _searched(row.groups) for word in words)


@lru_cache(4096)
def _searched(groups: tuple[str, ...]) -> str:
    """Groups as one text: most nodes have the same as many others."""
    return "\n".join(groups).lower()
