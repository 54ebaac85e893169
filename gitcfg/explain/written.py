"""What people wrote into a YAML file: names and values with their places, not the format's own words."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import msgspec

from gitcfg.load.document import Document
from gitcfg.load.marks import Mark
from gitcfg.model.folders import SHEETS

_NAMED = frozenset({"params", "facts", "with", "default"})
"""Keys below which all keys are names that people chose, or parts of values."""
_RULED = frozenset({"set", "domain", "values"})
"""The same of rules, and of what was decided for them, where they are not below another key."""
_WORDS = {
    "parameter": frozenset(
        {"type", "must_change", "restart", "unique", "separator", "macros", "level", "secret"}
    ),
    "node": frozenset({"state"}),
    "nodeset": frozenset({"state"}),
    "setting": frozenset({"format"}),
}
"""By kind, keys whose values are words of the format."""


class Written(msgspec.Struct, frozen=True):
    """A name or value: `path` are the keys and indices that lead to it, `text` is its source.

    A name ends its own path: `key` tells it from its value. `start` and `end` are line and column from 1;
    the text stands somewhere from start to before end.
    """

    path: tuple[str | int, ...]
    text: str
    start: tuple[int, int]
    end: tuple[int, int]
    key: bool


def written(kind: str, document: Document) -> Iterator[Written]:
    """Everything that people wrote into a document, in its order."""
    found = list(_walk((), document.value, document.mark))
    starts = sorted(start for _, _, start, _ in found)
    for path, text, start, key in found:
        own = path[2:] if path and path[0] in SHEETS else path
        if text is not None and (_name(path, own) if key else _value(kind, own)):
            after = bisect_right(starts, start)
            end = starts[after] if after < len(starts) else (1 << 31, 1)
            yield Written(path, text, start, end, key)


_Found = tuple[tuple[str | int, ...], str | None, tuple[int, int], bool]


def _walk(path: tuple[str | int, ...], value: Any, mark: Mark) -> Iterator[_Found]:
    """Every key and every value that is neither map nor list, with its place and whether it is a key."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key), key, mark.keys[key], True
            yield from _walk((*path, key), item, mark.values[key])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk((*path, index), item, mark.items[index])
    else:
        text = mark.text if mark.text is not None else value
        yield path, None if value is None else str(text), (mark.line, mark.column), False


def _name(path: tuple[str | int, ...], own: tuple[str | int, ...]) -> bool:
    """Is a key a name that people chose?"""
    if not own:
        return len(path) == 2  # the name of a parameter, subsystem or rule
    if own[0] == "files":
        return len(own) == 2
    below = not _NAMED.isdisjoint(own[:-1]) or not _RULED.isdisjoint(own[:1])
    return len(own) > 1 and below and not str(own[-1]).startswith("$")


def _value(kind: str, own: tuple[str | int, ...]) -> bool:
    """Is a value one that people chose, and not a word of the format?"""
    if own and own[0] == "files":
        return own[-1] not in ("format", "mode")
    return not (own and own[0] in _WORDS.get(kind, ()))
