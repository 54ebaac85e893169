"""Lists written as one text: split and joined by a parameter's separator."""

import re
from collections.abc import Sequence
from typing import Any

# A quote that does not close goes on to the end. Possessive repeats: so it is read once only.
_QUOTED = r'"(?:[^"\\]|\\.)*+"?+|\'(?:[^\'\\]|\\.)*+\'?+'
_MARKS = {
    "comma": re.compile(rf"{_QUOTED}|[()\[\]{{}},]", re.DOTALL),
    "blank-or-comma": re.compile(rf"{_QUOTED}|[()\[\]{{}},]|\s++", re.DOTALL),
}


def split(text: str, separator: str | None) -> list[str]:
    """The items of a text, trimmed, without empty ones; never split inside quotes or brackets.

    Without a separator the text is one item.
    """
    pieces = _pieces(text, separator) if separator else [text]
    return [item for item in map(str.strip, pieces) if item]


def _pieces(text: str, separator: str) -> list[str]:
    pieces: list[str] = []
    start = depth = 0
    for match in _MARKS[separator].finditer(text):
        mark = match[0][0]
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth = max(0, depth - 1)
        elif depth == 0 and mark not in "\"'":
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


def join(items: Sequence[Any], separator: str | None) -> str:
    """Items as one text."""
    return (" " if separator == "blank-or-comma" else ", ").join(map(str, items))


def unfit(items: Sequence[str], separator: str | None) -> str | None:
    """The first item that, joined with the others, would not be read back as itself."""
    found = split(join(items, separator), separator or "comma")
    for index, item in enumerate(items):
        if found[index : index + 1] != [item]:
            return item
    return None
