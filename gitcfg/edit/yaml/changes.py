"""Changes of a YAML text as data, the meaning of a document after one, and the changes between two values."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import msgspec

from gitcfg.edit.yaml.tree import Meaning, Shape, Spot, is_nothing, is_same
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown

Path = tuple[str | int, ...]


class Given(msgspec.Struct, frozen=True):
    """A given value, and its source text if it was YAML."""

    meaning: Meaning
    source: str | None = None


class Set(msgspec.Struct, frozen=True, tag=True):
    """Set the value at a path; missing mappings are made. `source` is how to write the value.

    A new key goes after the last of those that precede it in `order`, by default to the end.
    """

    path: Path
    value: Meaning
    source: str | None = None
    order: tuple[str, ...] = ()


class Delete(msgspec.Struct, frozen=True, tag=True):
    """Delete a key with its value, or an item."""

    path: Path


class Insert(msgspec.Struct, frozen=True, tag=True):
    """Insert an item into the list at a path, at a position (0 is highest). A missing list is made."""

    path: Path
    at: int
    value: Meaning
    source: str | None = None
    order: tuple[str, ...] = ()


class Move(msgspec.Struct, frozen=True, tag=True):
    """Move an item of the list at a path to another position."""

    path: Path
    start: int
    to: int


class Rename(msgspec.Struct, frozen=True, tag=True):
    """Rename a key, which keeps its value and its position."""

    path: Path
    name: str


Change = Set | Delete | Insert | Move | Rename


# The meaning of a document after a change: edits of the text are compared with it.


def apply_change(before: Meaning, change: Change) -> Meaning:
    """Return the meaning of a whole document after a change. Raise GitcfgError if it does not fit."""
    match change:
        case Set():
            return _set(before, change.path, change.value, change.order)
        case Insert() if _at(before, change.path) is None:
            return _set(before, change.path, [change.value], change.order)
        case Insert():
            items = list(_list(before, change.path))
            items.insert(change.at, change.value)
            return _set(before, change.path, items, ())
        case Move():
            return _set(
                before, change.path, move_item(_list(before, change.path), change.start, change.to), ()
            )
        case Delete():
            return _within(before, change.path, None)
        case Rename():
            return _within(before, change.path, change.name)


def move_item(items: list[Meaning], start: int, to: int) -> list[Meaning]:
    """Return a list with one item moved. Raise GitcfgError if it has no such positions."""
    if not (0 <= start < len(items) and 0 <= to < len(items)):
        raise GitcfgError(f"The list has no position {max(start, to)}: it has {len(items)} items.")
    rest = items[:start] + items[start + 1 :]
    return [*rest[:to], items[start], *rest[to:]]


def key_position(keys: list[str], name: str, order: tuple[str, ...]) -> int:
    """Return the position of a new key among the keys of a mapping."""
    if name not in order:
        return len(keys)
    earlier = order[: order.index(name)]
    return max((place + 1 for place, key in enumerate(keys) if key in earlier), default=0)


def _at(meaning: Meaning, path: Path) -> Meaning | None:
    for step in path:
        if isinstance(meaning, dict):
            meaning = meaning.get(step)
        elif isinstance(meaning, list) and isinstance(step, int) and 0 <= step < len(meaning):
            meaning = meaning[step]
        else:
            return None
    return None if is_nothing(meaning) else meaning


def _list(before: Meaning, path: Path) -> list[Meaning]:
    found = _at(before, path)
    if not isinstance(found, list):
        raise _unfit(path, "is not a list")
    return found


def _set(meaning: Meaning, path: Path, value: Meaning, order: tuple[str, ...]) -> Meaning:
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(meaning, list) and isinstance(step, int) and 0 <= step < len(meaning):
        return [*meaning[:step], _set(meaning[step], rest, value, ()), *meaning[step + 1 :]]
    mapping = {} if is_nothing(meaning) else meaning
    if not isinstance(mapping, dict) or not isinstance(step, str):
        raise _unfit(path, "is not a mapping")
    inner = _set(mapping.get(step), rest, value, ())
    if step in mapping:
        return {**mapping, step: inner}
    pairs = list(mapping.items())
    place = key_position(list(mapping), step, order)
    return dict([*pairs[:place], (step, inner), *pairs[place:]])


def _within(meaning: Meaning, path: Path, name: str | None) -> Meaning:
    """Return a meaning with a key renamed, or, without a name, with a key or item deleted."""
    step, rest = path[0], path[1:]
    if isinstance(meaning, dict) and step in meaning:
        if rest:
            return {**meaning, step: _within(meaning[step], rest, name)}
        if name is not None and name in meaning and name != step:
            raise GitcfgError(f"The key {shown(name)} already exists.", code=REFUSED)
        renamed = ((name if key == step else key, value) for key, value in meaning.items())
        return {key: value for key, value in renamed if key is not None}
    is_list = isinstance(meaning, list) and (rest or name is None)
    if is_list and isinstance(step, int) and 0 <= step < len(meaning):
        inner = [_within(meaning[step], rest, name)] if rest else []
        return [*meaning[:step], *inner, *meaning[step + 1 :]]
    raise _unfit(path, "does not exist")


def _unfit(path: Path, what: str) -> GitcfgError:
    return GitcfgError(f"{shown('.'.join(map(str, path))) if path else 'The file'} {what}.")


# The changes that turn one value into another, without touching what is the same in both.


def find_changes(
    path: Path, now: Meaning | None, then: Spot, text: str, order: Sequence[str]
) -> Iterator[Change]:
    """Return the changes that turn a value (None: there is none) into the one at a spot of another text.

    A new key goes after those that precede it in `order`.
    """
    if isinstance(now, dict) and now and then.shape is Shape.MAPPING and then.entries:
        keys = [entry.key or "" for entry in then.entries]
        for key, entry in zip(keys, then.entries, strict=True):
            yield from find_changes((*path, key), now.get(key), entry.value, text, keys)
        yield from (Delete((*path, key)) for key in now if key not in keys)
    elif isinstance(now, list) and now and then.shape is Shape.LIST and then.entries:
        yield from _list_changes(path, now, then, text)
    elif now is None or not is_same(now, then.meaning):
        yield Set(path, then.meaning, _source(then, text), tuple(order))


def _list_changes(path: Path, now: list[Meaning], then: Spot, text: str) -> Iterator[Change]:
    """Return changes from the end, so that earlier positions stay valid; insert first, to keep items."""
    items = [entry.value for entry in then.entries]
    matcher = SequenceMatcher(None, [*map(repr, now)], [repr(item.meaning) for item in items], autojunk=False)
    for what, start, end, first, last in reversed(matcher.get_opcodes()):
        if what != "equal":
            for item in reversed(items[first:last]):
                yield Insert(path, end, item.meaning, _source(item, text))
            for at in reversed(range(start, end)):
                yield Delete((*path, at))


def _source(spot: Spot, text: str) -> str | None:
    """Return the source of a value in the other text, if it fits on one line."""
    source = text[spot.start : spot.end]
    return source if source.strip() and "\n" not in source and spot.shape is not Shape.BLOCK_SCALAR else None
