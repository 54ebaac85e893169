"""The names of nodes: of those that have files, and of node sets' members."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitcfg.cli.complete.names import Names

_SET = re.compile(r"[A-Za-z0-9\s.,/\[\]-]+")
_OUTSIDE_BRACKETS = re.compile(r",(?![^\[\]]*\])")
_MOST_MEMBERS = 250_000


def nodes(names: "Names") -> Iterator[str]:
    """All of them. What begins with `@` is no node."""
    if names.prefix.startswith("@"):
        return
    yield from names.defined("nodes")
    left = _MOST_MEMBERS
    for _, place in names.files.named("nodesets"):
        found = _members(names, _said(names.files.read(place)), left)
        left -= len(found)
        yield from found


def _said(data: bytes) -> str:
    """What a node set says its nodes are."""
    from gitcfg.cli.complete.reading import entries

    return next((entry.value or "" for entry in entries(data) if entry[:2] == ("", "nodes")), "")


def _members(names: "Names", text: str, most: int) -> list[str]:
    """The names that a node set stands for, of those parts of it only that can begin as asked for."""
    from gitcfg.model.nodeset import NodeSetError, expand

    found: list[str] = []
    for part in _OUTSIDE_BRACKETS.split(text) if _SET.fullmatch(text) else ():
        head = part.strip().partition("[")[0]
        if names.begins(head) or names.prefix.startswith(head.casefold()):
            try:
                found += expand(part, most - len(found))
            except NodeSetError:
                continue
    return found
