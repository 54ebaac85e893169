"""Queries of the table of nodes, and their URLs."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace

from gitcfg.web.row import SORTS

_LONGEST = 200


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

    def sorted_address(self, sort: str) -> str:
        """Return the query that sorts by a column, or in reverse if it sorts by that already."""
        return self.address(sort=sort, down=self.sort == sort and not self.down)


def parse_query(query: Mapping[str, str]) -> TableQuery:
    """Parse the query of a URL; what is invalid is ignored."""
    said = {name: query.get(name, "")[:_LONGEST] for name in ("q", "state", "commit", "group")}
    sort, number = query.get("sort", ""), query.get("page", "")
    return TableQuery(
        **said,
        sort=sort if sort in SORTS else "name",
        down=query.get("order") == "down",
        page=parse_page_number(number),
    )


def parse_page_number(text: str) -> int:
    """Parse the number of a page; 1 if it is none."""
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 7 else 1
