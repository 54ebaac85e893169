"""Where the path of a change leads to in a YAML text."""

import re

from gitcfg.edit.changes import Path
from gitcfg.edit.spots import Spot
from gitcfg.model import GitcfgError

_COLON = re.compile(r"\s*:")


def find_spot(text: str, root: Spot | None, path: Path) -> tuple[Spot, int | None]:
    """The spot that a path leads to, and where the colon before it ends."""
    if root is None:
        raise GitcfgError("There is nothing in the file.")
    spot, colon = root, None
    for step in path:
        entry = spot.entries[_known(spot, step)]
        colon = _colon(text, entry.key_end) if entry.key is not None else None
        spot = entry.value
    return spot, colon


def _known(spot: Spot, step: str | int) -> int:
    place = spot.place(step)
    if place is None:
        raise GitcfgError(f"There is no {step}.")
    return place


def _colon(text: str, at: int) -> int | None:
    found = _COLON.match(text, at)
    return found.end() if found else None
