"""What a file is to say where two sides have changed it: place by place, and not line by line."""

from collections.abc import Iterable, Mapping
from typing import Any

from gitcfg.edit.entities import ABSENT, WHOLE, Key, is_alike, read_entities
from gitcfg.git.revert import Side

Sides = tuple[bytes | None, bytes | None, bytes | None]
"""What a file held when the commit was made, holds now, and would hold if that were undone; None: no file."""
Place = tuple[str, Key]
"""An entity, and what of it; its WHOLE in answers: all that it says."""
Content = Mapping[Place, Any]

EXISTS: Key = (ABSENT,)
"""Of an entity: that there is one, whatever it says."""


def read_places(path: str, data: bytes | None) -> dict[Place, Any]:
    """All that a file says, and of which entities it says anything."""
    found = read_entities(path, data)
    keyed = {(entity, key): value for entity, said in found.items() for key, value in said.items()}
    return keyed | {(entity, EXISTS): True for entity in found}


def merge_places(path: str, sides: Sides, chosen: Mapping[Place, Side]) -> dict[Place, Any] | None:
    """What a file is to say; `chosen` says which side counts where both made something else of a place.

    An entity that one side has removed counts as a whole. None: something is not settled.
    """
    was, now, undone = (read_places(path, side) for side in sides)
    found: dict[Place, Any] = {}
    for place in dict.fromkeys((*was, *now, *undone)):
        whole = chosen.get((place[0], WHOLE))
        if whole is not None and (place[0], EXISTS) in now and (place[0], EXISTS) in undone:
            return None
        value = _value(place, (was, now, undone), whole or chosen.get(place), whole is not None)
        if value is _UNSETTLED:
            return None
        if value is not ABSENT:
            found[place] = value
    return found


_UNSETTLED = object()


def _value(place: Place, sides: tuple[Content, Content, Content], side: Side | None, whole: bool) -> Any:
    before, here, back = (each.get(place, ABSENT) for each in sides)
    if not whole and (is_alike(here, back) or is_alike(back, before)):
        return here
    if not whole and is_alike(here, before):
        return back
    return _UNSETTLED if side is None else here if side is Side.OURS else back


def has_places(path: str, data: bytes | None, want: Content) -> bool:
    """Does a text say just that?"""
    found = read_places(path, data)
    return found.keys() == want.keys() and all(is_alike(found[place], want[place]) for place in want)


def is_merged(path: str, sides: Sides, text: bytes) -> bool:
    """Does a text say all that one side has made of a file's entities, and all that the other one has?"""
    want = merge_places(path, sides, {})
    return want is not None and has_places(path, text, want)


def differing_places(one: Content, two: Content) -> Iterable[Place]:
    """Where two do not say the same."""
    places = dict.fromkeys((*one, *two))
    return [place for place in places if not is_alike(one.get(place, ABSENT), two.get(place, ABSENT))]
