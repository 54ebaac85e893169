"""Whether the text that a parser reads for a parameter is the value that was meant."""

from typing import Any

from gitcfg.compile import lists


def means(read: str, value: Any, separator: str | None) -> bool:
    """Is this text that value? Lists are split again, booleans are words in any case."""
    if not isinstance(value, list):
        return _scalar(read, value)
    items = lists.split(read, separator or "comma")
    return len(items) == len(value) and all(map(_scalar, items, value))


def _scalar(read: str, value: Any) -> bool:
    if isinstance(value, bool):
        return read.lower() == str(value).lower()
    return read == (value if isinstance(value, str) else repr(value))
