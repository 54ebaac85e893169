"""Texts that are safe to show, and numbers with their nouns: what also the quickest commands need."""

ABBREVIATED = 10
"""So many digits of a commit's id are shown."""


def counted(number: int, noun: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def safe(text: str) -> str:
    """A text on one line, without what a terminal would take as commands."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
