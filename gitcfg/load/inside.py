"""Where a character of a scalar's value stands in its YAML: of an expression, the word that is wrong."""

import re
from bisect import bisect

from gitcfg.git.tree import EntryKind, Tree
from gitcfg.load.blocks import block_spots
from gitcfg.load.flows import flow_spots
from gitcfg.model import Origin, Ref

_OTHER_BREAKS = re.compile("[\x85\u2028\u2029]|\r(?!\n)")
"""They end a line for libyaml and for nobody else."""


class Inside:
    """Places in the files of a tree, each of which is read once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._written: dict[str, _Written | None] = {}

    def of(self, scalar: Ref, line: int, column: int) -> Origin:
        """`inside` of a text that stands in the tree; the scalar's own place where it is not there."""
        file = scalar.origin.file
        if file not in self._written:
            self._written[file] = self._read(file)
        written = self._written[file]
        return scalar.origin if written is None else written.inside(scalar, line, column)

    def _read(self, file: str) -> "_Written | None":
        entry = self._tree.entry(file)
        if entry is None or entry.kind is not EntryKind.FILE:
            return None
        return _Written(self._tree.read(entry).decode(errors="replace").removeprefix("\ufeff"))


def inside_of(tree: Tree, scalar: Ref, line: int, column: int) -> Origin:
    """A single place of `Inside`."""
    return Inside(tree).of(scalar, line, column)


def inside(document: str, scalar: Ref, line: int, column: int) -> Origin:
    """The place of what stands in a line and column of a scalar's value, counted from 1 as its origin is.

    The scalar's own place where that cannot be known: the document is another, or has unusual line ends.
    """
    return _Written(document).inside(scalar, line, column)


class _Written:
    """A document, and where its lines begin."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = _starts(text)
        self._usual = _OTHER_BREAKS.search(text) is None

    def inside(self, scalar: Ref, line: int, column: int) -> Origin:
        origin, text, value = scalar.origin, self._text, scalar.name
        start = _offset(text, self._starts, origin.line, origin.column)
        if not self._usual or start >= len(text):
            return origin
        spots = block_spots if text[start] in "|>" else flow_spots
        found = list(spots(text, start, value))
        if len(found) <= len(value):
            return origin
        at = found[_offset(value, _starts(value), line, column)]
        row = bisect(self._starts, at)
        return Origin(origin.file, row, at - self._starts[row - 1] + 1)


def _starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _offset(text: str, starts: list[int], line: int, column: int) -> int:
    """How many characters stand before a place, which is at the end of its line if it is beyond it."""
    if line > len(starts):
        return len(text)
    end = starts[line] - 1 if line < len(starts) else len(text)
    return min(starts[line - 1] + column - 1, end)
