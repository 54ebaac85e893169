"""Text escaped for Markdown: as prose, as code, as a block."""

import re
from collections.abc import Iterable, Iterator

from gitcfg.model.text import safe

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!@:])")


def plain(text: str) -> str:
    """A text in which nothing is markup, nor a mention of somebody."""
    return _SPECIAL.sub(r"\\\1", safe(text))


def code(text: str) -> str:
    """A text as inline code: its fence is longer than any run of backticks in it."""
    text = safe(text)
    ticks = "`" * (_longest(text) + 1)
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(lines: Iterable[str], language: str = "") -> Iterator[str]:
    """A block of code; its fence is longer than any that stands inside."""
    lines = list(lines)
    fence = "`" * max(3, max(map(_longest, lines), default=0) + 1)
    yield fence + language
    yield from lines
    yield fence


def _longest(text: str) -> int:
    """The longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)
