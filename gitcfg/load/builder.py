"""Reads documents carefully, event by event, and says what is wrong with them (GC101, GC106)."""

from collections.abc import Iterator
from typing import Any

from gitcfg.load import yaml
from gitcfg.load.quick import MAX_LEVELS
from gitcfg.load.scalars import Scalar, resolve
from gitcfg.load.tabs import first_tab
from gitcfg.model import Finding, Origin
from gitcfg.model.names import shown


class Refused(Exception):
    """The document cannot be read any further."""

    def __init__(self, message: str, line: int, column: int, hint: str = "") -> None:
        super().__init__(message)
        self.finding = (message, line, column, hint)


class Reader:
    """Builds values and nodes from events. Iterative input, recursion bounded by MAX_LEVELS."""

    def __init__(self, file: str, text: str, findings: list[Finding]) -> None:
        self.file = file
        self.findings = findings
        self.text = text
        self.spans: list[tuple[int, int]] | None = [] if "\t" in text else None
        self.events: Iterator[Any] = yaml.events(text)
        self.place = (1, 1)

    def read(self) -> tuple[Any, Any]:
        """The value and its node. Refused: there is none."""
        try:
            next(self.events)
            first = next(self.events)
            if type(first) is yaml.StreamEndEvent:
                raise Refused("The file holds no document.", 1, 1, "Write {} if nothing is to be said.")
            value, node = self.value(next(self.events), 1)
            next(self.events)
            self.end(next(self.events))
        except yaml.YAMLError as error:
            reason, line, column = yaml.complaint(error)
            hint = "Indent with blanks: YAML allows no tabs there." if "\t" in self.line(line) else ""
            raise Refused(f"The file is not YAML: {reason}.", line, column, hint) from None
        tab = first_tab(self.text, self.spans) if self.spans is not None else None
        if tab is not None:
            raise Refused("A tab stands between values.", *tab, "Use blanks.")
        return value, node

    def line(self, number: int) -> str:
        lines = self.text.split("\n", number)
        return lines[number - 1] if number <= len(lines) else ""

    def end(self, event: Any) -> None:
        if type(event) is not yaml.StreamEndEvent:
            start = event.start_mark
            raise Refused(
                "The file holds a second document.",
                start.line + 1,
                start.column + 1,
                "Write one document a file.",
            )

    def value(self, event: Any, level: int, key: str = "") -> tuple[Any, Any]:
        kind = type(event)
        start = event.start_mark
        line, column = start.line + 1, start.column + 1
        if kind is yaml.AliasEvent or event.anchor is not None:
            raise Refused(
                "Anchors and aliases are not allowed.",
                line,
                column,
                "Let features include each other instead of repeating YAML.",
            )
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
            self.findings.append(
                Finding(
                    "GC106",
                    (key,),
                    f"The value of {shown(key)} is missing." if key else "A value is missing.",
                    (Origin(self.file, *(self.place if self.place[0] == line else (line, column))),),
                    hint='Write null or "".',
                )
            )
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
                self.duplicate(key, place, places[key])
                continue
            result[key], places[key] = value, place
            pairs.append((yaml.ScalarNode("", key, event.start_mark), node))
        return result, yaml.MappingNode("", pairs, start)

    def key(self, event: Any) -> tuple[str, tuple[int, int]]:
        start: Any = event.start_mark
        place = (start.line + 1, start.column + 1)
        if type(event) is not yaml.ScalarEvent or event.anchor is not None or event.tag is not None:
            raise Refused("A key is not plain text.", *place, "Keys are names: plain or quoted text.")
        if event.value == "<<" and event.implicit[0]:
            raise Refused(
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
