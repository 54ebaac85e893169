"""Why something cannot simply be undone: what was changed again since, by entity, and not by lines."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.edit.entities import WHOLE, Key, Said, entities
from gitcfg.model.names import shown

_ABSENT = "\0absent"
"""What is said of nothing: no document holds a NUL."""


class Clash(msgspec.Struct, frozen=True):
    """What an entity says now, and would say if it were undone; None: nothing. `entity` is `group/Workers`.

    `beside`: nothing was changed twice, but both changes stand so near that lines cannot tell them apart.
    """

    entity: str
    key: Key
    now: str | None
    undone: str | None
    beside: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """`group Workers`."""
        return self.entity.replace("/", " ", 1)

    @property
    def what(self) -> str:
        """What of the entity: `START`; nothing where it is the entity itself."""
        return worded(self.key)


def worded(key: Key) -> str:
    """A key in words: a parameter by its name alone."""
    return key[-1] if key[:1] == ("params",) else " ".join(key)


def clashes(path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> tuple[Clash, ...]:
    """What of a file's entities is not as it was when the commit was made, and would not be as it is now."""
    was, now, undone = (entities(path, side) for side in (base, ours, theirs))
    found: list[Clash] = []
    for entity in dict.fromkeys((*was, *now, *undone)):
        found += _of_entity(entity, was.get(entity), now.get(entity), undone.get(entity))
    found = found or list(_beside(was, now, undone))
    if found:
        return tuple(found)
    # Comments, order, or a place in another folder: by its entities nothing is to be told.
    here, back = (None if side is None else "" for side in (ours, theirs))
    return tuple(Clash(entity, WHOLE, here, back) for entity in dict.fromkeys((*was, *now, *undone)))


def fits(path: str, conflict: tuple[bytes | None, bytes | None, bytes | None], text: bytes) -> bool:
    """Does a text say all that one side has made of a file's entities, and all that the other one has?"""
    was, now, undone, found = (_each(path, side) for side in (*conflict, text))
    for place in {*was, *now, *undone, *found}:
        before, here, back, said = (side.get(place, _ABSENT) for side in (was, now, undone, found))
        if before not in (here, back) and here != back:
            return False
        if said != (back if here == before else here):
            return False
    return True


def _each(path: str, data: bytes | None) -> dict[tuple[str, Key], Any]:
    """All that a file says, and of which entities it says anything."""
    found = entities(path, data)
    keyed = {(entity, key): value for entity, said in found.items() for key, value in said.items()}
    return keyed | {(entity, (_ABSENT,)): True for entity in found}


def _of_entity(entity: str, then: Said | None, here: Said | None, back: Said | None) -> Iterator[Clash]:
    if here is None or back is None:
        stays = here if back is None else back
        if then is not None and stays is not None and stays != then:
            yield Clash(entity, WHOLE, None if here is None else "", None if back is None else "")
        return
    for key in dict.fromkeys((*(then or ()), *here, *back)):
        was, now, undone = (side.get(key, _ABSENT) for side in (then or {}, here, back))
        if now != undone and was not in (now, undone):
            yield Clash(entity, key, _shown(here, key), _shown(back, key))


def _beside(was: Mapping[str, Said], now: Mapping[str, Said], undone: Mapping[str, Said]) -> Iterator[Clash]:
    """Entities that undoing would change, with what was changed beside it since."""
    since = tuple(dict.fromkeys(_differing(was, now)))
    beside = tuple(worded(key) or entity for entity, key in since)
    if not beside:
        return
    for entity, key in _differing(was, undone):
        here, back = (side.get(entity, {}) for side in (now, undone))
        yield Clash(entity, key, _shown(here, key), _shown(back, key), beside)


def _differing(one: Mapping[str, Said], two: Mapping[str, Said]) -> Iterator[tuple[str, Key]]:
    for entity in dict.fromkeys((*one, *two)):
        before, after = one.get(entity, {}), two.get(entity, {})
        for key in dict.fromkeys((*before, *after)):
            if before.get(key, _ABSENT) != after.get(key, _ABSENT):
                yield entity, key


def _shown(said: Said, key: Key) -> str | None:
    """A value on one line; nothing where it is a whole text. None: it is not there."""
    if key not in said:
        return None
    value = said[key]
    if isinstance(value, bytes):
        return ""
    return shown(value if isinstance(value, str) else msgspec.json.encode(value).decode(), most=200)


def changed_in(
    versions: Sequence[tuple[str, bytes | None]], path: str, clash: Clash, base: bytes | None
) -> str | None:
    """The newest commit that made an entity say what it says now; `versions` of its file, newest first."""
    if clash.beside:
        return versions[0][0] if versions else None
    held = [_value(path, clash, data) for data in (*(data for _, data in versions), base)]
    changed = (commit for (commit, _), now, was in zip(versions, held, held[1:], strict=False) if now != was)
    return next(changed, None)


def _value(path: str, clash: Clash, data: bytes | None) -> Any:
    """What a version of a file says there; of a whole entity, all of its text."""
    if clash.key == WHOLE:
        return data
    return entities(path, data).get(clash.entity, {}).get(clash.key, _ABSENT)
