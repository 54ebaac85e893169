"""Globs over names: `*` is any text, dots too, `?` one character."""

import re
from functools import lru_cache


class Glob:
    """A pattern, matched piece by piece between its stars: a regular expression with many would backtrack."""

    def __init__(self, pattern: str) -> None:
        pieces = re.split(r"\*+", pattern)
        first, *rest = (re.compile(_piece(piece)) for piece in pieces)
        self._first, self._middle, self._last = first, rest[:-1], rest[-1] if rest else None
        self._length = len(pieces[-1])

    def matches(self, name: str) -> bool:
        """Is the whole name one of the pattern's?"""
        if self._last is None:
            return self._first.fullmatch(name) is not None
        found = self._first.match(name)
        for piece in self._middle:
            found = piece.search(name, found.end()) if found else None
        start = len(name) - self._length
        return found is not None and start >= found.end() and self._last.match(name, start) is not None


def _piece(text: str) -> str:
    return "".join("." if character == "?" else re.escape(character) for character in text)


@lru_cache(maxsize=4096)
def glob(pattern: str) -> Glob:
    """The pattern, ready to match."""
    return Glob(pattern)


def is_glob(text: str) -> bool:
    """Does the text stand for more than itself?"""
    return "*" in text or "?" in text


def literals(pattern: str) -> int:
    """How many characters of a pattern stand for themselves."""
    return sum(character not in "*?" for character in pattern)


@lru_cache(maxsize=1 << 16)
def selects(patterns: tuple[str, ...], name: str) -> bool:
    """Is the name one of these: matched by a pattern, and by none that begins with `!`?

    Exclusions alone start from everything.
    """
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    inside = not wanted or any(glob(pattern).matches(name) for pattern in wanted)
    return bool(patterns) and inside and not any(glob(pattern).matches(name) for pattern in unwanted)
