"""Lists written as one string: split and joined by a parameter's separator."""

import re
from collections.abc import Sequence
from typing import Any

_PIECE = re.compile(
    r'"(?:\\.|[^"\\])*"?|\'(?:\\.|[^\'\\])*\'?|[()\[\]{}]|[,\s]+|[^"\'()\[\]{},\s]+', re.DOTALL
)


def split(text: str, separator: str | None) -> list[str]:
    """The items of a text, trimmed, without empty ones; never split inside quotes or brackets."""
    if separator is None:
        return [text]
    items, item, depth = [], "", 0
    for piece in _PIECE.findall(text):
        depth += (piece in "([{") - (piece in ")]}")
        apart = "," in piece if separator == "comma" else True
        if depth <= 0 and piece.strip(", \t\r\n") == "" and apart:
            items.append(item)
            item = ""
        else:
            item += piece
    items.append(item)
    return [item.strip() for item in items if item.strip()]


def join(items: Sequence[Any], separator: str | None) -> str:
    """Items as one text."""
    return (" " if separator == "blank-or-comma" else ", ").join(map(str, items))
