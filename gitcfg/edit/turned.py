"""The changes that make a value say what another one says, and leave alone all that both say already."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from gitcfg.edit.changes import Change, Delete, Insert, Path, Set
from gitcfg.edit.spots import Meaning, Shape, Spot, is_same


def find_changes(
    path: Path, now: Meaning | None, then: Spot, text: str, order: Sequence[str]
) -> Iterator[Change]:
    """What turns a value (None: there is none) into one that stands at a spot of another text.

    A new key stands behind those that come before it in `order`.
    """
    if isinstance(now, dict) and now and then.shape is Shape.MAPPING and then.entries:
        yield from _mapping(path, now, then, text)
    elif isinstance(now, list) and now and then.shape is Shape.LIST and then.entries:
        yield from _list(path, now, then, text)
    elif now is None or not is_same(now, then.meaning):
        yield Set(path, then.meaning, _source(then, text), tuple(order))


def _mapping(path: Path, now: dict[str, Meaning], then: Spot, text: str) -> Iterator[Change]:
    keys = [entry.key or "" for entry in then.entries]
    for key, entry in zip(keys, then.entries, strict=True):
        yield from find_changes((*path, key), now.get(key), entry.value, text, keys)
    for key in now:
        if key not in keys:
            yield Delete((*path, key))


def _list(path: Path, now: list[Meaning], then: Spot, text: str) -> Iterator[Change]:
    """From the end on, so that positions before it stay; new items first, so that it is never empty."""
    items = [entry.value for entry in then.entries]
    matcher = SequenceMatcher(None, [*map(repr, now)], [repr(item.meaning) for item in items], autojunk=False)
    for what, start, end, first, last in reversed(matcher.get_opcodes()):
        if what != "equal":
            for item in reversed(items[first:last]):
                yield Insert(path, end, item.meaning, _source(item, text))
            for at in reversed(range(start, end)):
                yield Delete((*path, at))


def _source(spot: Spot, text: str) -> str | None:
    """How the other text writes it, if that may stand on one line."""
    source = text[spot.start : spot.end]
    return source if source.strip() and "\n" not in source and spot.shape is not Shape.BLOCK_SCALAR else None
