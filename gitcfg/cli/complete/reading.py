"""What names need of a YAML file: the keys near its top. What stands before a mistake in it still counts."""

from collections.abc import Iterator
from typing import NamedTuple

from gitcfg.load.yaml import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    YAMLError,
    events,
)

_ENDS = (MappingEndEvent, SequenceEndEvent)


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
    """The entries of a document's mapping, and of the mappings in it, in their order."""
    levels: list[_Level] = []
    try:
        for event in events(data):
            kind = type(event)
            if kind in _ENDS:
                levels.pop()
                _answered(levels)
            elif kind is ScalarEvent and levels and levels[-1].mapping and levels[-1].key is None:
                levels[-1].key = event.value
            elif kind is ScalarEvent or kind is AliasEvent:
                yield from _entry(levels, getattr(event, "value", None))
                _answered(levels)
            elif hasattr(event, "flow_style"):  # a mapping or a list begins
                yield from _entry(levels, None)
                levels.append(_Level(kind is MappingStartEvent))
    except (YAMLError, UnicodeDecodeError):
        return


def _answered(levels: list[_Level]) -> None:
    if levels:
        levels[-1].key = None


def _entry(levels: list[_Level], value: str | None) -> Iterator[Entry]:
    """The entry whose value has come, if it is near the top."""
    if 0 < len(levels) <= 2 and (key := levels[-1].key) is not None:
        above = levels[0].key if len(levels) == 2 else ""
        if above is not None:
            yield Entry(above, key, value)
