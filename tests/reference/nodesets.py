"""Sets of names: `exec[001-003,7].example.com,login`."""

import re


def expand(text: str) -> list[str]:
    """The names, in the order in which they are written."""
    return [name for part in re.split(r",(?![^\[]*\])", text) for name in _part(part.strip())]


def _part(part: str) -> list[str]:
    found = re.match(r"([^\[]*)\[([^\]]*)\](.*)", part)
    if not found:
        return [part]
    before, ranges, rest = found.groups()
    numbers = [number for one in ranges.split(",") for number in _numbers(one)]
    return [before + number + after for number in numbers for after in _part(rest)]


def _numbers(text: str) -> list[str]:
    first, _, last = text.partition("-")
    width = len(first) if first.startswith("0") else 0
    return [f"{number:0{width}}" for number in range(int(first), int(last or first) + 1)]
