"""Finds where everything in a YAML text stands, from the events of the parser that our loader uses."""

import re
from collections.abc import Iterator
from typing import Any

from gitcfg.edit.spots import Entry, Raw, Shape, Spot
from gitcfg.load import yaml
from gitcfg.load.yaml import resolve

_TO_DASH = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*-")
_KEEPS = re.compile(r"[|>][0-9]?\+")


def parse_spots(text: str) -> Spot | None:
    """The spot of a text's one value; None where there is none. The text is one that our loader reads."""
    events = yaml.events(text)
    next(events)
    if type(next(events)) is yaml.StreamEndEvent:
        return None
    return _spot(text, events, next(events))


def _spot(text: str, events: Iterator[Any], event: Any) -> Spot:
    if type(event) is yaml.ScalarEvent:
        return _scalar(text, event)
    mapping = type(event) is yaml.MappingStartEvent
    found = Spot(
        event.start_mark.index, 0, Shape.MAPPING if mapping else Shape.LIST, bool(event.flow_style), "", []
    )
    done = found.start
    for inner in events:
        if type(inner) in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
            found.end = inner.end_mark.index if found.flow else done
            break
        found.entries.append(
            _pair(text, events, inner) if mapping else _item(text, events, inner, found, done)
        )
        done = found.entries[-1].end
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
    """A block's end without the empty lines behind it, unless they are part of it."""
    if _KEEPS.match(text, start) or text[end - 1] != "\n":
        return end
    held = text[start:end].rstrip()
    after = start + len(held)
    return after + (2 if text.startswith("\r\n", after) else 1) if after < end else end
