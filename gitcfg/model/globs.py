"""Globs over names: `*` is any text, dots too, `?` one character."""

import re
from functools import lru_cache


@lru_cache(maxsize=4096)
def glob(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression for `fullmatch`; runs of `*` are one, so it stays linear."""
    pieces = re.split(r"(\*+|\?)", pattern)
    return re.compile("".join(".*" if p[:1] == "*" else "." if p == "?" else re.escape(p) for p in pieces))


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
    inside = not wanted or any(glob(pattern).fullmatch(name) for pattern in wanted)
    return bool(patterns) and inside and not any(glob(pattern).fullmatch(name) for pattern in unwanted)
