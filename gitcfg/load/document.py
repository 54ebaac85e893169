"""A YAML document with the place of each key, value and item."""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from gitcfg.git.tree import EntryKind, Tree
from gitcfg.load.reader import Reader, Refused, quick
from gitcfg.model import Finding, Origin, Ref, Severity


class Mark(msgspec.Struct):
    """The place of a value, and of the keys or items in it.

    `text` is the source of a plain scalar that is not text (`017`, `TRUE`).
    """

    line: int
    column: int
    text: str | None = None
    keys: dict[str, tuple[int, int]] = {}
    values: dict[str, "Mark"] = {}
    items: list["Mark"] = []


Pair = tuple[Any, Any]
"""The nodes of a key and of its value."""


def pairs(node: Any) -> dict[str, Pair]:
    """Return the nodes in a mapping, by key; an empty result for any other node."""
    return {key.value: (key, value) for key, value in node.value} if node.id == "mapping" else {}


def place(file: str, node: Any) -> Origin:
    """Return the place where a node begins."""
    mark = node.start_mark
    return Origin(file, mark.line + 1, mark.column + 1)


def source(node: Any, value: Any) -> str | None:
    """Return the source of a plain scalar that is not text (`017`, `TRUE`); None if there is no scalar."""
    text = node.value
    return text if type(value) is not str and type(text) is str else None


def marked(node: Any, value: Any) -> Mark:
    """Return the places of a value and of everything in it."""
    start = node.start_mark
    mark = Mark(start.line + 1, start.column + 1, source(node, value))
    if isinstance(value, dict):
        for key, inner in node.value:
            mark.keys[key.value] = (key.start_mark.line + 1, key.start_mark.column + 1)
            mark.values[key.value] = marked(inner, value[key.value])
    elif isinstance(value, list):
        mark.items.extend(map(marked, node.value, value))
    return mark


# Unresolved merges: the conflict markers of git in a file, and the finding about them.

_MARKER = re.compile(r"^(<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)
_BEGIN, _MIDDLE, _END = "<<<<<<<", "=======", ">>>>>>>"
_SHOWN = 5
_HINT = "Keep the lines that you want and delete the lines with markers; `git status` lists all such files."


class Conflict(msgspec.Struct, frozen=True):
    """The lines from a conflict's first marker to its last. `whole`: it has all markers that git writes."""

    first: int
    last: int
    whole: bool


def find_conflicts(text: str) -> list[Conflict]:
    """Return the conflicts in a text, in order. The rest of a conflict with deleted markers counts as one.

    `=======` alone is not a conflict: it is used for underlines.
    """
    if _BEGIN not in text and _END not in text:  # fast for nearly all texts
        return []
    return find_markers(text)


def find_markers(text: str) -> list[Conflict]:
    """Return the conflicts in a text in which `=======` at the beginning of a line is an error too."""
    groups: list[list[tuple[int, str]]] = []
    is_open = False
    for found in _MARKER.finditer(text):
        if found[1] == _BEGIN or not is_open:
            groups.append([])
        groups[-1].append((text.count("\n", 0, found.start()) + 1, found[1]))
        is_open = found[1] != _END
    return [_join_markers(group) for group in groups]


def _join_markers(markers: Sequence[tuple[int, str]]) -> Conflict:
    kinds = [kind for _, kind in markers]
    whole = kinds[0] == _BEGIN and kinds[-1] == _END and _MIDDLE in kinds
    return Conflict(markers[0][0], markers[-1][0], whole)


def conflict_finding(
    file: str, conflicts: Sequence[Conflict], severity: Severity = Severity.ERROR
) -> Finding:
    """Return GC101: one finding a file, at each conflict."""
    spans = ", ".join(f"{conflict.first} to {conflict.last}" for conflict in conflicts[:_SHOWN])
    more = f" and {len(conflicts) - _SHOWN:,} more" if len(conflicts) > _SHOWN else ""
    message = f"An unresolved merge, lines {spans}{more}."
    origins = tuple(Origin(file, conflict.first) for conflict in conflicts)
    return Finding("GC101", (file,), message, origins, severity=severity, hint=_HINT)


# One YAML document: plain values, and their places.

MAX_BYTES = 1 << 20


class Document(msgspec.Struct):
    """A parsed file: its value, the YAML node that it was read from, and its findings.

    Nodes are libyaml's, which know their places, so that places are built only when requested. `top` has the
    nodes of the values of the outermost mapping, by key.
    """

    file: str
    value: Any
    node: Any
    findings: list[Finding]
    top: dict[str, Any] = {}
    _keys: dict[int, dict[str, Pair]] = {}

    @property
    def mark(self) -> Mark:
        """The places of all values."""
        return Mark(1, 1) if self.node is None else marked(self.node, self.value)

    def get(self, *path: str) -> Any:
        """Return the value at a path through mappings, or an empty mapping if there is none."""
        value = self.value
        for step in path:
            value = value.get(step, {})
        return value

    def at(self, *path: str | int) -> Origin:
        """Return the place of the value at a path, or of the nearest one above it that exists."""
        _, node = self._nearest(path)
        return Origin(self.file) if node is None else place(self.file, node)

    def key(self, *path: str | int) -> Origin:
        """Return the place of the key at the end of a path; for an item of a list, that of the item."""
        _, node = self._nearest(path[:-1])
        key, _ = self._pair(node, path[-1])
        return place(self.file, key) if key is not None else self.at(*path)

    def missing(self, *path: str | int) -> bool:
        """Return whether the value is missing, which is reported as GC106."""
        value, node = self._nearest(path)
        return value is None and node is not None and node.value == ""

    def _nearest(self, path: tuple[str | int, ...]) -> tuple[Any, Any]:
        value, node = self.value, self.node
        for step in path:
            _, below = self._pair(node, step)
            if below is None:
                break
            value, node = value[step], below
        return value, node

    def _pair(self, node: Any, step: str | int) -> Pair:
        """Return the nodes of a key and its value; for an item of a list, None and the item."""
        kind = getattr(node, "id", "")
        if kind == "mapping" and isinstance(step, str):
            if id(node) not in self._keys:
                self._keys[id(node)] = pairs(node)
            return self._keys[id(node)].get(step, (None, None))
        if kind == "sequence" and isinstance(step, int) and step < len(node.value):
            return None, node.value[step]
        return None, None


def read_again(tree: Tree, file: str) -> Document:
    """Return the document of a file.

    It is parsed again for places that definitions do not keep, for findings.
    """
    entry = tree.entry(file)
    return Document(file, None, None, []) if entry is None else parse(file, tree.read(entry))


def parse(file: str, data: bytes) -> Document:
    """Read one document. What is wrong with it is in its `findings`, not raised."""
    if len(data) > MAX_BYTES:
        return too_large(file, len(data))
    document = Document(file, None, None, [])
    try:
        text = _decode(data)
        conflicts = find_conflicts(text)
        if conflicts:
            document.findings.append(conflict_finding(file, conflicts))
            return document
        document.value, document.node = quick(text) or _read_carefully(file, text, document.findings)
        if isinstance(document.value, dict):
            document.top = {key.value: node for key, node in document.node.value}
    except Refused as refused:
        message, line, column, hint = refused.finding
        document.findings.append(_finding(file, message, line, column, hint))
    return document


def _read_carefully(file: str, text: str, findings: list[Finding]) -> tuple[Any, Any]:
    """Return the value and its node.

    If the document is refused and has conflict markers, report these instead; else raise Refused.
    """
    try:
        return Reader(file, text, findings).read()
    except Refused:
        conflicts = find_markers(text)
        if not conflicts:
            raise
        findings[:] = [conflict_finding(file, conflicts)]
        return None, None


def too_large(file: str, size: int) -> Document:
    """Return the document of a file that is too large to be read."""
    hint = "Split it: a file has at most 1 MiB."
    return Document(file, None, None, [_finding(file, f"The file has {size} bytes.", 1, 1, hint)])


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
        raise Refused("The file contains a NUL character.", line, place - text.rfind("\n", 0, place))
    return text.removeprefix("\ufeff")


# The places of the characters of literal and folded blocks.

_LINE = re.compile(r"([^\r\n]*)(\r?\n|$)")


def _find_in_block(text: str, start: int, value: str) -> Iterator[int]:
    """Yield the place of each character of a value, and of its end; fewer if the text does not match."""
    # Only as many lines as the value may have, not those of the whole file: each has at least one character.
    lines = [(found.start(), found[1]) for found in islice(_LINE.finditer(text, start), len(value) + 2)][1:]
    # The first line may begin with spaces of its own, after those that indent the block.
    first = next((line for _, line in lines if line.strip(" ")), "")
    indent = max(0, _count_blanks(first) - _count_blanks(value.lstrip("\n")))
    joint = " " if text[start] == ">" else ""
    end, done = start, 0
    for begin, line in lines:
        content = line[indent:]
        if not content:
            continue
        gap = _gap(value, done, content, joint if end > start else "")
        yield from [end] * gap
        done += gap
        if done == len(value) or not value.startswith(content, done) or (end > start and not gap):
            break
        yield from range(begin + indent, begin + len(line))
        done, end = done + len(content), begin + len(line)
    if not value[done:].strip("\n"):
        yield from [end] * (len(value) - done + 1)


def _count_blanks(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _gap(value: str, done: int, content: str, joint: str) -> int:
    """Return the number of characters of the value, from `done` on, that line ends have become."""
    if joint and value.startswith(joint + content, done):
        return 1
    return len(value[done:]) - len(value[done:].lstrip("\n"))


# The places of the characters of plain and quoted scalars.

_FOLDED = re.compile(r"[ \t]*(?:\r?\n[ \t]*)+")
_ESCAPED_BREAK = re.compile(r"\\\r?\n[ \t]*((?:\r?\n[ \t]*)*)")
_CODE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
"""An escaped character that is not in this table means itself."""


def _find_in_flow(text: str, start: int, value: str) -> Iterator[int]:
    """Yield the place of each character of a value, and of its end; fewer if the text does not match."""
    quote = text[start] if text[start] in "\"'" else ""
    at, done = start + len(quote), 0
    while done < len(value):
        unit, width = _read_unit(text, at, quote)
        if width == 0 or not value.startswith(unit, done):
            return
        yield from [at] * len(unit)
        at, done = at + width, done + len(unit)
    yield at


def _read_unit(text: str, at: int, quote: str) -> tuple[str, int]:
    """Return the value of the next few characters, and their number."""
    if folded := _FOLDED.match(text, at):
        breaks = folded[0].count("\n")
        return " " if breaks == 1 else "\n" * (breaks - 1), len(folded[0])
    if quote == "'" and text.startswith("''", at):
        return "'", 2
    if quote == '"' and text.startswith("\\", at):
        return _escaped(text, at)
    return text[at : at + 1], len(text[at : at + 1])


def _escaped(text: str, at: int) -> tuple[str, int]:
    if line_break := _ESCAPED_BREAK.match(text, at):
        return "\n" * line_break[1].count("\n"), len(line_break[0])
    if code := _CODE.match(text, at):
        number = int(code[1] or code[2] or code[3], 16)
        return (chr(number), len(code[0])) if number < 0x110000 else ("", 0)
    sign = text[at + 1 : at + 2]
    return _ESCAPES.get(sign, sign), 1 + len(sign)


# The place of a character of a scalar's value in the file, such as the wrong word of an expression.

_OTHER_BREAKS = re.compile("[\x85\u2028\u2029]|\r(?!\n)")
"""Line ends for libyaml only."""


class ScalarPlaces:
    """Finds characters of scalars' values in the files of a tree; each file is read once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._files: dict[str, tuple[str, list[int]]] = {}

    def find(self, scalar: Ref, line: int, column: int) -> Origin:
        """Return the place of a line and column (from 1) of a scalar's value.

        If that is not known, because the file differs or has unusual line ends, it is the scalar's own place.
        """
        origin, value = scalar.origin, scalar.name
        text, starts = self._read(origin.file)
        start = _offset(text, starts, origin.line, origin.column)
        if start >= len(text):
            return origin
        spots = _find_in_block if text[start] in "|>" else _find_in_flow
        found = list(spots(text, start, value))
        if len(found) <= len(value):
            return origin
        at = found[_offset(value, _find_lines(value), line, column)]
        row = bisect(starts, at)
        return Origin(origin.file, row, at - starts[row - 1] + 1)

    def _read(self, file: str) -> tuple[str, list[int]]:
        """Return the text of a file and where its lines begin; an empty text if places cannot be found."""
        if file not in self._files:
            entry = self._tree.entry(file)
            text = ""
            if entry is not None and entry.kind is EntryKind.FILE:
                text = self._tree.read(entry).decode(errors="replace").removeprefix("\ufeff")
            text = "" if _OTHER_BREAKS.search(text) else text
            self._files[file] = text, _find_lines(text)
        return self._files[file]


def find_in_scalar(tree: Tree, scalar: Ref, line: int, column: int) -> Origin:
    """Return a single place with `ScalarPlaces`."""
    return ScalarPlaces(tree).find(scalar, line, column)


def _find_lines(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _offset(text: str, starts: list[int], line: int, column: int) -> int:
    """Return the offset of a place. A place beyond the end of its line is moved to the end."""
    if line > len(starts):
        return len(text)
    end = starts[line] - 1 if line < len(starts) else len(text)
    return min(starts[line - 1] + column - 1, end)
