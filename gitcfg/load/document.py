"""One YAML document as plain values beside the places they were written at."""

from typing import Any

import msgspec

from gitcfg.load.builder import Reader, Refused
from gitcfg.load.marks import Mark
from gitcfg.model import Finding, Origin

MAX_BYTES = 1 << 20


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
            below = mark.below(step)
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


def parse(file: str, data: bytes) -> Document:
    """Read one document; whatever is wrong with it is in its `findings`, never thrown."""
    if len(data) > MAX_BYTES:
        return too_large(file, len(data))
    document = Document(file, None, Mark(1, 1), [])
    try:
        text = _decode(data)
        reader = Reader(file, text, document.findings)
        document.value, document.mark = reader.read()
    except Refused as refused:
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
        raise Refused("The file is not UTF-8 text.", line, column) from None
    if "\0" in text:
        place = text.index("\0")
        line = text.count("\n", 0, place) + 1
        raise Refused("The file holds a NUL character.", line, place - text.rfind("\n", 0, place))
    return text.removeprefix("\ufeff")
