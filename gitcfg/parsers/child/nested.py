"""Where nested data that a parser reads is not what was meant; dots in names are levels."""

from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.parsers.child.said import Said, left_out, not_meant, otherwise


class Strange(ValueError):
    """A text that a parser may accept, but that no format of gitcfg writes."""


def differences(found: Any, values: Mapping[str, Any]) -> Iterator[Said]:
    """What is read otherwise than meant, not at all, or without having been meant."""
    if not isinstance(found, dict):
        yield Said("holds no map")
        return
    for name, value in values.items():
        *folders, key = name.split(".")
        place = _place(found, folders)
        if place is None or key not in place:
            yield left_out(name)
        elif not same(read := place.pop(key), value):
            yield otherwise(name, read, value)
    yield from map(not_meant, _left(found, ""))


def _place(found: Any, folders: list[str]) -> dict[str, Any] | None:
    for folder in folders:
        found = found.get(folder) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def _left(found: dict[str, Any], before: str) -> Iterator[str]:
    for key, value in found.items():
        if isinstance(value, dict):
            yield from _left(value, f"{before}{key}.")
        else:
            yield f"{before}{key}"


def same(read: Any, value: Any) -> bool:
    """Equal, and of the same types all through."""
    if type(read) is not type(value):
        return False
    if isinstance(value, dict):
        return read.keys() == value.keys() and all(same(read[key], value[key]) for key in value)
    if isinstance(value, list):
        return len(read) == len(value) and all(map(same, read, value))
    return bool(read == value)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A map of pairs. Strange: a key stands there twice, of which readers take one or the other."""
    result = dict(pairs)
    if len(result) < len(pairs):
        raise Strange("a key stands twice in one map")
    return result
