"""The table of nodes: those that are asked for, in the order that is asked for, a page at a time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace

PAGE = 100
_LONGEST = 200


class Row(msgspec.Struct, frozen=True, gc=False):
    """A node as the table has it. `standing` is one word; the flags say what is true besides."""

    name: str
    standing: str
    groups: tuple[str, ...] = ()
    running: str | None = None
    wanted: str | None = None
    last: float | None = None
    outcome: str | None = None
    drifts: int = 0
    away: bool = False
    retired: bool = False
    hold: str | None = None

    def has(self, state: str) -> bool:
        """Is the node of a sort? A standing, or drifted, away, retired, held."""
        if self.standing == state:
            return True
        holds = NOTABLE.get(state)
        return holds is not None and holds(self)


NOTABLE: Mapping[str, Callable[[Row], bool]] = {
    "drifted": lambda row: row.drifts > 0,
    "away": lambda row: row.away,
    "held": lambda row: row.hold is not None,
    "retired": lambda row: row.retired,
}
"""Sorts of nodes that go across the standings."""
_BAD_FIRST = ("failed", "pending", "behind", "gone", "never", "current")
_RANK = {name: rank for rank, name in enumerate(_BAD_FIRST)}
SORTS: Mapping[str, Callable[[Row], Any]] = {
    "name": lambda row: row.name,
    "state": lambda row: _RANK.get(row.standing, len(_RANK)),
    "commit": lambda row: row.running or "",
    "result": lambda row: row.outcome or "",
    "checkin": lambda row: -(row.last or 0.0),
}
"""What the table can be sorted by. Check-ins: the latest first."""


class Asked(msgspec.Struct, frozen=True):
    """What is asked for: texts that names or groups hold, a sort of nodes, a commit, a group."""

    q: str = ""
    state: str = ""
    commit: str = ""
    group: str = ""
    sort: str = "name"
    down: bool = False
    page: int = 1

    def query(self, **other: Any) -> str:
        """It as the query of an address, with something else than now; from another question, page 1."""
        said = replace(self, **{"page": 1, **other})
        parts = {
            name: getattr(said, name) for name in ("q", "state", "commit", "group") if getattr(said, name)
        }
        if said.sort != "name":
            parts["sort"] = said.sort
        if said.down:
            parts["order"] = "down"
        if said.page != 1:
            parts["page"] = said.page
        return f"?{urlencode(parts)}" if parts else "?"

    def by(self, sort: str) -> str:
        """The query that sorts by a column, or the other way round where it is sorted by that already."""
        return self.query(sort=sort, down=self.sort == sort and not self.down)


class Table(msgspec.Struct, frozen=True):
    """A page of rows; `count` is how many there are on all pages, `names` who they are."""

    asked: Asked
    rows: tuple[Row, ...]
    count: int
    pages: int
    names: tuple[str, ...]


def asked(query: Mapping[str, str]) -> Asked:
    """What an address asks for; what cannot be understood is as if it were not said."""
    said = {name: query.get(name, "")[:_LONGEST] for name in ("q", "state", "commit", "group")}
    sort, number = query.get("sort", ""), query.get("page", "")
    return Asked(
        **said,
        sort=sort if sort in SORTS else "name",
        down=query.get("order") == "down",
        page=page_number(number),
    )


def page_number(text: str) -> int:
    """The number of a page; 1 for what is none."""
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 7 else 1


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
