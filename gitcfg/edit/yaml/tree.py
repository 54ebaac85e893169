"""Values in YAML text: their positions, their meaning, and how they are written."""

import json
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

import msgspec

from gitcfg.load import document
from gitcfg.load.yaml import resolve
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown


class Raw(msgspec.Struct, frozen=True):
    """A plain scalar that is not text, as written: `017` and `17` differ where text is expected."""

    text: str


Meaning = Any
"""The content of a text: text, Raw, a list, or a mapping with keys in order."""


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
    """A value: its start and end, and its meaning. `flow`: in brackets or braces."""

    start: int
    end: int
    shape: Shape
    flow: bool = False
    scalar: str | Raw = ""
    entries: list["Entry"] = []

    @property
    def meaning(self) -> Meaning:
        """The meaning of the value."""
        if self.shape is Shape.MAPPING:
            return {entry.key: entry.value.meaning for entry in self.entries}
        if self.shape is Shape.LIST:
            return [entry.value.meaning for entry in self.entries]
        return self.scalar

    def place(self, step: str | int) -> int | None:
        """Return the index of the entry that a step of a path leads to."""
        if self.shape is Shape.MAPPING:
            return next((i for i, entry in enumerate(self.entries) if entry.key == step), None)
        known = self.shape is Shape.LIST and isinstance(step, int) and 0 <= step < len(self.entries)
        return step if known and isinstance(step, int) else None


class Entry(msgspec.Struct):
    """A key with its value, or an item. It starts at its key or dash, in a flow list at the item itself."""

    start: int
    value: Spot
    key: str | None = None
    key_end: int = 0

    @property
    def end(self) -> int:
        """The end of its value."""
        return self.value.end


# Positions, from the events of ruamel.yaml's parser: its marks are exact. It is pure Python: 6 ms for a small
# file, which does not matter in an edit. The loader reads with libyaml.

_TO_DASH = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*-")
_KEEPS = re.compile(r"[|>][0-9]?\+")


def parse_spots(text: str) -> Spot | None:
    """Return the spot of a text's only value; None: there is none.

    The text must be one that our loader reads, without a byte order mark. Raise GitcfgError if ruamel.yaml
    cannot read it.
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
        raise GitcfgError(f"Cannot edit the file: {' '.join(str(error).split())}") from None


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
        value = _spot(text, events, next(events) if mapping else inner)
        if mapping:
            entry = Entry(inner.start_mark.index, value, inner.value, inner.end_mark.index)
        else:
            dash = None if found.flow else _TO_DASH.match(text, done)
            entry = Entry(dash.end() - 1 if dash else value.start, value)
        found.entries.append(entry)
        done = entry.end
    found.end = inner.end_mark.index if found.flow else done
    return found


def _scalar(text: str, event: Any) -> Spot:
    start, end = event.start_mark.index, event.end_mark.index
    if event.style in ("|", ">"):
        return Spot(start, _block_end(text, start, end), Shape.BLOCK_SCALAR, scalar=event.value)
    is_text = not event.implicit[0] or (event.value and isinstance(resolve(event.value), str))
    return Spot(start, end, Shape.SCALAR, scalar=event.value if is_text else Raw(event.value))


def _block_end(text: str, start: int, end: int) -> int:
    """Return the end of a block without the empty lines after it, unless they are part of it."""
    if _KEEPS.match(text, start) or text[end - 1] != "\n":
        return end
    after = start + len(text[start:end].rstrip())
    return after + (2 if text.startswith("\r\n", after) else 1) if after < end else end


# Values as YAML text on one line, valid in block and in flow style.

_PLAIN = re.compile(r"[A-Za-z0-9_/.$(](?:[A-Za-z0-9_ /.@+$()=|&%;<>~^-]*[A-Za-z0-9_/.@+$)%;])?")
_OTHERWISE = re.compile(r"(?i:y|n|yes|no|on|off)|[-+]?[0-9][0-9_:.,eE+-]*|=")
"""What YAML 1.1 readers do not read as text."""
_UNPRINTED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def to_yaml(meaning: Meaning) -> str:
    """Return a value's text on one line."""
    if isinstance(meaning, Raw):
        return meaning.text or "null"
    if isinstance(meaning, dict):
        return "{" + ", ".join(f"{to_yaml(key)}: {to_yaml(value)}" for key, value in meaning.items()) + "}"
    if isinstance(meaning, list):
        return "[" + ", ".join(map(to_yaml, meaning)) + "]"
    is_plain = may_be_plain(meaning) and not _OTHERWISE.fullmatch(meaning)
    return meaning if is_plain and isinstance(resolve(meaning), str) else quote(meaning)


def may_be_plain(text: str) -> bool:
    """Return whether a text is valid without quotes, as text or another value."""
    return _PLAIN.fullmatch(text) is not None


def quote(text: str) -> str:
    """Return text in double quotes."""
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def quote_like(first: str, text: str) -> str:
    """Return text in the same quotes as `first`; empty if `first` is not a quote."""
    if first == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return quote(text) if first == '"' else ""


def from_json(value: Any) -> Meaning:
    """Return the meaning of a plain JSON value."""
    if isinstance(value, dict):
        return {key: from_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [from_json(inner) for inner in value]
    return value if isinstance(value, str) else Raw(json.dumps(value))


def to_plain(meaning: Meaning) -> Any:
    """Return the value that our loader reads."""
    if isinstance(meaning, Raw):
        return resolve(meaning.text) if meaning.text else None
    if isinstance(meaning, dict):
        return {key: to_plain(inner) for key, inner in meaning.items()}
    return [to_plain(inner) for inner in meaning] if isinstance(meaning, list) else meaning


def parse_value(source: str, what: str) -> Meaning:
    """Parse YAML text that is given as a value. Raise GitcfgError if it is not one."""
    doc = document.parse(what, source.encode("utf-8", "surrogateescape"))
    if doc.findings:
        finding = doc.findings[0]
        raise GitcfgError(
            f"{shown(source)} is not a value for {shown(what)}: {finding.message}",
            "Write values in YAML, as in the file; quote text that contains `: ` or ` #`.",
        )
    found = parse_spots(source.removeprefix("\ufeff"))
    return Raw("null") if found is None else found.meaning
