"""Where values were written, and the keys and items in them, out of libyaml's nodes."""

from typing import Any

import msgspec

from gitcfg.model import Origin


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


Pair = tuple[Any, Any]
"""The nodes of a key and of its value."""


def pairs(node: Any) -> dict[str, Pair]:
    """What stands in a mapping, by key; nothing in a value that is none."""
    return {key.value: (key, value) for key, value in node.value} if node.id == "mapping" else {}


def place(file: str, node: Any) -> Origin:
    """Where a node begins."""
    mark = node.start_mark
    return Origin(file, mark.line + 1, mark.column + 1)


def source(node: Any, value: Any) -> str | None:
    """What stands there, of a plain scalar that is not text (`017`, `TRUE`); nothing of what is missing."""
    text = node.value
    return text if type(value) is not str and type(text) is str else None


def marked(node: Any, value: Any) -> Mark:
    """The marks of a value and of everything in it."""
    start = node.start_mark
    mark = Mark(start.line + 1, start.column + 1, source(node, value))
    if isinstance(value, dict):
        for key, inner in node.value:
            mark.keys[key.value] = (key.start_mark.line + 1, key.start_mark.column + 1)
            mark.values[key.value] = marked(inner, value[key.value])
    elif isinstance(value, list):
        mark.items.extend(map(marked, node.value, value))
    return mark
