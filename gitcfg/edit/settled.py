"""A file that two sides have changed, settled place by place: the text there is, with values of the other."""

from collections.abc import Iterator, Mapping

from gitcfg.edit.agreed import (
    EXISTS,
    Content,
    Place,
    Sides,
    differing_places,
    has_places,
    merge_places,
    read_places,
)
from gitcfg.edit.changes import Change, Delete
from gitcfg.edit.entities import WHOLE, path_in_file
from gitcfg.edit.spots import Meaning, Shape, Spot
from gitcfg.edit.text import edit_text, read_spots
from gitcfg.edit.turned import find_changes
from gitcfg.git.revert import Side
from gitcfg.model import GitcfgError

_MARK = "\ufeff"


def settle_file(path: str, sides: Sides, chosen: Mapping[Place, Side]) -> bytes | None:
    """What a file holds now, with what undoing gives in the places where that counts.

    Comments, order and quotes of all else stay. None: something is not settled, or the editor does not
    find a text that says just that.
    """
    _, ours, theirs = sides
    want = merge_places(path, sides, chosen)
    if want is None or ours is None or theirs is None:
        return None
    places = list(differing_places(read_places(path, ours), want))
    if any(key == WHOLE for _, key in places):
        return None
    try:
        text = _text(ours.decode(), theirs.decode().removeprefix(_MARK), path, places, want)
    except (UnicodeDecodeError, GitcfgError):
        return None
    return text.encode() if has_places(path, text.encode(), want) else None


def _text(text: str, other: str, path: str, places: list[Place], want: Content) -> str:
    back = read_spots(other, path)
    for place in _in_turn(places, want):
        found = read_spots(text.removeprefix(_MARK), path)
        text = edit_text(text, _changes(path, place, found, back, other), path)
    return text


def _in_turn(places: list[Place], want: Content) -> Iterator[Place]:
    """An entity that goes, goes at once; one that comes does so with its first key, if it has any."""
    gone = {entity for entity, key in places if key == EXISTS and (entity, key) not in want}
    keyed = {entity for entity, key in want if key != EXISTS}
    for entity, key in places:
        if key == EXISTS and (entity in gone or entity not in keyed):
            yield entity, WHOLE
        elif key != EXISTS and entity not in gone:
            yield entity, key


def _changes(path: str, place: Place, found: Spot | None, back: Spot | None, other: str) -> Iterator[Change]:
    """What makes a place say what it says in the other text."""
    where = path_in_file(path, *place)
    now, (then, keys) = _meaning(found, where), _spot(back, where)
    if then is not None:
        yield from find_changes(where, now, then, other, keys)
    elif now is not None:
        yield Delete(_gone(where, found, back) if len(place[1]) > 1 else where)


def _gone(where: tuple[str, ...], found: Spot | None, back: Spot | None) -> tuple[str, ...]:
    """With the last entry of a mapping that the other text has not, the mapping goes, too."""
    holder = _meaning(found, where[:-1])
    last = isinstance(holder, dict) and len(holder) == 1
    return where[:-1] if last and _spot(back, where[:-1])[0] is None else where


def _meaning(spot: Spot | None, where: tuple[str, ...]) -> Meaning | None:
    found = _spot(spot, where)[0]
    return None if found is None else found.meaning


def _spot(spot: Spot | None, where: tuple[str, ...]) -> tuple[Spot | None, list[str]]:
    """The value at the end of some steps, and the keys beside it."""
    keys: list[str] = []
    for step in where:
        place = spot.place(step) if spot is not None and spot.shape is Shape.MAPPING else None
        if spot is None or place is None:
            return None, []
        keys, spot = [entry.key or "" for entry in spot.entries], spot.entries[place].value
    return spot, keys
