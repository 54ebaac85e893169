"""Lines of a YAML text: where they begin and end, and replacing parts of a text."""

import re
from collections.abc import Iterable

import msgspec

_REST = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")
_COMMENT = re.compile(r"[ ]*#")


class Splice(msgspec.Struct, frozen=True):
    """From `start` to `end` stands `text` instead."""

    start: int
    end: int
    text: str = ""


def apply_splices(text: str, splices: Iterable[Splice]) -> str:
    """The text with parts replaced; of two at one place the later stands behind the earlier."""
    in_order = sorted(splices, key=lambda splice: splice.start)
    for splice in reversed(in_order):
        text = text[: splice.start] + splice.text + text[splice.end :]
    return text


def newline(text: str) -> str:
    """How lines end in this text."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def line_start(text: str, at: int) -> int:
    """Where the line begins in which a place is."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Where the line ends in which a place is, before its line break."""
    found = text.find("\n", at)
    if found < 0:
        return len(text)
    return found - 1 if found and text[found - 1] == "\r" else found


def next_line(text: str, at: int) -> int:
    """Where the line after that of a place begins."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def lead(text: str, at: int) -> str:
    """What stands on a line before a place."""
    return text[line_start(text, at) : at]


def begins_line(text: str, at: int) -> bool:
    """Is there nothing but blanks before a place on its line?"""
    return not lead(text, at).strip(" ")


def rest_end(text: str, at: int) -> int:
    """Where a line ends with its comment, if nothing else stands behind a place; else the place itself."""
    if at and line_start(text, at) == at:
        return at
    rest = _REST.match(text, at)
    return rest.end() if rest else at


def comments_above(text: str, at: int) -> int:
    """Where the comment begins whose lines stand directly above, as far in as the place; else the place."""
    if not begins_line(text, at):
        return at
    column, start = at - line_start(text, at), line_start(text, at)
    while start:
        above = line_start(text, start - 1)
        found = _COMMENT.match(text, above)
        if not found or found.end() - 1 - above != column:
            break
        start = above
    return start + column
