"""A repository's files, read no further than names need: the keys near the top of YAML."""

import os
from collections.abc import Iterator
from typing import NamedTuple

MARKER = "gitcfg.yaml"
_LARGEST = 1 << 20
_MOST_BYTES = 8 << 20
_TO_OPEN = 1 << 12  # opening a file takes as long as reading so many bytes


class Files:
    """The files below a repository's root. Links are not followed, and reading ends at a budget of bytes."""

    def __init__(self, folder: str) -> None:
        self.root = _root(folder)
        self.left = _MOST_BYTES

    def below(self, folder: str) -> Iterator[tuple[str, str]]:
        """Every file below a folder of the root: its path from that folder, and its place."""
        if self.root is None:
            return
        top = os.path.join(self.root, folder)
        pending = [] if os.path.islink(top) else [(top, "")]
        while pending:
            place, path = pending.pop()
            for entry in _entries(place):
                inner = f"{path}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, f"{inner}/"))
                elif entry.is_file(follow_symlinks=False):
                    yield inner, entry.path

    def named(self, folder: str) -> Iterator[tuple[str, str]]:
        """Every definition below a folder, by its name: that of its file."""
        for path, place in self.below(folder):
            if path.endswith(".yaml"):
                yield path.rpartition("/")[2][: -len(".yaml")], place

    def read(self, place: str) -> bytes:
        """A file's content; nothing if it is too large, or enough has been read."""
        try:
            size = os.stat(place).st_size
            if size > min(_LARGEST, self.left):
                return b""
            self.left -= size + _TO_OPEN
            with open(place, "rb") as file:
                return file.read(_LARGEST)
        except OSError:
            return b""


def _entries(place: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(place) as found:
            return list(found)
    except OSError:
        return []


def _root(folder: str) -> str | None:
    """The folder with the marker: this one, or one above it as far as git's work tree goes."""
    place = os.path.realpath(folder)
    while not os.path.isfile(os.path.join(place, MARKER)):
        above = os.path.dirname(place)
        if above == place or os.path.exists(os.path.join(place, ".git")):
            return None
        place = above
    return place


class Entry(NamedTuple):
    """A key of the document, or of the mapping at its key `above`, and the value if that is a scalar."""

    above: str
    key: str
    value: str | None


class _Level:
    """An open mapping or list; `key` is the mapping's key that waits for its value."""

    __slots__ = ("key", "mapping")

    def __init__(self, mapping: bool) -> None:
        self.mapping = mapping
        self.key: str | None = None


def entries(data: bytes) -> Iterator[Entry]:
    """Yield the entries of a document's mapping, and of the mappings in it, in their order.

    What stands before a mistake still counts.
    """
    from gitcfg.load.yaml import (
        AliasEvent,
        MappingEndEvent,
        MappingStartEvent,
        ScalarEvent,
        SequenceEndEvent,
        YAMLError,
        events,
    )

    levels: list[_Level] = []
    try:
        for event in events(data):
            kind = type(event)
            if kind in (MappingEndEvent, SequenceEndEvent):
                levels.pop()
                _end_value(levels)
            elif kind is ScalarEvent and levels and levels[-1].mapping and levels[-1].key is None:
                levels[-1].key = event.value
            elif kind is ScalarEvent or kind is AliasEvent:
                yield from _entry(levels, getattr(event, "value", None))
                _end_value(levels)
            elif hasattr(event, "flow_style"):  # a mapping or a list begins
                yield from _entry(levels, None)
                levels.append(_Level(kind is MappingStartEvent))
    except (YAMLError, UnicodeDecodeError):
        return


def _end_value(levels: list[_Level]) -> None:
    if levels:
        levels[-1].key = None


def _entry(levels: list[_Level], value: str | None) -> Iterator[Entry]:
    """The entry whose value has come, if it is near the top."""
    if 0 < len(levels) <= 2 and (key := levels[-1].key) is not None:
        above = levels[0].key if len(levels) == 2 else ""
        if above is not None:
            yield Entry(above, key, value)
