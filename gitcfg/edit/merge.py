"""Files that two sides have changed, compared and merged by entity and key instead of by line."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from gitcfg.edit.kinds import KINDS, Kind
from gitcfg.edit.yaml.changes import Change, Delete, find_changes
from gitcfg.edit.yaml.text import edit_text, read_spots
from gitcfg.edit.yaml.tree import Meaning, Shape, Spot
from gitcfg.git.revert import Side
from gitcfg.load.document import parse
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

Key = tuple[str, ...]
"""The path of a value in an entity; empty: the whole entity."""
Entity = Mapping[Key, Any]

_KINDS = {kind.folder: kind for kind in KINDS.values()}
_TEXTS = {"templates": "template", "files": "file"}
_MAPPINGS = {key for kind in KINDS.values() for key in kind.maps}
"""Keys of mappings whose entries are compared one by one."""
WHOLE: Key = ()
ABSENT = "\0absent"
"""The value of something that does not exist: no document contains a NUL."""


def read_entities(path: str, data: bytes | None) -> dict[str, Entity]:
    """Return the values of each entity of a file by key. An unreadable file has one value, its content."""
    if data is None:
        return {}
    folder, _, rest = path.partition("/")
    kind = _KINDS.get(folder)
    if kind is None or not rest.endswith(".yaml"):
        return {f"{_TEXTS[folder]}/{rest}" if folder in _TEXTS and rest else f"path/{path}": {WHOLE: data}}
    value = parse(path, data).value
    if kind.sheet:
        return _read_sheet(path, data, value, kind)
    name = rest.rpartition("/")[2].removesuffix(".yaml")
    return {f"{kind.name}/{name}": {WHOLE: data} if value is None and data.strip() else _entries(value)}


def path_in_file(path: str, entity: str, key: Key) -> Key:
    """Return the path of a value in its file: all keys from the top."""
    kind = _KINDS.get(path.partition("/")[0])
    word, _, name = entity.partition("/")
    return (kind.sheet, name, *key) if kind is not None and kind.sheet and word == kind.name else key


def is_alike(one: Any, other: Any) -> bool:
    """Return whether two values mean the same. `1` and `true` do not, although they are equal in Python."""
    return bool(one == other) and _form(one) == _form(other)


def _form(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


def _read_sheet(path: str, data: bytes, value: Any, kind: Kind) -> dict[str, Entity]:
    definitions = value.get(kind.sheet) if isinstance(value, dict) else None
    if not isinstance(definitions, dict):
        return {f"path/{path}": {WHOLE: data}}
    found = {f"{kind.name}/{name}": _entries(definition) for name, definition in definitions.items()}
    rest = {key: inner for key, inner in value.items() if key != kind.sheet}
    return {**found, f"path/{path}": _entries(rest)} if rest else found


def _entries(definition: Any) -> Entity:
    """Return a definition's entries: those of parameters, files and facts by name."""
    if not isinstance(definition, dict):
        return {WHOLE: definition} if definition is not None else {}
    found: dict[Key, Any] = {}
    for key, value in definition.items():
        if key in _MAPPINGS and (value is None or isinstance(value, dict)):
            found.update({(key, name): inner for name, inner in (value or {}).items()})
        else:
            found[(key,)] = value
    return found


# The merged content of a file that two sides have changed: value by value, not line by line.

Sides = tuple[bytes | None, bytes | None, bytes | None]
"""A file's content in the commit, now, and after undoing the commit; None: no file."""
Place = tuple[str, Key]
"""An entity and a key in it. With the key WHOLE, a choice is for the whole entity."""
Content = Mapping[Place, Any]

EXISTS: Key = (ABSENT,)
"""The key under which it is recorded that an entity exists, with any content."""


def read_places(path: str, data: bytes | None) -> dict[Place, Any]:
    """Return all values of a file by place, and which entities exist."""
    found = read_entities(path, data)
    keyed = {(entity, key): value for entity, entries in found.items() for key, value in entries.items()}
    return keyed | {(entity, EXISTS): True for entity in found}


def merge_places(path: str, sides: Sides, chosen: Mapping[Place, Side]) -> dict[Place, Any] | None:
    """Return the merged content; `chosen` has the side that counts where both changed a place.

    An entity that one side has removed counts as a whole. None: a conflict is not settled.
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
    """Return whether a file has exactly this content."""
    found = read_places(path, data)
    return found.keys() == want.keys() and all(is_alike(found[place], want[place]) for place in want)


def is_merged(path: str, sides: Sides, text: bytes) -> bool:
    """Return whether a text has all changes of both sides."""
    want = merge_places(path, sides, {})
    return want is not None and has_places(path, text, want)


def differing_places(one: Content, two: Content) -> list[Place]:
    """Return the places where two contents differ."""
    places = dict.fromkeys((*one, *two))
    return [place for place in places if not is_alike(one.get(place, ABSENT), two.get(place, ABSENT))]


# A file that two sides have changed, merged by place: the current text with values of the other side.

_MARK = "\ufeff"


def settle_file(path: str, sides: Sides, chosen: Mapping[Place, Side]) -> bytes | None:
    """Return the current file with the other side's values in the places where that side counts.

    Comments, order and quotes of all else stay. None: a conflict is not settled, or the editor finds no text
    with exactly this content.
    """
    _, ours, theirs = sides
    want = merge_places(path, sides, chosen)
    if want is None or ours is None or theirs is None:
        return None
    places = differing_places(read_places(path, ours), want)
    if any(key == WHOLE for _, key in places):
        return None
    try:
        text, other = ours.decode(), theirs.decode().removeprefix(_MARK)
        back = read_spots(other, path)
        for place in _ordered(places, want):
            found = read_spots(text.removeprefix(_MARK), path)
            text = edit_text(text, _changes(path, place, found, back, other), path)
    except (UnicodeDecodeError, GitcfgError):
        return None
    return text.encode() if has_places(path, text.encode(), want) else None


def _ordered(places: list[Place], want: Content) -> Iterator[Place]:
    """Yield places in order. An entity is removed whole; a new one is created with its first key, if any."""
    gone = {entity for entity, key in places if key == EXISTS and (entity, key) not in want}
    keyed = {entity for entity, key in want if key != EXISTS}
    for entity, key in places:
        if key == EXISTS and (entity in gone or entity not in keyed):
            yield entity, WHOLE
        elif key != EXISTS and entity not in gone:
            yield entity, key


def _changes(path: str, place: Place, found: Spot | None, back: Spot | None, other: str) -> Iterator[Change]:
    """Return the changes that give a place its value in the other text."""
    where = path_in_file(path, *place)
    now, (then, keys) = _meaning(found, where), _spot(back, where)
    if then is not None:
        yield from find_changes(where, now, then, other, keys)
    elif now is not None:
        # If the other text lacks the mapping, too, the mapping is deleted with its last entry.
        parent = where[:-1]
        mapping = _meaning(found, parent) if len(place[1]) > 1 else None
        is_last = isinstance(mapping, dict) and len(mapping) == 1
        yield Delete(parent if is_last and _spot(back, parent)[0] is None else where)


def _meaning(spot: Spot | None, where: tuple[str, ...]) -> Meaning | None:
    found = _spot(spot, where)[0]
    return None if found is None else found.meaning


def _spot(spot: Spot | None, where: tuple[str, ...]) -> tuple[Spot | None, list[str]]:
    """Return the value at the end of a path, and its sibling keys."""
    keys: list[str] = []
    for step in where:
        place = spot.place(step) if spot is not None and spot.shape is Shape.MAPPING else None
        if spot is None or place is None:
            return None, []
        keys, spot = [entry.key or "" for entry in spot.entries], spot.entries[place].value
    return spot, keys


# Why a commit cannot be undone: what was changed again since, by entity instead of by line.


class Clash(msgspec.Struct, frozen=True):
    """The value of an entity now, and after undoing; None: there is none. `entity` is `group/Workers`.

    `beside`: nothing was changed twice, but both changes are on neighbouring lines and cannot be separated.
    """

    entity: str
    key: Key
    now: str | None
    undone: str | None
    beside: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The entity in words: `group Workers`."""
        return self.entity.replace("/", " ", 1)

    @property
    def what(self) -> str:
        """The key in words: `START`; empty for the whole entity."""
        return key_text(self.key)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The ways to write it in answers: `group/Workers:params:START`, in short `group/Workers:START`.

        Only whole names are compared, so names of entities and keys may contain any character.
        """
        if not self.key:
            return (self.entity,)
        full = f"{self.entity}:{':'.join(self.key)}"
        return (full, f"{self.entity}:{self.key[-1]}") if self.key[0] == "params" else (full,)


def key_text(key: Key) -> str:
    """Return a key in words: a parameter by its name alone."""
    return key[-1] if key[:1] == ("params",) else " ".join(key)


def find_clashes(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> tuple[Clash, ...]:
    """Return what was changed in a file's entities since a commit, and would change by undoing the commit."""
    was, now, undone = (read_entities(path, side) for side in (base, ours, theirs))
    found: list[Clash] = []
    for entity in dict.fromkeys((*was, *now, *undone)):
        found += _entity_clashes(entity, was.get(entity), now.get(entity), undone.get(entity))
    found = found or list(_nearby_clashes(was, now, undone))
    if found:
        return tuple(found)
    # Only comments, order or the folder differ: the entities are the same.
    here, back = (None if side is None else "" for side in (ours, theirs))
    named = dict.fromkeys((*was, *now, *undone)) or (f"path/{path}",)
    return tuple(Clash(entity, WHOLE, here, back) for entity in named)


def _entity_clashes(
    entity: str, then: Entity | None, here: Entity | None, back: Entity | None
) -> Iterator[Clash]:
    if here is None or back is None:
        remaining = here if back is None else back
        if (
            then is not None
            and remaining is not None
            and any(_differing({entity: then}, {entity: remaining}))
        ):
            yield Clash(entity, WHOLE, None if here is None else "", None if back is None else "")
        return
    for key in dict.fromkeys((*(then or ()), *here, *back)):
        was, now, undone = (side.get(key, ABSENT) for side in (then or {}, here, back))
        if not (is_alike(now, undone) or is_alike(was, now) or is_alike(was, undone)):
            yield Clash(entity, key, _shown(here, key), _shown(back, key))


def _nearby_clashes(
    was: Mapping[str, Entity], now: Mapping[str, Entity], undone: Mapping[str, Entity]
) -> Iterator[Clash]:
    """Return the entities that undoing would change, with neighbouring changes made since."""
    since = tuple(dict.fromkeys(_differing(was, now)))
    beside = tuple(key_text(key) or entity for entity, key in since)
    if not beside:
        return
    for entity, key in _differing(was, undone):
        here, back = (side.get(entity, {}) for side in (now, undone))
        yield Clash(entity, key, _shown(here, key), _shown(back, key), beside)


def _differing(one: Mapping[str, Entity], two: Mapping[str, Entity]) -> Iterator[tuple[str, Key]]:
    for entity in dict.fromkeys((*one, *two)):
        before, after = one.get(entity, {}), two.get(entity, {})
        for key in dict.fromkeys((*before, *after)):
            if not is_alike(before.get(key, ABSENT), after.get(key, ABSENT)):
                yield entity, key


def _shown(entity: Entity, key: Key) -> str | None:
    """Return a value on one line; empty for a whole text. None: there is no value."""
    if key not in entity:
        return None
    value = entity[key]
    if isinstance(value, bytes):
        return ""
    return shown(value if isinstance(value, str) else msgspec.json.encode(value).decode(), most=200)


def find_commit(
    versions: Sequence[tuple[str, bytes | None]], path: str, clash: Clash, base: bytes | None
) -> str | None:
    """Return the newest commit that changed a clashing place; `versions` of its file are newest first."""
    if clash.beside:
        return versions[0][0] if versions else None
    values: list[Any] = [*(data for _, data in versions), base]
    if clash.key != WHOLE:
        entities = (read_entities(path, data).get(clash.entity, {}) for data in values)
        values = [entity.get(clash.key, ABSENT) for entity in entities]
    steps = zip(versions, pairwise(values), strict=True)
    return next((commit for (commit, _), (now, was) in steps if now != was), None)
