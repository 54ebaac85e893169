"""The contents of the page of a search."""

from collections.abc import Mapping

import msgspec

from gitcfg.explain.search import Match
from gitcfg.web.content.commits import Commit
from gitcfg.web.places import SourceLinks


class SearchGroup(msgspec.Struct, frozen=True):
    """The matches of a search in definitions of one type, by name."""

    kind: str
    found: Mapping[str, tuple[Match, ...]]


class SearchPage(msgspec.Struct, frozen=True):
    """The results of a search. `looked` is the number of commits searched; matches are of one page."""

    text: str
    nodes: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    looked: int = 0
    sought: tuple[SearchGroup, ...] = ()
    matches: int = 0
    number: int = 1
    pages: int = 1
    places: SourceLinks = SourceLinks()
