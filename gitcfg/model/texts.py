"""How texts are told wherever they may end up: on one line, with nothing in them that is more than a sign."""

from collections.abc import Sequence

ABBREVIATED = 10
"""So many digits of a commit's id are told."""


def safe(text: str) -> str:
    """A text on one line, without what a terminal would take as commands."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def counted(number: int, noun: str) -> str:
    """`1 node`, `2,000 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def few(texts: Sequence[str], most: int = 5) -> str:
    """`a, b, c and 45 more`: all of them where so many fit."""
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more
