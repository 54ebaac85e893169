"""What is asked of the table of nodes, and the address that asks for it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace

from gitcfg.web.row import SORTS

_LONGEST = 200


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
