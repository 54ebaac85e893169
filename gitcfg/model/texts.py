"""How texts are told wherever they may end up: on one line, with nothing in them that is more than a sign."""

ABBREVIATED = 10
"""So many digits of a commit's id are told."""


def safe(text: str) -> str:
    """A text on one line, without what a terminal would take as commands."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def counted(number: int, noun: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
