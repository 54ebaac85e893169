"""Text made safe to show: on one line, without control characters, cut to a length, escaped for Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence

ABBREVIATED = 10
"""The number of digits that are shown of a commit's id."""


def safe(text: str) -> str:
    """Return a text on one line, without characters that a terminal would interpret."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 node`, `2,000 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def few(texts: Sequence[str], most: int = 5) -> str:
    """Return a list like `a, b, c and 45 more`, or the whole list if it has at most `most` items."""
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


# Durations as they are written: `500ms`, `60s`, `10m`, `2h`, `7d`.

_READ = re.compile(r"([0-9]{1,12})(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str) -> float | None:
    """Return the seconds of a duration, or None if the text is not one."""
    found = _READ.fullmatch(text)
    return None if found is None else int(found[1]) * _SECONDS[found[2]]


def duration(number: float) -> str:
    """Return seconds as a duration in the largest unit that gives a whole number: `10m`."""
    for unit, size in sorted(_SECONDS.items(), key=lambda each: -each[1]):
        if number >= size and (number * 1000) % (size * 1000) == 0:
            return f"{round(number / size)}{unit}"
    return f"{round(number * 1000)}ms" if number else "0s"


def install_hint(name: str) -> str:
    """Return the hint that says how to install an extra.

    It does not name the project: that is not published, and anyone may own the name on an index.
    """
    return f"Run `pip install '.[{name}]'` in a clone of gitcfg."


def format_age(age: float) -> str:
    """Return an age of this number of seconds, in its largest unit."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if age >= size:
            return f"{int(age // size)} {unit} ago"
    return "now"


# Text for Markdown: as prose, as code, as a block.

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!@:])")


def escape_markdown(text: str) -> str:
    """Return a text without markup or mentions of people."""
    return _SPECIAL.sub(r"\\\1", safe(text))


def markdown_code(text: str) -> str:
    """Return a text as inline code; its fence is longer than any run of backticks in the text."""
    text = safe(text)
    ticks = "`" * (_longest(text) + 1)
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def markdown_block(lines: Iterable[str], language: str = "") -> Iterator[str]:
    """Yield a block of code; its fence is longer than any run of backticks in the lines."""
    lines = list(lines)
    fence = "`" * max(3, max(map(_longest, lines), default=0) + 1)
    yield fence + language
    yield from lines
    yield fence


def _longest(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)
