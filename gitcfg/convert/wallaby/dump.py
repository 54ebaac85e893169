"""A dump's YAML as values that know where they stand; Ruby's tags are ignored."""

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from gitcfg.convert.wallaby.tree import Items, Table, Text, Value, dump_error, value_error
from gitcfg.load import yaml
from gitcfg.model.names import shown

MAX_BYTES = 64 << 20
MAX_LEVELS = 32
_LINE = 100
MAX_REPEATED = 100_000  # values and lines of text that aliases repeat, but those of short text


def parse_yaml(data: bytes) -> Value:
    """The one value of a dump. GitcfgError: it is no YAML, or more than an import takes."""
    if len(data) > MAX_BYTES:
        raise dump_error(f"it has {len(data)} bytes, more than {MAX_BYTES}")
    try:
        return _Builder(yaml.events(_decode(data))).document()
    except yaml.YAMLError as error:
        reason, line, column = yaml.complaint(error)
        raise dump_error(reason, line, column) from None


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise dump_error("it is not UTF-8 text", line, column) from None


class _Builder:
    """Values from events; recursion is bounded by MAX_LEVELS, what aliases repeat by MAX_REPEATED."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.events = events
        self.anchors: dict[str, tuple[Value, int]] = {}
        self.repeated = 0

    def document(self) -> Value:
        next(self.events)
        if type(next(self.events)) is yaml.StreamEndEvent:
            raise dump_error("it is empty")
        value, _ = self.value(next(self.events), 1)
        next(self.events)
        end = next(self.events)
        if type(end) is not yaml.StreamEndEvent:
            raise dump_error("a second document follows", end.start_mark.line + 1, end.start_mark.column + 1)
        return value

    def value(self, event: Any, level: int) -> tuple[Value, int]:
        """The value that an event begins, and how large it is with aliases written out."""
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if type(event) is yaml.AliasEvent:
            return self.alias(event.anchor, line, column)
        if level > MAX_LEVELS:
            raise dump_error(f"it nests deeper than {MAX_LEVELS} levels", line, column)
        built, size = self.build(event, level, line, column)
        if event.anchor is not None:
            self.anchors[event.anchor] = built, size
        return built, size

    def alias(self, anchor: Any, line: int, column: int) -> tuple[Value, int]:
        """What an anchor stands for; Ruby writes one where an object appears a second time."""
        if anchor not in self.anchors:
            raise dump_error(f"the alias {shown(anchor)} stands for nothing", line, column)
        value, size = self.anchors[anchor]
        self.repeated += size if size > 1 else 0
        if self.repeated > MAX_REPEATED:
            raise dump_error("its aliases repeat more than a dump would", line, column)
        return value, size

    def build(self, event: Any, level: int, line: int, column: int) -> tuple[Value, int]:
        if type(event) is yaml.ScalarEvent:
            text = _decode_scalar(event, line, column)
            return text, 1 + len(text.text) // _LINE
        if type(event) is yaml.MappingStartEvent:
            return self.table(level, line, column)
        items, size = [], 1
        for inner in self.events:
            if type(inner) is yaml.SequenceEndEvent:
                break
            item, more = self.value(inner, level + 1)
            items.append(item)
            size += more
        return Items(tuple(items), line, column), size

    def table(self, level: int, line: int, column: int) -> tuple[Value, int]:
        entries: dict[str, Value] = {}
        size = 1
        for event in self.events:
            if type(event) is yaml.MappingEndEvent:
                break
            key, _ = self.value(event, level + 1)
            if not isinstance(key, Text):
                raise value_error(key, "a key is not text")
            if key.text in entries:
                raise value_error(key, f"the key {shown(key.text)!r} stands twice in one mapping")
            entries[key.text], more = self.value(next(self.events), level + 1)
            size += more
        return Table(entries, line, column), size


def _decode_scalar(event: Any, line: int, column: int) -> Text:
    """A scalar; Ruby writes text that it takes for binary in base64."""
    if event.tag is None or event.tag.rpartition(":")[2].lstrip("!") != "binary":
        return Text(event.value, event.implicit[0], line, column)
    try:
        data = base64.b64decode(event.value)
    except binascii.Error:
        raise dump_error("binary text is not in base64", line, column) from None
    try:
        return Text(data.decode("utf-8"), False, line, column)
    except UnicodeDecodeError:
        return Text(data.decode("latin-1"), False, line, column)
