"""A fast reader for documents without unusual parts (nearly all), and a careful one for the others."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from gitcfg.load import yaml
from gitcfg.load.yaml import NOT_TEXT, Scalar, first_tab, resolve
from gitcfg.model import Finding, Origin
from gitcfg.model.names import shown

MAX_LEVELS = 64
_MOST = 1000  # levels
_LEFT_OUT = re.compile(r"[&*][0-9A-Za-z_-]|!(?:[\s,]|$)")
_INDENTED = re.compile(r"[ ?:-]{200}")
_SHORT = 24  # numbers and words that are cached, since the same ones recur
_remembered = lru_cache(maxsize=1 << 14)(resolve)

MappingNode: Any = yaml.MappingNode
ScalarNode: Any = yaml.ScalarNode


class _Unusual(Exception):
    """The careful reader must read the document: it is wrong, or unusual."""


def quick(text: str) -> tuple[Any, Any] | None:
    """Return a document's value and its root node, or None if the careful reader must read it.

    This takes two thirds of the time of the careful reader, which reads events and reports what is wrong.
    """
    if "\t" in text or _may_be_left_out(text) or _may_be_deep(text):
        return None
    try:
        node = yaml.composed(text)
        return None if node is None else (_value(node, 1), node)
    except (_Unusual, ValueError, yaml.YAMLError):
        return None


def _may_be_left_out(text: str) -> bool:
    """Return whether a text may have what nodes do not show: an anchor, an alias, or a lone `!`."""
    return ("&" in text or "*" in text or "!" in text) and _LEFT_OUT.search(text) is not None


def _may_be_deep(text: str) -> bool:
    """Return whether it may nest so deep that composing exhausts the stack: 2,000 levels take 1 MiB of it.

    A level needs a bracket, or more indentation than the level above (a list: at least as much).
    """
    brackets = text.count("[") + text.count("{")
    return len(text) > _MOST and (brackets > _MOST or _INDENTED.search(text) is not None)


def _value(node: Any, level: int) -> Any:
    if type(node) is ScalarNode:
        return _scalar(node)
    if level > MAX_LEVELS or node.tag is not True:
        raise _Unusual
    return _mapping(node, level) if type(node) is MappingNode else _sequence(node, level)


def _scalar(node: Any) -> Scalar:
    text: str = node.value
    if node.tag is True:
        first = text[:1]
        if first in NOT_TEXT:
            return _remembered(text) if len(text) < _SHORT else resolve(text)
        if not first:
            raise _Unusual
    elif node.tag is not False:
        raise _Unusual
    return text


def _mapping(node: Any, level: int) -> dict[str, Any]:
    """Return a mapping's value. It is written so that quoted values need no call."""
    result: dict[str, Any] = {}
    for key, inner in node.value:
        name = key.value
        if type(key) is not ScalarNode or (key.tag is not False and (key.tag is not True or name == "<<")):
            raise _Unusual
        if type(inner) is ScalarNode:
            result[name] = inner.value if inner.tag is False else _scalar(inner)
        else:
            result[name] = _value(inner, level + 1)
    if len(result) != len(node.value):
        raise _Unusual
    return result


def _sequence(node: Any, level: int) -> list[Any]:
    result: list[Any] = []
    for inner in node.value:
        if type(inner) is ScalarNode:
            result.append(inner.value if inner.tag is False else _scalar(inner))
        else:
            result.append(_value(inner, level + 1))
    return result


# The careful reader: it reads event by event, and reports what is wrong (GC101, GC106).


class Refused(Exception):
    """The document cannot be read any further."""

    def __init__(self, message: str, line: int, column: int, hint: str = "") -> None:
        super().__init__(message)
        self.finding = (message, line, column, hint)


class Reader:
    """Builds values and nodes from events. Recursion is limited by MAX_LEVELS."""

    def __init__(self, file: str, text: str, findings: list[Finding]) -> None:
        self.file = file
        self.findings = findings
        self.text = text
        self.spans: list[tuple[int, int]] | None = [] if "\t" in text else None
        self.events: Iterator[Any] = yaml.events(text)
        self.place = (1, 1)

    def read(self) -> tuple[Any, Any]:
        """Return the value and its node. Raise Refused if that is not possible."""
        try:
            next(self.events)
            first = next(self.events)
            if type(first) is yaml.StreamEndEvent:
                raise Refused("The file has no document.", 1, 1, "Write {} for an empty document.")
            value, node = self.value(next(self.events), 1)
            next(self.events)
            end = next(self.events)
            if type(end) is not yaml.StreamEndEvent:
                place = (end.start_mark.line + 1, end.start_mark.column + 1)
                raise Refused("The file has a second document.", *place, "Write one document per file.")
        except yaml.YAMLError as error:
            reason, line, column = yaml.complaint(error)
            hint = "Indent with spaces: YAML allows no tabs there." if "\t" in self.line(line) else ""
            raise Refused(f"The file is not YAML: {reason}.", line, column, hint) from None
        tab = first_tab(self.text, self.spans) if self.spans is not None else None
        if tab is not None:
            raise Refused("A tab is between values.", *tab, "Use blanks.")
        return value, node

    def line(self, number: int) -> str:
        lines = self.text.split("\n", number)
        return lines[number - 1] if number <= len(lines) else ""

    def value(self, event: Any, level: int, key: str = "") -> tuple[Any, Any]:
        kind = type(event)
        start = event.start_mark
        line, column = start.line + 1, start.column + 1
        if kind is yaml.AliasEvent or event.anchor is not None:
            hint = "Use a feature that others include instead of repeating YAML."
            raise Refused("Anchors and aliases are not allowed.", line, column, hint)
        if event.tag is not None:
            raise Refused(f"The tag {event.tag} is not allowed.", line, column, "Write the plain value.")
        if kind is yaml.ScalarEvent:
            return self.scalar(event, line, column, key)
        if level > MAX_LEVELS:
            raise Refused(f"The file nests deeper than {MAX_LEVELS} levels.", line, column)
        if kind is yaml.MappingStartEvent:
            return self.mapping(start, level)
        return self.sequence(start, level, key)

    def scalar(self, event: Any, line: int, column: int, key: str) -> tuple[Scalar, Any]:
        text: str = event.value
        node = yaml.ScalarNode("", text, event.start_mark, event.end_mark)
        if self.spans is not None:
            self.spans.append((event.start_mark.index, event.end_mark.index))
        if not event.implicit[0]:
            return text, node
        if text == "":
            message = f"The value of {shown(key)} is missing." if key else "A value is missing."
            place = self.place if self.place[0] == line else (line, column)
            origins = (Origin(self.file, *place),)
            self.findings.append(Finding("GC106", (key,), message, origins, hint='Write null or "".'))
            return None, node
        try:
            return resolve(text), node
        except ValueError as error:
            raise Refused(f"It holds {error}.", line, column, "Quote it if it is text.") from None

    def mapping(self, start: Any, level: int) -> tuple[dict[str, Any], Any]:
        result: dict[str, Any] = {}
        places: dict[str, tuple[int, int]] = {}
        pairs: list[tuple[Any, Any]] = []
        for event in self.events:
            if type(event) is yaml.MappingEndEvent:
                break
            key, place = self.key(event)
            self.place = place
            value, node = self.value(next(self.events), level + 1, key)
            if key in result:
                origins = (Origin(self.file, *place), Origin(self.file, *places[key]))
                message = f"The key {key!r} occurs twice in one mapping."
                self.findings.append(Finding("GC101", (self.file,), message, origins))
                continue
            result[key], places[key] = value, place
            pairs.append((yaml.ScalarNode("", key, event.start_mark), node))
        return result, yaml.MappingNode("", pairs, start)

    def key(self, event: Any) -> tuple[str, tuple[int, int]]:
        start: Any = event.start_mark
        place = (start.line + 1, start.column + 1)
        if type(event) is not yaml.ScalarEvent or event.anchor is not None or event.tag is not None:
            raise Refused("A key is not plain text.", *place, "Write a key as plain or quoted text.")
        if event.value == "<<" and event.implicit[0]:
            hint = "Use a feature that others include instead of merging YAML."
            raise Refused("Merge keys are not allowed.", *place, hint)
        if self.spans is not None:
            end: Any = event.end_mark
            self.spans.append((start.index, end.index))
        return event.value, place

    def sequence(self, start: Any, level: int, key: str) -> tuple[list[Any], Any]:
        result: list[Any] = []
        nodes: list[Any] = []
        for event in self.events:
            if type(event) is yaml.SequenceEndEvent:
                break
            value, node = self.value(event, level + 1, key)
            result.append(value)
            nodes.append(node)
        return result, yaml.SequenceNode("", nodes, start)
