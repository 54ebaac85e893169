"""Where a value stands in a YAML text, and what it means: keys, values and items with their ends."""

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

import msgspec

from gitcfg.load.yaml import resolve
from gitcfg.model import GitcfgError


class Raw(msgspec.Struct, frozen=True):
    """A plain scalar that is not text, as it is written: `017` and `17` differ where text is wanted."""

    text: str


Meaning = Any
"""What a text says: text, Raw, a list, or a mapping, whose keys are in order."""


def is_nothing(meaning: Meaning) -> bool:
    """Return whether a meaning is null, or nothing at all."""
    return meaning is None or (isinstance(meaning, Raw) and meaning.text in ("", "null", "~", "Null", "NULL"))


def is_same(one: Meaning, other: Meaning) -> bool:
    """Return whether two meanings are the same, with keys in the same order."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return type(one) is type(other) and bool(one == other)


class Shape(Enum):
    """How a value is written."""

    SCALAR = "scalar"
    BLOCK_SCALAR = "block scalar"
    MAPPING = "mapping"
    LIST = "list"


class Spot(msgspec.Struct):
    """A value: where it begins and ends, and what it means. `flow`: in brackets or braces."""

    start: int
    end: int
    shape: Shape
    flow: bool = False
    scalar: str | Raw = ""
    entries: list["Entry"] = []

    @property
    def meaning(self) -> Meaning:
        """What it says."""
        if self.shape is Shape.MAPPING:
            return {entry.key: entry.value.meaning for entry in self.entries}
        if self.shape is Shape.LIST:
            return [entry.value.meaning for entry in self.entries]
        return self.scalar

    def place(self, step: str | int) -> int | None:
        """Return which entry a step of a path leads to."""
        if self.shape is Shape.MAPPING:
            return next((i for i, entry in enumerate(self.entries) if entry.key == step), None)
        known = self.shape is Shape.LIST and isinstance(step, int) and 0 <= step < len(self.entries)
        return step if known and isinstance(step, int) else None


class Entry(msgspec.Struct):
    """A key with its value, or an item. It starts at its key, at its dash, or in brackets at itself."""

    start: int
    value: Spot
    key: str | None = None
    key_end: int = 0

    @property
    def end(self) -> int:
        """Where its value ends."""
        return self.value.end


# Where everything stands, from the events of ruamel.yaml's parser. Its marks are exact, and it is Python
# throughout: 6 ms a small file, which is no matter in an edit. The loader reads by libyaml.

_TO_DASH = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*-")
_KEEPS = re.compile(r"[|>][0-9]?\+")


def parse_spots(text: str) -> Spot | None:
    """Return the spot of a text's one value; None where there is none.

    The text is one that our loader reads, without a byte order mark. Raise GitcfgError if ruamel.yaml does
    not read it.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.events import StreamEndEvent

    events = YAML(typ="safe", pure=True).parse(text)
    try:
        next(events)
        if isinstance(next(events), StreamEndEvent):
            return None
        return _spot(text, events, next(events))
    except YAMLError as error:
        raise GitcfgError(f"The file cannot be edited: {' '.join(str(error).split())}") from None


def _spot(text: str, events: Iterator[Any], event: Any) -> Spot:
    from ruamel.yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent

    if isinstance(event, ScalarEvent):
        return _scalar(text, event)
    mapping = isinstance(event, MappingStartEvent)
    found = Spot(
        event.start_mark.index, 0, Shape.MAPPING if mapping else Shape.LIST, bool(event.flow_style), "", []
    )
    done = found.start
    while not isinstance(inner := next(events), MappingEndEvent | SequenceEndEvent):
        entry = _pair(text, events, inner) if mapping else _item(text, events, inner, found, done)
        found.entries.append(entry)
        done = entry.end
    found.end = inner.end_mark.index if found.flow else done
    return found


def _pair(text: str, events: Iterator[Any], key: Any) -> Entry:
    return Entry(key.start_mark.index, _spot(text, events, next(events)), key.value, key.end_mark.index)


def _item(text: str, events: Iterator[Any], event: Any, found: Spot, done: int) -> Entry:
    value = _spot(text, events, event)
    if found.flow:
        return Entry(value.start, value)
    dash = _TO_DASH.match(text, done)
    return Entry(dash.end() - 1 if dash else value.start, value)


def _scalar(text: str, event: Any) -> Spot:
    start, end = event.start_mark.index, event.end_mark.index
    if event.style in ("|", ">"):
        return Spot(start, _without_blank_lines(text, start, end), Shape.BLOCK_SCALAR, scalar=event.value)
    value = resolve(event.value) if event.implicit[0] else event.value
    said = event.value if isinstance(value, str) and event.value else Raw(event.value)
    return Spot(start, end, Shape.SCALAR, scalar=said if event.implicit[0] else event.value)


def _without_blank_lines(text: str, start: int, end: int) -> int:
    """Return the end of a block without the empty lines behind it, unless they are part of it."""
    if _KEEPS.match(text, start) or text[end - 1] != "\n":
        return end
    held = text[start:end].rstrip()
    after = start + len(held)
    return after + (2 if text.startswith("\r\n", after) else 1) if after < end else end
