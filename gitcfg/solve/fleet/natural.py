"""The order of names in which numbers count as numbers: node2 comes before node10."""

import re

_DIGITS = re.compile("([0-9]+)")


def natural(name: str) -> tuple[list[str | int], str]:
    """What names are sorted by."""
    parts = _DIGITS.split(name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], name
