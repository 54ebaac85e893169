"""What a document means after a change: the yardstick that edits are held against."""

from gitcfg.edit.changes import Change, Delete, Insert, Move, Path, Rename, Set
from gitcfg.edit.spots import Meaning, is_nothing
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown


def apply_change(before: Meaning, change: Change) -> Meaning:
    """What a whole document means after a change. GitcfgError: the change does not fit it."""
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
    """A list of which one item went elsewhere. GitcfgError: it has no such positions."""
    if not (0 <= start < len(items) and 0 <= to < len(items)):
        raise GitcfgError(f"The list has no position {max(start, to)}: it has {len(items)} items.")
    rest = items[:start] + items[start + 1 :]
    return [*rest[:to], items[start], *rest[to:]]


def key_position(keys: list[str], name: str, order: tuple[str, ...]) -> int:
    """Where among the keys of a mapping a new one comes."""
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
        raise _unfit(path, "no list")
    return found


def _set(meaning: Meaning, path: Path, value: Meaning, order: tuple[str, ...]) -> Meaning:
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(meaning, list) and isinstance(step, int) and 0 <= step < len(meaning):
        return [*meaning[:step], _set(meaning[step], rest, value, ()), *meaning[step + 1 :]]
    known = {} if is_nothing(meaning) else meaning
    if not isinstance(known, dict) or not isinstance(step, str):
        raise _unfit(path, "no mapping")
    inner = _set(known.get(step), rest, value, ())
    if step in known:
        return {**known, step: inner}
    pairs = list(known.items())
    place = key_position(list(known), step, order)
    return dict([*pairs[:place], (step, inner), *pairs[place:]])


def _within(meaning: Meaning, path: Path, name: str | None) -> Meaning:
    """A key renamed, or without a name gone; or an item gone."""
    step, rest = path[0], path[1:]
    if isinstance(meaning, dict) and step in meaning:
        if rest:
            return {**meaning, step: _within(meaning[step], rest, name)}
        if name is not None and name in meaning and name != step:
            raise GitcfgError(f"The key {shown(name)} is there already.", code=REFUSED)
        named = ((name if key == step else key, value) for key, value in meaning.items())
        return {key: value for key, value in named if key is not None}
    if (
        isinstance(meaning, list)
        and isinstance(step, int)
        and 0 <= step < len(meaning)
        and (rest or name is None)
    ):
        inner = [_within(meaning[step], rest, name)] if rest else []
        return [*meaning[:step], *inner, *meaning[step + 1 :]]
    raise _unfit(path, "nothing")


def _unfit(path: Path, what: str) -> GitcfgError:
    return GitcfgError(f"There is {what} at {shown('.'.join(map(str, path)) or 'the beginning')}.")
