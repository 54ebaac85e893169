"""Why something cannot simply be undone: what was changed again since, by entity, and not by lines."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.edit.entities import ABSENT, WHOLE, Entity, Key, is_alike, read_entities
from gitcfg.model.names import shown


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
        return key_text(self.key)

    @property
    def spellings(self) -> tuple[str, ...]:
        """How answers name it: `group/Workers:params:START`, and `group/Workers:START` for short.

        Only whole names are compared, so those of entities and keys may hold any character.
        """
        if not self.key:
            return (self.entity,)
        full = f"{self.entity}:{':'.join(self.key)}"
        return (full, f"{self.entity}:{self.key[-1]}") if self.key[0] == "params" else (full,)


def key_text(key: Key) -> str:
    """A key in words: a parameter by its name alone."""
    return key[-1] if key[:1] == ("params",) else " ".join(key)


def find_clashes(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> tuple[Clash, ...]:
    """What of a file's entities is not as it was when the commit was made, and would not be as it is now."""
    was, now, undone = (read_entities(path, side) for side in (base, ours, theirs))
    found: list[Clash] = []
    for entity in dict.fromkeys((*was, *now, *undone)):
        found += _of_entity(entity, was.get(entity), now.get(entity), undone.get(entity))
    found = found or list(_beside(was, now, undone))
    if found:
        return tuple(found)
    # Comments, order, or a place in another folder: by its entities nothing is to be told.
    here, back = (None if side is None else "" for side in (ours, theirs))
    named = dict.fromkeys((*was, *now, *undone)) or (f"path/{path}",)
    return tuple(Clash(entity, WHOLE, here, back) for entity in named)


def _of_entity(entity: str, then: Entity | None, here: Entity | None, back: Entity | None) -> Iterator[Clash]:
    if here is None or back is None:
        stays = here if back is None else back
        if then is not None and stays is not None and any(_differing({entity: then}, {entity: stays})):
            yield Clash(entity, WHOLE, None if here is None else "", None if back is None else "")
        return
    for key in dict.fromkeys((*(then or ()), *here, *back)):
        was, now, undone = (side.get(key, ABSENT) for side in (then or {}, here, back))
        if not (is_alike(now, undone) or is_alike(was, now) or is_alike(was, undone)):
            yield Clash(entity, key, _shown(here, key), _shown(back, key))


def _beside(
    was: Mapping[str, Entity], now: Mapping[str, Entity], undone: Mapping[str, Entity]
) -> Iterator[Clash]:
    """Entities that undoing would change, with what was changed beside it since."""
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


def _shown(said: Entity, key: Key) -> str | None:
    """A value on one line; nothing where it is a whole text. None: it is not there."""
    if key not in said:
        return None
    value = said[key]
    if isinstance(value, bytes):
        return ""
    return shown(value if isinstance(value, str) else msgspec.json.encode(value).decode(), most=200)


def find_commit(
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
    return read_entities(path, data).get(clash.entity, {}).get(clash.key, ABSENT)
