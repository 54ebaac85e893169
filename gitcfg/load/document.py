"""One YAML document as plain values beside the places they were written at (GC101, GC106)."""

from collections.abc import Iterator
from typing import Any

import msgspec

from gitcfg.load import yaml
from gitcfg.load.scalars import Scalar, resolve
from gitcfg.model import Finding, Origin
from gitcfg.model.names import shown

MAX_BYTES = 1 << 20
MAX_LEVELS = 64


class Mark(msgspec.Struct):
    """Where a value was written, and where the keys or items in it were.

    `text` is the source of a plain scalar that is not text (`017`, `TRUE`).
    """

    line: int
    column: int
    text: str | None = None
    keys: dict[str, tuple[int, int]] = {}
    values: dict[str, "Mark"] = {}
    items: list["Mark"] = []


class Document(msgspec.Struct):
    """A parsed file: its value, the value's places, and what was wrong with it."""

    file: str
    value: Any
    mark: Mark
    findings: list[Finding]

    def get(self, *path: str) -> Any:
        """The value that the path leads to through mappings, an empty mapping where there is none."""
        value = self.value
        for step in path:
            value = value.get(step, {})
        return value

    def mark_at(self, *path: str | int) -> Mark:
        """The mark of the value that the path leads to, or of the nearest to it that is there."""
        mark = self.mark
        for step in path:
            below = _below(mark, step)
            if below is None:
                break
            mark = below
        return mark

    def at(self, *path: str | int) -> Origin:
        """Where the value is that the path leads to, or the nearest to it that is there."""
        mark = self.mark_at(*path)
        return Origin(self.file, mark.line, mark.column)

    def key(self, *path: str | int) -> Origin:
        """Where the key at the end of the path is written; an item of a list is its own key."""
        mark = self.mark_at(*path[:-1])
        place = mark.keys.get(path[-1]) if isinstance(path[-1], str) else None
        return Origin(self.file, *place) if place else self.at(*path)


def _below(mark: Mark, step: str | int) -> Mark | None:
    if isinstance(step, str):
        return mark.values.get(step)
    return mark.items[step] if step < len(mark.items) else None


class _Refused(Exception):
    """The document cannot be read any further."""

    def __init__(self, message: str, line: int, column: int, hint: str = "") -> None:
        super().__init__(message)
        self.finding = (message, line, column, hint)


def parse(file: str, data: bytes) -> Document:
    """Read one document; whatever is wrong with it is in its `findings`, never thrown."""
    if len(data) > MAX_BYTES:
        return too_large(file, len(data))
    document = Document(file, None, Mark(1, 1), [])
    try:
        text = _decode(data)
        reader = _Reader(document, text)
        document.value, document.mark = reader.read()
    except _Refused as refused:
        message, line, column, hint = refused.finding
        document.findings.append(_finding(file, message, line, column, hint))
    return document


def too_large(file: str, size: int) -> Document:
    """The document of a file that is not even read."""
    hint = "Split it: at most 1 MiB a file."
    return Document(file, None, Mark(1, 1), [_finding(file, f"The file has {size} bytes.", 1, 1, hint)])


def _finding(file: str, message: str, line: int, column: int, hint: str) -> Finding:
    return Finding("GC101", (file,), message, (Origin(file, line, column),), hint=hint)


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise _Refused("The file is not UTF-8 text.", line, column) from None
    if "\0" in text:
        place = text.index("\0")
        line = text.count("\n", 0, place) + 1
        raise _Refused("The file holds a NUL character.", line, place - text.rfind("\n", 0, place))
    return text.removeprefix("\ufeff")


class _Reader:
    """Builds values from events. Iterative input, recursion bounded by MAX_LEVELS."""

    def __init__(self, document: Document, text: str) -> None:
        self.file = document.file
        self.findings = document.findings
        self.text = text
        self.spans: list[tuple[int, int]] | None = [] if "\t" in text else None
        self.events: Iterator[Any] = yaml.events(text)
        self.place = (1, 1)

    def read(self) -> tuple[Any, Mark]:
        try:
            next(self.events)
            first = next(self.events)
            if type(first) is yaml.StreamEndEvent:
                raise _Refused("The file holds no document.", 1, 1, "Write {} if nothing is to be said.")
            value, mark = self.value(next(self.events), 1)
            next(self.events)
            self.end(next(self.events))
        except yaml.YAMLError as error:
            reason, line, column = yaml.complaint(error)
            hint = "Indent with blanks: YAML allows no tabs there." if "\t" in self.line(line) else ""
            raise _Refused(f"The file is not YAML: {reason}.", line, column, hint) from None
        self.refuse_tabs()
        return value, mark

    def line(self, number: int) -> str:
        lines = self.text.split("\n", number)
        return lines[number - 1] if number <= len(lines) else ""

    def end(self, event: Any) -> None:
        if type(event) is not yaml.StreamEndEvent:
            start = event.start_mark
            raise _Refused(
                "The file holds a second document.",
                start.line + 1,
                start.column + 1,
                "Write one document a file.",
            )

    def value(self, event: Any, level: int, key: str = "") -> tuple[Any, Mark]:
        kind = type(event)
        start = event.start_mark
        line, column = start.line + 1, start.column + 1
        if kind is yaml.AliasEvent or event.anchor is not None:
            raise _Refused(
                "Anchors and aliases are not allowed.",
                line,
                column,
                "Let features include each other instead of repeating YAML.",
            )
        if event.tag is not None:
            raise _Refused(f"The tag {event.tag} is not allowed.", line, column, "Write the plain value.")
        if kind is yaml.ScalarEvent:
            return self.scalar(event, line, column, key)
        if level > MAX_LEVELS:
            raise _Refused(f"The file nests deeper than {MAX_LEVELS} levels.", line, column)
        if kind is yaml.MappingStartEvent:
            return self.mapping(line, column, level)
        return self.sequence(line, column, level, key)

    def scalar(self, event: Any, line: int, column: int, key: str) -> tuple[Scalar, Mark]:
        text: str = event.value
        if self.spans is not None:
            self.spans.append((event.start_mark.index, event.end_mark.index))
        if not event.implicit[0]:
            return text, Mark(line, column)
        if text == "":
            self.findings.append(
                Finding(
                    "GC106",
                    (key,),
                    f"The value of {shown(key)} is missing." if key else "A value is missing.",
                    (Origin(self.file, *(self.place if self.place[0] == line else (line, column))),),
                    hint='Write null or "".',
                )
            )
            return None, Mark(line, column, "")
        try:
            value = resolve(text)
        except ValueError as error:
            raise _Refused(f"It holds {error}.", line, column, "Quote it if it is text.") from None
        return value, Mark(line, column) if value is text else Mark(line, column, text)

    def mapping(self, line: int, column: int, level: int) -> tuple[dict[str, Any], Mark]:
        result: dict[str, Any] = {}
        keys: dict[str, tuple[int, int]] = {}
        marks: dict[str, Mark] = {}
        for event in self.events:
            if type(event) is yaml.MappingEndEvent:
                break
            key, place = self.key(event)
            self.place = place
            value, mark = self.value(next(self.events), level + 1, key)
            if key in result:
                self.duplicate(key, place, keys[key])
                continue
            result[key], keys[key], marks[key] = value, place, mark
        return result, Mark(line, column, keys=keys, values=marks)

    def key(self, event: Any) -> tuple[str, tuple[int, int]]:
        start: Any = event.start_mark
        place = (start.line + 1, start.column + 1)
        if type(event) is not yaml.ScalarEvent or event.anchor is not None or event.tag is not None:
            raise _Refused("A key is not plain text.", *place, "Keys are names: plain or quoted text.")
        if event.value == "<<" and event.implicit[0]:
            raise _Refused(
                "Merge keys are not allowed.",
                *place,
                "Let features include each other instead of merging YAML.",
            )
        if self.spans is not None:
            end: Any = event.end_mark
            self.spans.append((start.index, end.index))
        return event.value, place

    def duplicate(self, key: str, place: tuple[int, int], first: tuple[int, int]) -> None:
        origins = (Origin(self.file, *place), Origin(self.file, *first))
        self.findings.append(
            Finding("GC101", (self.file,), f"The key {key!r} stands twice in one mapping.", origins)
        )

    def sequence(self, line: int, column: int, level: int, key: str) -> tuple[list[Any], Mark]:
        result: list[Any] = []
        marks: list[Mark] = []
        for event in self.events:
            if type(event) is yaml.SequenceEndEvent:
                break
            value, mark = self.value(event, level + 1, key)
            result.append(value)
            marks.append(mark)
        return result, Mark(line, column, items=marks)

    def refuse_tabs(self) -> None:
        """A tab may stand in a value's text or a comment, not between things."""
        if self.spans is None:
            return
        done = 0
        for start, end in [*sorted(self.spans), (len(self.text), len(self.text))]:
            between = self.text[done : max(done, start)]
            for number, line in enumerate(between.split("\n")):
                tab = line.partition("#")[0].find("\t")
                if tab >= 0:
                    self.tab(done, between, number, tab)
            done = max(done, end)

    def tab(self, offset: int, between: str, number: int, tab: int) -> None:
        lines = between.split("\n")
        place = offset + sum(len(line) + 1 for line in lines[:number]) + tab
        row = self.text.count("\n", 0, place) + 1
        column = place - self.text.rfind("\n", 0, place)
        raise _Refused("A tab stands between values.", row, column, "Use blanks.")
