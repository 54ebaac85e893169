"""Names as rules and changes write them: each may stand for several, and two may have some in common."""

import re
from functools import lru_cache
from typing import NamedTuple

from gitcfg.model.names import glob, is_glob


class Thing(NamedTuple):
    """What a rule can name: its kind, by the key of `forbid` and `allow` that names it, and its name."""

    kind: str
    name: str


_MADE = re.compile(r"\$\{[^}]*\}")


def to_glob(name: str) -> str:
    """A name that instances make (`SLOT_${as}`) as the glob of all that it can become."""
    return _MADE.sub("*", name) if "${" in name else name


@lru_cache(maxsize=1 << 14)
def overlaps(one: str, other: str) -> bool:
    """Is there a name that both stand for? Of a glob and a name: does it match?"""
    if not is_glob(one):
        return one == other or (is_glob(other) and glob(other).matches(one))
    return _have_common(one, other) if is_glob(other) else glob(one).matches(other)


def _have_common(one: str, other: str) -> bool:
    """Have two globs a name in common? `reached` are the places in the other at which the first can be."""
    reached = _skipped({0}, other)
    for character in one:
        if character == "*":
            reached = set(range(min(reached), len(other) + 1)) if reached else reached
        else:
            reached = _skipped(_stepped(reached, character, other), other)
    return len(other) in reached


def _stepped(reached: set[int], character: str, other: str) -> set[int]:
    """The places after one more character; a star there takes it, and stays."""
    there = {place: other[place] for place in reached if place < len(other)}
    stayed = {place for place, found in there.items() if found == "*"}
    fitting = {place for place, found in there.items() if "?" in (character, found) or character == found}
    return stayed | {place + 1 for place in fitting}


def _skipped(reached: set[int], other: str) -> set[int]:
    """The places with those that follow stars, which may stand for nothing."""
    found = set(reached)
    for place in sorted(reached):
        while place < len(other) and other[place] == "*":
            place += 1
            found.add(place)
    return found
