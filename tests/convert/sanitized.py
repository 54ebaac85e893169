"""Sanitized repositories beside their originals, for the tests of what they have in common."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from gitcfg.cache.cache import NoCache
from gitcfg.comparison.change import Change
from gitcfg.convert.sanitize.tree import Sanitizer
from gitcfg.convert.sanitize.words import (
    CEL,
    CHOICES,
    EVERYWHERE,
    JINJA,
    SCHEMA,
    SCHEMA_CHOICES,
    keys,
)
from gitcfg.git.tree import Content, DictTree
from gitcfg.library import Fleet
from gitcfg.model.kinds import FOLDERS

TODAY = date(2026, 1, 1)
FORMAT = {
    part
    for words in (CEL, CHOICES, EVERYWHERE, FOLDERS, JINJA, SCHEMA, SCHEMA_CHOICES, keys())
    for word in words
    for part in re.findall(r"[^\W\d_]+", word.lower())
} | {"gitcfg", "aaaac", "nzac", "lzdi", "aaaai"}  # the last are how every Ed25519 key begins


def fleet(
    files: Mapping[str, Content], before: Mapping[str, Content] | None = None, today: date = TODAY
) -> Fleet:
    """The fleet of files in memory, of which nothing is kept."""
    return Fleet(DictTree(files), DictTree(before) if before else None, today, NoCache())


def sanitized(
    versions: Sequence[Mapping[str, Content]], key: bytes = b"a key of tests"
) -> tuple[Sanitizer, list[Mapping[str, Content]]]:
    """Versions of one repository in other words."""
    trees = [DictTree(files) for files in versions]
    sanitizer = Sanitizer(key, trees)
    return sanitizer, [sanitizer.files(tree) for tree in trees]


def outlined(changes: Sequence[Change], sanitizer: Sanitizer | None = None) -> Counter[tuple[Any, ...]]:
    """What changes say, without values; in a sanitizer's words if there is one."""
    return Counter(_outline(change, sanitizer) for change in changes)


def _outline(change: Change, sanitizer: Sanitizer | None) -> tuple[Any, ...]:
    parts: tuple[Any, ...] = (
        *(change.nodes, change.params, change.files, change.features.added, change.features.removed),
        *(change.groups.added, change.groups.removed, change.restart, change.reload, change.stop),
    )
    new = sanitizer.names.name if sanitizer is not None else str
    return (str(change.kind), *(tuple(sorted(map(new, part))) for part in parts))


def words(files: Mapping[str, Content]) -> set[str]:
    """Words of more than three letters, of paths and texts, that are none of the format's."""
    texts = (text for pair in files.items() for text in map(_text, pair))
    found = {word.lower() for text in texts for word in re.findall(r"[^\W\d_]{4,}", text)}
    return found - FORMAT


def _text(content: Content) -> str:
    if isinstance(content, bytes):
        return content.decode(errors="replace")
    return content if isinstance(content, str) else ""
