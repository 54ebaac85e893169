"""Where a character of a scalar's value stands in its YAML: of an expression, the word that is wrong."""

import re

from gitcfg.git.tree import EntryKind, Tree
from gitcfg.load.blocks import block_spots
from gitcfg.load.flows import flow_spots
from gitcfg.model import Origin, Ref

_OTHER_BREAKS = re.compile("[\x85\u2028\u2029]|\r(?!\n)")
"""They end a line for libyaml and for nobody else."""


def inside_of(tree: Tree, scalar: Ref, line: int, column: int) -> Origin:
    """`inside` of a text that was read from a tree; the scalar's own place where that is not there."""
    entry = tree.entry(scalar.origin.file)
    if entry is None or entry.kind is not EntryKind.FILE:
        return scalar.origin
    text = tree.read(entry).decode(errors="replace").removeprefix("\ufeff")
    return inside(text, scalar, line, column)


def inside(document: str, scalar: Ref, line: int, column: int) -> Origin:
    """The place of what stands in a line and column of a scalar's value, counted from 1 as its origin is.

    The scalar's own place where that cannot be known: the document is another, or has unusual line ends.
    """
    origin, start = scalar.origin, _offset(document, scalar.origin.line, scalar.origin.column)
    if _OTHER_BREAKS.search(document) is not None or start >= len(document):
        return origin
    spots = block_spots if document[start] in "|>" else flow_spots
    found = list(spots(document, start, scalar.name))
    if len(found) <= len(scalar.name):
        return origin
    at = found[_offset(scalar.name, line, column)]
    return Origin(origin.file, document.count("\n", 0, at) + 1, at - document.rfind("\n", 0, at))


def _offset(text: str, line: int, column: int) -> int:
    """How many characters stand before a place, which is at the end of its line if it is beyond it."""
    lines = text.split("\n")
    if line > len(lines):
        return len(text)
    return sum(len(one) + 1 for one in lines[: line - 1]) + min(column - 1, len(lines[line - 1]))
