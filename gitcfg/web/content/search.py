"""What the page of a search says."""

from collections.abc import Mapping

import msgspec

from gitcfg.explain.search import Match
from gitcfg.web.content.commits import Commit
from gitcfg.web.places import Places


class Sought(msgspec.Struct, frozen=True):
    """What a search has found in definitions of a kind: by name."""

    kind: str
    found: Mapping[str, tuple[Match, ...]]


class SearchPage(msgspec.Struct, frozen=True):
    """What was found. `looked` is in how many commits; a page of matches is shown."""

    text: str
    nodes: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    looked: int = 0
    sought: tuple[Sought, ...] = ()
    matches: int = 0
    number: int = 1
    pages: int = 1
    places: Places = Places()
