"""A place where a searched text is found."""

from collections.abc import Iterable

import msgspec

from gitcfg.explain.excerpt import Hit
from gitcfg.explain.records import Record, origin_record
from gitcfg.model import Origin


class Match(msgspec.Struct, frozen=True):
    """A place where one of the texts is found, or several. `field` are the keys that lead to it.

    `veiled`: it is found in a secret that stands there in plain text, and is not shown.
    """

    kind: str
    name: str
    field: str
    origin: Origin
    excerpt: str
    spans: tuple[tuple[int, int], ...]
    veiled: bool = False


Found = tuple[frozenset[int], Match]
"""A match, and the numbers of the texts that are found there."""


def match(kind: str, name: str, field: str, file: str, hit: Hit) -> Match:
    """What is found in a line of a file."""
    return Match(kind, name, field, Origin(file, hit.line, hit.column), hit.excerpt, hit.spans, hit.veiled)


def matches_record(commit: str | None, texts: Iterable[str], matches: Iterable[Match]) -> Record:
    """`gitcfg.matches/1`."""
    return {
        "schema": "gitcfg.matches/1",
        "commit": commit,
        "texts": list(texts),
        "matches": [
            {
                "kind": match.kind,
                "name": match.name,
                "field": match.field,
                "origin": origin_record(match.origin),
                "excerpt": match.excerpt,
                "spans": match.spans,
            }
            for match in matches
        ],
    }
